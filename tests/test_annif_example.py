"""examples/annif_backend.py against Annif's own classes, where Annif is installed."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "annif_backend.py"
pytestmark = [
    pytest.mark.skipif(not EXAMPLE.is_file(), reason="the examples are not beside the tests"),
    pytest.mark.filterwarnings("ignore"),  # those of Annif's dependencies are not ours
]


@pytest.fixture
def annif_project(tmp_path):
    pytest.importorskip("annif", reason="Annif is not installed")
    import annif.corpus  # noqa: F401  first: annif.vocab imports it and is imported by it
    from annif.vocab import Subject, SubjectIndexFile

    subjects = SubjectIndexFile()
    for word in WORDS:
        subjects.append(Subject(uri=f"http://example.org/{word}", labels={"en": word}, notation=None))
    analyzer = SimpleNamespace(tokenize_words=str.split)  # Annif's own need data of NLTK
    return SimpleNamespace(datadir=str(tmp_path), subjects=subjects, analyzer=analyzer)


WORDS = {
    "cats": "cat purr whiskers meow".split(),
    "dogs": "dog bark leash fetch".split(),
    "law": "court judge verdict tort".split(),
    "ice": "frozen lake winter skates".split(),
}


def corpus(n, subjects, seed):
    from annif.corpus import Document, DocumentList, SubjectSet

    rng = np.random.default_rng(seed)
    names = list(WORDS)
    documents = []
    for _ in range(n):
        ids = rng.choice(subjects, rng.integers(1, 3), replace=False)
        text = " ".join(rng.choice(WORDS[names[i]]) for i in ids for _ in range(4))
        documents.append(Document(text=text, subject_set=SubjectSet([int(i) for i in ids])))
    return DocumentList(documents)


def test_train_suggest_and_learn(annif_project):
    spec = importlib.util.spec_from_file_location("annif_backend", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()
    from annif.backend import get_backend
    from annif.corpus import Document

    backend = get_backend("mlgt")("mlgt", {"limit": 3}, annif_project)
    backend.train(corpus(300, [0, 1, 2], 0))
    assert backend.is_trained
    again = get_backend("mlgt")("mlgt", {"limit": 3}, annif_project)
    documents = [
        Document(text="the cat may purr"),
        Document(text="judge and court"),
        Document(text="xyzzy"),
    ]
    first = [[s.subject_id for s in result][:1] for result in again.suggest(documents)]
    assert first == [[0], [2], []]
    again.learn(corpus(300, [0, 3], 1))  # a subject without documents before
    (result,) = again.suggest([Document(text="cat whiskers on the leash")])
    assert next(iter(result)).subject_id in (0, 1)
