"""All results below a folder, in the order of the paper, with what their modules say of them now."""

import inspect
from pathlib import Path

from ..evidence.markdown import claims_markdown, result_markdown
from ..evidence.page import render
from ..evidence.record import read_result
from . import EXPERIMENTS
from .claims import judge_claims
from .run import find

TITLE = "mlgt: the evidence"
INTRODUCTION = (
    "Every table and figure of «Multilabel Classification by Hierarchical Partitioning and Data-dependent "
    "Grouping» (NeurIPS 2020), run again by mlgt beside what is printed, and mlgt beside its peers. Trials "
    "are shown as mean ± standard deviation, ratios as median (smallest to largest), peers' precision with "
    "half the width of its 95 % interval. The best of our figures is bold. CPU seconds are of one thread "
    "of a machine that did other work beside."
)
DOCS = """# The evidence

<!-- Written by `mlgt report experiments --markdown docs/evidence.md`: change the code, not this file. -->

{introduction}

    mlgt reproduce NAME            # one table or figure: {names}
    mlgt bench TRAIN TEST          # mlgt beside its peers
    mlgt report experiments        # a page of all results

## The paper's claims

A claim is confirmed when all of its checks hold, partly when some do.

{claims}
## Tables and figures

{results}"""


def collect(folder):
    """[Result] of FOLDER/*/results.json, the paper's order first, then the others by name."""
    paths = sorted(Path(folder).glob("*/results.json"))
    if not paths:
        raise FileNotFoundError(
            f"{folder} has no results: expected folders with a results.json, as `mlgt reproduce NAME --out "
            f"{folder}` and `mlgt bench TRAIN TEST --out {folder}/NAME` write."
        )
    results = [read_result(path) for path in paths]
    order = list(EXPERIMENTS)
    results.sort(key=lambda r: (order.index(r.name) if r.name in order else len(order), r.name))
    for result in results:
        if result.name in EXPERIMENTS:
            module = find(result.name)
            result.about, result.notes = inspect.cleandoc(module.__doc__), module.differs(result.tables)
    return results


def html_report(folder):
    results = collect(folder)
    claims = judge_claims({result.name: result for result in results})
    pictures = {
        result.name: path.read_bytes()
        for result in results
        if (path := Path(folder) / result.name / "figure.png").is_file()
    }
    return render(TITLE, INTRODUCTION, claims, results, pictures)


def markdown_report(folder, pictures):
    """The same for the docs; `pictures` is the path from there to the folder."""
    results = collect(folder)
    parts = []
    for result in results:
        there = (Path(folder) / result.name / "figure.png").is_file()
        parts.append(result_markdown(result, f"{pictures}/{result.name}/figure.png" if there else None))
    claims = claims_markdown(judge_claims({result.name: result for result in results}))
    names = ", ".join(EXPERIMENTS)
    return DOCS.format(introduction=INTRODUCTION, names=names, claims=claims, results="\n".join(parts))
