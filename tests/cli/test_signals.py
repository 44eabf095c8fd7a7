"""Real processes that get a real signal at some moment of their life, from the start of `main` on."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

import pytest

import mlgt
from mlgt._core import signals


@pytest.fixture(autouse=True, scope="module")
def default_signals():
    """Under nohup, SIGHUP is ignored, which commands would inherit and respect."""
    ignored = [number for number in (1, 2, 15) if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")
STARTED = (  # as the console script, after a mark; a shell's background jobs ignore Ctrl-C
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from mlgt.__main__ import main; os.write(int(sys.argv.pop(1)), b'.'); sys.exit(main())"
)
STOPS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


@dataclass(frozen=True)
class Ended:
    status: int
    said: str
    seconds: float


def run_command(arguments, signal_after=None, sent=signal.SIGINT, times=1, **options):
    """Run `mlgt`; send the signal some seconds after its `main` begins."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, str(writer), *map(str, arguments)],
        pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    began = time.perf_counter()
    if signal_after is not None:
        time.sleep(signal_after)
        for _ in range(times):
            process.send_signal(sent)
            time.sleep(0.003 * (times > 1))
    _, said = process.communicate(timeout=300)
    return Ended(process.returncode, said, time.perf_counter() - began)


def faults(ended, sent, folder, inputs, outputs):
    """What is wrong with the end of a command that got a signal."""
    line = f"mlgt: stopped by {STOPS[sent]}; no unfinished file was left behind.\n"
    done = ended.status == 0 and re.fullmatch("(mlgt: the model is in .*\n)?", ended.said)  # too late
    if not done and (ended.status, ended.said) != (128 + sent, line):
        yield f"status {ended.status}: {ended.said[-300:]!r}"
    found = {file.name for file in folder.iterdir()} - inputs
    if not found <= outputs or (ended.status == 0 and found != outputs):
        yield f"files {sorted(found)} with status {ended.status}"


def commands(trained, folder):
    """{verb: (arguments, outputs)}; `trained` has a file of rows and a model."""
    rows = trained / "train.txt"
    return {
        "--version": (["--version"], set()),
        "train": (["train", rows, "--model", folder / "m", "--n-groups", "20"], {"m"}),
        "predict": (["predict", trained / "model", rows, "-o", folder / "out", "--quiet"], {"out"}),
        "demo": (["demo", "--csv", folder / "tables"], {"tables"}),
        "evaluate": (["evaluate", trained / "model", rows, "--html", folder / "page"], {"page"}),
        "synth": (
            ["synth", folder / "rows", "--rows", "200", "--features", "400", "--labels", "20"],
            {"rows"},
        ),
    }


def storm(trained, verb, count, seed, tmp_path):
    """Send `count` signals at random moments; returns the counts of statuses, and what was wrong."""
    rng, statuses, wrong = random.Random(seed), Counter(), []
    arguments, outputs = commands(trained, tmp_path / "whole")[verb]
    (tmp_path / "whole").mkdir()
    seconds = run_command(arguments).seconds
    for i in range(count):
        folder = tmp_path / str(i)
        folder.mkdir()
        sent = rng.choice(list(STOPS))
        arguments, outputs = commands(trained, folder)[verb]
        moment = rng.uniform(0.8, 1.1) if rng.random() < 0.3 else rng.uniform(0, 0.8)
        ended = run_command(arguments, max(moment * seconds, 0.02), sent, times=rng.choice((1, 1, 1, 2)))
        seconds = max(ended.seconds, seconds) if ended.status == 0 else seconds
        statuses[ended.status] += 1
        wrong += [
            f"{verb}, {sent.name} at {moment:.3f}: {it}"
            for it in faults(ended, sent, folder, set(), outputs)
        ]
        if (folder / "m").exists():
            mlgt.load(folder / "m")
    return statuses, wrong


IMPORTING = """
import os, signal, sys
module, number = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
class Finder:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)
from mlgt.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["mlgt.cli", "argparse", "mlgt.cli.doctor"])
@pytest.mark.parametrize("sent", STOPS)
def test_a_signal_during_imports_is_reported_in_one_line(module, sent):
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, module, str(int(sent)), "doctor"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (128 + sent, f"mlgt: {signals.describe(sent)}\n")


@pytest.mark.parametrize(("verb", "count"), [("--version", 3), ("predict", 2)])
def test_a_signal_at_any_moment_leaves_no_traceback(verb, count, folder, tmp_path):
    _, wrong = storm(folder, verb, count, 0, tmp_path)
    assert wrong == []


def test_a_signal_that_waits_for_the_end_changes_nothing(tmp_path):
    """The timer must not end the process when Python has removed the handlers."""
    code = (
        "class Last:\n        def __enter__(self): pass\n"
        "        def __exit__(self, *_): os.kill(os.getpid(), signal.SIGTERM); print()\n"
        "    with Last(): pass\n"
        "    import atexit; atexit.register(lambda: print(signal.getsignal(signal.SIGALRM)))"
    )
    done = run_inside(code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() in (["1"], ["Handlers.SIG_IGN"])


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--version", "train", "predict", "demo", "evaluate", "synth"])
def test_hundreds_of_signals(verb, folder, tmp_path):
    statuses, wrong = storm(folder, verb, int(os.environ.get("MLGT_SIGNALS", "100")), 1, tmp_path)
    print(f"\n{verb}: statuses {dict(statuses)}, {len(wrong)} wrong", *wrong, sep="\n  ")
    assert wrong == []


INSIDE = """
import os, signal, sys
from mlgt.__main__ import main
from mlgt.cli import doctor
def run(options):
    {run}
doctor.run = run
sys.argv = ["mlgt", "doctor"]
sys.exit(main())
"""


def run_inside(code, folder):
    """Run `mlgt doctor` in a process, with other code for what it does."""
    command = [sys.executable, "-c", INSIDE.format(run=code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=folder)


CASES = {
    "swallowed in a destructor": (
        "class Part:\n        def __del__(self): os.kill(os.getpid(), signal.SIGTERM); print()\n"
        "    Part()\n    import time; time.sleep(60)",
        143,
    ),
    "turned into another error": (
        "try:\n        os.kill(os.getpid(), signal.SIGTERM); print()\n"
        "    except BaseException: raise RuntimeError('failed to compile') from None",
        143,
    ),
    "swallowed": (
        "try:\n        os.kill(os.getpid(), signal.SIGTERM); print()\n    except BaseException: pass",
        143,
    ),
    "twice, the second during the clean-up": (
        "try: os.kill(os.getpid(), signal.SIGINT); print()\n"
        "    finally: os.kill(os.getpid(), signal.SIGTERM); open(sys.argv[0] + '-clean', 'w').close()",
        130,
    ),
    "while others still work": (
        "import atexit, threading, time; threading.Thread(target=time.sleep, args=[60]).start()\n"
        "    atexit.register(os.abort); os.kill(os.getpid(), signal.SIGTERM); print()",
        143,
    ),
    "when all is done": (
        "import atexit; atexit.register(lambda: (os.kill(os.getpid(), signal.SIGINT), print()))",
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_stop_is_reported_whatever_becomes_of_its_exception(name, tmp_path):
    code, status = CASES[name]
    done = run_inside(code, tmp_path)
    assert done.returncode == status, done.stderr
    stopped = f"mlgt: {signals.describe(status - 128)}\n" if status else ""
    assert done.stderr == stopped
    assert (tmp_path / "mlgt-clean").exists() == ("clean-up" in name)


@pytest.mark.parametrize("sent", STOPS)
def test_the_third_signal_ends_a_command_that_does_not_stop(sent, tmp_path):
    """As if a library swallowed `Stopped`, or the clean-up did not end."""
    code = (
        "for i in range(1, 5):\n"
        f"        try: os.kill(os.getpid(), signal.SIGTERM if i < 3 else {sent}); print(i, flush=True)\n"
        "        except BaseException: print('swallowed', flush=True)"
    )
    done = run_inside(code, tmp_path)
    said = (
        f"mlgt: stopped at once by {STOPS[sent]}, the third signal; unfinished files may be left behind.\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + sent, "swallowed\n2\n", said)


def test_a_signal_waits_while_a_context_closes(tmp_path):
    """Otherwise a folder that is being removed would stay, half removed."""
    code = (
        "import tempfile, time\n"
        "    with tempfile.TemporaryDirectory(dir='.') as folder:\n"
        "        [open(f'{folder}/{i}', 'w').close() for i in range(300)]\n"
        "        remove, left = os.unlink, [signal.SIGTERM] * 2\n"
        "        def slow(*a, **k): left and os.kill(os.getpid(), left.pop()); return remove(*a, **k)\n"
        "        os.unlink = slow\n"
        "    os.unlink = remove; time.sleep(60)"
    )
    done = run_inside(code, tmp_path)
    assert (done.returncode, done.stderr) == (143, f"mlgt: {signals.describe(signal.SIGTERM)}\n")
    assert list(tmp_path.iterdir()) == []


def test_ignored_signals_stay_ignored():
    """As under `nohup`, or in the background of a shell."""
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + INSIDE.format(
        run="os.kill(os.getpid(), signal.SIGHUP); print()"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_library_installs_no_handlers():
    code = (
        "import signal, sys; before = [signal.getsignal(n) for n in range(1, 32)], sys.unraisablehook\n"
        "from mlgt.cli import main; main(['completion', 'bash'])\n"
        "assert before == ([signal.getsignal(n) for n in range(1, 32)], sys.unraisablehook)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
