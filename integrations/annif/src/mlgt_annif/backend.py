"""Annif backend using mlgt, extreme multilabel classification by group testing"""

from __future__ import annotations

import gzip
import json
import os.path
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from mlgt import MLGTClassifier, Predictor, TextTagger, load
from mlgt.errors import MLGTError
from mlgt.vocabulary import Vocabulary
from rdflib import URIRef
from rdflib.namespace import SKOS
from scipy.special import expit

import annif.util
from annif.backend import backend
from annif.exception import (
    ConfigurationException,
    NotInitializedException,
    NotSupportedException,
    OperationFailedException,
)
from annif.suggestion import SubjectSuggestion, SuggestionBatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from annif.corpus import Document, DocumentCorpus


class MLGTBackend(backend.AnnifLearningBackend):
    """mlgt based backend for Annif

    It learns from the texts of documents and from the labels of all subjects, so
    that subjects without any training document can be suggested too."""

    name = "mlgt"

    # defaults for uninitialized instances
    _predictor = None
    _subject_ids = None

    TRAIN_FILE = "mlgt-train.jsonl.gz"
    MODEL_FILE = "mlgt-model"

    DEFAULT_PARAMETERS = {
        "min_df": "auto",
        "ngram": 1,
        "max_features": "",
        "n_groups": "auto",
        "seed": 0,
        "use_hidden_labels": False,
    }

    @property
    def _model_path(self) -> str:
        return os.path.join(self.datadir, self.MODEL_FILE)

    @property
    def _train_path(self) -> str:
        return os.path.join(self.datadir, self.TRAIN_FILE)

    def initialize(self, parallel: bool = False) -> None:
        if self._predictor is None:
            self.debug("loading model from {}".format(self._model_path))
            if not os.path.isdir(self._model_path):
                raise NotInitializedException(
                    "model {} not found".format(self._model_path),
                    backend_id=self.backend_id,
                )
            try:
                self._use(Predictor(self._model_path))
            except MLGTError as err:
                raise OperationFailedException(str(err), backend_id=self.backend_id)

    def _use(self, predictor: Predictor) -> None:
        """make suggestions with the given model"""
        vocabulary = predictor.fitted_model().vocabulary
        subject_ids = [
            self.project.subjects.by_uri(ids[0], warnings=False) if ids else None
            for ids in vocabulary.ids
        ]
        # -1: removed from the vocabulary or excluded since the model was trained
        self._subject_ids = np.array([-1 if i is None else i for i in subject_ids])
        self._predictor = predictor

    # Texts and labels, as mlgt gets them. The project's analyzer says what words are:
    # mlgt has the stems of Snowball itself, words of other analyzers are joined.

    @property
    def _language(self) -> str | None:
        """the language of mlgt's own stems, if the project's analyzer is Snowball"""
        match = re.match(r"snowball\((\w+)", self.project.analyzer_spec or "")
        return match.group(1) if match and match.group(1) != "porter" else None

    def _prepare(self, text: str) -> str:
        """text as mlgt should split it into words"""
        spec = self.project.analyzer_spec
        if not spec or spec.startswith("simple(") or spec == "simple" or self._language:
            return text
        return " ".join(self.project.analyzer.tokenize_words(text)) or text

    def _vocabulary(self, params: dict[str, Any]) -> Vocabulary:
        """the subjects of the project with their labels in its language"""
        skos, language = self.project.vocab.skos, self.project.vocab_lang
        properties = [SKOS.altLabel]
        if annif.util.boolean(params["use_hidden_labels"]):
            properties.append(SKOS.hiddenLabel)

        subjects = [subject for _, subject in self.project.subjects.active]
        names: dict[str, None] = {}
        further_names = []
        for subject in subjects:
            label = subject.labels.get(language) or subject.uri
            name = self._prepare(label)
            more = skos.get_concept_labels(URIRef(subject.uri), properties)[language]
            more = [self._prepare(other) for other in more]
            if name in names:  # mlgt tells subjects apart by name
                more.insert(0, name)
                name = "{} <{}>".format(name, subject.uri)
            names[name] = None
            further_names.append(tuple(more))
        ids = tuple((subject.uri,) for subject in subjects)
        return Vocabulary(tuple(names), ids, tuple(further_names), language)

    def _samples(self, corpus: DocumentCorpus) -> Iterator[tuple[str, list[str]]]:
        """texts with the URIs of their subjects; documents without a known subject
        teach nothing and are skipped"""
        skipped = 0
        for doc in corpus.documents:
            uris = [self.project.subjects[i].uri for i in doc.subject_set]
            if uris and doc.text.strip():
                yield self._prepare(doc.text), uris
            else:
                skipped += 1
        if skipped:
            self.warning(f"skipped {skipped} documents without text or known subjects")

    def _write_train_file(self, corpus: DocumentCorpus, filename: str) -> None:
        with gzip.open(filename, "wt", encoding="utf-8", compresslevel=1) as trainfile:
            for sample in self._samples(corpus):
                print(json.dumps(sample, ensure_ascii=False), file=trainfile)

    def _read_train_file(self) -> list[tuple[str, list[str]]]:
        if not os.path.exists(self._train_path):
            raise NotInitializedException(
                "train data file {} not found".format(self._train_path),
                backend_id=self.backend_id,
            )
        with gzip.open(self._train_path, "rt", encoding="utf-8") as trainfile:
            return [tuple(json.loads(line)) for line in trainfile]

    def _create_tagger(self, params: dict[str, Any], jobs: int) -> TextTagger:
        def number(name: str) -> int | str | None:
            value = str(params[name]).strip()
            try:
                return value if value == "auto" else int(value) if value else None
            except ValueError:
                raise ConfigurationException(
                    f"{name}={value} must be a whole number", backend_id=self.backend_id
                )

        classifier = MLGTClassifier(
            n_groups=number("n_groups"), random_state=number("seed"), n_jobs=jobs or -1
        )
        return TextTagger(
            classifier,
            words=number("ngram"),
            min_df=number("min_df"),
            max_features=number("max_features"),
            language=self._language,
            vocabulary=self._vocabulary(params),
            vocabulary_only=True,
        )

    def _train(
        self,
        corpus: DocumentCorpus,
        params: dict[str, Any],
        jobs: int = 0,
    ) -> None:
        if corpus != "cached":
            if corpus.is_empty():
                raise NotSupportedException(
                    "Cannot train mlgt project with no documents"
                )
            self.info("creating train file")
            annif.util.atomic_save(
                corpus, self.datadir, self.TRAIN_FILE, method=self._write_train_file
            )
        else:
            self.info("Reusing cached training data from previous run.")
        samples = self._read_train_file()
        if not samples:
            raise NotSupportedException(
                "Cannot train mlgt project: no document has a known subject"
            )
        tagger = self._create_tagger(params, jobs)
        self.info(f"training on {len(samples)} documents")
        try:
            tagger.fit(*zip(*samples))
        except ValueError as err:
            raise OperationFailedException(str(err), backend_id=self.backend_id)
        self._save(tagger)

    def _learn(self, corpus: DocumentCorpus, params: dict[str, Any]) -> None:
        self.initialize()
        samples = list(self._samples(corpus))
        if not samples:
            self.warning("no document has a known subject, there is nothing to learn")
            return
        tagger = load(self._model_path)
        tagger.classifier_.set_params(n_jobs=-1)
        known = {uri for ids in tagger.vocabulary_.ids for uri in ids}
        if any(uri not in known for _, uris in samples for uri in uris):
            self.info("the vocabulary has new subjects, updating that of the model")
            tagger.update_vocabulary(self._vocabulary(params))
        self.info(f"learning from {len(samples)} documents")
        self._save(tagger.extend(*zip(*samples)))

    def _save(self, tagger: TextTagger) -> None:
        self.info("saving model")
        tagger.save(self._model_path, overwrite=True)
        self._use(Predictor(self._model_path))

    def _suggest_batch(
        self, documents: list[Document], params: dict[str, Any]
    ) -> SuggestionBatch:
        predictor = self._predictor
        limit = min(int(params["limit"]), predictor.n_labels_)
        rows = predictor.features_([self._prepare(doc.text) for doc in documents])
        labels, scores = predictor.predict_topk(rows, limit)
        if predictor.calibrated_:
            values = expit(scores)
        else:  # with few documents there are no probabilities
            values = np.exp(np.minimum(scores, 0))
        subject_ids = np.where(labels >= 0, self._subject_ids[labels], -1)
        batch_results = [
            [
                SubjectSuggestion(subject_id=subject_id, score=score)
                for subject_id, score in zip(*row)
                if subject_id >= 0
            ]
            for row in zip(subject_ids.tolist(), values.tolist())
        ]
        return SuggestionBatch.from_sequence(batch_results, self.project.subjects)
