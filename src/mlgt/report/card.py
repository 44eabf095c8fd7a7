"""The card of a model: what is known of its data, figures, calibration and limits, as Markdown.

Figures come from the model folder alone: those of training, on rows that were held out of it, and new ones
on the rows that the model keeps out of all training to be checked on. A report of `mlgt evaluate --json`
adds those of a file. What mlgt cannot know is left open and marked with TO FILL IN.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._core.sigmoid import sigmoid
from .._core.terminal import visible
from ..metrics import calibration_error, hits, ndcg_rows, reliability
from ..model.fitted import FittedModel

FEW_ROWS = 5
"""Labels with fewer training rows are predicted worst."""
SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#"})
MEASURES = {"P@1": "P@1", "P@3": "P@3", "P@5": "P@5", "nDCG@5": "nDCG@5", "F1": "F1 of the given sets"}


def model_card(
    name: str,
    header: Mapping[str, Any],
    model: FittedModel,
    facts: Sequence[tuple[str, Any]],
    evaluated: Mapping[str, Any] | None = None,
) -> str:
    """Write the card of a model.

    Parameters
    ----------
    name : str
        The name of the model.
    header : mapping
        The header of its folder.
    model : FittedModel
        The model.
    facts : sequence of (str, object)
        Further rows of the table of data.
    evaluated : mapping, default=None
        The report of `mlgt evaluate --json`.

    Returns
    -------
    str
        Markdown.
    """
    checked = check_model(model)
    kind = "texts" if model.features is not None else "rows of features"
    parts = [
        f"# {_plain(name)}",
        f"A model that gives labels to {kind}. It knows {model.n_labels:,} labels and was trained on "
        f"{model.n_rows:,} rows with mlgt {_plain(header.get('mlgt_version'))} "
        f"({_plain(header.get('class'))}, file format {header.get('format_version')}).",
        f"Digest: `{header.get('digest', 'none: written by an older release')}`",
        _use(name, model),
        "## Data",
        _table(("", ""), [*_data_facts(model), *facts]),
        "TO FILL IN: where the data come from, their licence, who labelled them and by which rules.",
        "## Figures",
        *_figures(model, checked, evaluated or {}),
        "## Calibration",
        *_calibration(model, checked, evaluated or {}),
        "## Limits",
        "\n".join(f"- {limit}" for limit in _limits(model)),
        "TO FILL IN: what the model is for, and what it must not be used for.",
    ]
    return "\n\n".join(parts) + "\n"


def read_evaluation(path: str) -> dict[str, Any]:
    """Read the report that `mlgt evaluate --json` printed; of its figures, those that are numbers."""
    try:
        report = json.loads(Path(path).read_text("utf-8"))
        kept = {name: float(report[name]) for name in (*MEASURES, "calibration_error") if name in report}
        low, high = map(float, report["intervals"]["P@1"])
        return kept | {"n": int(report["n"]), "intervals": {"P@1": (low, high)}}
    except (ValueError, TypeError, KeyError):
        raise ValueError(
            f"{path} is no report of an evaluation; expected what `mlgt evaluate DIR TEST --json` prints."
        ) from None


def check_model(model: FittedModel) -> dict[str, Any]:
    """Measure a model on the rows that it keeps out of training; empty if it has none."""
    sample = model.sample
    if sample is None or not sample.sizes[0]:
        return {}
    X, Y = sample.X[sample.checked], sample.Y[sample.checked]
    labels, scores = model.top_k(X, min(20, len(model.label_counts)))
    right, found = hits(Y, labels), labels >= 0
    figures: dict[str, Any] = {f"P@{k}": right[:, :k].sum() / (k * len(right)) for k in (1, 3, 5)}
    figures |= {"rows": len(right), "nDCG@5": ndcg_rows(Y, labels, 5).mean()}
    if model.calibrated:
        figures["reliability"] = reliability(sigmoid(scores[found].astype(float)), right[found])
    return figures


def _use(name, model):
    file = "texts.csv" if model.features is not None else "rows.txt"
    return f"    mlgt predict {visible(name)} {file} -k auto"


def _data_facts(model) -> Iterator[tuple[str, Any]]:
    counts = np.asarray(model.label_counts)
    unused = model.n_labels - len(counts)
    yield "training rows", f"{model.n_rows:,}"
    yield "features", f"{model.n_features:,}"
    yield "labels", f"{model.n_labels:,}"
    yield "labels without a training row", f"{int((counts == 0).sum()) + unused:,}"
    yield (
        f"labels with 1 to {FEW_ROWS - 1} training rows",
        f"{int(((counts > 0) & (counts < FEW_ROWS)).sum()):,}",
    )
    yield "labels per row, mean", f"{counts.sum() / max(model.n_rows, 1):.2f}"


def _figures(model, checked, evaluated) -> Iterator[str]:
    held = model.record.held_out if model.record is not None else {}
    columns = {
        f"{held.get('rows', 0):,} rows held out while settings were chosen": held,
        f"{checked.get('rows', 0):,} rows kept out of all training": checked,
        f"{evaluated.get('n', 0):,} rows of a test file": evaluated,
    }
    columns = {name: found for name, found in columns.items() if "P@1" in found}
    if not columns:
        yield "Not measured: there were too few rows to hold some out. Run `mlgt evaluate DIR TEST`."
        return
    rows = [
        [shown, *(_figure(found.get(name)) for found in columns.values())]
        for name, shown in MEASURES.items()
        if any(name in found for found in columns.values())
    ]
    yield _table(["", *columns], rows)
    yield "P@k is the share of right labels among the k best."
    if "intervals" in evaluated:
        low, high = evaluated["intervals"]["P@1"]
        yield f"The 95 % interval of P@1 on the test file is {low:.3f} to {high:.3f}."


def _calibration(model, checked, evaluated) -> Iterator[str]:
    if not model.calibrated:
        yield "The model has no probabilities: its scores only order labels."
        return
    yield "Probabilities were fitted on held-out rows; on rows unlike those of training they do not hold."
    if "reliability" in checked:
        table = checked["reliability"]
        yield f"On the rows kept out of training, the mean difference is {calibration_error(table):.3f}:"
        columns = ("predicted probability", "share that is right", "predictions")
        yield _table(
            columns, [(f"{p:.2f}", f"{share:.2f}", f"{int(count):,}") for p, share, count in table]
        )
    if "calibration_error" in evaluated:
        yield f"On the test file, it is {evaluated['calibration_error']:.3f}."


def _limits(model) -> Iterator[str]:
    counts = np.asarray(model.label_counts)
    few = int((counts < FEW_ROWS).sum())
    if few:
        share = f"{few:,} of {len(counts):,} labels"
        yield f"{share} have fewer than {FEW_ROWS} training rows and are often missed."
    if int((counts == 0).sum()):
        by_name = "only if their names occur in the text" if model.name_index is not None else "never"
        yield f"Labels without a training row are given {by_name}."
    if model.features is not None:
        yield "Words that did not occur in training count for nothing; neither do order and meaning."
    yield "The model repeats what its data hold, with their errors and biases."
    kept = 0 if model.sample is None else len(model.sample)
    holds = [
        "the names of labels",
        *(["words of the training texts"] if model.features is not None else []),
    ]
    holds += [f"{kept:,} rows as features"] if kept else []
    yield f"The folder holds {', '.join(holds)}: do not publish it if they are confidential."
    yield "The digest shows that nothing was changed by accident. It is no signature."


def _figure(value):
    return "" if value is None else f"{value:.3f}"


def _table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        "| " + " | ".join(_plain(cell) if row is not lines[1] else cell for cell in row) + " |"
        for row in lines
    )


def _plain(value):
    """A value as text that Markdown shows as it is."""
    return visible(str(value)).translate(SPECIAL)
