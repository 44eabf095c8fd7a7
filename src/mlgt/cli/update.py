"""Add new rows and labels to a trained model, without its old training file.

The file has a format of `mlgt train`. Labels of the model keep their ids or
names; all others are new. The last line compares the model before and after on
rows that it keeps out of training; a model that is surely worse is not written
unless --even-if-worse is given. Models with blocks or SAFFRON cannot be
updated: train them again on all rows. docs/growing.md has figures.

With --vocabulary the labels follow a changed vocabulary, before new rows are
learnt or without any: the same id with another name is renamed, an id that is
gone or deprecated is not predicted any more, one that was replaced by another
is predicted as that, and new ones are added without rows.
"""

import warnings
from argparse import ArgumentParser, Namespace

from .._core.terminal import tell
from .console import (
    add_columns,
    add_jobs,
    add_model,
    add_reading,
    form_and_columns,
    limits_of,
    make_narrator,
    model_rows,
)
from .models import add_output, classifier_of, label_names, labelled_records
from .vocabulary import add_vocabulary, read_given

INTERMIXED = True
"""NEW is optional and may follow options."""


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "file", metavar="NEW", nargs="?", help="file of labelled rows, in a format of `mlgt train`"
    )
    add_output(parser, required=True)
    parser.add_argument(
        "--even-if-worse",
        action="store_true",
        help="write the model even if it is surely worse",
    )
    parser.add_argument(
        "--label-names",
        metavar="FILE",
        help="names of all labels, old and new, one per line, in the order of the ids",
    )
    add_vocabulary(parser, "the vocabulary of the labels as it is now, in a format of `mlgt train`")
    add_jobs(parser)
    add_reading(parser)
    add_columns(parser)


def run(options: Namespace) -> None:
    from .._core.progress import narrating
    from ..estimators import load
    from ..model.writing import claim

    progress, vocabulary = make_narrator(options), read_given(options)
    if options.file is None and vocabulary is None:
        raise ValueError(
            "there is nothing to update with; pass a file of rows, --vocabulary FILE, or both."
        )
    with claim(options.out, overwrite=options.force), narrating(progress):
        model = load(options.model)
        classifier = classifier_of(model)
        n_labels, n_rows = len(classifier.model_.label_counts), classifier.n_rows_
        learn = _learn_rows if classifier is model else _learn_texts
        if vocabulary is not None:
            if classifier is model:
                raise ValueError("--vocabulary is for models of texts; labels of rows have --label-names.")
            model.update_vocabulary(vocabulary)
        classifier.set_params(n_jobs=options.jobs)
        if options.file is not None:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Teaching made", UserWarning)  # said below
                learn(model, options, progress)
            classifier = classifier_of(model)
            _report(classifier, options)
        classifier.set_params(n_jobs=None)
        model.save(options.out, overwrite=options.force)
    more = len(classifier.model_.label_counts) - n_labels
    added = f"{classifier.n_rows_ - n_rows} rows and {more} labels"
    if not options.quiet:
        tell(f"added {added}; the model is in {options.out}")


def _report(classifier, options):
    """Say what teaching did to the model; raise if it is surely worse and may not be."""
    checkup = classifier.checkup_
    if checkup is None:
        tell("The model keeps no rows out of training, so there is no telling what the new rows did to it.")
    elif checkup.worse and not options.even_if_worse:
        raise ValueError(
            f"the new rows make the model worse ({checkup}); {options.out} is not written. Look at their "
            "labels, train again on all rows, or pass --even-if-worse."
        )
    else:
        tell(f"{checkup}.")


def _learn_rows(model, options, progress):
    import scipy.sparse as sp

    d = model.n_labels_
    with progress.stage("reading"):
        rows = model_rows(options, model, labels=False)
        Y = rows.Y
        if Y.shape[1] < d:
            Y = sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], d))
        names = _new_names(options, label_names(model), Y.shape[1])
    model.extend(rows.X, Y, names)


def _learn_texts(model, options, progress):
    with progress.stage("reading"):
        records = labelled_records(options, model)
    form, _ = form_and_columns(options, None, model.columns_)
    if form != "jsonl" and options.label_separator is None:
        _check_joined(options.file, records, set(map(str, label_names(classifier_of(model)))))
    model.extend([record.text for record in records], [record.labels for record in records])
    _warn_unknown_words(model, records)


def _check_joined(file, records, known):
    """Raise if new labels are known ones, joined by a mark that is no separator of the model."""
    from ..text import joining_mark

    new = {str(label) for record in records for label in record.labels} - known
    if (mark := joining_mark(new, known)) is not None:
        example = next(name for name in sorted(new) if mark in name)
        raise ValueError(
            f"{file}: {len(new)} labels are new, like {example[:60]!r}, but most of them are labels that "
            f"the model knows, joined by {mark!r}. Pass --label-separator '{mark}' to split them, or the "
            "separator of the file if they are meant as they are."
        )


def _warn_unknown_words(model, records):
    """Warn if many new texts have no word that the model knows now."""
    X = model.features_([record.text for record in records])
    unknown = sum(
        not known and bool(record.text) for known, record in zip(X.indptr[1:] > X.indptr[:-1], records)
    )
    if unknown > len(records) / 20:
        tell(
            f"{unknown} of {len(records)} texts have no word that the model knows, and have no "
            "effect; train again on all texts, with --hashing if new words keep coming."
        )


def _new_names(options, classes, d):
    """Return the names of the new labels, or None; raise if the old ones are not the model's."""
    from ..vocabulary import read_label_vocabulary

    if options.label_names is None:
        return None
    if classes is None:
        raise ValueError(
            f"the labels of {options.model} have no names, so new ones can have none; leave out "
            "--label-names, or train again with it."
        )
    vocabulary = read_label_vocabulary(options.label_names, d, limits_of(options))
    names = [] if vocabulary is None else list(vocabulary.names)
    for l, (old, given) in enumerate(zip(classes, names)):
        if str(old) != given:
            raise ValueError(
                f"{options.label_names}, line {l + 1}: {given!r}, but the model calls this label "
                f"{str(old)!r}; expected the names of the model's labels first, in their order."
            )
    return names[len(classes) :]
