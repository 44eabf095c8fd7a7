"""Tasks elsewhere give the same bits; lost workers cost time, a lost scheduler one line."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone
from tests.conftest import topic_data

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt._core.progress import Narrator, narrating
from mlgt.cli import main
from mlgt.data import write_xmc
from mlgt.tasks import kept, sending
from mlgt.tasks.cluster import ClusterError
from references.same import same

MODELS = {
    "flat": MLGTClassifier(n_groups=130, ranker="linear", random_state=0),
    "blocks": HierarchicalMLGTClassifier(
        n_blocks=3, budget=0.2, n_groups=70, ranker="linear", random_state=0
    ),
}
DOCS = Path(__file__).parents[2] / "docs" / "cluster.md"


class Inline(Executor):
    """Runs each task at once; what it is given goes through files, as to another process."""

    def __init__(self):
        self.count = 0

    def submit(self, function, *args):
        future = Future()
        self.count += 1
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize("name", MODELS)
def test_any_executor_gives_the_same_bits(rows, tmp_path, name):
    plain, executor = clone(MODELS[name]).fit(*rows), Inline()
    with mlgt.on_cluster(executor, storage=tmp_path), mlgt.keep_work(tmp_path / "w"):
        model = clone(MODELS[name]).fit(*rows)
        found, scores = model.predict_topk(rows[0], 3)
    assert executor.count > 5
    assert same(plain, model)
    np.testing.assert_array_equal(found, plain.predict_topk(rows[0], 3)[0])
    np.testing.assert_array_equal(scores, plain.predict_topk(rows[0], 3)[1])
    assert list(tmp_path.iterdir()) == []


def spawned(n_workers):
    return ProcessPoolExecutor(n_workers, multiprocessing.get_context("spawn"))


@pytest.mark.slow
@pytest.mark.parametrize("make", [spawned, get_reusable_executor])
def test_processes_of_this_machine_give_the_same_bits(rows, tmp_path, make):
    """Also those of joblib's own backend, whose setting changes nothing: no task is a call of joblib."""
    with make(2) as executor, mlgt.on_cluster(executor, storage=tmp_path):
        there = clone(MODELS["flat"]).fit(*rows)
    with parallel_config(backend="multiprocessing", n_jobs=2):
        here = clone(MODELS["flat"]).fit(*rows)
    assert same(here, there)


def test_arrays_that_were_sent_are_not_sent_again_unless_they_may_have_changed(tmp_path):
    storage, array = sending.Storage(tmp_path), np.arange(10_000)
    first = storage.send({"a": array, "f": lambda x: x + 1}, reuse=True)
    size = storage.bytes_written
    assert size >= array.nbytes
    again = storage.send([array], reuse=True)
    assert storage.bytes_written == size
    np.testing.assert_array_equal(sending._received(again)[0], array)
    assert sending._received(first)["f"](1) == 2
    array[0] = 7
    inputs = storage.send(array)
    assert sending._received(inputs)[0] == 7
    storage.remove(inputs, tmp_path / "none")
    storage.end_stage()
    storage.end_stage()
    assert list(tmp_path.iterdir()) == []


def test_doctor_removes_what_a_killed_process_left_for_its_workers(tmp_path, capsys):
    code = (
        "import concurrent.futures, sys, time, mlgt\n"
        "with mlgt.on_cluster(concurrent.futures.ThreadPoolExecutor(1), storage=sys.argv[1]):\n"
        "    print('there', flush=True)\n"
        "    time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"there\n"
        (folder,) = tmp_path.glob("mlgt-cluster-*")
        assert kept.abandoned_work(tmp_path, remove=True) == {}  # it is in use
        process.kill()
    (tmp_path / "mlgt-cluster-of-mine").mkdir()
    assert main(["doctor", str(tmp_path)]) == 0
    assert f"kept work: mlgt doctor {tmp_path} --remove-work" in capsys.readouterr().out
    assert kept.abandoned_work(tmp_path, remove=True) == {folder: "0.0 MB for the workers of a cluster"}
    assert {path.name for path in tmp_path.iterdir()} == {"mlgt-cluster-of-mine"}


def test_errors_of_tasks_arrive(tmp_path, rows, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("here")

    monkeypatch.setattr("mlgt.classifiers.solver._solve_tile", broken)
    with pytest.raises(ZeroDivisionError, match="here"), mlgt.on_cluster(Inline(), storage=tmp_path):
        clone(MODELS["flat"]).fit(*rows)


def test_other_versions_are_refused_with_their_numbers():
    expected = sending.versions() | {"numpy": "1.0"}
    with pytest.raises(ValueError, match=rf"has numpy {np.__version__}, but this process numpy 1\.0"):
        sending.call(expected, len, None, None, None)


# Dask.


@contextmanager
def dask(n_workers):
    distributed = pytest.importorskip("distributed")
    options = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(n_workers=n_workers, processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_dask_gives_the_same_bits(rows, n_workers):
    with dask(n_workers) as client:
        for model in MODELS.values():
            plain = clone(model).fit(*rows)
            for scatter in (False, True):
                with mlgt.on_cluster(client, scatter=scatter):
                    there = clone(model).fit(*rows)
                    labels, _ = there.predict_topk(rows[0], 3)
                assert same(plain, there)
                np.testing.assert_array_equal(labels, plain.predict_topk(rows[0], 3)[0])


class KillAt(Narrator):
    """Calls a function once, when the first tasks of a stage are done."""

    def __init__(self, stage, function):
        super().__init__()
        self.wanted, self.function = stage, function

    @contextmanager
    def stage(self, name):
        def progress(done, total):
            if name == self.wanted and self.function is not None:
                self.function()
                self.function = None

        yield progress


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("stage", ["training classifiers", "training rankers"])
@pytest.mark.parametrize("scatter", [False, True])
def test_the_tasks_of_a_lost_worker_run_again(rows, stage, scatter):
    plain = clone(MODELS["flat"]).fit(*rows)
    with dask(2) as client:
        pids = list(client.run(os.getpid).values())
        narrator = KillAt(stage, lambda: os.kill(pids[0], signal.SIGKILL))
        with narrating(narrator), mlgt.on_cluster(client, scatter=scatter):
            assert same(plain, clone(MODELS["flat"]).fit(*rows))
    assert narrator.function is None


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_workers_without_the_same_mlgt_are_refused():
    with dask(1) as client:
        client.run(exec, "from mlgt.tasks import kept; kept.versions = lambda: {'mlgt': '0'}", {})
        with (
            pytest.raises(ClusterError, match=r"worker tcp://.* has mlgt 0, .*, but this process mlgt "),
            mlgt.on_cluster(client),
        ):
            pass


def documented_commands():
    """The three commands of docs/cluster.md."""
    lines = [line.strip() for line in DOCS.read_text("utf-8").splitlines() if line.startswith("    ")]
    return [line.split("#")[0].split() for line in lines[:3]]


@contextmanager
def running(command):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def commands(tmp_path):
    """The documented commands on this machine, with their file and model."""
    pytest.importorskip("distributed")
    write_xmc(tmp_path / "train.txt", *topic_data(n=3000, p=200, d=300))  # enough labels for rankers
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def local(words):
        words = [word.replace("HOST", "127.0.0.1").replace("8786", str(port)) for word in words]
        words = [str(tmp_path / word) if word in ("train.txt", "model") else word for word in words]
        if words[0] == "mlgt":
            return [sys.executable, "-m", *words]
        return [sys.executable, "-m", "dask", *words[1:]]

    scheduler, worker, train = map(local, documented_commands())
    return [*scheduler, "--no-dashboard"], [*worker, "--no-dashboard"], train


@pytest.mark.slow
def test_the_three_commands_of_the_docs(commands, tmp_path):
    scheduler, worker, train = commands
    with running(scheduler), running(worker):
        found = subprocess.run(train, capture_output=True, text=True)
        assert (found.returncode, found.stderr.count("\n")) == (0, 1)  # where the model is
        subprocess.run([*train[:6], str(tmp_path / "plain")], check=True)
        predict = [sys.executable, "-m", "mlgt", "predict", tmp_path / "model", tmp_path / "train.txt"]
        there = subprocess.run([*predict, *train[-2:]], capture_output=True, check=True).stdout
    assert there == subprocess.run(predict, capture_output=True, check=True).stdout
    for file in (tmp_path / "plain").glob("*.npy"):
        assert file.read_bytes() == (tmp_path / "model" / file.name).read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {"train.txt", "model", "plain"}


@pytest.mark.slow
def test_a_lost_scheduler_is_one_line_and_work_to_go_on_from(commands, tmp_path):
    scheduler, worker, train = commands
    with running(scheduler) as first, running(worker):
        training = subprocess.Popen(train, stderr=subprocess.PIPE, text=True)
        while not list(tmp_path.glob(".model.mlgt-work/*/candidates-*")) and training.poll() is None:
            time.sleep(0.001)
        first.kill()
        _, said = training.communicate()
    assert training.returncode == 2
    lines = said.splitlines()
    assert len(lines) == 2
    assert "finished tasks are kept in" in lines[0]
    assert "the connection to the scheduler was lost" in lines[1]
    found = subprocess.run(train[:-2], capture_output=True, text=True, check=True)  # without a cluster
    assert "tasks were finished by an earlier run" in found.stderr
    subprocess.run([*train[:6], str(tmp_path / "plain")], check=True)
    for file in (tmp_path / "plain").glob("*.npy"):
        assert file.read_bytes() == (tmp_path / "model" / file.name).read_bytes()


@pytest.fixture
def certificate(tmp_path_factory, monkeypatch):
    """Dask configured, by environment variables, for a self-signed certificate made by openssl."""
    folder = tmp_path_factory.mktemp("tls")
    key, cert = str(folder / "key.pem"), str(folder / "cert.pem")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=mlgt -addext".split()
    names = ["subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
    subprocess.run([*make, *names], check=True, capture_output=True)
    options = {"REQUIRE_ENCRYPTION": "true", "TLS__CA_FILE": cert}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        options |= {f"TLS__{role}__CERT": cert, f"TLS__{role}__KEY": key}
    for name, value in options.items():
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__{name}", value)
    return options


@pytest.mark.slow
def test_a_cluster_with_certificates(commands, certificate, tmp_path):
    scheduler, worker, train = (
        [word.replace("tcp://", "tls://") for word in command] for command in commands
    )
    with running([*scheduler, "--protocol", "tls"]), running(worker):
        found = subprocess.run(train, capture_output=True, text=True)
        assert (found.returncode, found.stderr.count("\n")) == (0, 1)  # where the model is
        bare = {name: value for name, value in os.environ.items() if not name.startswith("DASK_")}
        without = [*train[:6], str(tmp_path / "other"), *train[7:]]
        refused = subprocess.run(without, capture_output=True, text=True, env=bare)
    assert refused.returncode == 2
    assert "no scheduler answers at tls://" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert (tmp_path / "model").is_dir()
    assert not (tmp_path / "other").exists()


def test_without_dask_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r'pip install "mlgt\[cluster\]"'), use("tcp://127.0.0.1:1"):
        pass


@pytest.mark.slow
def test_no_scheduler_and_no_workers(commands, monkeypatch):
    monkeypatch.setattr("mlgt.tasks.cluster.WAIT_SECONDS", 2)
    with pytest.raises(ClusterError, match="no scheduler answers at tcp"), use("tcp://127.0.0.1:9"):
        pass
    with pytest.raises(ClusterError, match="no scheduler answers at nonsense"), use("nonsense://x"):
        pass
    monkeypatch.setattr("mlgt.tasks.cluster.WAIT_SECONDS", 10)
    scheduler, _, train = commands
    none = pytest.raises(ClusterError, match="has no workers; start some")
    with running(scheduler), none, use(train[-1]):
        pass


def use(address):
    from mlgt.tasks import use_scheduler

    return use_scheduler(address)
