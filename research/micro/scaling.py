"""Training CPU, peak memory and milliseconds per row against the number of labels, rows fixed.

    python research/micro/scaling.py [--labels 10000 100000 1000000] [--out FILE.json] [--plot FILE.png]

Data by `mlgt synth` (5 labels and 75 words per row, 100,000 features). Every size runs in a process of its
own, one thread, with the default settings; compilation and reading not counted. The exponent is the slope
between the first and the last size, in logarithms. `--table` prints what FILE.json has.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import table

HERE = Path(__file__).parent
FIGURES = {"train_cpu_s": "training, CPU s", "peak_GB": "peak GB", "ms_per_row_cpu": "ms per row"}


def run(d, rows, features):
    """The figures of `large.py` for mlgt on data with d labels."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = f"--rows {rows} --test-rows 5000 --features {features} --labels {d} --quiet".split()
        subprocess.run([sys.executable, "-m", "mlgt", "synth", folder, *sizes], check=True)
        command = [sys.executable, str(HERE / "large.py"), folder, "--systems", "mlgt", "--here"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    stages = {name: float(s) for name, s in re.findall(r"mlgt: ([a-z ]+): ([\d.]+) s", done.stderr)}
    return json.loads(done.stdout.splitlines()[-1]) | {"stages_wall_s": stages}


def exponent(found, name):
    sizes = sorted(found, key=int)
    first, last = found[sizes[0]], found[sizes[-1]]
    return float(np.log(last[name] / first[name]) / np.log(last["labels"] / first["labels"]))


def show(found):
    lines = [
        [
            f"{f['labels']:,}",
            *(f"{f[f'P@{k}']:.3f}" for k in (1, 3, 5)),
            *(f"{f[name]:.3g}" for name in FIGURES),
            f"{f['model_MB']:.0f}",
        ]
        for f in (found[d] for d in sorted(found, key=int))
    ]
    if len(found) > 1:
        lines.append(["exponent", "", "", "", *(f"{exponent(found, name):.2f}" for name in FIGURES), ""])
    first = next(iter(found.values()))
    return (
        f"{first['rows']:,} rows, one thread. {first['machine']}.\n\n"
        + table(["labels", "P@1", "P@3", "P@5", *FIGURES.values(), "model MB"], lines)
        + "\n"
    )


def plot(found, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sizes = sorted(found, key=int)
    d = [found[size]["labels"] for size in sizes]
    figure, axes = plt.subplots(1, len(FIGURES), figsize=(11, 3.4), layout="constrained")
    for axis, (name, title) in zip(axes, FIGURES.items()):
        axis.loglog(d, [found[size][name] for size in sizes], "o-", color="#1f4e79")
        axis.set(xlabel="labels", title=f"{title} (exponent {exponent(found, name):.2f})")
        axis.grid(alpha=0.3, which="both")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=Path("scaling.json"))
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--table", action="store_true", help="only print the table of --out")
    options = parser.parse_args()
    found = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    if not options.table:
        for d in options.labels:
            found[str(d)] = run(d, options.rows, options.features)
            options.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(show(found))
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
