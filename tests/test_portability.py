"""What other systems lack has a second way: `references/lacking.py` takes the first one away."""

import http.client
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mlgt

LACKING = [sys.executable, Path(__file__).parent / "references" / "lacking.py"]


def test_files_and_models_without_locks_exchanged_names_and_proc(tmp_path):
    """A model is replaced, read and used, with the same answers, and nothing is left beside it."""
    model, train, test = tmp_path / "m", tmp_path / "train.txt.gz", tmp_path / "test.txt.gz"
    sizes = "--rows 300 --test-rows 50 --features 300 --labels 40".split()
    training = ("train", train, "--model", model, "--jobs", 2, "--quiet", "--force")
    predict = ("predict", model, test, "-o", tmp_path / "out.txt", "--quiet")
    commands = ["synth", tmp_path, *sizes, "+", *training, "+", *training, "+", *predict]
    done = subprocess.run([*LACKING, *map(str, commands)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out.txt").read_text("utf-8").splitlines()) == 50
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]
    data = [mlgt.data.read_xmc(file) for file in (train, test)]
    here = mlgt.MLGTClassifier(random_state=0).fit(data[0].X, data[0].Y)
    assert (mlgt.load(model).predict_topk(data[1].X)[1] == here.predict_topk(data[1].X)[1]).all()


@pytest.mark.slow
def test_the_service_answers_without_fork(tmp_path):
    """One process answers instead of several, and says so."""
    pytest.importorskip("uvicorn", reason='mlgt serve needs pip install ".[serve]"')
    mlgt.TextTagger(random_state=0).fit(["cat", "dog"] * 50, [["a"], ["b"]] * 50).save(tmp_path / "m")
    command = [*LACKING, "serve", str(tmp_path / "m"), "--port", "0", "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = ""
        while not (port := re.search(r":(\d+)/", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        assert "cannot fork" in said
        connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=60)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
        connection.request("GET", "/ready")
        assert json.loads(connection.getresponse().read())
        connection.close()
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()
    assert "Traceback" not in said
