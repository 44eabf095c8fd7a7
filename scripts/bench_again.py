"""Measure mlgt again beside the lines that research/results/bench-* has, and write the pages again.

    MLGT_DATA=... python scripts/bench_again.py [--systems mlgt] [--keep answers] [--repeats 3] [--paper]

Only the systems named are measured. Other lines come from the folder of `mlgt bench --keep`, if it has the
answers of their systems (new ones are added), and else stay as they are, with the date of their run. With
`--paper`, the systems named are measured again in the paper's Tables 2 and 3, too. Run it on a quiet
machine.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

from mlgt_research.bench import DAMPENED, SYSTEMS
from mlgt_research.bench.kept import answer_path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "research" / "results"
LIMIT = 900
"""CPU seconds of a system at most: a stored result has the limit of its last run, of other systems."""


def arguments(result, data, systems, keep, repeats):
    """Return the arguments of `mlgt` for one result."""
    stored = json.loads((result / "results.json").read_text("utf-8"))
    config = stored["config"]
    (name,) = stored["provenance"]["data"]
    files = [data / name / f"{part}.txt.gz" for part in ("train", "test")]
    known = [one for name in SYSTEMS for one in (name, name + DAMPENED)]
    names = [one for one in known if one in systems or (keep and has_answer(keep, one, files))]
    limits = [f"--cpu-limit={LIMIT}"]
    if config["once_above"]:
        limits.append(f"--once-above={config['once_above']}")
    keeping = [f"--keep={keep}"] if keep else []
    wanted = [f"--systems={','.join(names)}", f"--repeats={repeats}", *limits, *keeping]
    return ["bench", *map(str, files), f"--out={result}", "--add", *wanted]


def has_answer(keep, system, files):
    """Return whether the folder has the first answer of a system, not a failure at a limit."""
    train, test = map(str, files)
    request = {
        "system": system, "options": {}, "train": train, "test": test, "threads": 1, "seed": 0,
        "resamples": 1000,
    }  # fmt: skip
    path = answer_path(keep, request)
    return path.exists() and "answer" in json.loads(path.read_text("utf-8"))


def main(options):
    """Run `mlgt bench` on every result, then write the pages."""
    data = Path(os.environ["MLGT_DATA"])
    mlgt = [sys.executable, "-m", "mlgt"]
    systems = options.systems.split(",")
    for result in sorted(RESULTS.glob("bench-*")):
        run([*mlgt, *arguments(result, data, systems, options.keep, options.repeats)], check=True)
    if options.paper:
        with TemporaryDirectory() as scratch:
            part = [f"--systems={options.systems}", f"--keep={options.keep or scratch}"]
            for table in ("methods", "standard"):
                run([*mlgt, "reproduce", table, f"--out={RESULTS}", *part], check=True)
    evidence = ROOT / "docs" / "evidence.md"
    run([*mlgt, "report", RESULTS, "--markdown", evidence], check=True)
    run([sys.executable, ROOT / "scripts" / "draw_benchmarks.py"], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", default="mlgt", metavar="A,B,...", help="what is measured again")
    parser.add_argument("--keep", metavar="DIR", help="answers of `mlgt bench --keep`")
    parser.add_argument("--repeats", type=int, default=3, metavar="R", help="rounds (default: 3)")
    parser.add_argument("--paper", action="store_true", help="also the paper's Tables 2 and 3")
    main(parser.parse_args())
