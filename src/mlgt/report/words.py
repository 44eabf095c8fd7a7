"""The figures of an evaluation and of a comparison, in sentences for readers who know no measures."""

from typing import Any


def in_words(report: dict[str, Any]) -> list[str]:
    """Return sentences about a report of `mlgt evaluate --json`."""
    low, high = (_hundred(end) for end in report["intervals"]["P@1"])
    span = f" ({low} to {high} with 95 % confidence)" if low != high else ""
    sentences = [
        f"Of 100 first labels, {_hundred(report['P@1'])} are right{span}{_at_most(report, 'P@1')}.",
        f"Of 100 labels among the first five, {_hundred(report['P@5'])} are right"
        f"{_at_most(report, 'P@5', ': rows have too few labels for five right ones')}.",
        f"The first five hold, on average, {_hundred(report['recall@5'])} % of the true labels of a row.",
    ]
    if "set_precision" in report:
        sentences.append(
            f"If the model chooses how many labels a row gets, it gives {report['labels_per_row']:.1f} on "
            f"average: of 100 of them, {_hundred(report['set_precision'])} are right, and of 100 true "
            f"labels it finds {_hundred(report['set_recall'])}."
        )
    if taught := report.get("n_taught"):
        sentences.append(f"{taught_in_words(taught)}; on other rows it is not as good.")
    return sentences


def taught_in_words(count: int, model: str = "the model") -> str:
    """Return the first half of a sentence about rows that a model was taught."""
    return f"{count} of the rows {'was' if count == 1 else 'were'} taught to {model}, which remembers them"


def _at_most(report, name, why=""):
    """The highest value of a measure, where it is below 1."""
    highest = report.get("highest", {}).get(name, 1.0)
    return f", of at most {_hundred(highest)} that could be{why}" if _hundred(highest) < 100 else ""


def _hundred(share):
    return int(100 * share + 0.5)


def comparison_in_words(report: dict[str, Any]) -> list[str]:
    """Return sentences about a report of `mlgt compare --json`."""
    first, answer = report["measures"]["P@1"], report["measures"]["F1"]
    n, same = report["n"], report["n_same"]
    better = f"{report['n_better']} row{'s' * (report['n_better'] != 1)}"
    return [
        f"Of 100 first labels, {100 * first['a']:.1f} are right with A and {100 * first['b']:.1f} with B: "
        f"{_verdict(first)}.",
        f"The F1 of the given labels is {answer['a']:.4f} with A and {answer['b']:.4f} with B: "
        f"{_verdict(answer)}.",
        f"Both give the same labels to {same} of {n} rows. B is better for {better} and "
        f"worse for {report['n_worse']}; the others are as good, with other labels or the same.",
    ]


def _verdict(facts):
    low, high = facts["interval"]
    change = f"{100 * facts['difference']:+.1f} points, 95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    if low > 0:
        return f"B is surely better ({change})"
    return f"B is surely worse ({change})" if high < 0 else f"no sure difference ({change})"
