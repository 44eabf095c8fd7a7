"""Teach a trained model new rows, and new labels if there are any, without its old training file.

The file is one of `mlgt train`; labels keep their ids or names, and others than those of the model are new.
These join existing groups. Models of blocks or SAFFRON are trained anew instead. It costs some accuracy
against training anew on everything: docs/growing.md has figures.
"""

import sys

from .console import (
    add_columns,
    add_ids,
    add_jobs,
    add_model,
    check_holds_rows,
    compile_for_training,
    narrator,
    read_rows,
    some,
    text_records,
)


def add_arguments(parser):
    add_model(parser)
    parser.add_argument("file", metavar="NEW", help="labelled rows, in the format of `mlgt train`")
    parser.add_argument("--out", required=True, metavar="DIR2", help="the folder to write the model to")
    parser.add_argument(
        "--force", action="store_true", help="replace the model in DIR2, which may be DIR, if there is one"
    )
    parser.add_argument(
        "--label-names",
        metavar="FILE",
        help="names of all labels, old and new, one a line, in order of ids",
    )
    add_jobs(parser)
    add_ids(parser)
    add_columns(parser)


def run(options):
    from ..model.files import check_target, load_model, save_model

    check_target(options.out, overwrite=options.force)
    model = load_model(options.model)
    classifier = getattr(model, "classifier_", model)
    tell = narrator(options)
    before = len(model.classes_), classifier.n_rows_
    learn = _learn_rows if classifier is model else _learn_texts
    learn(model, classifier.set_params(n_jobs=options.jobs, verbose=tell), options, tell)
    classifier.set_params(n_jobs=None, verbose=0)
    save_model(model, options.out, overwrite=options.force)
    more = f"{classifier.n_rows_ - before[1]} rows and {len(model.classes_) - before[0]} labels more"
    tell.say(f"{more}; the model is in {options.out}")


def _learn_rows(model, classifier, options, tell):
    import scipy.sparse as sp

    from .train import read_label_names

    check_holds_rows(options)
    d = len(model.classes_)
    with tell.stage("reading"):
        rows = read_rows(options, n_features=model.n_features_in_)
        Y = rows.Y
        if Y.shape[1] < d:
            Y = sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], d))
        names = _new_names(options, model.classes_, Y.shape[1], read_label_names)
    compile_for_training(tell)
    classifier.extend(rows.X, Y, names)


def _learn_texts(model, classifier, options, tell):
    with tell.stage("reading"):
        records = some(text_records(options, model, labelled=True), options)
    compile_for_training(tell)
    _doubt_words(model, records)
    model.extend([record.text for record in records], [record.labels for record in records])


def _doubt_words(model, records):
    """A word to the user where new texts have no word that the model knows: its words do not grow."""
    X = model.features_([record.text for record in records])
    strange = sum(
        not known and bool(record.text) for known, record in zip(X.indptr[1:] > X.indptr[:-1], records)
    )
    if strange > len(records) / 20:
        print(
            f"mlgt: {strange} of {len(records)} texts have no word that the model knows, and teach it "
            "nothing; train anew on all texts, once with --hashing if new words keep coming.",
            file=sys.stderr,
        )


def _new_names(options, classes, d, read):
    """Names of the new labels, or None; the old ones must be the model's."""
    if options.label_names is None:
        return None
    names = read(options.label_names, d)
    for l, (old, given) in enumerate(zip(classes, names)):
        if str(old) != given:
            raise ValueError(
                f"{options.label_names}, line {l + 1}: {given!r}, but the model calls this label "
                f"{str(old)!r}; expected the names of the model's labels first, in their order."
            )
    return names[len(classes) :]
