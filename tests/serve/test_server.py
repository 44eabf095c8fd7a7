"""The life of the server: signals, models that are replaced, tokens, workers, clients that misbehave."""

import asyncio
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import uvicorn

from mlgt import load
from mlgt.errors import VocabularyWarning
from mlgt.serve import Models, connection
from mlgt.serve.app import make_app
from mlgt.serve.service import Service

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")
BODY = {"text": "the cat purrs", "k": 1}


def answer_to(port, data):
    """The answer to bytes, up to the end of its JSON."""
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        client.sendall(data)
        return received_by(client)


def received_by(client):
    received = b""
    while not received.endswith(b"}") and (part := client.recv(65536)):
        received += part
    return received


def request_bytes(path, body, more=""):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{more}"
    return f"{head}\r\n{body}".encode()


@pytest.mark.parametrize(("sent", "workers"), [(signal.SIGTERM, 1), (signal.SIGINT, 2)])
def test_a_signal_lets_requests_under_way_finish(started, model_folders, sent, workers):
    server = started(model_folders["animals"], "--workers", workers)
    lines = {"texts": ["the cat and the dog " * 200] * 2000, "k": 3, "stream": True}
    with socket.create_connection(("127.0.0.1", server.port), 60) as client:
        client.sendall(request_bytes("/v1/models/animals/tag", json.dumps(lines), "Connection: close\r\n"))
        received = client.recv(1000)  # the answer has begun
        server.process.send_signal(sent)
        while part := client.recv(1 << 20):
            received += part
    assert received.count(b'{"result":') == 2000
    assert received.endswith(b"0\r\n\r\n")
    assert server.stop() == 0


def test_a_replaced_model_is_picked_up_and_no_request_is_lost(started, model_folders, tmp_path):
    place = tmp_path / "animals"
    shutil.copytree(model_folders["animals"], place)
    server = started(place, "--reload")
    done, statuses = threading.Event(), []

    def ask_all_the_time():
        while not done.is_set():
            statuses.append(server.ask("/v1/models/animals/tag", BODY)[0])

    threads = [threading.Thread(target=ask_all_the_time) for _ in range(3)]
    for thread in threads:
        thread.start()
    tagger = load(place)
    with pytest.warns(VocabularyWarning, match="zebras"):
        tagger.extend(["zebra stripes zebra cat"] * 30, [["zebras"]] * 30)
    tagger.save(place, overwrite=True)
    server.wait_for(lambda: server.ask("/v1/models/animals")[1]["labels"] == 5)
    (place / "model.json").write_text("{}")  # a broken one is refused, and the old one stays
    server.wait_for(lambda: "could not be read again" in "".join(server.log))
    done.set()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200}
    assert server.ask("/v1/models/animals")[1]["labels"] == 5
    assert "mlgt_reloads_total 1\n" in server.ask("/metrics")[1]


def test_a_token_is_needed_where_one_is_set(started, model_folders, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef\n")
    server = started(model_folders["animals"], "--token-file", tmp_path / "token")
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "0123456789abcdef"}):
        status, answer = server.ask("/v1/models/animals/tag", BODY, headers=headers)
        assert (status, server.headers["www-authenticate"]) == (401, "Bearer")
        assert "Bearer TOKEN" in answer["error"]
    assert server.ask("/metrics")[0] == 401
    headers = {"Authorization": "Bearer 0123456789abcdef", "Host": "tags.example"}
    assert server.ask("/v1/models/animals/tag", BODY, headers=headers)[0] == 200
    assert [server.ask(path)[0] for path in ("/", "/static/page.js", "/health")] == [200] * 3


def test_workers_share_counts_read_models_again_and_are_started_again(started, model_folders):
    server = started(model_folders["animals"], "--workers", 3, "--quiet")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda _: server.ask("/v1/models/animals/tag", BODY)[0], range(60))
    assert set(found) == {200}
    server.wait_for(lambda: 'route="tag",status="200"} 60' in server.ask("/metrics")[1])
    server.process.send_signal(signal.SIGHUP)
    server.wait_for(lambda: "".join(server.log).count("was read again") >= 2)
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(server.process.pid)], capture_output=True, text=True
    ).stdout.split()
    assert len(children) == 3
    os.kill(int(children[0]), signal.SIGKILL)
    server.wait_for(lambda: "is started again" in "".join(server.log))
    assert server.ask("/v1/models/animals/tag", BODY)[0] == 200
    assert server.stop() == 0


def test_requests_that_arrive_together_are_one_batch(server):
    def count(name):
        return float(re.search(rf"^mlgt_{name}_total (\d+)", server.ask("/metrics")[1], re.M)[1])

    texts, batches = count("texts"), count("batches")
    clients = [socket.create_connection(("127.0.0.1", server.port), 30) for _ in range(20)]
    for client in clients:  # connections are accepted one by one
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert received_by(client).endswith(b'{"status":"ok"}')
    server.process.send_signal(signal.SIGSTOP)
    for client in clients:
        client.sendall(request_bytes("/v1/models/animals/tag", json.dumps(BODY)))
    server.process.send_signal(signal.SIGCONT)
    found = {received_by(client).split(b"\r\n\r\n")[1] for client in clients}
    for client in clients:
        client.close()
    assert len(found) == 1
    assert count("texts") - texts == 20
    assert count("batches") - batches <= 10


def test_slow_clients_are_dropped(model_folders, monkeypatch):
    """One that sends half a head, and one that does not take its answers."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connection, "WRITE_SECONDS", 0.3)
    service = Service(Models([model_folders["animals"]]))
    seconds = []

    async def ended(listening, data):
        loop = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await loop.sock_connect(client, listening.getsockname())
            began = time.monotonic()
            with contextlib.suppress(ConnectionError):
                while time.monotonic() < began + 30:  # until the server has closed the connection
                    await asyncio.wait_for(loop.sock_sendall(client, data), 30)
                    await asyncio.sleep(0.05)
            seconds.append(time.monotonic() - began)

    async def main():
        with socket.create_server(("127.0.0.1", 0)) as listening:
            config = uvicorn.Config(
                make_app(service), http=connection.Connection, lifespan="off", log_config=None
            )
            server = uvicorn.Server(config)
            running = asyncio.ensure_future(server.serve([listening]))
            await ended(listening, b"GET / HTTP/1.1\r\nX: 1")
            await ended(listening, b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
            server.should_exit = True
            await running

    asyncio.run(main())
    assert max(seconds) < 25


HALVES = [
    b"",
    b"\x16\x03\x01\x02\x00\x01\x00",
    b"GET\r\n\r\n",
    b"POST /v1/models/animals/tag HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"a" * 70_000,
    b"GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


@pytest.mark.parametrize("data", HALVES)
def test_bytes_that_are_no_request(server, data):
    with socket.create_connection(("127.0.0.1", server.port), 10) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        answer = client.recv(65536)
    assert not answer or b" 4" in answer.split(b"\r\n")[0]
    assert server.ask("/health")[0] == 200


def test_limits_of_a_request(started, model_folders):
    server = started(
        model_folders["animals"], "--max-seconds", 0.5, "--max-body", 0.01, "--host", "0.0.0.0"
    )
    head = b"POST /v1/models/animals/tag HTTP/1.1\r\nHost: localhost\r\n"
    answer = answer_to(server.port, head + b"Content-Length: 9\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"did not arrive" in answer
    assert server.ask("/v1/models/animals/tag", {"text": "a" * 20_000})[0] == 413
    chunk = b"Transfer-Encoding: chunked\r\n\r\n4000\r\n" + b"a" * 0x4000 + b"\r\n"
    assert answer_to(server.port, head + chunk).startswith(b"HTTP/1.1 413 ")
    assert "there is no token" in "".join(server.log)  # and everyone may ask


def test_hostile_paths_are_one_line_in_the_log(server):
    before = len(server.log)
    server.ask("/%0Amlgt:%20forged%1b[31m" + "x" * 500)
    line = server.wait_for(lambda: [line for line in server.log[before:] if "forged" in line])[0]
    assert line.startswith("mlgt: 2")
    assert "\\n" in line
    assert "\x1b" not in line
    assert len(line) < 320


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "is not a model folder"),
        (["--token-file", "short"], "at least 16 ASCII characters"),
        (["--host", "no such host"], "pass another --host or --port"),
        (["--port", "70000"], "--port"),
    ],
)
def test_mistakes_on_the_command_line(model_folders, tmp_path, arguments, words):
    (tmp_path / "short").write_text("abc")
    folder = [] if arguments == ["nowhere"] else [model_folders["animals"]]
    command = [sys.executable, "-m", "mlgt", "serve", *folder, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_two_models_of_one_name_are_refused(model_folders, tmp_path):
    os.symlink(model_folders["animals"], tmp_path / "animals")
    command = [sys.executable, "-m", "mlgt", "serve", model_folders["animals"], tmp_path / "animals"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "two models are called 'animals'" in done.stderr
