"""mlgt as a backend of Annif (https://annif.org), a tool for subject indexing in libraries.

    pip install annif                   # tried with 1.4.3
    python annif_backend.py COMMAND     # every command of `annif`, with the backend `mlgt` known

In projects.cfg:

    [yso-mlgt-en]
    name=YSO mlgt English
    language=en
    backend=mlgt
    analyzer=snowball(english)
    vocab=yso
    limit=100
    min_df=2

then as with any other backend:

    python annif_backend.py load-vocab yso yso-skos.ttl
    python annif_backend.py train yso-mlgt-en train.tsv
    python annif_backend.py learn yso-mlgt-en more.tsv      # new documents, without training again
    echo "shipping on frozen lakes" | python annif_backend.py suggest yso-mlgt-en
    python annif_backend.py eval yso-mlgt-en test.tsv

Parameters, all optional: `min_df` and `ngram` of the words, as of Annif's omikuji backend; `n_groups`,
`tail` and `seed` of mlgt. Scores are calibrated probabilities where there are some thousand documents. To
have it without this script, call `register()` where your Annif starts. The class is tested against Annif's
interface (tests/test_annif_example.py); the commands above were not run.
"""

import os.path

import numpy as np
import scipy.sparse as sp
from annif.backend import _backend_fns, backend, mixins
from annif.exception import NotInitializedException, NotSupportedException
from annif.suggestion import SubjectSuggestion, SuggestionBatch

from mlgt import MLGTClassifier, Predictor, load


class MLGTBackend(mixins.TfidfVectorizerMixin, backend.AnnifLearningBackend):
    """Subjects by group testing, ranked by a linear classifier each."""

    name = "mlgt"
    MODEL = "mlgt-model"
    DEFAULT_PARAMETERS = {"min_df": 1, "ngram": 1, "n_groups": "auto", "tail": 0.0, "seed": 0}  # noqa: RUF012

    _predictor = None

    @property
    def _path(self):
        return os.path.join(self.datadir, self.MODEL)

    def initialize(self, parallel=False):
        self.initialize_vectorizer()
        if self._predictor is None:
            if not os.path.isdir(self._path):
                raise NotInitializedException(f"model {self._path} not found", backend_id=self.backend_id)
            self._predictor = Predictor(self._path)

    def _train(self, corpus, params, jobs=0):
        if corpus == "cached":
            raise NotSupportedException("mlgt keeps no training data; train on documents.")
        if corpus.is_empty():
            raise NotSupportedException("Cannot train mlgt project with no documents")
        words = {
            "min_df": int(params["min_df"]),
            "tokenizer": self.project.analyzer.tokenize_words,
            "ngram_range": (1, int(params["ngram"])),
            "sublinear_tf": True,
            "dtype": np.float32,
        }
        X = self.create_vectorizer((document.text for document in corpus.documents), words)
        groups = params["n_groups"]
        model = MLGTClassifier(
            n_groups=groups if groups == "auto" else int(groups),
            tail=float(params["tail"]),
            random_state=int(params["seed"]),
            n_jobs=jobs or -1,
        )
        self.info(f"training on {X.shape[0]} documents and {X.shape[1]} terms")
        self._keep(model.fit(X, self._subjects(corpus)))

    def _learn(self, corpus, params):
        self.initialize()
        X = self.vectorizer.transform([document.text for document in corpus.documents])
        self._keep(load(self._path).set_params(n_jobs=-1).extend(X, self._subjects(corpus)))

    def _keep(self, model):
        model.set_params(n_jobs=None).save(self._path, overwrite=True)
        self._predictor = Predictor(self._path)

    def _subjects(self, corpus):
        """(documents, subjects), sparse."""
        sets = [list(document.subject_set) for document in corpus.documents]
        rows = np.repeat(np.arange(len(sets)), [len(ids) for ids in sets])
        columns = np.array([subject for ids in sets for subject in ids], np.int64)
        shape = (len(sets), len(self.project.subjects))
        return sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)

    def _suggest_batch(self, documents, params):
        X = self.vectorizer.transform([document.text for document in documents])
        labels, scores = self._predictor.predict_topk(
            X, min(int(params["limit"]), np.count_nonzero(self._predictor.label_counts_))
        )
        if self._predictor.calibrated_:
            values = 1 / (1 + np.exp(-scores))
        else:
            values = np.exp(np.minimum(scores, 0))  # mean log-probabilities
        found = [
            [SubjectSuggestion(l, v) for l, v in zip(ids, row) if l >= 0] if known else []
            for ids, row, known in zip(labels.tolist(), values.tolist(), np.diff(X.indptr) > 0)
        ]
        return SuggestionBatch.from_sequence(found, self.project.subjects)


def register():
    """Let Annif know the backend `mlgt`."""
    _backend_fns["mlgt"] = lambda: MLGTBackend


if __name__ == "__main__":
    from annif.cli import cli

    register()
    cli()
