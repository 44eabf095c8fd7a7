"""The verbs of the command: what they print and what they leave behind."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mlgt
from mlgt.cli import main
from mlgt.data import write_xmc
from mlgt.metrics import evaluate

SMALL = ["--n-groups", "20", "--column-weight", "5"]


def test_train_predict_evaluate_inspect(folder, topics, capsys):
    X, Y = topics[1]
    model = mlgt.load(folder / "model")
    labels, _ = model.predict_topk(X, 5)
    assert main(["evaluate", str(folder / "model"), str(folder / "test.txt.gz"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    library = evaluate(Y, labels, train_counts=model.label_counts_, n_train=400)
    assert {name: report[name] for name in library} == library
    assert report["ms_per_instance"] > 0
    low, high = report["intervals"]["P@1"]
    assert low <= report["P@1"] <= high

    assert main(["predict", str(folder / "model"), str(folder / "test.txt.gz"), "-k", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [[int(pair.split(":")[0]) for pair in line.split()] for line in lines] == labels.tolist()

    assert main(["evaluate", str(folder / "model"), str(folder / "test.txt.gz")]) == 0
    assert f"{report['P@1']:.4f}" in capsys.readouterr().out
    assert main(["inspect", str(folder / "model"), "--verify"]) == 0
    said = capsys.readouterr().out
    assert "checksums are right" in said
    assert "30, 30 of them seen in training" in said


def test_the_command_trains_the_librarys_model(folder, topics):
    theirs = mlgt.load(folder / "model")
    ours = mlgt.MLGTClassifier(n_groups=20, column_weight=5, random_state=0).fit(*topics[0])
    assert (theirs.classifiers_.coef == ours.classifiers_.coef).all()


@pytest.mark.parametrize("method", ["nmf-gt", "cw-gt", "sp-gt"])
def test_the_papers_methods_by_name(folder, tmp_path, method):
    assert (
        main(["train", str(folder / "train.txt"), "--model", str(tmp_path / "m"), "--method", method]) == 0
    )
    assert mlgt.load(tmp_path / "m").decoder == "top_k"


def test_saffron_by_name(folder, topics, tmp_path, capsys):
    model, test = str(tmp_path / "m"), str(folder / "test.txt.gz")
    assert main(["train", str(folder / "train.txt"), "--model", model, "--method", "saffron"]) == 0
    trained = mlgt.load(model)
    assert (trained.construction, trained.decoder) == ("saffron", "saffron")
    assert main(["inspect", model, "--verify"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"bins {trained.design_.n_bins} " in said
    assert (
        f"binary digits of an address {trained.design_.n_bits} tests per bin {trained.design_.n_tests}"
        in said
    )
    assert main(["evaluate", model, test, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["P@1"] > 0.9
    assert main(["predict", model, test, "-k", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = [[int(pair.split(":")[0]) for pair in line.split()] for line in lines]
    assert found == trained.predict_topk(topics[1][0], 3)[0].tolist()


def test_seed_and_jobs(folder, tmp_path):
    for name, extra in {"a": ["--jobs", "1"], "b": ["--jobs", "2"], "c": ["--seed", "1"]}.items():
        assert (
            main(["train", str(folder / "train.txt"), "--model", str(tmp_path / name), *SMALL, *extra]) == 0
        )
    a, b, c = (np.load(tmp_path / name / "coef.npy") for name in "abc")
    assert (a == b).all()
    assert (a != c).any()


def test_a_tail_is_passed_on(folder, tmp_path, capsys):
    arguments = ["train", str(folder / "train.txt"), "--model", str(tmp_path / "m"), "--tail", "0.5"]
    assert main([*arguments, *SMALL]) == 0
    assert mlgt.load(tmp_path / "m").tail == 0.5
    assert main([*arguments, "--force", "--method", "nmf-gt"]) == 2
    assert "no effect on the paper's methods" in capsys.readouterr().err


def test_label_names_and_jsonl(folder, tmp_path, capsys):
    (tmp_path / "names.txt").write_text("\n".join(f"Thema {j} ä" for j in range(30)), "utf-8")
    arguments = ["--model", str(tmp_path / "m"), "--label-names", str(tmp_path / "names.txt"), *SMALL]
    assert main(["train", str(folder / "train.txt"), *arguments]) == 0
    out = tmp_path / "out.jsonl"
    test = str(folder / "test.txt.gz")
    assert main(["predict", str(tmp_path / "m"), test, "--format", "jsonl", "-o", str(out)]) == 0
    rows = [json.loads(line)["predicted"] for line in out.read_text("utf-8").splitlines()]
    assert len(rows) == 200
    assert all(entry["name"] == f"Thema {entry['id']} ä" for entry in rows[0])
    assert capsys.readouterr().out == ""


def test_predict_reads_rows_without_labels_and_without_header(folder, topics, tmp_path, capsys):
    X, Y = topics[1]
    write_xmc(tmp_path / "bare.txt", X[:, :100], 0 * Y, header=False)
    assert main(["predict", str(folder / "model"), str(tmp_path / "bare.txt")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 200


def test_input_from_a_pipe(folder, topics):
    rows = gzip.decompress((folder / "test.txt.gz").read_bytes()) * 1
    command = [sys.executable, "-m", "mlgt", "predict", folder / "model", "/dev/stdin"]
    if not os.path.exists("/dev/stdin"):
        pytest.skip("no /dev/stdin here")
    done = subprocess.run(command, input=rows, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 200


def test_predicted_ids_are_counted_as_in_the_file(folder, tmp_path, capsys):
    (tmp_path / "row.txt").write_text("1:1 2:1\n")
    assert main(["predict", str(folder / "model"), str(tmp_path / "row.txt")]) == 0
    zero = [int(pair.split(":")[0]) for pair in capsys.readouterr().out.split()]
    assert main(["predict", str(folder / "model"), str(tmp_path / "row.txt"), "--first-label", "1"]) == 0
    assert [int(pair.split(":")[0]) for pair in capsys.readouterr().out.split()] == [l + 1 for l in zero]


def test_odd_paths_and_names(folder, tmp_path, capsys):
    names = tmp_path / "names.txt"
    names.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(f"n{j}\u2028x" for j in range(30)).encode())
    model = str(tmp_path / "[/x] ü")
    arguments = ["--model", model, "--label-names", str(names), *SMALL]
    assert main(["train", str(folder / "train.txt"), *arguments]) == 0
    assert mlgt.load(model).classes_[0] == "n0\u2028x"
    assert main(["inspect", model]) == 0
    assert "[/x]" in capsys.readouterr().out
    assert main(["predict", model, str(folder / "test.txt.gz"), "-o", os.devnull]) == 0


def test_tables_fit_eighty_columns(folder, capsys):
    assert main(["evaluate", str(folder / "model"), str(folder / "test.txt.gz")]) == 0
    lines = capsys.readouterr().out.splitlines()
    (precision,) = [line for line in lines if line.strip().startswith("P@k")]
    assert precision.count("+") == 3
    assert len(precision.rstrip()) <= 80


def test_closed_output_is_no_fault(folder):
    predict = f'"{sys.executable}" -m mlgt predict --quiet "{folder / "model"}"'
    command = f'{predict} "{folder / "test.txt.gz"}" >&-'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_ids_from_one(folder, topics, tmp_path):
    (tmp_path / "one.txt").write_text("2 3 3\n1 1:1 2:1\n2,3 3:1\n")
    arguments = ["--model", str(tmp_path / "m"), "--first-label", "1", "--first-feature", "1"]
    assert main(["train", str(tmp_path / "one.txt"), *arguments]) == 0
    assert mlgt.load(tmp_path / "m").label_counts_.tolist() == [1, 1, 1]


def test_force_replaces_and_only_force(folder, tmp_path, capsys):
    arguments = ["train", str(folder / "train.txt"), "--model", str(tmp_path / "m"), *SMALL]
    assert main(arguments) == 0
    assert main(arguments) == 2
    assert "holds a model already; pass --force to replace it" in capsys.readouterr().err
    assert main([*arguments, "--force", "--seed", "1"]) == 0
    assert mlgt.load(tmp_path / "m").random_state == 1
    assert [f.name for f in tmp_path.iterdir()] == ["m"]


def test_help_is_light_and_names_the_verbs():
    heavy = "numpy scipy sklearn numba rich matplotlib"
    code = (
        "import sys\nfrom mlgt.cli import main\ntry: main(['--help'])\n"
        f"finally: print([m for m in {heavy.split()} if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.rstrip().endswith("[]")
    for verb in ("demo", "train", "predict", "evaluate", "inspect", "synth"):
        assert verb in said


def test_predicting_does_not_wait_for_scikit_learn(folder):
    """Half of the start-up time, were it imported."""
    code = (
        "import sys; from mlgt.cli import main; main(sys.argv[1:]); "
        "print([m for m in ('sklearn', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, "predict", folder / "model", folder / "test.txt.gz"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_one_line_when_not_a_terminal(folder, tmp_path, mlgt_command):
    command = "train", folder / "train.txt", "--model", tmp_path / "m", *SMALL
    done = mlgt_command(*command)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "", 1)
    assert f"the model is in {tmp_path / 'm'}" in done.stderr
    done = mlgt_command(*command, "--force", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_bars_on_a_terminal(folder, tmp_path):
    pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of Unix")
    leader, follower = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "mlgt",
        "train",
        folder / "train.txt",
        "--model",
        tmp_path / "m",
        *SMALL,
    ]
    process = subprocess.Popen(command, stderr=follower, stdout=subprocess.DEVNULL)
    os.close(follower)
    said = b""
    while True:
        try:
            block = os.read(leader, 4096)
        except OSError:
            break
        if not block:
            break
        said += block
    assert process.wait() == 0
    for words in (b"reading", b"grouping labels", b"training classifiers", b"next: mlgt evaluate"):
        assert words in said


def test_a_closed_pipe_is_no_error(folder):
    predict = f'"{sys.executable}" -m mlgt predict --quiet "{folder / "model"}"'
    command = f'{predict} "{folder / "test.txt.gz"}" | head -1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_demo_prints_a_table_and_draws_a_picture(tmp_path, capsys):
    assert main(["demo", "-o", str(tmp_path / "demo.png")]) == 0
    said = capsys.readouterr().out
    table = {row[0]: row for row in map(str.split, said.splitlines()) if len(row) == 10}
    precision = {name: float(table[name][2]) for name in ("mlgt", "one-vs-all", "frequent")}
    assert all(len(line.rstrip()) <= 80 for line in said.splitlines() if line.startswith(" mlgt"))
    assert precision["mlgt"] > 0.8
    assert precision["one-vs-all"] > 0.8
    assert precision["frequent"] < 0.5
    assert said.count("missed:") == 3
    assert "mlgt train TRAIN --model DIR" in said
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_evaluate_shows_the_worst_and_the_best_labels(folder, topics, tmp_path, capsys):
    X, Y = topics[1]
    wrong = np.roll(np.arange(200), 1)
    wrong[40:] = np.arange(40, 200)  # rows 1 to 40 have the labels of others
    write_xmc(tmp_path / "test.txt", X, Y[wrong])
    names = tmp_path / "names.txt"
    names.write_text("\n".join(f"name {j}" for j in range(30)), "utf-8")
    model, page = str(tmp_path / "m"), tmp_path / "page.html"
    assert main(["train", str(folder / "train.txt"), "--model", model, "--label-names", str(names)]) == 0
    arguments = ["evaluate", model, str(tmp_path / "test.txt"), "--show", "3"]
    assert main([*arguments, "--json", "--html", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)["diagnosis"]
    assert [len(found[f"{end}_labels"]) for end in ("worst", "best")] == [3, 3]
    assert found["worst_labels"][0]["F1"] < found["best_labels"][-1]["F1"]
    assert [row["precision"] for row in found["coverage"]][-1] > found["coverage"][0]["precision"]
    assert {error["row"] for error in found["errors"]} <= set(range(1, 41))
    assert not all(label["right"] for label in found["errors"][0]["predicted"])
    assert found["best_labels"][0]["name"] in page.read_text("utf-8")
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert found["worst_labels"][0]["name"] in said
    assert f"row {found['errors'][0]['row']}:" in said


def test_evaluate_without_probabilities(folder, tmp_path, capsys):
    model, page = str(tmp_path / "m"), tmp_path / "page.html"
    assert main(["train", str(folder / "train.txt"), "--model", model, "--method", "cw-gt"]) == 0
    arguments = ["evaluate", model, str(folder / "test.txt.gz")]
    assert main([*arguments, "--json", "--html", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)["diagnosis"]
    assert "coverage" not in found
    assert page.read_text("utf-8").count("<svg") == 1
    assert main([*arguments, "--plot", str(tmp_path / "x.png")]) == 2
    assert "no calibrated probabilities" in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()
