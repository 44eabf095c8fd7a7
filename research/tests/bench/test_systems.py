"""Names of systems, dampened rows, limits, kept answers, and what each new system makes of its input."""

import gzip
from subprocess import CompletedProcess

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.rows import scale_rows
from mlgt.data import write_xmc
from mlgt_research.bench import DAMPENED, GROUPS, SYSTEMS, System, find_system, kept, title_of
from mlgt_research.bench.estimate import estimate_training, extend, tell_estimate
from mlgt_research.bench.kept import TookTooLong, digest, kept_answer
from mlgt_research.bench.run import SystemRun, check_systems, run_systems, run_worker, why_not
from mlgt_research.bench.trained import Trained
from mlgt_research.bench.worker import measure, predict, read_texts
from mlgt_research.bench.xml_cnn import number_words, split_words, to_numbers


def test_groups_stand_for_their_systems():
    assert check_systems(["paper"]) == ["pfastrexml", "dismec", "ppd-sparse", "sleec"]
    assert set(check_systems(["all"])) == set(GROUPS["peers"]) | set(GROUPS["paper"])
    assert check_systems(["mlgt", "mlgt", "dismec"]) == ["mlgt", "dismec"]
    with pytest.raises(ValueError, match="there is no system 'best\\+sqrt'"):
        check_systems(["best+sqrt"])


def test_dampening_adds_a_second_line_where_values_count():
    """mlgt dampens rows itself; fastText and texts have no values."""
    names = check_systems(["mlgt", "omikuji-parabel", "fasttext", "xml-cnn", "dismec"], dampen=True)
    assert names == [
        "mlgt",
        "omikuji-parabel",
        "omikuji-parabel+sqrt",
        "fasttext",
        "xml-cnn",
        "dismec",
        "dismec+sqrt",
    ]
    assert title_of("dismec+sqrt") == "DiSMEC, square roots"
    assert find_system("dismec+sqrt") is SYSTEMS["dismec"]


class Recorded(Trained):
    """Names the first labels for every row."""

    def predict(self, rows, k):
        return np.tile(np.arange(k), (rows.shape[0], 1))

    def save(self, folder):
        """There is nothing to save."""


def test_a_dampened_system_sees_square_roots_of_length_1(files, topics, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "mlgt_research.bench.fast_text.fast_text", lambda X, *_: seen.append(X) or Recorded()
    )
    monkeypatch.delattr("mlgt_research.bench.fast_text.write_input")
    for name in ("fasttext", "fasttext" + DAMPENED):
        request = {"system": name, "options": {}, "threads": 1, "seed": 0, "resamples": 0}
        measure({**request, "train": str(files[0]), "test": str(files[1])})
    plain, dampened = seen
    (X, _), _ = topics
    np.testing.assert_allclose(plain.toarray(), scale_rows(X).toarray(), atol=1e-4)
    roots = np.sqrt(X.toarray())
    expected = roots / np.linalg.norm(roots, axis=1, keepdims=True)
    np.testing.assert_allclose(dampened.toarray(), expected, atol=1e-3)


def test_a_system_at_its_limit_is_stopped(files):
    (run,) = run_systems(*files, {"sleec": {"n_learners": 500}}, repeats=1, cpu_limit=3, say=lambda _: None)
    assert run.failure == "failed: it took more than 3 CPU seconds"


class TestEstimates:
    def test_seconds_of_all_labels_are_on_the_line_through_two_samples(self, monkeypatch):
        """2 CPU seconds, and .5 per label: 402 for all 800, from 80 and 8 of them."""
        clock, sizes, counts = [0.0], [], []
        monkeypatch.setattr("time.process_time", lambda: clock[0])

        def build(X, Y, *rest):
            sizes.append(Y.shape)
            counts.append(Y.sum(axis=0))
            clock[0] += 2 + Y.shape[1] / 2

        Y = sp.csr_array(np.triu(np.ones((800, 800))))  # label l has l + 1 rows
        found = estimate_training(build, Y, Y, ({}, 1, 0), 10)
        assert sizes == [(800, 8), (800, 80)]
        assert counts[1].tolist() == list(range(795, 0, -10))
        assert found == {"seconds": pytest.approx(402), "labels": 80, "of": 800}
        assert tell_estimate(found) == "not run: by 80 of 800 labels, it would take about 400 CPU seconds"

    def test_without_growth_seconds_are_proportional(self):
        assert extend([8, 80], [3.0, 2.0], 800) == pytest.approx(20)

    def test_they_stand_in_place_of_a_run_of_one_vs_all(self, files, tmp_path):
        wanted = {"ppd-sparse": {}, "mlcs": {}}
        ask = {"repeats": 1, "every": 2, "keep": tmp_path, "say": lambda _: None}
        for _ in range(2):
            slow, mlcs = run_systems(*files, wanted, **ask)
            assert slow.answers == []
            assert slow.failure.startswith("not run: by ")
            assert len(mlcs.answers) == 1


def test_the_last_words_of_a_crashed_system_are_told(files, monkeypatch):
    ended = CompletedProcess([], -6, "", "Read 0M words\n  what():  Encountered NaN.\n")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: ended)
    with pytest.raises(RuntimeError, match=r"ended by signal 6: what\(\):  Encountered NaN.$"):
        run_worker({"cpu_limit": 60, "train": str(files[0])}, 1)


@pytest.mark.parametrize(("seconds", "batches"), [(1, 4), (12, 2), (30, 1)])
def test_what_takes_long_is_not_timed_again(seconds, batches, monkeypatch):
    """Four batches of 1 CPU second, of which the least counts; one of 30, and one single row."""
    clock, sizes = [0.0], []
    monkeypatch.setattr("time.process_time", lambda: clock[0])

    class Slow(Recorded):
        def predict(self, rows, k):
            sizes.append(rows.shape[0])
            clock[0] += seconds
            return super().predict(rows, k)

    labels, speed = predict(Slow(), sp.csr_array(np.eye(6)))
    assert sizes == [6] * batches + [1] * {4: 6, 2: 2, 1: 1}[batches]
    assert labels.shape == (6, 5)
    assert speed["ms batch"] == pytest.approx(1e3 * seconds / 6)
    assert speed["ms single"] == pytest.approx(1e3 * seconds)


def test_a_slow_system_runs_once(files):
    wanted = {"mlcs": {}, "dismec": {}}
    runs = run_systems(*files, wanted, repeats=2, once_above=0, say=lambda _: None)
    assert [len(run.answers) for run in runs] == [1, 1]


def test_texts_are_asked_for_where_they_are_needed(files, tmp_path):
    assert why_not(SystemRun("mlcs", {}), files[0]) == ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SYSTEMS, "texts", System("Texts", "x", "y", texts=True))
        reason = why_not(SystemRun("texts", {}), files[0])
        assert "no train.csv.gz or features.txt.gz beside train.txt" in reason
    X = sp.csr_array((np.ones(3), [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    with gzip.open(tmp_path / "features.txt.gz", "wt", encoding="utf-8") as file:
        file.write("ant\nbee\ncat\n")
    assert read_texts(tmp_path / "test.txt.gz", X).tolist() == ["ant cat", "bee"]
    with gzip.open(tmp_path / "test.csv.gz", "wt", encoding="utf-8") as file:
        file.write('text,labels\n"One, two",a|b\n"three\nfour",c\n')
    assert read_texts(tmp_path / "test.txt.gz", X).tolist() == ["One, two", "three\nfour"]


def test_words_become_numbers():
    texts = ["A cat, a dog.", "the CAT", "cat dog", "dog!", "bird"]
    assert split_words(texts[0]) == ["a", "cat", "a", "dog"]
    numbers = number_words(texts)
    assert numbers == {"cat": 2, "dog": 3}
    assert to_numbers(texts[:2], numbers, 3).tolist() == [[1, 2, 1], [1, 2, 0]]


class TestKeptAnswers:
    @pytest.fixture
    def request_(self, files):
        train, test = map(str, files)
        return {"system": "mlcs", "options": {}, "seed": 0, "train": train, "test": test, "cpu_limit": 5}

    def test_an_answer_is_asked_for_once(self, request_, tmp_path):
        asked = []
        first, second = (
            kept_answer(tmp_path, request_, lambda: asked.append(1) or {"figures": 7}) for _ in range(2)
        )
        assert first == {"figures": 7}
        assert second == first | {"kept": second["kept"]}
        assert asked == [1]
        kept_answer(None, request_, lambda: asked.append(2) or {})
        assert asked == [1, 2]
        (file,) = tmp_path.iterdir()
        assert request_["train"] not in file.read_text("utf-8")

    def test_a_failure_is_kept_under_its_limits(self, request_, tmp_path):
        def fail():
            raise TookTooLong("it took more than 5 CPU seconds")

        for ask in (fail, dict):
            with pytest.raises(RuntimeError, match="more than 5 CPU"):
                kept_answer(tmp_path, request_, ask)
        assert kept_answer(tmp_path, request_ | {"cpu_limit": 50}, dict) == {}

    def test_a_crash_is_not_kept(self, request_, tmp_path):
        def crash():
            raise RuntimeError("it was ended by signal 11")

        with pytest.raises(RuntimeError, match="signal 11"):
            kept_answer(tmp_path, request_, crash)
        assert kept_answer(tmp_path, request_, dict) == {}

    def test_a_system_with_other_defaults_has_another_name(self, request_, monkeypatch):
        before = digest(request_)
        monkeypatch.setitem(SYSTEMS, "mlcs", SYSTEMS["mlcs"]._replace(options={"n_projections": 7}))
        assert digest(request_) != before

    def test_methods_of_mlgt_are_measured_again_when_its_code_changed(self, request_, monkeypatch):
        names = "mlgt", "dismec", "omikuji-parabel"
        before = [digest(request_ | {"system": name}) for name in names]
        monkeypatch.setattr(kept, "_code", lambda: "other code")
        after = [digest(request_ | {"system": name}) for name in names]
        assert [a == b for a, b in zip(before, after)] == [False, True, True]

    def test_other_requests_have_other_names(self, request_, files):
        other = [{"seed": 1}, {"options": {"n": 2}}, {"system": "mlcs+sqrt"}, {"train": str(files[1])}]
        names = {digest(request_ | change) for change in ({}, *other)}
        assert len(names) == 5
        assert digest(request_ | {"cpu_limit": 9}) == digest(request_)


PEERS = {
    "extremetext": "extremeText",
    "libmultilabel-ovr": "libmultilabel",
    "libmultilabel-tree": "libmultilabel",
}


@pytest.mark.parametrize("name", PEERS)
def test_peers_learn(name, tmp_path, rng):
    """A word per label among others, since extremeText reads words alone; two labels have no rows."""
    pytest.importorskip(PEERS[name])
    for part, n in (("train", 400), ("test", 60)):
        labels = rng.integers(0, 8, n)
        words = np.column_stack([labels, rng.integers(8, 14, n), rng.integers(14, 20, n)])
        indptr = np.arange(n + 1)
        X = sp.csr_array((np.ones(3 * n, np.float32), words.ravel(), 3 * indptr), shape=(n, 20))
        Y = sp.csr_array((np.ones(n), labels + 2, indptr), shape=(n, 10))
        write_xmc(tmp_path / f"{part}.txt", X, Y)
    paths = tmp_path / "train.txt", tmp_path / "test.txt"
    for _ in range(5):  # extremeText 0.8.4 crashes in one run of eight, while it builds its tree
        (run,) = run_systems(*paths, {name: {}}, repeats=1, say=print)
        if "signal 11" not in run.failure:
            break
    assert not run.failure
    assert run.quality("P@1")[0] > 0.9


def test_xml_cnn_learns_from_texts(tmp_path, rng):
    pytest.importorskip("torch")
    pytest.importorskip("libmultilabel.nn")
    for part, n in (("train", 200), ("test", 40)):
        labels = rng.integers(0, 6, n)
        Y = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, 6))
        write_xmc(tmp_path / f"{part}.txt", sp.csr_array(np.ones((n, 1), np.float32)), Y)
        words = [f"topic{l} other{rng.integers(5)} topic{l} and more{rng.integers(5)}" for l in labels]
        with gzip.open(tmp_path / f"{part}.csv.gz", "wt", encoding="utf-8") as file:
            file.write("text,labels\n" + "".join(f"{text},x\n" for text in words))
    options = {"seconds": 60, "epochs": 30, "words": 10, "dimension": 16}
    (run,) = run_systems(
        tmp_path / "train.txt", tmp_path / "test.txt", {"xml-cnn": options}, repeats=1, say=print
    )
    assert not run.failure
    assert run.quality("P@1")[0] > 0.8
