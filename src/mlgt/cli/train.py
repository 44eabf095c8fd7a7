"""Learn from a file of labelled rows and write a model folder.

The file has a line `rows features labels`, then one line a row: `label,label feature:value
feature:value ...`, ids from 0; or the same without the first line (svmlight). It may be packed with
gzip. With no further option mlgt picks the settings itself.
"""

from .console import add_ids, add_jobs, add_seed, compile_for_training, narrator, read_rows, whole

METHODS = {  # name: (construction, decoder, ranker)
    "auto": ("nmf", "soft", "auto"),
    "nmf-gt": ("nmf", "top_k", None),
    "cw-gt": ("constant_weight", "top_k", None),
    "sp-gt": ("sparse_random", "top_k", None),
    "saffron": ("saffron", "saffron", None),
}


def add_arguments(parser):
    parser.add_argument("file", metavar="TRAIN", help="the training file, plain or gzip")
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder to write the model to")
    parser.add_argument("--force", action="store_true", help="replace the model in DIR if there is one")
    add_seed(parser)
    add_jobs(parser)
    add_ids(parser)
    parser.add_argument(
        "--label-names", metavar="FILE", help="label names, one a line, in the order of ids"
    )
    tuning = parser.add_argument_group("settings, chosen by mlgt if not given")
    tuning.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="auto, or one of the paper's own: nmf-gt, cw-gt, sp-gt with hard decoding; saffron, with our "
        "decoder for it",
    )
    tuning.add_argument(
        "--n-groups", type=whole, metavar="M", help="how many groups, so how many classifiers"
    )
    tuning.add_argument(
        "--tail", type=float, default=0.0, metavar="T", help="above 0, rare labels rank higher (1: PSP@k)"
    )
    tuning.add_argument(
        "--column-weight", type=whole, metavar="C", help="in how many groups (saffron: bins) a label is"
    )


def run(options):
    from ..estimators import MLGTClassifier
    from ..model_files import check_target, save_model

    check_target(options.model, overwrite=options.force)
    tell = narrator(options)
    with tell.stage("reading"):
        rows = read_rows(options)
        names = _label_names(options.label_names, rows.Y.shape[1])
    compile_for_training(tell)
    construction, decoder, ranker = METHODS[options.method]
    model = MLGTClassifier(
        construction,
        decoder=decoder,
        ranker=ranker,
        n_groups=options.n_groups or "auto",
        column_weight=options.column_weight or "auto",
        tail=options.tail,
        random_state=options.seed,
        n_jobs=options.jobs,
        verbose=tell,
    )
    model.fit(rows.X, rows.Y)
    if names is not None:
        model.name_labels(names)
    model.set_params(n_jobs=None, verbose=0)
    save_model(model, options.model, overwrite=options.force)
    tell.say(f"the model is in {options.model}; next: mlgt evaluate {options.model} TEST")


def _label_names(path, d):
    if path is None:
        return None
    from ..data.files import read_bytes
    from ..errors import DataFormatError

    try:
        text = bytes(read_bytes(path)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataFormatError(f"{path} is not UTF-8 text ({error}); convert it.") from None
    names = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if len(names) != d:
        raise DataFormatError(
            f"{path} has {len(names)} lines, but there are {d} labels; expected one name a line, in the "
            "order of the label ids."
        )
    return names
