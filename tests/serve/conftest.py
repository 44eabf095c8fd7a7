"""Models small enough to train in a test, and `mlgt serve` as a process of its own on a real socket."""

import http.client
import json
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("starlette", reason='mlgt serve needs pip install ".[serve]"')
pytest.importorskip("uvicorn", reason='mlgt serve needs pip install ".[serve]"')

from mlgt import MLGTClassifier, Predictor, TextTagger
from mlgt.vocabulary import as_vocabulary

WORDS = {
    "cats": "cat purr whiskers meow".split(),
    "dogs & hounds": "dog bark leash fetch".split(),
    "<img src=x onerror=alert(1)>": "court judge law tort".split(),
    "Füße": "füße straße größe schuh".split(),
}
IDS = {"p1": "cats", "p2": ["dogs & hounds", "canines"], "p3": "<img src=x onerror=alert(1)>", "p4": "Füße"}


def examples(count=1500, seed=0):
    """(texts, lists of labels) that can be learnt."""
    rng = random.Random(seed)
    texts, lists = [], []
    for _ in range(count):
        labels = rng.sample(list(WORDS), rng.choice([1, 1, 2]))
        texts.append(
            " ".join(["the", *(rng.choice(WORDS[label]) for label in labels for _ in range(3)), "of"])
        )
        lists.append(labels)
    return texts, lists


class Server:
    """A process of `mlgt serve`."""

    def __init__(self, *arguments, cwd=None):
        command = [sys.executable, "-m", "mlgt", "serve", *map(str, arguments), "--port", "0"]
        self.process = subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True)
        self.log, self.port = [], None
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"at http://[^ ]*:(\d+)/", line):
                self.port = int(found[1])
                break
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        self.log.extend(self.process.stderr)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path, body=None, method=None, headers=(), timeout=60):
        """(status, content) of a request; `body` is bytes, text, or what becomes JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, body, dict(headers))
            answer = connection.getresponse()
            self.headers, text = answer.headers, answer.read().decode()
        finally:
            connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(text) if is_json else text

    def wait_for(self, holds, seconds=60):
        """Wait until holds() is true."""
        end = time.monotonic() + seconds
        while not (found := holds()):
            assert time.monotonic() < end, self.log
            time.sleep(0.02)
        return found

    def stop(self, sent=signal.SIGTERM):
        """Send a signal; return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(sent)
        status = self.process.wait(60)
        self._reader.join(10)
        self.process.stderr.close()
        return status


@pytest.fixture(scope="session")
def model_folders(topics, tmp_path_factory):
    """{name: folder}: a model of texts with a vocabulary, and one of rows without names."""
    folder = tmp_path_factory.mktemp("served")
    texts, lists = examples()
    tagger = TextTagger(random_state=0, vocabulary=as_vocabulary(IDS)).fit(texts, lists)
    tagger.save(folder / "animals")
    MLGTClassifier(random_state=0).fit(*topics[0]).save(folder / "rows")
    return {"animals": folder / "animals", "rows": folder / "rows"}


@pytest.fixture(scope="session")
def predictor(model_folders):
    return Predictor(model_folders["animals"])


@pytest.fixture(scope="session")
def server(model_folders):
    """The models, served until the tests end."""
    running = Server(*model_folders.values())
    yield running
    assert running.stop() == 0
    assert not [line for line in running.log if "Traceback" in line or "internal error" in line]


@pytest.fixture
def started(model_folders):
    """Starts servers, and ends them."""
    servers = []

    def start(*arguments):
        servers.append(Server(*(arguments or [model_folders["animals"]])))
        return servers[-1]

    yield start
    for server in servers:
        server.stop(signal.SIGKILL)
