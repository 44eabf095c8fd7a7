"""Files made to fill memory or to crash: one line of error and status 2, or a result in proportion."""

import gzip
import json
import subprocess
import sys

import pytest

from mlgt.cli import main

MANY = 2**31 - 1
"""Largest number of ids."""
GAPS = {
    "header": "3 5 100000000\n0 1:1\n1,99999999 2:1 3:1\n5 4:1\n",
    "label": f"{MANY - 1} 1:2\n3,{MANY - 1} 2:1\n7 0:1\n",
    "feature": f"3 1:2 {MANY - 1}:1\n1 {MANY - 1}:1 0:1\n2 0:3\n",
    "neither occurs": f"2 {MANY} {MANY}\n7\n0\n",
}
IN_LITTLE_MEMORY = """
import json, resource, sys
from mlgt.cli import main
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # instead of filling the machine
status = [main(arguments) for arguments in json.loads(sys.argv[1])]
print(status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "name", ["label", *(pytest.param(name, marks=pytest.mark.slow) for name in GAPS if name != "label")]
)
def test_ids_that_never_occur_cost_nothing(name, tmp_path):
    pytest.importorskip("resource", reason="limits of memory need a Unix")
    rows, models = tmp_path / "rows.txt", [str(tmp_path / model) for model in ("flat", "blocks", "grown")]
    rows.write_text(GAPS[name])
    data = str(rows)
    verbs = [
        ["train", data, "--model", models[0]],
        ["train", data, "--model", models[1], "--blocks", "2"],
        ["update", models[0], data, "--out", models[2]],
    ]
    for model in models:
        verbs += [["predict", model, data, "-k", "1"], ["inspect", model]]
        verbs += [["evaluate", model, data], ["explain", model, "--row", f"{data}:1"]]
    command = [sys.executable, "-c", IN_LITTLE_MEMORY, json.dumps(verbs)]
    done = subprocess.run(command, capture_output=True, text=True)
    *_, last = done.stderr.splitlines()
    status, kilobytes = json.loads(last[: last.index("]") + 1]), int(last.split("] ")[1])
    assert status == [0] * len(verbs), done.stderr
    assert kilobytes < 1_000_000
    assert sum(file.stat().st_size for file in tmp_path.rglob("*")) < 1_000_000


def refused(capsys, *arguments):
    """The one line that the command says."""
    assert main([*map(str, arguments), "--quiet"]) == 2
    said = capsys.readouterr().err.rstrip("\n")
    assert "\n" not in said
    return said


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "rows.txt").write_text("2 3 3\n0,1 0:1\n2 1:1\n" * 1)
    assert main(["train", str(folder / "rows.txt"), "--model", str(folder / "m"), "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("option", ["--label-names", "--groups", "--partition"])
def test_little_gzip_in_files_of_options(option, model, tmp_path, capsys):
    packed = tmp_path / "zeros.gz"
    packed.write_bytes(gzip.compress(bytes(20 << 20)))
    train = ("train", model / "rows.txt", "--model", tmp_path / "m2", option, packed)
    assert "bytes of gzip data unpack to more than" in refused(capsys, *train)
    assert "pass --max-ratio 500" in refused(capsys, *train, "--max-ratio", "50")


def test_lists_of_labels(model, tmp_path, capsys):
    predict = ("predict", model / "m", model / "rows.txt", "--among", tmp_path / "among")
    (tmp_path / "among").write_bytes(gzip.compress(bytes(20 << 20)))
    assert "bytes of gzip data unpack to more than" in refused(capsys, *predict)
    (tmp_path / "among").write_text("1\n\n" + "9" * 5000)
    assert "among, line 3: '9999999999" in refused(capsys, *predict)
    (tmp_path / "among").write_bytes(b"1\n\xff")
    assert "among, line 2: this is not UTF-8 text" in refused(capsys, *predict)
    train = ("train", model / "rows.txt", "--model", tmp_path / "m2", "--groups", tmp_path / "groups")
    (tmp_path / "groups").write_text("1\n" + "9" * 5000)
    assert "groups, line 2: '99999999" in refused(capsys, *train)
    row = f"{model / 'rows.txt'}:{'9' * 5000}"
    assert "is not FILE:N" in refused(capsys, "explain", model / "m", "--row", row)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'{"text": "a", "labels": ["x"]}\n{"text": "a", "labels": [' + b"9" * 5000 + b"]}",
            "line 2: this is",
        ),
        (b'{"text": "a\\ud800", "labels": ["x"]}\n', r"line 1: \ud800 is half of a surrogate pair"),
        (b'{"text": "\xff", "labels": ["x"]}\n', "line 1: this is not UTF-8 text"),
    ],
)
def test_odd_records(content, said, tmp_path, capsys):
    (tmp_path / "rows.jsonl").write_bytes(content)
    assert f"rows.jsonl, {said}" in refused(
        capsys, "train", tmp_path / "rows.jsonl", "--model", tmp_path / "m"
    )


def test_the_longest_line_is_an_option(tmp_path, capsys):
    (tmp_path / "rows.jsonl").write_text('{"text": "' + "a " * (1 << 20) + '", "labels": ["x"]}\n')
    train = ("train", tmp_path / "rows.jsonl", "--model", tmp_path / "m")
    assert "line 1: this line has more than 1 MB" in refused(capsys, *train, "--max-line", "1")
    assert main([*map(str, train), "--max-line", "3", "--quiet"]) == 0
    with pytest.raises(SystemExit):
        main([*map(str, train), "--max-line", "0"])
    assert "'0' is not a number above 0" in capsys.readouterr().err
