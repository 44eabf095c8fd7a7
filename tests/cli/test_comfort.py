"""Verbs that make life easier: completion, doctor, prune."""

import json
import shutil
import subprocess
from importlib.metadata import entry_points

import numpy as np
import pytest

import mlgt
from mlgt.cli import doctor, main
from mlgt.cli.completion import SHELLS as SCRIPTS
from mlgt.cli.main import VERB_GROUP, VERBS, make_parser
from mlgt.data import write_xmc


@pytest.fixture(scope="module")
def folder(families, tmp_path_factory):
    """A test file and a model with rankers."""
    folder = tmp_path_factory.mktemp("comfort")
    write_xmc(folder / "test.txt", *families[1])
    settings = {
        "n_groups": 32,
        "column_weight": 4,
        "ranker_params": {"n_candidates": 20},
        "random_state": 0,
    }
    mlgt.MLGTClassifier(ranker="linear", **settings).fit(*families[0]).save(folder / "model")
    return folder


# ---- completion ----


def completed_by_bash(*words):
    ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _mlgt; printf "%s\\n" "${COMPREPLY[@]}"'
    script = SCRIPTS["bash"](describe(make_parser()))
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{ask}", "bash", "mlgt", *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_verbs_options_and_choices():
    assert completed_by_bash("pr") == ["predict", "prune"]
    assert set(VERBS) <= set(completed_by_bash(""))
    assert completed_by_bash("train", "--met") == ["--method"]
    assert completed_by_bash("train", "--method", "c") == ["cw-gt"]
    assert completed_by_bash("train", "--method", "=", "c") == ["cw-gt"]
    assert completed_by_bash("completion", "") == ["bash", "zsh", "fish"]
    assert completed_by_bash("train", "--model", "x") == []  # bash goes on with file names


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes():
    script = SCRIPTS["fish"](describe(make_parser()))
    for line, found in {"mlgt train --met": "--method", "mlgt train --method c": "cw-gt"}.items():
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'"], capture_output=True, text=True
        )
        assert done.stdout.split("\t")[0] == found


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_option_of_every_verb_is_in_the_script(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    general, verbs = describe(make_parser())
    plugins = {entry.name for entry in entry_points(group=VERB_GROUP)}
    assert {verb.name for verb in verbs} == {*VERBS, *plugins}
    for option in [*general, *(option for verb in verbs for option in verb.options)]:
        for flag in option.flags:
            assert flag in script or f"-l {flag[2:]}" in script or f"-s {flag[1:]}" in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")


# ---- doctor ----


def test_a_healthy_installation(capsys):
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["healthy"]
    assert {"Python", "threads", "memory", "numba cache", "compiled code"} <= {
        c["name"] for c in report["checks"]
    }
    assert main(["doctor"]) == 0
    assert "Everything that mlgt needs is installed" in capsys.readouterr().out


def test_missing_packages_are_reported_with_a_fix(monkeypatch, capsys):
    wanted = [
        ("numpy", "9999.1", False, None),
        ("no-such-package", "1", False, "extra"),
        ("nix", "2", True, None),
    ]
    monkeypatch.setattr(doctor, "requirements", lambda: iter(wanted))
    assert main(["doctor", "--json"]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["numpy"]["status"] == "broken"
    assert "expected 9999.1 or newer" in checks["numpy"]["found"]
    assert checks["[extra]"]["status"] == checks["nix"]["status"] == "note"
    assert checks["[extra]"]["fix"] == "pip install no-such-package"
    assert main(["doctor"]) == 1
    assert "numpy: pip install -U numpy" in capsys.readouterr().out


def test_versions_compare_as_numbers():
    assert doctor.version_numbers("1.26.0rc1") == (1, 26, 0)
    assert (
        doctor.version_numbers("2.4.6")
        > doctor.version_numbers("2.4")
        > doctor.version_numbers("1.30+local")
    )


# ---- prune ----


def test_pruning_drops_small_weights_and_no_others(folder):
    ranker = mlgt.load(folder / "model").ranker_
    smaller = ranker.pruned(0.3)
    expected = ranker.weights.toarray()
    expected[np.abs(expected) < 0.3] = 0
    assert 0 < len(smaller.values) < len(ranker.values)
    assert (smaller.weights.toarray() == expected).all()
    assert (ranker.pruned(1e-9).weights != ranker.weights).nnz == 0


def test_prune_writes_a_smaller_model_and_measures_it(folder, families, tmp_path, capsys):
    arguments = ["prune", str(folder / "model"), "--out", str(tmp_path / "small"), "--threshold", "0.3"]
    assert main([*arguments, "--test", str(folder / "test.txt"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    before, (after,) = report["before"], report["after"]
    assert after["bytes"] < before["bytes"]
    assert after["P@1"] > before["P@1"] - 0.1
    smaller = mlgt.Predictor(tmp_path / "small")
    labels, _ = smaller.predict_topk(families[1][0], 1)
    assert mlgt.metrics.precision_at(families[1][1], labels, 1) == after["P@1"]
    assert main(arguments) == 2
    assert "--force" in capsys.readouterr().err


def test_several_thresholds_are_compared_but_not_written(folder, tmp_path, capsys):
    arguments = ["prune", str(folder / "model"), "--threshold", "0.2", "0.4"]
    assert main(arguments) == 0
    assert (
        len([line for line in capsys.readouterr().out.splitlines() if line.startswith((" 0.2", " 0.4"))])
        == 2
    )
    assert main([*arguments, "--out", str(tmp_path / "m")]) == 2
    assert "one --threshold" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_a_model_without_rankers_is_not_pruned(topics, tmp_path, capsys):
    mlgt.MLGTClassifier(n_groups=20, ranker=None).fit(*topics[0]).save(tmp_path / "m")
    assert main(["prune", str(tmp_path / "m"), "--threshold", "0.3"]) == 2
    assert "no rankers to prune" in capsys.readouterr().err
