"""Show the contents of a model folder: settings, sizes, groups, blocks and files.

With --plot and --data, draw the co-occurrence of the labels of a model with
blocks, in the order of its blocks. --groups and --partition write the groups
and blocks in the formats that `mlgt train` reads. --card writes a model card:
data, figures, calibration, limits and digest, in Markdown.
"""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from .._core.terminal import show
from .console import add_model, add_reading, form_and_columns, limits_of, print_table
from .models import classifier_of, label_names


def add_arguments(parser: ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("--verify", action="store_true", help="read every file and compare its checksum")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the co-occurrence of the labels to FILE (PNG, PDF or SVG)"
    )
    parser.add_argument("--data", metavar="TRAIN", help="training file, for --plot")
    parser.add_argument(
        "--groups", metavar="FILE", help="write the groups to FILE: the label ids of one group per line"
    )
    parser.add_argument(
        "--partition", metavar="FILE", help="write the blocks to FILE: the place of one label per line"
    )
    parser.add_argument("--card", metavar="FILE", help="write a model card to FILE, in Markdown")
    parser.add_argument(
        "--evaluation", metavar="JSON", help="with --card: what `mlgt evaluate --json` printed, to include"
    )
    add_reading(parser)


def run(options: Namespace) -> None:
    from ..estimators.load import restore_estimator
    from ..model.reading import make_model, open_model
    from ..report import check_picture

    if (options.plot is None) != (options.data is None):
        raise ValueError("--plot and --data belong together: the picture is drawn from the training file.")
    if options.plot is not None:
        check_picture(options.plot)
    if options.evaluation is not None and options.card is None:
        raise ValueError("--evaluation has no effect without --card; pass --card FILE, or leave it out.")
    header, arrays = open_model(options.model)
    if options.verify:
        for name in arrays:
            arrays[name]
    model = restore_estimator(options.model, *make_model(header, arrays))
    partition = getattr(classifier_of(model), "partition_", None)
    if partition is None and options.partition is not None:
        raise ValueError(f"{options.model} has no blocks to write; train with --blocks or --partition.")
    if classifier_of(model).known_labels_ is not None and options.partition is not None:
        raise ValueError(
            f"{options.model} leaves out label ids that never occurred, but a file of blocks has a line "
            "per id; number the labels without gaps and train again."
        )
    print_table(str(options.model), ("", ""), _facts(model, header), numbers=False)
    if partition is not None:
        show(*str(partition).splitlines(), "")
    _print_files(arrays.entries)
    if options.verify:
        show(f"All {len(arrays.entries)} checksums are right.")
    _write(options, model, partition)
    if options.card is not None:
        _write_card(options, model, header)


def _facts(model, header):
    """Return the rows of the main table."""
    import numpy as np

    from ..training.tuning import format_tuning

    classifier = classifier_of(model)
    groups, d = classifier.groups_, classifier.n_labels_
    seen = int((classifier.model_.label_counts > 0).sum())
    facts = [
        ("model", f"{header.get('class')}, written by mlgt {header.get('mlgt_version')}"),
        ("digest", header.get("digest", "none: a model of an older release")),
        ("labels", f"{d}, {seen} of them seen in training"),
        *_frequent_labels(classifier),
        *(classifier.model_.vocabulary.facts() if classifier.model_.vocabulary else ()),
        *_term_facts(model),
        ("features", classifier.n_features_in_),
        ("training rows", classifier.n_rows_),
        *_sample_facts(classifier.model_.sample),
        ("groups", classifier.n_groups_),
        ("labels per group", _span(np.diff(groups.indptr))),
        ("groups per label", _span(np.bincount(groups.indices, minlength=groups.shape[1]))),
        ("sweeps", classifier.n_iter_),
        ("power, C", format_tuning(classifier.power_, classifier.C_, classifier.tried_)),
        *_ranking_facts(classifier),
    ]
    if (design := getattr(classifier, "design_", None)) is not None:
        facts += [("bins", design.n_bins), ("bins per label", classifier.column_weight_)]
        facts += [("binary digits of an address", design.n_bits), ("tests per bin", design.n_tests)]
    if hasattr(classifier, "partition_"):
        facts += _block_facts(classifier)
    params = classifier.get_params(deep=False).items()
    facts += [(f"  {name}", value) for name, value in params if isinstance(value, (str, int, float, dict))]
    return facts + [(f"why {name}", reason) for name, reason in classifier.reasons_.items()]


def _sample_facts(sample):
    """Yield what rows the model keeps."""
    if sample is not None:
        checked, replayed, taught = sample.sizes.tolist()
        kept = f"{checked} out of training to check it, {replayed} to be taught beside, {taught} taught"
        yield "rows kept", f"{kept}; features, no texts"


def _print_files(entries):
    files = [
        (f"{name}.npy", entry["dtype"], "x".join(map(str, entry["shape"])), entry["bytes"])
        for name, entry in entries.items()
    ]
    total = sum(entry["bytes"] for entry in entries.values())
    print_table(f"{total / 1e6:.1f} MB in {len(files)} files", ("file", "type", "shape", "bytes"), files)


def _write(options, model, partition):
    """Write the picture and the files that the options name."""
    from ..groups.files import write_groups
    from ..labels.graph import cooccurrence
    from ..labels.partition import write_places
    from ..report import draw_partition

    if options.plot is not None:
        if partition is None:
            raise ValueError(f"{options.model} has no blocks to draw; train with --blocks.")
        draw_partition(options.plot, cooccurrence(_read_labels(options, model)), partition)
        show(f"The picture is in {options.plot}.")
    if options.groups is not None:
        known, A = classifier_of(model).known_labels_, classifier_of(model).groups_
        write_groups(A if known is None else known.spread(A), options.groups, options.first_label)
        show(f"The groups are in {options.groups}.")
    if options.partition is not None and partition is not None:
        write_places(partition, options.partition)
        show(f"The blocks are in {options.partition}.")


def _write_card(options, model, header):
    from pathlib import Path

    from .._core.files import replacing
    from ..report.card import model_card, read_evaluation

    fitted = model.fitted_model()
    facts = [
        *_frequent_labels(classifier_of(model)),
        *(fitted.vocabulary.facts() if fitted.vocabulary else ()),
    ]
    evaluated = None if options.evaluation is None else read_evaluation(options.evaluation)
    name = Path(options.model).resolve().name
    with replacing(options.card) as file:
        file.write(model_card(name, header, fitted, [*facts, *_term_facts(model)], evaluated).encode())
    show(f"The card is in {options.card}; fill in what mlgt cannot know.")


def _frequent_labels(classifier, count=5):
    """Yield the most frequent labels, if they have names."""
    if (names := label_names(classifier)) is not None:
        counts = classifier.model_.label_counts
        best = (-counts).argsort(kind="stable")[:count]
        ids = classifier.model_.to_ids(best)
        yield "most frequent", "; ".join(f"{names[l]} ({int(counts[i])})" for l, i in zip(ids, best))


def _term_facts(model):
    """Yield the terms of a model of texts, and the columns it was trained on."""
    for part in model.features_.parts if hasattr(model, "features_") else ():
        lengths = _span((part.shortest, part.longest))
        hashed = ", hashed" if part.terms is None else ""
        yield part.of, f"{part.n_columns} terms{hashed}, runs of {lengths}"
    if hasattr(model, "features_") and model.language is not None:
        yield "stems of", model.features_.analyzer
    if getattr(model, "max_characters", None):
        yield "characters of a text", f"the first {model.max_characters}"
    if columns := getattr(model, "columns_", None):
        yield "columns", f"text: {', '.join(columns['text'])}; labels: {columns['labels']}"


def _block_facts(classifier):
    partition, router = classifier.partition_, classifier.router_
    cut = "not measured" if partition.lost is None else f"{partition.lost:.1%}"
    searched = f"{router.n_routes} per row, {router.lost:.2%} of labels in others" if router else "all"
    return [
        ("blocks", partition.n_blocks),
        ("labels per block", f"{_span(partition.sizes)}, with separators"),
        ("in separators", f"{len(partition.separator)} labels"),
        ("co-occurrence cut", cut),
        ("blocks searched", searched),
        ("combination", classifier.combination_),
        ("rows per block", _span([block.n_rows for block in classifier.blocks_])),
    ]


def _read_labels(options, model):
    """Return Y of the training file."""
    from ..data import RecordFile, read_xmc
    from ..text import label_matrix
    from ..vocabulary import match_labels

    d = classifier_of(model).n_labels_
    if not hasattr(model, "features_"):
        ids = {"first_label": options.first_label, "first_feature": options.first_feature}
        Y = read_xmc(options.data, n_labels=d, limits=limits_of(options), **ids).Y
        return Y if model.known_labels_ is None else model.known_labels_.select(Y)
    file = Namespace(file=options.data, input=None, text=None)
    form, columns = form_and_columns(file, None, model.columns_)
    records = RecordFile(options.data, form or "jsonl", columns, labelled=True, limits=limits_of(options))
    lists = match_labels([record.labels or [] for record in records], model.vocabulary_).lists
    return label_matrix(lists, model.classes_)[0][:, :d]


def _ranking_facts(classifier):
    """Yield how scores are combined, and what the ranker achieved on held-out rows."""
    if classifier.blend_ is None:
        return
    blend = classifier.final_blend_ or classifier.blend_
    parts = {name: value for name, value in asdict(blend).items() if value and name != "calibrated"}
    yield "log-odds", " + ".join(f"{value:.2f} {name}" for name, value in parts.items())
    if classifier.ranker_ is not None:
        yield "candidates per row", classifier.n_candidates_
        yield "ranker weights", len(classifier.ranker_.values)
        for name, value in classifier.held_out_.items():
            yield f"held out: {name}", f"{value:.3f}" if isinstance(value, float) else value


def _span(counts):
    low, high = int(min(counts)), int(max(counts))
    return low if low == high else f"{low} to {high}"
