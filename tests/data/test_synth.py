"""Synthetic data: sizes, reproducibility, and the properties it shares with real data."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from mlgt import MLGTClassifier
from mlgt.cli import main
from mlgt.data import datasets
from mlgt.data.synth import PRESETS, Collection, Shape, _kernels, make, make_shape, to_text
from mlgt.metrics import precision_at

SMALL = Shape(2000, 2000, 300, test_rows=700, labels_per_row=3, words_per_row=40)
MANY = replace(SMALL, rows=40_000, labels=2000, shift=0)


@pytest.fixture(scope="module")
def small():
    return Collection(SMALL)


@pytest.fixture(scope="module")
def many():
    """So many rows that frequencies are near their expectation."""
    return Collection(MANY).draw(0, 40_000)


def same(a, b):
    return all(
        (left != right).nnz == 0 and left.shape == right.shape for left, right in ((a.X, b.X), (a.Y, b.Y))
    )


# ---- the same seed, the same bytes ----


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_blocks_do_not_matter(small, size):
    text = b"".join(bytes(to_text(block)) for block in small.blocks(0, 200, size))
    assert text == bytes(to_text(small.draw(0, 200)))


def test_threads_do_not_matter(small):
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda first: bytes(to_text(small.draw(first, first + 50))), range(0, 400, 50))
    assert b"".join(parts) == bytes(to_text(small.draw(0, 400)))


def test_the_seed_matters():
    settings = {"rows": 100, "features": 400, "labels": 40}
    assert same(make(**settings, seed=3).train, make(**settings, seed=3).train)
    assert not same(make(**settings, seed=3).train, make(**settings, seed=4).train)


def test_training_and_test_rows_differ(small):
    whole, (train, test) = small.draw(0, 2700), make(**vars(SMALL))
    assert same(train, small.draw(0, 2000))
    assert (whole.X[2000:] != test.X).nnz == 0
    assert (train.X[:700] != test.X).nnz > 0


# ---- sizes ----


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_have_their_sizes(preset):
    shape = make_shape(preset, scale=0.01, rows=2000, test_rows=10)
    train, test = make(preset, scale=0.01, rows=2000, test_rows=10)
    assert train.X.shape == (2000, round(0.01 * PRESETS[preset].features))
    assert test.Y.shape == (10, round(0.01 * PRESETS[preset].labels))
    assert train.Y.nnz / 2000 == pytest.approx(shape.labels_per_row, rel=0.05)
    assert train.X.nnz / 2000 == pytest.approx(shape.words_per_row, rel=0.06)


def test_rows_are_what_readers_promise(small):
    rows = small.draw(0, 2000)
    for matrix in (rows.X, rows.Y):
        assert matrix.dtype == np.float32
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        starts = matrix.indptr[1:-1]
        steps = np.delete(np.diff(matrix.indices), starts - 1)
        assert (steps > 0).all()  # sorted and distinct within each row
        assert (np.diff(matrix.indptr) > 0).all()  # no empty row
    assert (rows.Y.data == 1).all()
    assert np.sqrt(rows.X.multiply(rows.X).sum(axis=1)) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("labels", [4, 7, 8, 9, 33])
def test_few_labels_and_words(labels):
    train, _ = make(rows=300, features=4, labels=labels, labels_per_row=1, words_per_row=1)
    assert train.Y.shape == (300, labels)
    assert (np.diff(train.Y.indptr) == 1).all()


# ---- properties of real data ----


def test_label_frequencies_follow_the_power_law(many):
    """log count falls with log rank with the slope -1."""
    counts = np.sort(np.bincount(many.Y.indices, minlength=2000))[::-1]
    ranks = np.arange(10, 1000)
    slope = np.polyfit(np.log(ranks), np.log(counts[ranks - 1]), 1)[0]
    assert slope == pytest.approx(-1, abs=0.1)


def test_labels_come_together(many, rng):
    """Many pairs of labels in a row are pairs that occur more than 3 times as often as labels of their
    frequencies would by chance; hardly any when the labels are dealt out at random. Half in EURLex-4K."""

    def share_of_bound_pairs(Y):
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        pairs = (Y.T @ Y).tocoo()
        i, j, seen = (values[pairs.row < pairs.col] for values in (pairs.row, pairs.col, pairs.data))
        bound = (seen >= 3) & (seen > 3 * counts[i] * counts[j] / Y.shape[0])
        return seen[bound].sum() / seen.sum()

    dealt = many.Y.copy()
    dealt.indices = rng.permutation(dealt.indices)
    dealt.sum_duplicates()
    dealt.data[:] = 1
    assert share_of_bound_pairs(many.Y) > 0.3
    assert share_of_bound_pairs(dealt) < 0.05


def test_the_word_distribution_is_exact(many):
    """idf needs no pass over the rows: expected document frequencies agree with those counted."""
    collection = Collection(MANY)
    assert _kernels.word_distribution(collection._tables).sum() == pytest.approx(1)
    counted = np.bincount(many.X.indices, minlength=2000)
    expected = 40_001 / np.exp(collection._tables.idf - 1) - 1
    assert np.corrcoef(np.log(counted), np.log(expected))[0, 1] > 0.98
    assert np.median(counted / expected) == pytest.approx(1, abs=0.1)


def test_it_can_be_learnt_but_not_for_free():
    def precision(**changes):
        train, test = make(**{**vars(SMALL), **changes})
        model = MLGTClassifier(n_groups=80, random_state=0, n_jobs=1).fit(train.X, train.Y)
        frequent = np.argmax(np.bincount(train.Y.indices))
        ours = precision_at(test.Y, model.predict_topk(test.X, 1)[0], 1)
        return ours, precision_at(test.Y, np.full((test.X.shape[0], 1), frequent), 1)

    ours, frequent = precision()
    assert 0.4 < ours < 0.9
    assert ours > frequent + 0.2
    assert precision(noise=0)[0] > ours + 0.1
    assert precision(noise=1)[0] < frequent + 0.1  # nothing is left to learn


# ---- text ----


VALUES = "1 0.5 0.01 0.1 0.9999 0.01234 0.001 0.00001002 0.3333".split()


@pytest.mark.parametrize("text", VALUES)
def test_values_are_written_as_short_as_can_be(small, text):
    rows = small.draw(0, 1)
    rows.X.data[:] = np.float32(text)
    assert bytes(to_text(rows)).rstrip().endswith(b":" + text.encode())


@pytest.mark.parametrize("plain", [True, False])
def test_what_is_written_is_read_back(tmp_path, plain):
    arguments = "--rows 300 --features 500 --labels 60 --words-per-row 30 --seed 5".split()
    assert main(["synth", str(tmp_path / "new"), *arguments, *["--plain"][:plain]]) == 0
    ending = ".txt" if plain else ".txt.gz"
    assert sorted(f.name for f in (tmp_path / "new").iterdir()) == [f"test{ending}", f"train{ending}"]
    made = make(rows=300, features=500, labels=60, words_per_row=30, seed=5)
    for read, drawn in zip(datasets.load(tmp_path / "new"), made):
        assert same(read, drawn)


# ---- the command's refusals ----

BASE = ["--rows", "100", "--features", "400", "--labels", "40"]
BAD = {
    "preset": (["--preset", "imagenet"], "no preset 'imagenet'; choose one of rcv1x, amazoncat"),
    "nothing": ([], "how many rows and features and labels?"),
    "missing": (["--rows", "9"], "how many features and labels?"),
    "crowded-labels": ([*BASE, "--labels-per-row", "11"], "at most a quarter of the labels, 10."),
    "crowded-words": ([*BASE, "--words-per-row", "101"], "at most a quarter of the features, 100."),
    "no-words": ([*BASE, "--words-per-row", "0"], "expected at least 1"),
    "nan": ([*BASE, "--words-per-row", "nan"], "expected at least 1"),
    "noise": ([*BASE, "--noise", "1.5"], "noise 1.5: expected 0 (none) to 1"),
    "scale": (["--preset", "wiki10", "--scale", "-1"], "scale -1: expected a share above 0"),
    "scale-alone": ([*BASE, "--scale", "0.5"], "no effect without a preset"),
    "memory": (["--rows", "9", "--features", "2000000000", "--labels", "2000000000"], "would need about"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests_give_one_line_and_leave_nothing(name, tmp_path, capsys):
    arguments, message = BAD[name]
    assert main(["synth", str(tmp_path / "out"), *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert list(tmp_path.iterdir()) == []


def test_only_force_replaces(tmp_path, capsys):
    assert main(["synth", str(tmp_path), *BASE, "--plain"]) == 0
    before = (tmp_path / "train.txt").read_bytes()
    assert main(["synth", str(tmp_path), *BASE, "--seed", "1"]) == 2
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "train.txt").read_bytes() == before
    assert main(["synth", str(tmp_path), *BASE, "--seed", "1", "--force"]) == 0
    assert sorted(f.name for f in tmp_path.iterdir()) == ["test.txt.gz", "train.txt.gz"]


@pytest.mark.parametrize("new", [True, False])
def test_a_failure_midway_leaves_all_as_it_was(tmp_path, monkeypatch, new):
    """The training rows are written, the test rows fail: neither file appears, the old ones stay."""
    folder = tmp_path / "data"
    if not new:
        assert main(["synth", str(folder), *BASE]) == 0
    before = {f.name: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    draw = Collection.draw

    def fail(self, first, last):
        if first >= 100:
            raise KeyboardInterrupt
        return draw(self, first, last)

    monkeypatch.setattr(Collection, "draw", fail)
    assert main(["synth", str(folder), *BASE, "--force", "--seed", "1"]) == 130
    assert {f.name: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == before
    assert folder.exists() is not new


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert main(["synth", str(tmp_path / "file"), *BASE]) == 2
    assert "is a file; expected a folder" in capsys.readouterr().err


def test_the_folder_above_must_be_there(tmp_path, capsys):
    sizes = ["--rows", "20", "--labels", "40", "--features", "400"]
    assert main(["synth", str(tmp_path / "nowhere" / "data"), *sizes]) == 2
    assert "there is no such folder to make data in; create it." in capsys.readouterr().err


def test_make_explains_itself():
    with pytest.raises(ValueError, match="no setting 'label'; choose among rows, features, labels"):
        make(rows=10, features=10, label=10)
    with pytest.raises(ValueError, match=r"2\.5 rows: expected a whole number"):
        make(rows=2.5, features=400, labels=40)
