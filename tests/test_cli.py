"""The command line: what it prints, what it leaves behind, and how it says that something is wrong."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mlgt
from mlgt.cli import main
from mlgt.data import write_xmc
from mlgt.data.files import replacing
from mlgt.metrics import evaluate


@pytest.fixture(scope="module")
def folder(topics, tmp_path_factory):
    """train.txt, test.txt.gz and a trained model."""
    folder = tmp_path_factory.mktemp("cli")
    write_xmc(folder / "train.txt", *topics[0])
    write_xmc(folder / "test.txt.gz", *topics[1])
    assert main(["train", str(folder / "train.txt"), "--model", str(folder / "model"), *SMALL]) == 0
    return folder


SMALL = ["--n-groups", "20", "--column-weight", "5"]


def mlgt_command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "mlgt", *map(str, arguments)], capture_output=True, text=True, **options
    )


# ---- what works ----


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
    assert "All 5 checksums are right" in said
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
        f"binary digits of an address {trained.design_.n_bits} tests a bin {trained.design_.n_tests}"
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
    rows = [json.loads(line)["labels"] for line in out.read_text("utf-8").splitlines()]
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
    command = f'"{sys.executable}" -m mlgt predict "{folder / "model"}" "{folder / "test.txt.gz"}" >&-'
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


def test_quiet_when_not_a_terminal(folder, tmp_path):
    done = mlgt_command("train", folder / "train.txt", "--model", tmp_path / "m", *SMALL)
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
    command = (
        f'"{sys.executable}" -m mlgt predict "{folder / "model"}" "{folder / "test.txt.gz"}" | head -1'
    )
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


# ---- what is wrong with a file ----

BAD_FILES = {
    "label-range": (b"2 3 3\n0 1:1\n3 2:1\n", "line 3: label 3 is out of range for 3 labels"),
    "ids-from-one": (b"2 3 3\n0 1:1\n3 2:1\n", "If yours start at 1, pass --first-label 1."),
    "feature-range": (b"1 3 3\n0 3:1\n", "line 2: feature 3 is out of range for 3 features"),
    "malformed": (b"1 3 3\n0 1=1\n", "line 2: '1=1' has no colon"),
    "nan": (b"1 3 3\n0 1:nan\n", "line 2: the value 'nan' of feature 1 is not finite"),
    "infinity": (b"1 3 3\n0 1:inf\n", "line 2: the value 'inf' of feature 1 is not finite"),
    "too-few-rows": (
        b"3 3 3\n0 1:1\n",
        "the file ends after 1 rows; expected the 3 that the header counts",
    ),
    "too-many-rows": (b"1 3 3\n0 1:1\n1 1:1\n", "line 3: the header counts 1 rows, but here is one more"),
    "10^12-labels": (b"1 3 1000000000000\n0 1:1\n", "line 1: the header counts 1000000000000 labels"),
    "2*10^9-labels": (b"1 3 2000000000\n0 1:1\n", "2000000000 labels (1 occur)"),
    "2*10^9-features": (b"1 2000000000 3\n0 1:1\n", "on 2000000000 features would need about"),
    "no-label-at-all": (b"2 3 3\n 1:1\n 2:1\n", "no positive label in any row"),
    "empty": (b"", "the file is empty"),
    "header-only": (b"0 3 3\n", "the file has no rows"),
    "no-features": (b"1 0 3\n0\n", "the file has no features"),
    "binary": (b"1 3 3\n\0\1\2", "a NUL byte, so this is no text"),
    "truncated-gzip": (gzip.compress(b"1 3 3\n0 1:1\n" * 50)[:-12], "the gzip data is cut short"),
    "corrupt-gzip": (b"\x1f\x8b" + b"nonsense" * 9, "the gzip data is corrupt"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_training_file_gives_one_clear_message(name, tmp_path, capsys):
    content, message = BAD_FILES[name]
    (tmp_path / "bad.txt").write_bytes(content)
    assert main(["train", str(tmp_path / "bad.txt"), "--model", str(tmp_path / "m")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    assert [f.name for f in tmp_path.iterdir()] == ["bad.txt"]


BAD_REQUESTS = {
    "c-above-m": (["train", "{train}", "--model", "{new}", "--n-groups", "4", "--column-weight", "5"],
                  "column_weight=5 exceeds 4, the number of groups"),
    "few-for-saffron": (["train", "{train}", "--model", "{new}", "--method", "saffron", "--n-groups", "9"],
                        "9 groups do not make 1 bins for 30 labels"),
    "k-above-d": (["predict", "{model}", "{test}", "-k", "31"], "k=31 is not within 1 to 30"),
    "no-such-file": (["train", "{new}", "--model", "{new}"], "there is no such file"),
    "folder-for-file": (["train", "{folder}", "--model", "{new}"], "this is a folder"),
    "file-for-model": (["predict", "{train}", "{test}"], "is not a model folder"),
    "no-such-model": (["evaluate", "{new}", "{test}"], "there is no such folder"),
    "model-in-a-file": (["train", "{train}", "--model", "{train}"], "is no model folder"),
    "model-below-a-file": (["train", "{train}", "--model", "{train}/m"], "train.txt"),
    "output-is-a-folder": (["predict", "{model}", "{test}", "-o", "{folder}"], "this is a folder"),
    "output-nowhere": (["predict", "{model}", "{test}", "-o", "{new}/out"], "does not exist"),
    "model-here": (["train", "{train}", "--model", "."], "is the current folder"),
    "picture-nowhere": (["demo", "-o", "{new}/x.png"], "the folder of the picture does not exist"),
    "names-miscounted": (["train", "{train}", "--model", "{new}", "--label-names", "{train}"],
                         "401 lines, but there are 30 labels"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_gives_one_clear_message(name, folder, capsys):
    arguments, message = BAD_REQUESTS[name]
    places = {
        "train": folder / "train.txt", "test": folder / "test.txt.gz", "model": folder / "model",
        "new": folder / "new", "folder": folder,
    }  # fmt: skip
    before = sorted(folder.rglob("*"))
    assert main([argument.format(**places) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("option", [["-k", "0"], ["-k", "many"], ["--jobs", "0"], ["--magic"]])
def test_bad_options_are_explained_by_the_parser(option, folder, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["predict", str(folder / "model"), str(folder / "test.txt.gz"), *option])
    assert stop.value.code == 2
    assert option[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "content", "message"),
    [
        ("predict", "1 99 30\n0 1:1\n", "the header counts 99 features, but the model in"),
        ("evaluate", "1 99 30\n0 1:1\n", "was trained with 120"),
        ("evaluate", "1 120 31\n0 1:1\n", "the header counts 31 labels, but the model in"),
        ("predict", "0 120:1\n", "line 1: feature 120 is out of range for 120 features"),
        ("evaluate", "30 1:1\n", "line 1: label 30 is out of range for 30 labels"),
        ("evaluate", "0 120 30\n", "the file has no rows"),
        ("predict", "0 1:x\n", "is not a number"),
    ],
)
def test_rows_of_another_shape_than_the_models(verb, content, message, folder, tmp_path, capsys):
    (tmp_path / "other.txt").write_text(content)
    assert main([verb, str(folder / "model"), str(tmp_path / "other.txt")]) == 2
    assert message in capsys.readouterr().err


def edit_header(**changes):
    def damage(folder):
        header = json.loads((folder / "model.json").read_text())
        (folder / "model.json").write_text(json.dumps(header | changes))

    return damage


def flip_last_byte(folder):
    content = bytearray((folder / "coef.npy").read_bytes())
    content[-1] ^= 1
    (folder / "coef.npy").write_bytes(content)


DAMAGES = {
    "missing": (lambda m: (m / "coef.npy").unlink(), "coef.npy is missing"),
    "truncated": (lambda m: os.truncate(m / "coef.npy", 100), "coef.npy has 100 bytes; expected"),
    "altered": (flip_last_byte, "coef.npy was altered"),
    "no-header": (lambda m: (m / "model.json").unlink(), "it has no model.json"),
    "broken-header": (lambda m: os.truncate(m / "model.json", 50), "cannot be read as JSON"),
    "newer": (edit_header(format_version=99, mlgt_version="9.9"), "written by mlgt 9.9"),
    "incomplete": (edit_header(params={}), "does not describe a whole model"),
}


@pytest.mark.parametrize("verb", ["predict", "evaluate", "inspect"])
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_model_gives_one_clear_message(verb, name, folder, tmp_path, capsys):
    import shutil

    damage, message = DAMAGES[name]
    shutil.copytree(folder / "model", tmp_path / "m")
    damage(tmp_path / "m")
    rows = [] if verb == "inspect" else [str(folder / "test.txt.gz")]
    assert main([verb, str(tmp_path / "m"), *rows, *(["--verify"] if verb == "inspect" else [])]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "Traceback" not in said.err


# ---- what the system refuses ----


def test_a_full_disk_leaves_the_old_model_whole(folder, tmp_path, capsys, monkeypatch):
    arguments = ["train", str(folder / "train.txt"), "--model", str(tmp_path / "m"), *SMALL]
    assert main(arguments) == 0

    def full(*_, **__):
        raise OSError(28, "No space left on device", str(tmp_path / "m"))

    monkeypatch.setattr("mlgt.model_files.np.save", full)
    assert main([*arguments, "--force"]) == 2
    assert "No space left on device; free some space" in capsys.readouterr().err
    assert [f.name for f in tmp_path.iterdir()] == ["m"]
    mlgt.load(tmp_path / "m")


def test_a_file_size_limit_stops_a_write_cleanly(folder, tmp_path):
    resource = pytest.importorskip("resource", reason="limits on file size are a thing of Unix")
    done = mlgt_command(
        "predict", folder / "model", folder / "test.txt.gz", "-o", tmp_path / "out",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def without_rights():
    """Root may do everything; give that up for a while."""
    if sys.platform == "win32":
        pytest.skip("permissions differ on Windows")
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    yield
    os.seteuid(was)


def test_no_permission(folder, tmp_path, capsys, request):
    secret, closed = tmp_path / "secret.txt", tmp_path / "closed"
    secret.write_text("1 1 1\n0 0:1\n")
    secret.chmod(0)
    closed.mkdir(mode=0o555)
    for place in (tmp_path, *tmp_path.parents[:2]):
        place.chmod(0o755)
    free = tmp_path / "free"
    free.mkdir()
    free.chmod(0o777)
    request.getfixturevalue("without_rights")
    assert main(["train", str(secret), "--model", str(free / "m")]) == 2
    assert capsys.readouterr().err == f"mlgt: {secret}: the file may not be read; check its permissions.\n"
    for beyond in ("m", "deep/m"):
        assert main(["train", str(free / "no file"), "--model", str(closed / beyond)]) == 2
        said = capsys.readouterr().err  # before anything is read, not after training
        assert said == f"mlgt: {closed}: the folder may not be written; choose another place.\n"
    with pytest.raises(PermissionError, match="the folder may not be written"), replacing(closed / "out"):
        pass
    assert list(closed.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent differently on Windows")
def test_ctrl_c_exits_130_and_leaves_nothing(tmp_path):
    """Stopped in the middle of training: 30,000 groups would take minutes."""
    rng = np.random.default_rng(0)
    write_xmc(tmp_path / "train.txt", rng.random((2000, 300)), rng.random((2000, 40)) < 0.05)
    code = (  # a shell that runs things in the background has them ignore Ctrl-C
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from mlgt.cli import main; print('up', flush=True); sys.exit(main())"
    )
    options = ["--method", "sp-gt", "--n-groups", "30000"]
    command = [
        sys.executable,
        "-c",
        code,
        "train",
        tmp_path / "train.txt",
        "--model",
        tmp_path / "m",
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(4.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "mlgt: stopped by Ctrl-C; nothing was left behind."
    assert "Traceback" not in said
    assert [f.name for f in tmp_path.iterdir()] == ["train.txt"]


def test_ctrl_c_while_the_command_line_is_made(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["mlgt.cli.main"], "make_parser", interrupted)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "mlgt: stopped by Ctrl-C; nothing was left behind.\n"


def test_without_a_verb_the_help_is_shown(capsys):
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_a_fault_of_our_own_is_called_one(folder, capsys, monkeypatch):
    monkeypatch.setattr("mlgt.model_files.read_header", lambda path: 1 / 0)
    assert main(["inspect", str(folder / "model")]) == 1
    said = capsys.readouterr().err
    assert "internal error: ZeroDivisionError" in said
    assert "Traceback" not in said


# ---- evaluate, for people ----


def test_evaluate_says_what_is_good_and_what_is_not(folder, topics, tmp_path, capsys):
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
