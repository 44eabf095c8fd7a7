"""Systems run in processes of their own: one that is missing or fails does not take the others down."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure

from mlgt.cli import main
from mlgt.estimators.methods import make_estimator
from mlgt_research.bench import INSTALL, SYSTEMS, System
from mlgt_research.bench.fast_text import words
from mlgt_research.bench.ours import fit_timed
from mlgt_research.bench.run import COSTS, SystemRun, draw, make_tables, run_systems
from mlgt_research.bench.trained import best_of_csr, padded
from mlgt_research.evidence.record import read_result


def test_the_command_measures(files, tmp_path, capsys):
    out = tmp_path / "bench"
    assert main(["bench", *map(str, files), "--systems", "mlcs", "--repeats", "1", "--out", str(out)]) == 0
    assert "topics: quality" in capsys.readouterr().out
    result = read_result(out / "results.json")
    (row,) = result.table("quality").rows
    assert row["system"] == "MLCS"
    assert row["P@1"]["low"] <= row["P@1"]["value"] <= row["P@1"]["high"]
    (cost,) = result.table("cost").rows
    for name in ("training CPU s", "CPU ms a row, batch", "CPU ms a row, single", "peak MB", "model MB"):
        assert cost[name][0] > 0
    assert (out / "figure.png").stat().st_size > 1000
    assert str(tmp_path) not in json.dumps(result.config)


def test_the_missing_and_the_failing_are_left_out(files, monkeypatch):
    monkeypatch.setitem(SYSTEMS, "absent", System("Absent", "x", "y", "no-such-distribution"))
    said = []
    asked = {"absent": {}, "mlcs": {"n_projections": 0}}
    runs = run_systems(*files, asked, repeats=1, say=said.append)
    assert [run.answers for run in runs] == [[], []]
    assert INSTALL in runs[0].failure
    assert "n_projections=0 must be" in runs[1].failure
    assert any(INSTALL in line for line in said)
    assert [row["repeats"] for row in make_tables(runs, 1)[3].rows] == ["0 of 1", "0 of 1"]


def answer(seconds):
    """The answer of a system that trains for so many seconds."""
    figures = dict.fromkeys(COSTS, 1.0)
    quality = {f"{m}@{k}": 0.5 for m in ("P", "Pi", "nDCG", "PSP") for k in (1, 3, 5)}
    rows = {"1": [0.0, 1.0], "3": [0.5, 0.5], "5": [0.2 * seconds, 0.0]}
    return {"figures": figures | {"train CPU": seconds}, "quality": quality, "P@k of rows": rows}


def test_lines_of_an_earlier_run_stay_with_their_date(files, tmp_path, capsys):
    out = tmp_path / "bench"
    command = ["bench", *map(str, files), "--repeats", "1", "--out", str(out)]
    assert main([*command, "--systems", "mlcs,dismec"]) == 0
    path = out / "results.json"
    before = path.read_text("utf-8").replace('"date": "2', '"date": "1')
    path.write_text(before, "utf-8")
    assert main([*command, "--systems", "mlgt-ova,mlcs", "--add"]) == 0
    old, new = json.loads(before), read_result(path)
    assert [row["system"] for row in new.table("quality").rows] == ["MLCS", "DiSMEC", "one-vs-all by mlgt"]
    assert new.provenance["kept"] == {"DiSMEC": old["provenance"]["date"]}
    assert new.table("quality").rows[1] == old["tables"][0]["rows"][1]
    assert new.table("cost").rows[1]["training CPU s, ratio"] is None
    assert [row["system"] for row in new.table("difference to the first").rows] == ["MLCS"]
    assert main([*command, "--systems", "dismec", "--add"]) == 0
    new = read_result(path)
    assert list(new.provenance["kept"]) == ["MLCS", "one-vs-all by mlgt"]
    assert {row.get("training CPU s, ratio") for row in new.table("cost").rows} == {None}
    assert new.table("difference to the first").rows == []
    assert main([*command, "--systems", "sleec", "--add", "--cpu-limit", "1"]) == 0
    new = read_result(path)
    assert "more than 1 CPU seconds" in new.table("systems").rows[-1]["remark"]
    assert len(new.table("quality").rows) == 3
    assert main(["bench", str(files[0]), str(files[0]), "--out", str(out), "--add"]) == 2
    assert "is of other files" in capsys.readouterr().err
    assert main(["bench", *map(str, files), "--add"]) == 2
    assert "pass --out DIR too" in capsys.readouterr().err


def test_kept_answers_have_their_date_and_no_ratio_to_those_measured_now(files, tmp_path):
    out, keep = tmp_path / "bench", tmp_path / "answers"
    command = ["bench", *map(str, files), "--repeats", "1", "--out", str(out), "--keep", str(keep)]
    assert main([*command, "--systems", "dismec"]) == 0
    assert read_result(out / "results.json").provenance["kept"] == {}
    (path,) = keep.iterdir()
    os.utime(path, (0, 0))
    assert main([*command, "--systems", "mlcs,dismec"]) == 0
    result = read_result(out / "results.json")
    (kept,) = result.provenance["kept"].items()
    assert kept[0] == "DiSMEC"
    assert kept[1].startswith(("1969-12-31", "1970-01-01"))
    assert "training CPU s, ratio" not in result.table("cost").rows[1]
    assert [row["system"] for row in result.table("difference to the first").rows] == ["DiSMEC"]


def test_every_system_is_in_the_picture():
    runs = [SystemRun(name, {}, [answer(2.0)]) for name in SYSTEMS]
    figure = Figure()
    draw(figure, make_tables(runs, 1))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [run.title for run in runs]


def test_ratios_are_of_the_same_round():
    ours, other = (
        SystemRun("mlgt", {}, [answer(2.0), answer(4.0)]),
        SystemRun("mlcs", {}, [answer(6.0), answer(4.0)]),
    )
    _, differences, cost, _ = make_tables([ours, other], 2)
    (row,) = differences.rows
    assert (row["P@1"]["value"], row["P@3"]["high"]) == (0, 0)
    assert row["P@5"]["value"] == pytest.approx(0.4)
    assert row["P@5"]["low"] < 0.4 < row["P@5"]["high"]
    assert "training CPU s, ratio" not in cost.rows[0]
    assert cost.rows[1]["training CPU s, ratio"] == [3.0, 1.0]


def test_quality_is_the_mean_over_the_repeats_with_their_spread():
    answers = [answer(1.0), answer(1.0)]
    answers[1]["quality"]["P@1"] = 0.6
    (row,) = make_tables([SystemRun("mlgt", {}, answers)], 2)[0].rows
    assert row["P@1"]["value"] == pytest.approx(0.55)
    assert row["P@1"]["spread"] == pytest.approx(0.1 / np.sqrt(2))
    assert row["P@3"]["spread"] == 0


def test_what_peers_answer_becomes_labels():
    assert padded([[3, 1], [], [5, 6, 7]], 2).tolist() == [[3, 1], [-1, -1], [5, 6]]
    scores = sp.csr_array([[0.1, 0, 0.7, 0.3], [0, 0, 0, 0.2]])
    assert best_of_csr(scores, 2).tolist() == [[2, 3], [3, -1]]
    assert words(np.array([4, 9])) == "w4 w9"


def test_wrong_requests_are_said(files, tmp_path, capsys):
    train, test = map(str, files)
    assert main(["bench", train, test, "--systems", "mlgt,best"]) == 2
    assert "there is no system 'best'; choose among mlgt" in capsys.readouterr().err
    assert main(["bench", train, str(tmp_path / "none.txt")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_the_clock_of_stages_reads_one_fit(topics):
    """`narrating` reaches the estimator, and ends with its block."""
    (X, Y), _ = topics
    model = make_estimator("nmf-gt", n_groups=20, column_weight=5, random_state=0)
    fitted, clock = fit_timed(model, X, Y)
    stages = dict(clock.spent)
    assert stages["training classifiers"] > 0
    fitted.fit(X, Y)
    assert clock.spent == stages
