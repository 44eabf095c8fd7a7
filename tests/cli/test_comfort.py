"""Verbs that make life easier: completion, doctor, prune."""

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache

import numpy as np
import pytest

import mlgt
from mlgt._core import health
from mlgt.classifiers.train import LinearGroups
from mlgt.cli import main, train
from mlgt.cli.completion import SHELLS
from mlgt.cli.main import VERBS
from mlgt.data import write_xmc
from mlgt.estimators import METHODS
from mlgt.labels.partition import PARTITIONERS


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


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment whose `mlgt` is this one, in an empty folder with one file."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "bin").mkdir()
    (folder / "rows.txt").touch()
    command = folder / "bin" / "mlgt"
    command.write_text(f"#!{sys.executable}\nfrom mlgt.__main__ import main\nraise SystemExit(main())\n")
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PWD": str(folder)}


@cache
def script_of(shell):
    with redirect_stdout(io.StringIO()) as script:
        assert main(["completion", shell]) == 0
    return script.getvalue()


def ask_shell(shell, code, environment, *words, before=""):
    """What a shell prints for `code`, which follows the script of `mlgt completion`."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    start = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f"], "fish": ["fish", "--no-config"]}[shell]
    done = subprocess.run(
        [*start, "-c", f"{before}{script_of(shell)}\n{code}", shell, *words],
        capture_output=True, text=True, env=environment, cwd=environment["PWD"],
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def completed_by_bash(environment, line):
    code = (
        "COMP_LINE=$1; COMP_POINT=${#1}; COMP_TYPE=9; COMP_WORDBREAKS=$' \t\n\"\\'><=;|&(:'\n"
        '_python_argcomplete mlgt; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return [word.strip() for word in ask_shell("bash", code, environment, line)]


def test_bash_completes_verbs_options_choices_and_files(environment):
    assert completed_by_bash(environment, "mlgt pr") == ["predict", "prune"]
    assert set(VERBS) <= set(completed_by_bash(environment, "mlgt "))
    assert completed_by_bash(environment, "mlgt train --met") == ["--method"]
    assert completed_by_bash(environment, "mlgt train --method c") == ["cw-gt"]
    assert completed_by_bash(environment, "mlgt train --method=c") == ["cw-gt"]
    assert completed_by_bash(environment, "mlgt completion ") == list(SHELLS)
    assert completed_by_bash(environment, "mlgt train r") == ["rows.txt"]


def test_fish_completes(environment):
    for line, found in {"mlgt train --met": "--method", "mlgt train --method c": "cw-gt"}.items():
        said = ask_shell("fish", f"complete -C '{line}'", environment)
        assert said[0].split("\t")[0] == found


def test_zsh_completes(environment):
    """The function is called as zsh does; _describe shows what it would offer."""
    code = (
        '_describe() { print -l -- "${(@)completions}" }; words=(mlgt train --method c); CURRENT=4\n'
        'BUFFER="mlgt train --method c"; CURSOR=${#BUFFER}; autoload is-at-least; _python_argcomplete'
    )
    assert ask_shell("zsh", code, environment, before="compdef() { : }\n")[0].split(":")[0] == "cw-gt"


def test_options_of_the_command_line_import_nothing_heavy():
    """Help and completion would take seconds; the choices are those of the packages."""
    heavy = "numpy scipy sklearn numba pandas matplotlib argcomplete".split()
    code = (
        "import sys; from mlgt.cli.main import make_parser; make_parser('train'); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert tuple(METHODS) == train.METHOD_NAMES
    assert PARTITIONERS == train.PARTITIONER_NAMES


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
    monkeypatch.setattr(health, "requirements", lambda: iter(wanted))
    assert main(["doctor", "--json"]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["numpy"]["status"] == "broken"
    assert "expected 9999.1 or newer" in checks["numpy"]["found"]
    assert checks["[extra]"]["status"] == checks["nix"]["status"] == "note"
    assert checks["[extra]"]["fix"] == "pip install no-such-package"
    assert main(["doctor"]) == 1
    assert "numpy: pip install -U numpy" in capsys.readouterr().out


def test_versions_compare_as_numbers():
    assert health.version_numbers("1.26.0rc1") == (1, 26, 0)
    assert (
        health.version_numbers("2.4.6")
        > health.version_numbers("2.4")
        > health.version_numbers("1.30+local")
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


def test_pruning_groups_drops_features_with_small_weights(folder, families):
    groups = mlgt.load(folder / "model").model_.classifiers
    smaller, peaks = groups.pruned(0.5), np.abs(groups.coef).max(axis=1)
    kept = peaks >= min(0.5 * np.quantile(peaks, 0.99), np.median(peaks))
    assert kept.sum() >= len(kept) // 2
    assert 0 < kept.sum() < len(kept)
    assert smaller.weights.shape == (kept.sum(), groups.n_groups)
    expected = np.where(kept[:, None], groups.coef, 0)
    assert (smaller.coef == expected).all()
    X = families[1][0]
    assert smaller.margins(X) == pytest.approx(X @ expected + groups.intercept, abs=1e-3)
    grown = smaller.with_features(3)
    assert grown.coef.shape == (len(kept) + 3, groups.n_groups)
    assert 0 < len(groups.pruned(9.0).weights) < len(smaller.weights)


def test_forged_features_of_groups_are_refused(folder):
    smaller = mlgt.load(folder / "model").model_.classifiers.pruned(0.5)
    arrays, p = smaller.to_arrays(), smaller.n_features
    assert (LinearGroups.from_arrays(arrays, p).coef == smaller.coef).all()
    features = arrays["coef_features"]
    for forged in (
        features[::-1].copy(),
        features[:-1],
        features * 0,
        features - 1,
        features + p,
        features * 1.0,
    ):
        with pytest.raises(ValueError, match="coef"):
            LinearGroups.from_arrays(arrays | {"coef_features": forged}, p)


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
    assert after["group_weights"] < before["group_weights"]
    row = families[1][0][[0]]
    assert smaller(row.indices, row.data, 1)[0] == labels[0]
    assert mlgt.load(tmp_path / "small").extend(*families[1]).predict_topk(row, 1)[0].shape == (1, 1)
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
