"""Measure mlgt beside its peers, on the same files in the same run.

Each system trains and predicts in a process of its own, with its documented defaults, on the same rows (of
length 1) and threads; repeats go round all systems, and ratios are of the same round, to the first system.
Times are CPU seconds, but for the wall clock of training; files that a system reads are written before.
Systems: `peers` stands for mlgt, omikuji-parabel, omikuji-bonsai, pecos-xr-linear, pecos-ova, napkinxc-plt,
napkinxc-ova, fasttext, libmultilabel-ovr, libmultilabel-tree, extremetext and xml-cnn; `paper` for
pfastrexml, dismec, ppd-sparse and sleec; `all` for both; on request also mlgt-ova, nmf-gt, he-nmfgt, mlcs,
and, where fasttext and extremetext diverge, fasttext-slow, fasttext-hs and extremetext-slow. NAME+sqrt is a
system on dampened rows. In a copy of mlgt's source, `pip install "./research[peers]"` installs the peers;
those that are not installed are left out.
"""

import argparse

from mlgt._core.terminal import tell
from mlgt.cli.console import print_table, whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", metavar="TRAIN", help="training rows, `labels feature:value ...`")
    parser.add_argument("test", metavar="TEST", help="test rows")
    parser.add_argument(
        "--systems", metavar="A,B,...", help="which ones, separated by commas (default: mlgt and all peers)"
    )
    parser.add_argument("--repeats", type=whole, default=3, metavar="R", help="rounds (default: 3)")
    parser.add_argument("--jobs", type=whole, default=1, metavar="J", help="threads of each (default: 1)")
    parser.add_argument(
        "--timeout", type=whole, metavar="S", help="stop a system that takes more seconds than this"
    )
    parser.add_argument(
        "--cpu-limit", type=whole, metavar="S", help="stop a system that uses more CPU seconds than this"
    )
    parser.add_argument(
        "--once-above", type=whole, metavar="S", help="run a system once if it trains for more CPU seconds"
    )
    parser.add_argument(
        "--estimate", type=whole, metavar="S",
        help="of one-vs-all systems, only tell what training would take, from every S-th label",
    )  # fmt: skip
    parser.add_argument(
        "--dampen", action="store_true",
        help="measure every peer a second time, on the square roots of all values, as mlgt has them",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="DIR", help="write results.json and figure.png there, for `mlgt report`"
    )
    parser.add_argument(
        "--add", action="store_true",
        help="leave the lines of other systems in the result that DIR has, with the date of their run",
    )  # fmt: skip
    parser.add_argument(
        "--keep",
        metavar="DIR",
        help="keep all answers there, and reuse those of the same request",
    )


def run(options: argparse.Namespace) -> None:
    from pathlib import Path

    from mlgt._core.files import check_folder
    from mlgt.data import read_xmc

    from ..bench import PEERS
    from ..bench.added import add_lines, read_earlier
    from ..bench.run import check_systems, draw, make_tables, run_systems
    from ..bench.worker import K
    from ..evidence.record import Result, cpu_seconds, provenance, sha256, write_result
    from ..evidence.show import plain_table

    if options.add and not options.out:
        raise ValueError("--add adds to the result of a folder: pass --out DIR too.")
    listed = [name.strip() for name in options.systems.split(",")] if options.systems else PEERS
    names = check_systems(listed, options.dampen)
    if options.out:
        check_folder(options.out)
    train, test = (Path(path).resolve() for path in (options.train, options.test))
    rows = read_xmc(train)  # reports a bad file now, not in a worker
    p, d = rows.X.shape[1], rows.Y.shape[1]
    if d < K:
        raise ValueError(f"{train} has {d} labels; expected at least {K}, for P@{K} to mean something.")
    read_xmc(test, n_features=p, n_labels=d)
    del rows
    checksums = {train.parent.name: {path.name: sha256(path) for path in (train, test)}}
    old = read_earlier(options.out, checksums) if options.add else None
    began = cpu_seconds()

    def say(text):
        if not options.quiet:
            tell(text)

    settings = {
        "repeats": options.repeats, "threads": options.jobs, "timeout": options.timeout,
        "cpu_limit": options.cpu_limit, "once_above": options.once_above,
    }  # fmt: skip
    wanted: dict[str, dict] = {name: {} for name in names}
    more = {"keep": options.keep, "every": options.estimate}
    runs = run_systems(train, test, wanted, say=say, **more, **settings)
    if old is None and not any(run.answers for run in runs):
        reasons = "; ".join(f"{run.title} {run.failure}" for run in runs)
        raise ValueError(f"no system could be measured: {reasons}.")
    tables = make_tables(runs, options.repeats)
    for table in tables:
        print_table(f"{train.parent.name}: {table.title}", *plain_table(table))
    if options.out:
        found = provenance(checksums, cpu_seconds() - began) | {"seeds": "repeat r has seed r"}
        if options.keep:
            found.pop("cpu_seconds")  # kept answers took theirs in another run
            found["kept"] = {run.title: run.kept for run in runs if run.kept}
        result = Result(
            name=Path(options.out).resolve().name,
            title=f"mlgt and its peers on {train.parent.name}",
            about=__doc__.split("\n\n", 1)[1].split("\nSystems:")[0].strip(),
            tables=tables, notes=[], config={"systems": names, **settings}, provenance=found,
        )  # fmt: skip
        write_result(options.out, add_lines(result, old) if old else result, draw)
