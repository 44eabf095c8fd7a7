"""Every table and figure runs on a sample, and what it writes can be read, drawn and judged."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.errors import DataFormatError
from mlgt.cli import main
from mlgt_research.bench.run import SystemRun
from mlgt_research.evidence.record import Column, Result, Table, average, read_result, surely_above
from mlgt_research.paper import EXPERIMENTS, published, systems
from mlgt_research.paper.claims import judge_claims
from mlgt_research.paper.collect import collect, html_report, markdown_report
from mlgt_research.paper.correlation import permute_columns
from mlgt_research.paper.run import find, keep_stand_ins, narrowed, reproduce, stand_ins
from mlgt_research.paper.sources import Data
from mlgt_research.paper.systems import ratios

RESULTS = Path(__file__).parents[2] / "results"
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """All experiments, run quickly."""
    folder = tmp_path_factory.mktemp("quick")
    for name in EXPERIMENTS:
        reproduce(name, out=folder, quick=True)
    return folder


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_leaves_data_and_a_picture(quick, name):
    result = read_result(quick / name / "results.json")
    assert result.quick
    assert result.name == name
    assert (quick / name / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert all(
        len(digest) == 64 for files in result.provenance["data"].values() for digest in files.values()
    )
    assert result.provenance["packages"]["mlgt"]
    assert any(row["source"] == "ours" for table in result.tables for row in table.rows)
    for table in result.tables:
        for column in table.columns:
            if re.fullmatch(r"(P|Pi)@\d", column.name) and "rank" not in table.title:
                assert all(0 <= average(row[column.name]) <= 1 for row in table.find())


def test_the_sample_is_counted_right(quick):
    train, test = Data(quick=True).load("debtags sample")
    (row,) = read_result(quick / "datasets" / "results.json").tables[0].find()
    shape = (train.Y.shape[0], test.Y.shape[0], train.Y.shape[1], train.X.shape[1])
    assert tuple(row[name] for name in ("n", "nt", "d", "p")) == shape
    assert row["k"] == pytest.approx(train.Y.sum() / 600)


def test_votes_inside_a_row_are_c_on_average(quick):
    """Theorem 1's first half, and our formula for its second."""
    for row in read_result(quick / "theorem" / "results.json").table("votes").rows:
        assert row["mean in y"] == pytest.approx(row["c"], rel=0.1)
        assert row["mean outside"] == pytest.approx(row["E[b] outside"], rel=0.15)


def test_exact_tests_are_decoded(quick):
    recovered = read_result(quick / "decoding" / "results.json").table("recovery").rows[-1]
    assert recovered["hard, 0% wrong"] > 0.9
    assert recovered["noisy, 5% wrong"] >= recovered["hard, 5% wrong"]


def test_the_same_seed_gives_the_same_figures(quick, tmp_path):
    again = reproduce("losses", out=tmp_path, quick=True)
    assert again.tables[0].rows == read_result(quick / "losses" / "results.json").tables[0].rows


def test_permuted_columns_are_the_same_columns(rng):
    A = sp.csr_array(rng.random((12, 30)) * (rng.random((12, 30)) < 0.3))
    assert (permute_columns(A, 0, rng) != A).nnz == 0
    half = permute_columns(A, 0.5, rng).toarray()
    assert (half == A.toarray()).all(axis=0).sum() >= 15
    assert sorted(map(tuple, half.T)) == sorted(map(tuple, A.toarray().T))


def test_the_papers_tables_agree_with_each_other():
    """Figures printed twice are transcribed alike."""
    for (name, method), row in published.CONSTRUCTIONS.items():
        if method == "NMF-GT" and name in published.METHODS:
            assert published.METHODS[name]["NMF-GT"][:3] == row[:3]
    for name, methods in published.STANDARD.items():
        if name in published.METHODS:  # Pi@5 is P@5 by definition
            assert methods["He-NMFGT"][2] == pytest.approx(published.METHODS[name]["He-NMFGT"][2], abs=1e-4)


def test_the_page_is_complete_and_needs_nothing_else(quick):
    page = html_report(quick)
    for name in EXPERIMENTS:
        assert f'id="{name}"' in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert page.count("data:image/png;base64") == len(EXPERIMENTS)
    assert "quick run" in page


def test_a_claim_is_judged_by_its_checks(quick):
    results = {result.name: result for result in collect(quick)}
    for claim in judge_claims(results):
        if claim.checks:
            held = {holds for holds, _ in claim.checks}
            expected = "partly" if len(held) == 2 else "confirmed" if held == {True} else "not confirmed"
            assert claim.verdict == expected
    for claim in judge_claims({}):
        assert claim.verdict == "not measured"


def test_stand_ins_and_quick_runs_judge_no_claim(quick, tmp_path):
    result = read_result(quick / "losses" / "results.json")
    for row in result.tables[0].rows:
        row["data"] = "RCV1x-synth"
    claims = {claim.text: claim for claim in judge_claims({"losses": result})}
    assert claims["NMF groups decode worse and train better"].verdict == "not measured"
    assert "The paper's claims" not in html_report(quick)


def test_a_difference_is_judged_by_its_trials():
    assert surely_above([1.0, 1.2, 1.1], [0.5, 0.6, 0.6])
    assert not surely_above([1.0, 1.2, 1.1], [1.1, 1.0, 1.1])
    assert surely_above([1.0], [0.9])


@pytest.mark.parametrize("broken", [{"tables": []}, {"provenance": {}}])
def test_results_that_lack_something_are_named(quick, tmp_path, broken):
    folder = tmp_path / "losses"
    folder.mkdir()
    stored = json.loads((quick / "losses" / "results.json").read_text("utf-8"))
    (folder / "results.json").write_text(json.dumps(stored | broken), "utf-8")
    with pytest.raises(DataFormatError, match=r"losses.*results\.json"):
        html_report(tmp_path)


def test_the_command_reproduces_and_reports(tmp_path, capsys):
    out = tmp_path / "results"
    assert main(["reproduce", "decoding", "--quick", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Proposition 1" in said
    assert str(out / "quick" / "decoding" / "figure.png") in said
    page, text = tmp_path / "page.html", tmp_path / "docs.md"
    assert main(["report", str(out / "quick"), "-o", str(page), "--markdown", str(text)]) == 0
    assert "results/quick/decoding/figure.png" in text.read_text("utf-8")
    assert page.stat().st_size > 10_000


def test_stand_ins_run_where_they_are(tmp_path):
    (tmp_path / "Bibtex").mkdir()
    names = ("Bibtex", "RCV1x-synth")
    assert Data(tmp_path).available(names) == ["Bibtex"]
    (tmp_path / "RCV1x-synth").mkdir()
    assert Data(tmp_path).available(names) == ["Bibtex", "RCV1x-synth"]


def test_stand_ins_are_called_so():
    (note,) = stand_ins(["Bibtex", "RCV1x-synth"])
    assert note.startswith("Synthetic stand-ins")
    assert ": RCV1x-synth." in note
    assert stand_ins(["Bibtex"]) == []
    assert "not with the printed" in note


def test_what_is_missing_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MLGT_DATA", raising=False)
    assert main(["reproduce", "losses", "--data", str(tmp_path), "--out", str(tmp_path / "o")]) == 2
    assert "there is no data set Bibtex" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
    assert main(["report", str(tmp_path)]) == 2
    assert "has no results" in capsys.readouterr().err
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "results.json").write_text(json.dumps({"format": 99, "tables": []}))
    assert main(["report", str(tmp_path)]) == 2
    assert "run them again" in capsys.readouterr().err


@pytest.mark.skipif(not RESULTS.is_dir(), reason="the results are not beside the tests")
class TestCommittedResults:
    def test_all_are_there_in_full(self):
        results = {result.name: result for result in collect(RESULTS)}
        assert set(EXPERIMENTS) <= set(results)
        assert not any(result.quick for result in results.values())

    def test_they_were_run_with_the_present_settings(self):
        for result in collect(RESULTS):
            if result.name in EXPERIMENTS:
                assert result.config == json.loads(json.dumps(find(result.name).FULL)), result.name

    def test_the_docs_are_built_from_them(self):
        """docs/evidence.md is what `mlgt report research/results --markdown docs/evidence.md` writes."""
        written = (DOCS / "evidence.md").read_text("utf-8")
        assert written == markdown_report(RESULTS, "../research/results")

    def test_figures_are_small(self):
        sizes = [path.stat().st_size for path in RESULTS.rglob("*") if path.is_file()]
        assert max(sizes) < 400_000
        assert np.sum(sizes) < 4_000_000


def test_rows_of_stand_ins_are_kept_until_they_run_again():
    def table(*names):
        return Table("methods", [Column("data")], [{"source": "ours", "data": name} for name in names])

    old = Result("methods", "", "", [table("Bibtex", "A-synth", "B-synth")], [], {}, {})
    new = table("Bibtex", "B-synth")
    assert keep_stand_ins([new], old, ["Bibtex", "B-synth"]) == ["A-synth"]
    assert new.values("data") == ["Bibtex", "B-synth", "A-synth"]


@pytest.fixture
def compared(monkeypatch):
    """[table, what did not run] of data set A, where SLEEC is not tried and XML-CNN cannot run."""
    answers = [{"figures": {"s": 1.0}}]
    runs = [SystemRun(name, {}, answers) for name in ("mlgt", "mlcs")]
    runs.append(SystemRun("xml-cnn", {}, failure="no texts"))
    monkeypatch.setattr(systems, "measure_systems", lambda *_: [("A", runs)])
    printed = {"A": {"XML-CNN": 0.1, "SLEEC": 0.2, "MLCS": 0.3}, "B": {"MLCS": 0.4}}
    table = Table("t", [Column("data"), Column("method"), Column("x"), Column("times", ratio=True)])
    return systems.system_tables(
        table, {}, Data(), printed,
        lambda run, first: {"x": [0.5], "times": ratios(run, first, "s")}, lambda _, figure: {"x": figure},
    )  # fmt: skip


def places(table):
    return [(row["source"], row["data"], row["method"], row.get("remark")) for row in table.rows]


def test_printed_rows_follow_ours_or_say_why_there_is_none(compared):
    assert places(compared[0]) == [
        ("ours", "A", "mlgt", None),
        ("ours", "A", "MLCS", None),
        ("paper", "A", "MLCS", None),
        ("paper", "A", "XML-CNN", "no texts"),
        ("paper", "A", "SLEEC", systems.NOT_TRIED),
        ("paper", "B", "MLCS", systems.NOT_AVAILABLE),
    ]
    assert [row["remark"] for row in compared[1].rows] == ["no texts"]


def test_rows_that_were_not_measured_again_are_kept(compared):
    table, left = compared
    old = Result("t", "", "", [Table("t", table.columns, list(table.rows)), left], [], {}, {})
    new = Table("t", table.columns)
    new.add(data="A", method="mlgt", x=[0.6])
    new.add(data="C-synth", method="mlgt", x=[0.7])
    new.rows += table.find("paper")
    tables = [new, Table("left out", left.columns)]
    assert systems.keep_rows(tables, old) == ["A"]
    expected = [("ours", "C-synth", "mlgt", None) if row[1] == "B" else row for row in places(table)]
    assert places(new) == [*expected, ("paper", "B", "MLCS", systems.NOT_AVAILABLE)]
    assert new.mean("x", data="A", method="mlgt") == 0.6
    assert old.tables[0].find(data="A", method="MLCS")[0]["times"] == [1.0]
    assert new.find(data="A", method="MLCS")[0]["times"] is None
    assert tables[1].rows == left.rows


def test_a_stand_in_says_which_of_the_papers_methods_did_not_run(compared):
    table, left = compared
    for method in ("mlgt", "SLEEC"):
        table.add(data="A-tenth-synth", method=method, x=[0.7])
    expected = [("A-tenth-synth", "XML-CNN", systems.NO_TEXTS), ("A-tenth-synth", "MLCS", systems.NO_TIME)]
    for _ in range(2):
        systems.arrange([table, left])
        found = [(row["data"], row["method"], row["remark"]) for row in left.rows]
        assert sorted(found[1:]) == sorted(expected)
    table.add(data="A-tenth-synth", method="MLCS", x=[0.7])
    systems.arrange([table, left])
    assert [row["method"] for row in left.rows] == ["XML-CNN", "XML-CNN"]


def test_an_experiment_can_run_a_part():
    config = {"data": {"A": {"mlgt": {}, "mlcs": {"n": 1}}, "B": {"mlcs": {}}}, "trials": 1}
    assert narrowed(config, ["mlcs"], ["A"]) == {"data": {"A": {"mlcs": {"n": 1}}}, "trials": 1}
    assert narrowed(config, ["mlgt"], None)["data"] == {"A": {"mlgt": {}}}
    with pytest.raises(ValueError, match="no system or data set C, sleec"):
        narrowed(config, ["sleec"], ["C"])
    with pytest.raises(ValueError, match="only the experiments methods and standard"):
        narrowed({"data": {"A": [100]}}, ["mlgt"], None)


def test_ratios_are_of_the_same_trial():
    first, other = (
        SystemRun(name, {}, [{"figures": {"a": a, "b": 1.0}} for a in seconds])
        for name, seconds in (("mlgt", (1.0, 3.0)), ("mlcs", (5.0,)))
    )
    assert ratios(other, first, "a", "b") == [3.0]
    assert ratios(first, first, "a") is None


def test_quiet_reports_no_systems(monkeypatch, capsys):
    monkeypatch.setattr(systems, "run_systems", lambda *_, say, **__: say("mlgt, 1 of 1") or [])
    for quiet, said in ((False, "mlgt: debtags sample: mlgt, 1 of 1\n"), (True, "")):
        data = Data(quick=True, quiet=quiet)
        assert list(systems.measure_systems({"data": {"debtags sample": {}}, "trials": 1}, data))
        assert capsys.readouterr().err == said
