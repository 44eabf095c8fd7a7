import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

import mlgt
from mlgt._core.errors import DataFormatError
from mlgt.data import datasets, write_xmc

EMBEDDED = Path(mlgt.__file__).parent / "data" / "embedded"


@pytest.fixture(scope="module")
def debtags():
    return datasets.load_debtags()


def test_load_by_folder_and_by_name(topics, tmp_path, monkeypatch):
    (X, Y), (X_test, Y_test) = topics
    (tmp_path / "Topics").mkdir()
    write_xmc(tmp_path / "Topics" / "train.txt.gz", X, Y)
    write_xmc(tmp_path / "Topics" / "test.txt", X_test, Y_test)
    monkeypatch.setenv("MLGT_DATA", str(tmp_path))
    for name in (tmp_path / "Topics", "Topics"):
        train, test = datasets.load(name)
        assert (train.X != X).nnz == 0
        assert (test.Y != Y_test).nnz == 0


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("MLGT_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"no data set 'Nowhere'.*MLGT_DATA"):
        datasets.load("Nowhere")
    with pytest.raises(FileNotFoundError, match=r"has no train\.txt\.gz"):
        datasets.load(tmp_path)


def test_debtags_are_what_their_readme_says(debtags):
    """The counts in the README's table are those of the file."""
    cells = re.findall(r"^\| (\w.*?) \| (.*) \|$", (EMBEDDED / "README.md").read_text("utf-8"), re.M)
    said = dict(cells)
    unseen = int((debtags.train.Y.sum(axis=0) == 0).sum())
    assert said["tags"] == f"{len(debtags.tags)} ({unseen} of them in no training package)"
    assert said["words"] == f"{len(debtags.words):,}"
    for side, name in ((debtags.train, "training"), (debtags.test, "test")):
        n = side.X.shape[0]
        assert said[f"{name} packages"] == f"{n:,}"
        assert said[f"words, tags per {name} package"] == f"{side.X.nnz / n:.2f}, {side.Y.nnz / n:.2f}"
    assert (EMBEDDED / "debtags.npz").stat().st_size <= 2_500_000


def test_debtags_rows_are_whole(debtags):
    """Both sides keep the promises of Dataset; every row has a word, a tag and a name."""
    names = (debtags.train_packages, debtags.test_packages)
    for side, packages in zip(debtags, names):
        for matrix, columns in ((side.X, debtags.words), (side.Y, debtags.tags)):
            assert matrix.shape == (len(packages), len(columns))
            assert (matrix.data.dtype, matrix.indices.dtype) == (np.float32, np.int32)
            assert np.diff(matrix.indptr).min() > 0
            matrix.check_format(full_check=True)
            assert matrix.has_canonical_format
        np.testing.assert_allclose(sp.csr_array(side.X.multiply(side.X)).sum(axis=1), 1, atol=1e-5)
        assert (side.Y.data == 1).all()
    for distinct in (debtags.words, debtags.tags, [*names[0], *names[1]]):
        assert len(set(distinct)) == len(distinct)
        assert all(distinct)
    assert debtags.provenance["release"] == "12.15"


def test_debtags_know_their_packages(debtags):
    """Facts anyone can check on a Debian machine with `apt-cache show`."""

    def of(package):
        for side, packages in zip(debtags, (debtags.train_packages, debtags.test_packages)):
            if package in packages:
                row = [packages.index(package)]
                words = {debtags.words[j] for j in side.X[row].indices}
                return words, {debtags.tags[l] for l in side.Y[row].indices}
        raise AssertionError(f"{package} is on neither side")

    words, tags = of("python3-numpy")
    assert {"algebra", "array", "c++"} <= words
    assert tags >= {"implemented-in::python", "devel::lang:python", "field::mathematics"}
    words, tags = of("firefox-esr")
    assert {"browser", "mozilla"} <= words
    assert tags >= {"web::browser", "suite::mozilla", "role::program"}
    words, tags = of("nethack-console")
    assert "dungeon" in words
    assert tags >= {"use::gameplaying", "game::rpg:rogue"}


def test_debtags_values_are_tf_idf_as_scikit_learn_computes_it(debtags):
    with np.load(EMBEDDED / "debtags.npz") as stored:
        counts = [
            sp.csr_array(
                (
                    stored[f"{side}_word_counts"].astype(float),
                    stored[f"{side}_word_ids"].astype(np.int32),
                    np.cumsum([0, *stored[f"{side}_words_per_row"]]),
                ),
                shape=(len(stored[f"{side}_words_per_row"]), len(debtags.words)),
            )
            for side in ("train", "test")
        ]
    transformer = TfidfTransformer(sublinear_tf=True).fit(counts[0])
    for side, raw in zip(debtags, counts):
        expected = transformer.transform(raw)
        np.testing.assert_array_equal(side.X.indices, expected.indices)
        np.testing.assert_allclose(side.X.data, expected.data, rtol=1e-5)


def test_debtags_can_be_learnt(debtags):
    """A linear classifier finds the Perl packages of the test side; calling every one Perl has F1 0.2."""
    train, test = debtags
    perl = [debtags.tags.index("implemented-in::perl")]
    truth, test_truth = (side.Y[:, perl].toarray().ravel() for side in debtags)
    found = LinearSVC(random_state=0).fit(train.X[::4], truth[::4]).predict(test.X)
    assert f1_score(test_truth, found) > 0.7


@pytest.mark.parametrize("damage", ["cut", "altered", "empty", "missing"])
def test_damaged_debtags_are_reported(damage, tmp_path, monkeypatch):
    content = bytearray((EMBEDDED / "debtags.npz").read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged = {"cut": content[:-1000], "altered": content, "empty": b""}
    (tmp_path / "embedded").mkdir()
    if damage in damaged:
        (tmp_path / "embedded" / "debtags.npz").write_bytes(damaged[damage])
    monkeypatch.setattr(datasets.resources, "files", lambda package: tmp_path)
    with pytest.raises(DataFormatError, match=r"debtags\.npz cannot be read .*Install mlgt again"):
        datasets.load_debtags()
