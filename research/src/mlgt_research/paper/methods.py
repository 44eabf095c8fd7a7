"""Table 2: all its methods by Pi@k, one-vs-all, and what mlgt does with no option set.

NMF-GT has the paper's number of groups and MLCS as many projections, recovered by orthogonal matching
pursuit; He-NMFGT four blocks of 300 groups with one strict separator, weights that add to 1 and c = 40, the
best on held-out training rows of EURLex-4K (docs/hierarchy.md). On a tenth of Wiki10, whose rows have 18.6
labels instead of 5, c is 8: with 40, three quarters of the groups are positive, and dozens of labels have
all votes (research/micro/results/blocks_weight.md). Parabel is omikuji's with its defaults, XT
extremeText's PLT. SLEEC, PfastreXML, DiSMEC and PPD-Sparse are written here from their papers
(`mlgt_research/baselines/`), since their authors' programs are not at hand. XML-CNN reads texts, which
these data sets do not have. All others ran on Bibtex, Mediamill, EURLex-4K and a tenth of Wiki10. Other
stand-ins have fewer: see "left out". T total is training and prediction of all test rows, T test the
latter, in CPU seconds on one thread; for He-NMFGT the paper counts the partition, ONE block and prediction:
that is in the column "paper's T". Figures without a spread are those of one run: stand-ins, systems that
train for more than 60 CPU seconds, and some that were not repeated. A system that takes more than 900 is
stopped. Where the last column is empty, a system was not measured in one run with mlgt. The Pi@k printed
for SLEEC are its P@k, as the paper says, and not in the picture.
"""

from typing import Any

import numpy as np

from ..evidence.record import Column, Table, average
from .measure import KS, PI_COLUMNS, finish, number
from .published import METHODS as PRINTED
from .sources import SAMPLE, Data
from .systems import ratios, system_tables

PAPER = "Table 2"
MISPRINTED = ("SLEEC", "Pi@5")
"""A method and measure that the paper prints as Pi@k, but that is P@k."""
HE = {"n_groups": 300, "column_weight": 40}
OTHERS: dict = {"mlgt": {}, "omikuji-parabel": {}}
LATER: dict = {
    "sleec": {}, "pfastrexml": {}, "extremetext": {}, "dismec": {}, "ppd-sparse": {}, "xml-cnn": {},
    "mlgt-ova": {},
}  # fmt: skip
"""The other systems of Tables 2 and 3, and one-vs-all by mlgt's solver."""
LIMITS = {"cpu_limit": 900, "once_above": 60}
"""CPU seconds: of a system at most, and of training above which a system runs once."""
FULL = {
    "data": {
        "Bibtex": {**OTHERS, "nmf-gt": {"n_groups": 120}, "mlcs": {"n_projections": 120}, **LATER},
        "Mediamill": {**OTHERS, "nmf-gt": {"n_groups": 50}, "mlcs": {"n_projections": 50}, **LATER},
        "RCV1x-synth": {**OTHERS, "nmf-gt": {"n_groups": 250}, "mlcs": {"n_projections": 250}},
        "EURLex-4K": {
            **OTHERS, "he-nmfgt": HE, "nmf-gt": {"n_groups": 350}, "mlcs": {"n_projections": 350}, **LATER,
        },
        "AmazonCat-synth": {
            **OTHERS, "he-nmfgt": HE, "nmf-gt": {"n_groups": 700}, "mlcs": {"n_projections": 700},
        },
        "Wiki10-synth": {**OTHERS, "he-nmfgt": {**HE, "n_blocks": 5, "n_groups": 650}},
        "Wiki10-tenth-synth": {
            **OTHERS, "he-nmfgt": {**HE, "column_weight": 8}, "nmf-gt": {"n_groups": 350},
            "mlcs": {"n_projections": 350}, "sleec": {}, "pfastrexml": {}, "extremetext": {}, "dismec": {},
            "ppd-sparse": {}, "mlgt-ova": {},
        },
    },
    "trials": 3,
    "limits": LIMITS,
}  # fmt: skip
QUICK: dict[str, Any] = {
    "data": {
        SAMPLE: {
            "he-nmfgt": {"n_groups": 16, "n_blocks": 2, "column_weight": 4, "budget": 0.3},
            "mlcs": {"n_projections": 24},
        },
    },
    "trials": 1,
}  # fmt: skip


def run(config: dict[str, Any], data: Data) -> list[Table]:
    times = [Column("T total", "low", 1), Column("paper's T", "", 1), Column("T test", "low", 2)]
    times.append(Column("T total, times mlgt's", "", 2, ratio=True))
    table = Table("methods", [Column("data"), Column("method"), *PI_COLUMNS, *times], by=("data",))
    return system_tables(table, config, data, PRINTED, _cells, _printed)


def _cells(run, first):
    test, train = run.figures("predict CPU"), run.figures("train CPU")
    cells = {f"Pi@{k}": run.quality(f"Pi@{k}") for k in KS} | {"T test": test}
    cells["T total"] = [a + b for a, b in zip(train, test)]
    cells["T total, times mlgt's"] = ratios(run, first, "train CPU", "predict CPU")
    return cells | {"paper's T": [a + b for a, b in zip(run.figures("paper's T train"), test)]}


def _printed(method, figures):
    *pi, total, test = figures
    whole = "paper's T" if method == "He-NMFGT" else "T total"
    return {f"Pi@{k}": v for k, v in zip(KS, pi)} | {"T test": test, whole: total}


def draw(figure: Any, tables: list[Table]) -> None:
    draw_bars(figure, tables[0], "Pi@5")


def draw_bars(figure: Any, table: Table, measure: str) -> None:
    """Ours beside the printed figures, one panel per data set."""
    names = table.values("data")
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(names), sharey=True)), names):
        ours = {row["method"]: average(row[measure]) for row in table.find(data=name)}
        printed = table.find("paper", data=name)
        paper = {row["method"]: row[measure] for row in printed if (row["method"], measure) != MISPRINTED}
        methods = list(dict.fromkeys([*ours, *paper]))
        for at, method in enumerate(methods):
            for shift, values, colour in ((-0.2, ours, "#1b7837"), (0.2, paper, "#bbbbbb")):
                if method in values:
                    axes.bar(at + shift, values[method], 0.38, color=colour)
        axes.set_xticks(range(len(methods)), methods, rotation=35, ha="right", fontsize=8)
        finish(axes, name, ylabel=measure, legend=False)
    figure.suptitle(f"{measure}: measured here (green) and as printed (grey)", fontsize=10)


def differs(tables: list[Table]) -> list[str]:
    table, notes = tables[0], []
    for name in table.values("data"):
        rows = {row["method"]: row for row in table.find(data=name)}
        paper = {row["method"]: row for row in table.find("paper", data=name)}
        both = [method for method in rows if method in paper]
        pairs = ", ".join(
            f"{m} {number(average(rows[m]['Pi@5']))} ({number(paper[m]['Pi@5'])})" for m in both
        )
        if both:
            notes.append(f"{name}, Pi@5 here (printed): {pairs}.")
    return notes
