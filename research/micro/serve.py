"""`mlgt serve` under load, on this machine's loopback alone.

    python research/micro/serve.py [--only speed workers ...] [--seconds 5] [--minutes 10] [--hostile 10000]
                                   [--model DIR] [--out FILE]

A model of Debian's packages (`mlgt demo --csv`), whose test texts are sent:

    speed     requests and texts per second, median and 99th percentile of the time to an answer, with 1, 16
              and 256 connections, for single texts and batches of 32; the ratio of texts per second to
              `Predictor.tag` in a loop over single texts, measured before and after in the same process
    cpu       CPU seconds per request of the server and of the client, of a bare ASGI application under the
              same uvicorn, and of `Predictor.tag` in a loop, for single texts over one connection, in turns
    workers   memory of each further worker that it shares with no other (Private_* of smaps_rollup)
    memory    resident memory of the server over minutes of load, with texts of all lengths
    idle      connections that send nothing, while others are answered
    hostile   wrong JSON, wrong types, huge, half sent, other encodings: statuses, lines of the log

The client is a process of its own on the same cores, so that rates are a lower bound. With one connection
it is a blocking socket, which takes a tenth of the CPU time of the server; `cpu` does not count it.
"""

import argparse
import asyncio
import csv
import json
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from common import machine, table
from mlgt import Predictor

HEAD = "POST /v1/models/tags/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n"
BATCH = 32
ODD_HEADS = (
    b"Content-Encoding: gzip",
    b"Content-Type: a; charset=utf-16",
    b"X: " + b"a" * 70_000,
    b"Transfer-Encoding: chunked",
    b"Content-Length: 1e9",
    b"Upgrade: websocket\r\nConnection: upgrade",
    b"Expect: 100-continue",
    b"Host: evil.example",
    b"\xff\xfe: 1",
)


class Server:
    """`mlgt serve` as a process, with its log."""

    def __init__(self, model, *options):
        command = [sys.executable, "-m", "mlgt", "serve", str(model), "--port", "0", *map(str, options)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
        self.log = []
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                break
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0

    def pids(self):
        """The process, and its workers."""
        listed = ["ps", "-o", "pid=", "--ppid", str(self.process.pid)]
        found = subprocess.run(listed, capture_output=True, text=True).stdout.split()
        return [self.process.pid, *map(int, found)]


def memory_of(pid, *names):
    """Megabytes by the names of smaps_rollup, summed."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1]) for name in names) / 1024


def request(body):
    body = json.dumps(body).encode()
    return HEAD.format(len(body)).encode() + body


async def exchange(reader, writer, data):
    """Send a request; return the status and the body of its answer."""
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head)[1])
    return int(head[9:12]), await reader.readexactly(length)


def load(port, requests, clients, seconds, pause=0.0):
    """Ask for `seconds` through `clients` connections; return the seconds of each answer, sorted."""
    if clients == 1:
        return load_alone(port, requests, seconds)
    return asyncio.run(load_together(port, requests, clients, seconds, pause))


def load_alone(port, requests, seconds):
    """One connection, by the cheapest client that Python has."""
    rng, times, end = random.Random(0), [], time.perf_counter() + seconds
    with socket.create_connection(("127.0.0.1", port)) as client:
        while time.perf_counter() < end:
            began = time.perf_counter()
            ask(client, rng.choice(requests))
            times.append(time.perf_counter() - began)
    return sorted(times)


def ask(client, data):
    """Send a request, and receive its answer."""
    client.sendall(data)
    received = client.recv(1 << 16)
    assert received.startswith(b"HTTP/1.1 200"), received
    while (first := received.find(b"\r\n\r\n")) < 0:
        received += client.recv(1 << 16)
    missing = first + 4 + int(re.search(rb"content-length: (\d+)", received)[1]) - len(received)
    while missing > 0:
        missing -= len(client.recv(1 << 16))


async def load_together(port, requests, clients, seconds, pause):
    """Many connections."""
    times, end = [], time.perf_counter() + seconds

    async def client(number):
        rng = random.Random(number)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            began = time.perf_counter()
            status, _ = await exchange(reader, writer, rng.choice(requests))
            assert status == 200
            times.append(time.perf_counter() - began)
            await asyncio.sleep(pause)
        writer.close()

    await asyncio.gather(*map(client, range(clients)))
    return sorted(times)


def loop_rate(predictor, texts, seconds=3.0):
    """Texts per second of `Predictor.tag`, one at a time."""
    done, began = 0, time.perf_counter()
    while time.perf_counter() < began + seconds:
        predictor.tag(texts[done % len(texts)])
        done += 1
    return done / (time.perf_counter() - began)


def speed(model, texts, seconds, workers):
    """Rows of the table of speed."""
    predictor = Predictor(model)
    loop_rate(predictor, texts, 0.5)
    single = [request({"text": text}) for text in texts]
    batches = [request({"texts": texts[i : i + BATCH]}) for i in range(0, len(texts) - BATCH, BATCH)]
    rows = []
    with Server(model, "--quiet", "--workers", workers) as server:
        for size, requests in ((1, single), (BATCH, batches)):
            for clients in (1, 16, 256):
                load(server.port, requests, clients, 1)
                before = loop_rate(predictor, texts)
                times = load(server.port, requests, clients, seconds)
                loop = (before + loop_rate(predictor, texts)) / 2
                rate = len(times) / seconds
                p50, p99 = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
                row = (
                    workers,
                    size,
                    clients,
                    f"{rate:.0f}",
                    f"{rate * size:.0f}",
                    f"{p50:.1f}",
                    f"{p99:.1f}",
                )
                rows.append((*row, f"{rate * size / loop:.2f}"))
                print(*rows[-1], flush=True)
    return rows


BARE = """
import sys, uvicorn
async def app(scope, receive, send):
    await receive()
    head = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"400")]}
    await send(head)
    await send({"type": "http.response.body", "body": b" " * 400})
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", lifespan="off", access_log=False)
"""


def cpu_of(pid):
    """CPU seconds of a process, from the scheduler."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def cpu_per_request(model, texts, rounds=12, count=400):
    """Rows of the table of CPU time, in milliseconds."""
    predictor, requests = Predictor(model), [request({"text": text}) for text in texts[:count]]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    bare = subprocess.Popen([sys.executable, "-c", BARE, str(port)])
    spent = {name: [] for name in ("Predictor.tag in a loop", "mlgt serve", "bare application", "client")}
    with Server(model, "--quiet") as server:
        places = {"mlgt serve": (server.process.pid, server.port), "bare application": (bare.pid, port)}
        time.sleep(3)
        for _ in range(rounds + 1):
            began = time.process_time()
            for text in texts[:count]:
                predictor.tag(text)
            spent["Predictor.tag in a loop"].append(time.process_time() - began)
            for name, (pid, at) in places.items():
                before, began = cpu_of(pid), time.process_time()
                with socket.create_connection(("127.0.0.1", at)) as client:
                    for data in requests:
                        ask(client, data)
                spent[name].append(cpu_of(pid) - before)
                if name == "mlgt serve":
                    spent["client"].append(time.process_time() - began)
    bare.terminate()
    bare.wait()
    rows = []
    for name, seconds in spent.items():
        shares = sorted(loop / own for loop, own in zip(spent["Predictor.tag in a loop"][1:], seconds[1:]))
        ratio = f"{statistics.median(shares):.2f} ({shares[0]:.2f} to {shares[-1]:.2f})"
        ms = 1000 * statistics.median(seconds[1:]) / count
        rows.append((name, f"{ms:.2f}", ratio if name == "mlgt serve" else ""))
    return rows


def worker_memory(model, texts):
    """Rows of the table of memory per worker."""
    rows = []
    for workers in (1, 2, 4):
        with Server(model, "--quiet", "--workers", workers) as server:
            requests = [request({"text": text}) for text in texts]
            load(server.port, requests, 32, 2)
            own = [memory_of(pid, "Private_Clean", "Private_Dirty") for pid in server.pids()]
            shares = [memory_of(pid, "Pss") for pid in server.pids()]
            further = own[1:] or own
            rows.append((workers, f"{sum(shares):.0f}", f"{statistics.fmean(further):.0f}"))
    return rows


def steady_memory(model, texts, minutes):
    """Resident megabytes over time, under load of texts of all lengths."""
    rng, found = random.Random(0), []
    bodies = []
    for _ in range(500):
        text = " ".join(rng.choices(texts, k=int(10 ** rng.uniform(0, 2.3))))
        bodies.append(
            {"text": text, "k": rng.choice([1, 5, 50]), "explain": rng.random() < 0.1 and len(text) < 5000}
        )
    requests = [request(body) for body in bodies]
    with Server(model, "--quiet") as server:
        for _ in range(12):
            load(server.port, requests, 16, minutes * 5, pause=0.02)
            found.append(memory_of(server.process.pid, "Rss"))
    return found


async def idle(port, texts, count):
    """Seconds of answers while `count` connections send nothing."""
    quiet = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    times = sorted(await load_together(port, [request({"text": text}) for text in texts], 4, 3, 0.0))
    for _, writer in quiet:
        writer.close()
    return times


def hostile_request(rng, texts):
    """Bytes to send, and whether the connection is closed before an answer can come."""
    good = request({"text": rng.choice(texts)[:200], "k": 3})
    head, body = good.split(b"\r\n\r\n", 1)
    odd = [None, -1, 1e308, True, [], {}, "x", [[]], {"a": 1}, "\ud800", 10**30]

    def wrong_type():
        fields = {
            "text": "a",
            "k": 1,
            "threshold": 0.5,
            "among": ["a"],
            "explain": True,
            "rows": [],
            "stream": 1,
        }
        return request({key: rng.choice([fields[key], *odd]) for key in rng.sample(list(fields), 3)})

    def other_bytes():
        flipped = bytearray(body)
        for _ in range(rng.randint(1, 8)):
            flipped[rng.randrange(len(flipped))] = rng.randrange(256)
        return head + b"\r\n\r\n" + bytes(flipped)

    def other_head():
        lines = rng.choice(ODD_HEADS)
        return head + b"\r\n" + lines + b"\r\n\r\n" + body

    def huge():
        return HEAD.format(10**12).encode() + b"x" * 1000

    def deep():
        text = rng.choice([b"[" * 50_000, b'{"a":' * 20_000, b"9" * 5_000, body.decode().encode("utf-16")])
        return HEAD.format(len(text)).encode() + text

    def noise():
        return rng.randbytes(rng.randint(1, 400))

    def path():
        name = rng.choice(["../..", "%00", "%0aforged", "a" * 5000, "tags%2ftag", "<script>"])
        return f"GET /v1/models/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()

    kinds = [wrong_type, other_bytes, other_head, huge, deep, noise, path, lambda: b"", lambda: good]
    data = rng.choice(kinds)()
    return data[: rng.randint(0, len(data))] if rng.random() < 0.2 else data


async def hostile(port, texts, count):
    """Statuses of `count` hostile requests."""
    rng, statuses = random.Random(1), Counter()
    gate = asyncio.Semaphore(50)

    async def one(data):
        async with gate:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(data)
                answer = await asyncio.wait_for(reader.read(12), 0.5)
                statuses[answer[9:12].decode() or "closed"] += 1
            except asyncio.TimeoutError:
                statuses["waits for the rest"] += 1
            except OSError:
                statuses["closed"] += 1
            finally:
                writer.close()

    await asyncio.gather(*(one(hostile_request(rng, texts)) for _ in range(count)))
    return statuses


def hostile_report(model, texts, count):
    with Server(model) as server:
        statuses = asyncio.run(hostile(server.port, texts, count))
        load(server.port, [request({"text": text}) for text in texts[:50]], 1, 1)
        time.sleep(1)
        odd = [
            line for line in server.log if not re.match(r"mlgt: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ ", line)
        ]
    lines = [line for line in server.log if "/tag 200" not in line]
    return statuses, len(lines), odd


def speed_part(model, texts, options):
    header = "workers|texts per request|connections|requests/s|texts/s|p50, ms|p99, ms|ratio".split("|")
    rows = [row for workers in (1, 2) for row in speed(model, texts, options.seconds, workers)]
    return "## Speed\n\nThe ratio is texts per second to those of `Predictor.tag` in a loop.\n\n" + table(
        header, rows
    )


def cpu_part(model, texts, options):
    header = ("single texts, one connection", "CPU ms per text", "ratio of the loop's to it")
    return "## CPU time\n\n" + table(header, cpu_per_request(model, texts))


def workers_part(model, texts, options):
    header = ("workers", "all processes, MB", "a worker for itself, MB")
    return "## Memory of workers\n\n" + table(header, worker_memory(model, texts))


def memory_part(model, texts, options):
    found = ", ".join(f"{one:.0f}" for one in steady_memory(model, texts, options.minutes))
    return f"## Memory over {options.minutes:g} minutes of load\n\nResident MB, twelve times: {found}."


def idle_part(model, texts, options):
    with Server(model, "--quiet") as server:
        times = {count: asyncio.run(idle(server.port, texts, count)) for count in (0, 1000)}
    header = ("idle connections", "p50, ms", "p99, ms")
    rows = [(n, *(f"{1000 * t[int(s * (len(t) - 1))]:.1f}" for s in (0.5, 0.99))) for n, t in times.items()]
    return "## Idle connections\n\nFour others ask for single texts.\n\n" + table(header, rows)


def hostile_part(model, texts, options):
    statuses, lines, odd = hostile_report(model, texts, options.hostile)
    print(*odd[:10], sep="")
    counted = table(("answer", "requests"), sorted(statuses.items()))
    return (
        f"## {options.hostile} hostile requests\n\n{counted}\n\n{lines} lines in the log, {len(odd)} "
        "of them without the form of a request's line."
    )


PARTS = {
    "speed": speed_part,
    "cpu": cpu_part,
    "workers": workers_part,
    "memory": memory_part,
    "idle": idle_part,
    "hostile": hostile_part,
}


def prepare(folder, model):
    """A model, unless there is one, and texts."""
    mlgt = [sys.executable, "-m", "mlgt"]
    subprocess.run([*mlgt, "demo", "--csv", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    if model is None:
        model = folder / "tags"
        columns = ["--text", "words", "--labels", "tags"]
        command = [*mlgt, "train", folder / "train.csv", *columns, "--model", model, "--quiet"]
        subprocess.run(command, check=True)
    with open(folder / "test.csv", encoding="utf-8") as file:
        return model, [row["words"] for row in csv.DictReader(file)][:2000]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--hostile", type=int, default=10_000)
    parser.add_argument("--model", type=Path, help="trained before as this script does, and called tags")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    parts = [f"# `mlgt serve`\n\n{machine()}. Made by `python research/micro/serve.py`."]
    with tempfile.TemporaryDirectory() as folder:
        model, texts = prepare(Path(folder), options.model)
        for name in options.only:
            parts.append(PARTS[name](model, texts, options))
            print(parts[-1], flush=True)
    if options.out:
        options.out.write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    main()
