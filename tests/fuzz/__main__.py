"""Attacks by hand: forged models, mutated input files, replaced models, and coverage-guided fuzzing.

    python -m tests.fuzz forged [-n 1000] [--seed 0]      forged model folders with right checksums
    python -m tests.fuzz inputs [-n 5000] [--seed 0]      mutated input files through the command
    python -m tests.fuzz flips [-n 2000] [--seed 0]       headers of models with one flipped bit
    python -m tests.fuzz replacements [-n 1000]           a model replaced while two processes load it
    python -m tests.fuzz kills [-n 100] [--seed 0]        writers of a model that are killed
    python -m tests.fuzz atheris TARGET [--seconds 600]   a target of coverage-guided fuzzing, or `all`

Run it in the folder of the repository, on Linux. The exit status is 1 if anything but a message of one
line or an answer came out; each such case is printed with its number, which the same seed gives again.
"""

import argparse
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread, so that a fork is safe
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

FOLDERS = {"flips": 2000, "replacements": 1000, "kills": 100}
"""Attacks on model folders, and how often they are made."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("forged", "inputs", *FOLDERS, "atheris"))
    parser.add_argument("target", nargs="?", default="all", help="of atheris")
    parser.add_argument("-n", type=int, help="number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=600, help="of atheris, per target")
    options = parser.parse_args()
    if options.what == "forged":
        from .forged import main_forged

        return int(main_forged(options.n or 1000, options.seed) > 0)
    if options.what == "inputs":
        from .inputs import main_inputs

        return int(main_inputs(options.n or 5000, options.seed) > 0)
    if options.what in FOLDERS:
        from . import folders

        attack = getattr(folders, f"main_{options.what}")
        return int(attack(options.n or FOLDERS[options.what], options.seed) > 0)
    from .guided import main_guided

    return main_guided(options.target, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
