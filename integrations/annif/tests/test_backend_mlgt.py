"""The backend inside the real Annif: projects, vocabularies and commands."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("annif", reason="Annif is not installed")
pytest.importorskip("mlgt_annif", reason="mlgt-annif is not installed")
# Warnings of Annif's dependencies are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")

from click.testing import CliRunner  # noqa: E402

from annif.corpus import Document, DocumentList, SubjectSet  # noqa: E402
from annif.exception import (  # noqa: E402
    ConfigurationException,
    NotEnabledException,
    NotInitializedException,
    NotSupportedException,
)
from annif.registry import AnnifRegistry  # noqa: E402
from annif.vocab import VocabFileSKOS  # noqa: E402

CONFIG = """
[plain]
name=plain
language=en
backend=mlgt
analyzer=snowball(english)
vocab=things
n_groups=auto
limit=5
allow_learn=true

[frozen]
name=no learning
language=en
backend=mlgt
vocab=things

[wrong]
name=wrong
language=en
backend=mlgt
vocab=things
min_df=few
"""
N_THINGS, UNSEEN, OTHER_NAME, TWIN = (
    300,
    300,
    301,
    302,
)  # the last three have no documents
URI = "http://example.org/{}"


def thing(i):
    """A word that is no other's stem."""
    return (
        "".join(
            "bdfgklmnprstvz"[int(digit)] + "ao"[int(digit) % 2] for digit in f"{i:03d}"
        )
        + "x"
    )


def turtle(path, things, alternative=()):
    lines = ["@prefix skos: <http://www.w3.org/2004/02/skos/core#> ."]
    for i, name in things.items():
        also = "".join(
            f'; skos:altLabel "{other}"@en' for j, other in alternative if i == j
        )
        lines.append(
            f'<{URI.format(i)}> a skos:Concept; skos:prefLabel "{name}"@en{also} .'
        )
    path.write_text("\n".join(lines), "utf-8")
    return VocabFileSKOS(str(path))


def documents(n, seed, ids=range(N_THINGS)):
    """Texts of two subjects, some rare: labels, mostly, and words about them."""
    rng, made, ids = np.random.default_rng(seed), [], list(ids)
    share = 1 / (1 + np.arange(len(ids)))
    for _ in range(n):
        own = rng.choice(ids, 2, replace=False, p=share / share.sum())
        words = [f"about{i}q{rng.integers(3)}" for i in own for _ in range(2)]
        words += [thing(i) for i in own if rng.random() < 0.9]
        words += [f"noise{w}" for w in rng.integers(0, 200, 5)]
        rng.shuffle(words)
        made.append((" ".join(words), [int(i) for i in own]))
    return made


NAMES = {i: thing(i) for i in range(TWIN)} | {TWIN: thing(3)}


def new_registry(folder):
    # The projects of a registry are found by its address, maybe that of an earlier one.
    AnnifRegistry._projects.clear()
    return AnnifRegistry(str(folder / "projects.cfg"), str(folder / "data"), False)


def make_registry(tmp_path):
    (tmp_path / "projects.cfg").write_text(CONFIG)
    registry = new_registry(tmp_path)
    vocab = turtle(tmp_path / "things.ttl", NAMES, [(OTHER_NAME, "quibble")])
    registry.get_vocab("things").load_vocabulary(vocab)
    return registry


@pytest.fixture
def registry(tmp_path):
    return make_registry(tmp_path)


def corpus(project, made):
    subjects = project.subjects
    return DocumentList(
        [
            Document(
                text=text,
                subject_set=SubjectSet([subjects.by_uri(URI.format(i)) for i in ids]),
            )
            for text, ids in made
        ]
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a trained project."""
    registry = make_registry(tmp_path_factory.mktemp("trained"))
    project = registry.get_project("plain")
    project.train(corpus(project, documents(3000, 0)))
    return Path(project.datadir)


@pytest.fixture
def project(registry, trained):
    project = registry.get_project("plain")
    shutil.copytree(trained, project.datadir, dirs_exist_ok=True)
    return project


def suggest(project, *texts, limit=5):
    """Last parts of the suggested URIs, with their scores."""
    found = project.suggest(
        [Document(text=text) for text in texts], {"mlgt": {"limit": limit}}
    )
    return [
        [
            (project.subjects[s.subject_id].uri.rsplit("/", 1)[1], s.score)
            for s in result
        ]
        for result in found
    ]


def model_of(project):
    return {
        path.name: path.read_bytes()
        for path in sorted(Path(project.datadir, "mlgt-model").glob("*.npy"))
    }


def test_suggests_what_documents_are_about(project, tmp_path):
    made = documents(100, 1)
    found = suggest(project, *(text for text, _ in made))
    hits = [
        len({int(i) for i, _ in row[:2]} & set(ids))
        for row, (_, ids) in zip(found, made)
    ]
    assert np.mean(hits) > 1.8
    assert all(0 < score <= 1 for row in found for _, score in row)
    assert suggest(project, "words nobody knows", "") == [[], []]
    again = new_registry(tmp_path).get_project("plain")
    assert again.is_trained
    assert suggest(again, made[0][0]) == found[:1]


def test_subjects_without_documents_are_found_by_their_labels(project):
    for text, subject in (
        (f"{thing(UNSEEN)} noise1", UNSEEN),
        ("quibble noise3", OTHER_NAME),
    ):
        assert str(subject) in dict(suggest(project, text)[0]), text


def test_subjects_of_one_label_stay_apart(registry):
    project = registry.get_project("plain")
    twins = [
        (text.replace("about3q", "other"), [TWIN if i == 3 else i for i in ids])
        for text, ids in documents(400, 2, range(3, 10))
    ]
    project.train(
        corpus(
            project,
            documents(3000, 0, range(4, N_THINGS))
            + documents(400, 3, range(3, 10))
            + twins,
        )
    )
    first = [
        row[0][0] for row in suggest(project, "about3q1 about3q2", "other1 other2")
    ]
    assert first == ["3", str(TWIN)]


def test_most_subjects_may_be_without_documents(registry, tmp_path):
    names = NAMES | {i: f"{thing(i)}{thing(i - 700)}" for i in range(1000, 2500)}
    registry.get_vocab("things").load_vocabulary(turtle(tmp_path / "many.ttl", names))
    project = new_registry(tmp_path).get_project("plain")
    project.train(corpus(project, documents(3000, 0)))
    found = suggest(project, f"{names[2000]} noise1", "about6q1 about6q2", limit=5000)
    assert "2000" in [subject for subject, _ in found[0][:5]]
    assert found[1][0][0] == "6"


def test_a_long_list_begins_as_a_short_one(project):
    texts = [text for text, _ in documents(20, 3)]
    assert [row[:5] for row in suggest(project, *texts, limit=1000)] == suggest(
        project, *texts
    )


def test_documents_without_known_subjects_are_skipped(registry, project):
    before = model_of(project)
    assert before
    rest = DocumentList(
        [Document(text="about1q1 noise7", subject_set=SubjectSet())] * 500
    )
    known = corpus(project, documents(3000, 0))
    project.train(DocumentList([*known.documents, *rest.documents]))
    assert model_of(project) == before
    project.learn(rest)
    assert model_of(project) == before
    with pytest.raises(NotSupportedException, match="known subject"):
        project.train(rest)
    with pytest.raises(NotSupportedException, match="no documents"):
        project.train(DocumentList([]))


def test_cached_documents_give_the_same_model(registry, project):
    before = model_of(project)
    project.train("cached")
    assert model_of(project) == before
    project.train("cached", {"mlgt": {"min_df": "30"}})
    assert model_of(project) != before
    with pytest.raises(NotInitializedException, match="train data"):
        registry.get_project("frozen").train("cached")


def test_learns_where_the_project_allows_it(registry, project):
    text = "noise11 noise12 noise13"
    more = [(text, [UNSEEN])] * 30
    before = dict(suggest(project, text, limit=303)[0])
    project.learn(corpus(project, documents(300, 5) + more))
    after = dict(suggest(project, text, limit=303)[0])
    assert after[str(UNSEEN)] > before.get(str(UNSEEN), 0)
    with pytest.raises(NotEnabledException):
        registry.get_project("frozen").learn(corpus(project, more))


def test_follows_a_changed_vocabulary(registry, project, tmp_path):
    text = "about5q1 about5q2 about6q1 about6q2"
    assert {found for found, _ in suggest(project, text)[0][:2]} == {"5", "6"}
    vocab = turtle(tmp_path / "changed.ttl", NAMES | {999: "newcomer"})
    registry.get_vocab("things").load_vocabulary(vocab)
    again = new_registry(tmp_path).get_project("plain")
    again.vocab_spec = f"things(exclude={URI.format(5)})"
    found = suggest(again, text, limit=50)[0]
    assert found[0][0] == "6"
    assert "5" not in dict(found)
    made = [(f"noise{i % 3} noise{i % 4} newcomer", [999]) for i in range(40)]
    again.learn(corpus(again, documents(300, 5, range(6, N_THINGS)) + made))
    assert "999" in dict(suggest(again, "noise1 noise2 newcomer")[0])


def test_other_analyzers_say_what_words_are(registry, monkeypatch):
    from annif import analyzer

    class Backwards(analyzer.analyzer.Analyzer):
        def __init__(self, param):
            self.param = param

        def tokenize_words(self, text, filter=True):
            return [word.lower()[::-1] for word in text.split()]

    monkeypatch.setitem(analyzer._analyzers, "backwards", Backwards)
    project = registry.get_project("plain")
    project.analyzer_spec = "backwards"
    project.train(corpus(project, documents(3000, 0)))
    texts = [text for text, _ in documents(5, 1)]
    backwards = suggest(project, *texts)
    assert backwards[0]
    project.analyzer_spec = "simple"  # the model's words are written backwards
    assert (
        suggest(
            project, *(" ".join(word[::-1] for word in text.split()) for text in texts)
        )
        == backwards
    )


def test_a_mistake_in_the_configuration_is_named(registry):
    project = registry.get_project("wrong")
    with pytest.raises(
        ConfigurationException, match="min_df=few must be a whole number"
    ):
        project.train(corpus(project, documents(20, 0)))
    with pytest.raises(NotInitializedException):
        project.backend.initialize()


def test_the_file_works_in_the_tree_of_annif():
    path = Path(importlib.util.find_spec("mlgt_annif").origin).with_name("backend.py")
    spec = importlib.util.spec_from_file_location("annif.backend.mlgt", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.MLGTBackend.__module__ == "annif.backend.mlgt"


def test_the_commands_and_spawned_processes(tmp_path):
    """Train and evaluate by the command, each in a new process."""
    (tmp_path / "projects.cfg").write_text(CONFIG)
    turtle(tmp_path / "things.ttl", {i: thing(i) for i in range(N_THINGS)})
    for part, n in (("train", 1000), ("test", 100)):
        lines = (
            text + "\t" + " ".join(f"<{URI.format(i)}>" for i in ids)
            for text, ids in documents(n, n)
        )
        (tmp_path / f"{part}.tsv").write_text("\n".join(lines))
    (tmp_path / "sitecustomize.py").write_text(
        "import multiprocessing as m\nm.set_start_method('spawn')\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NLTK_DATA": str(tmp_path)}

    def annif(*arguments):
        done = subprocess.run(
            [Path(sys.executable).with_name("annif"), *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    annif("load-vocab", "things", "things.ttl")
    annif("train", "plain", "train.tsv")
    lines = annif("eval", "-j", "2", "plain", "test.tsv").splitlines()
    (f1,) = [float(line.split()[-1]) for line in lines if line.startswith("F1@5")]
    assert f1 > 0.5


def test_the_command_is_that_of_annif():
    from mlgt_annif.__main__ import main

    from annif.cli import cli

    assert main.__module__ == "mlgt_annif.__main__"
    assert CliRunner().invoke(cli, ["--version"]).exit_code == 0
