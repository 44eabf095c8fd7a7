"""Labels of a file are found by id or name, one rule at a time; what is not found is reported."""

import pytest

from mlgt._core.progress import Narrator
from mlgt.errors import VocabularyWarning
from mlgt.vocabulary import Vocabulary, as_vocabulary, match_labels, report_findings

NAMES = {
    "p1": ["Cafe\u0301", "coffee house"],
    "p2": ["law", "right", "Rights"],
    "p3": ["Law", "right"],
    "p4": "p1",
}


def test_rules_apply_in_their_order():
    vocabulary = as_vocabulary(NAMES)

    def found(label):
        place = vocabulary.find(label)
        return None if place is None else vocabulary.id_of(place)

    assert found("p1") == "p1"  # an id, though it is a name too
    assert found(" law ") == "p2"
    assert found("Law") == "p3"
    assert found("LAW") is None  # two labels have such a name
    assert found("caf\u00e9") == "p1"
    assert found("COFFEE  house") == "p1"
    assert found("right") is None  # a further name of two labels
    assert found("rights") == "p2"
    assert found("art") is None


def test_labels_become_preferred_names():
    lists = [["p2", "law", "x"], ["rights", "p3"], [], ["x", "y"]]
    matched = match_labels(lists, as_vocabulary(NAMES))
    assert matched.lists == [["law", "x"], ["law", "Law"], [], ["x", "y"]]
    assert [str(finding) for finding in matched.findings] == [
        "labels that the vocabulary lacks, kept as labels of their own: 2 (x (2 times), y (1 times))"
    ]
    assert match_labels(lists, as_vocabulary(NAMES), only=True).lists == [["law"], ["law", "Law"], [], []]


def test_retired_labels_are_not_learnt_but_count_in_evaluation():
    vocabulary = Vocabulary(
        ("law",), (("p2",),), ((),), None, {"p9": None, "p8": "p7", "p7": "p2", "a": "b", "b": "a"}
    )
    lists = [["p9", "p8"], ["a"]]
    assert match_labels(lists, vocabulary).lists == [["law"], []]
    assert match_labels(lists, vocabulary, keep_retired=True).lists == [["p9", "law"], ["a"]]


def test_findings_are_seen_once(capsys):
    findings = match_labels([["x"]], as_vocabulary(NAMES)).findings
    with pytest.warns(VocabularyWarning, match="vocabulary lacks"):
        report_findings(findings, Narrator(0))
    report_findings(findings, Narrator(1))
    assert "vocabulary lacks" in capsys.readouterr().err
    report_findings((), Narrator(0))


def test_matching_a_preferred_name_gives_itself():
    """Also where every label has names and ids in common with others."""
    vocabulary = as_vocabulary({f"id {i}": [f"name {i}", f"name {i + 1}", "all"] for i in range(50)})
    assert [vocabulary.find(name) for name in vocabulary.names] == list(range(50))
    assert [vocabulary.find(ids[0]) for ids in vocabulary.ids] == list(range(50))
    assert vocabulary.find("all") is None
