"""All results below a folder, in the order of the paper, and the verdicts on its claims."""

from contextlib import contextmanager
from pathlib import Path

from mlgt._core.errors import DataFormatError

from ..evidence.claim import Claim
from ..evidence.markdown import claims_markdown, result_markdown
from ..evidence.page import render
from ..evidence.record import Result, read_result
from . import EXPERIMENTS
from .claims import judge_claims
from .run import find, stand_ins

TITLE = "mlgt: the evidence"
INTRODUCTION = (
    "The tables and figures of «Multilabel Classification by Hierarchical Partitioning and Data-dependent "
    "Grouping» (NeurIPS 2020), run again by mlgt beside what is printed, and mlgt beside its peers. Of the "
    "paper's eight data sets Bibtex, Mediamill and EURLex-4K are at hand; where a name ends in -synth, a "
    "synthetic stand-in of the size of that data set was run. Tables are counted from the one on "
    "constructions, after that of data set statistics; figures have no printed values. Trials "
    "are shown as mean ± standard deviation, ratios as median (smallest to largest), peers' precision with "
    "half the width of its 95 % interval. The best of our figures is bold. CPU seconds are of one thread "
    "of a machine that did other work beside."
)
DOCS = """# The evidence

<!-- Made by `mlgt report research/results --markdown docs/evidence.md`: change the code, not this file. -->

{introduction}

    mlgt reproduce NAME            # one table or figure: {names}
    mlgt bench TRAIN TEST          # mlgt beside its peers
    mlgt report DIR                # a page of all results

## The paper's claims

A claim is confirmed when all of its checks hold, partly when some do. Where trials are compared, a check
holds when the difference is above two standard errors. What was measured beside does not judge the claim.

{claims}
## Tables and figures

{results}"""


def collect(folder: str | Path) -> list[Result]:
    """[Result] of FOLDER/*/results.json, the paper's order first, then the others by name."""
    paths = sorted(Path(folder).glob("*/results.json"))
    if not paths:
        raise FileNotFoundError(
            f"{folder} has no results: expected folders with a results.json, as `mlgt reproduce NAME --out "
            f"{folder}` and `mlgt bench TRAIN TEST --out {folder}/NAME` write."
        )
    results = []
    for path in paths:
        result = read_result(path)
        result.name = path.parent.name  # a folder of `mlgt bench` may have been renamed
        if result.name in EXPERIMENTS:
            with _explained(path):
                result.notes = find(result.name).differs(result.tables)
                result.notes += stand_ins(result.provenance["data"])
        results.append(result)
    order = list(EXPERIMENTS)
    results.sort(key=lambda r: (order.index(r.name) if r.name in order else len(order), r.name))
    return results


@contextmanager
def _explained(where):
    """Raise what is missing in a result as a `DataFormatError`."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, StopIteration, AttributeError) as error:
        raise DataFormatError(
            f"{where} has not all that is needed ({type(error).__name__}: {error}); run `mlgt reproduce` "
            "again."
        ) from None


def judged(results: list[Result], folder: str | Path) -> list[Claim]:
    """The claims that these results check; quick runs check none."""
    with _explained(folder):
        claims = judge_claims({result.name: result for result in results if not result.quick})
    return [claim for claim in claims if claim.checks]


def html_report(folder: str | Path) -> str:
    results = collect(folder)
    claims = judged(results, folder)
    pictures = {
        result.name: path.read_bytes()
        for result in results
        if (path := Path(folder) / result.name / "figure.png").is_file()
    }
    return render(TITLE, INTRODUCTION, claims, results, pictures)


def markdown_report(folder: str | Path, pictures: str) -> str:
    """The results for the docs, as Markdown; `pictures` is the path from there to the folder."""
    results = collect(folder)
    parts = []
    for result in results:
        there = (Path(folder) / result.name / "figure.png").is_file()
        parts.append(result_markdown(result, f"{pictures}/{result.name}/figure.png" if there else None))
    claims = claims_markdown(judged(results, folder))
    names = ", ".join(EXPERIMENTS)
    return DOCS.format(introduction=INTRODUCTION, names=names, claims=claims, results="\n".join(parts))
