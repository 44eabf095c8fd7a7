"""Tell what is in a model folder: settings, sizes, groups, blocks; with --verify compare all checksums.

A model of blocks shows their tree; --plot with --data draws which labels occur together, in its order.
--groups and --partition write what was learnt in the form that `mlgt train` reads again.
"""

from .console import add_ids, add_model, print_table


def add_arguments(parser):
    add_model(parser)
    parser.add_argument("--verify", action="store_true", help="read every file and compare its checksum")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw which labels occur together, block by block (PNG, PDF or SVG)"
    )
    parser.add_argument("--data", metavar="TRAIN", help="the training file, for --plot")
    parser.add_argument("--groups", metavar="FILE", help="write the groups there: one a line, by label ids")
    parser.add_argument(
        "--partition", metavar="FILE", help="write the blocks there: a label a line, with its place"
    )
    add_ids(parser)


def run(options):
    import numpy as np

    from ..groups.files import write_groups
    from ..labels.partition import write_places
    from ..model.files import StoredArrays, load_model, read_header
    from ..report import check_picture

    if (options.plot is None) != (options.data is None):
        raise ValueError("--plot and --data belong together: the picture is drawn from the training file.")
    if options.plot is not None:
        check_picture(options.plot)
    header = read_header(options.model)
    arrays = StoredArrays(options.model, header)
    if options.verify:
        for name in arrays:
            arrays[name]
    loaded = load_model(options.model)
    model = getattr(loaded, "classifier_", loaded)
    seen = int((model.label_counts_ > 0).sum())
    facts = [
        ("model", f"{header.get('class')}, written by mlgt {header.get('mlgt_version')}"),
        ("labels", f"{len(model.classes_)}, {seen} of them seen in training"),
        *_frequent(model),
        *_terms(loaded),
        ("features", model.n_features_in_),
        ("training rows", model.n_rows_),
        ("groups", model.n_groups_),
        ("labels a group", _span(np.diff(model.groups_.indptr))),
        ("groups a label", _span(np.bincount(model.groups_.indices, minlength=len(model.classes_)))),
        ("sweeps", model.n_iter_),
        ("power, C", f"{model.power_:g}, {model.C_:g}" + _tried(model.tried_)),
        *_ranking(model),
    ]
    if (design := getattr(model, "design_", None)) is not None:
        facts += [("bins", design.n_bins), ("bins a label", model.column_weight_)]
        facts += [("binary digits of an address", design.n_bits), ("tests a bin", design.n_tests)]
    partition = getattr(model, "partition_", None)
    if partition is None and options.partition is not None:
        raise ValueError(f"{options.model} has no blocks to write; train with --blocks or --partition.")
    if partition is not None:
        facts += _block_facts(model)
    changed = {k: v for k, v in header["params"].items() if v is not None}
    facts += [(f"  {name}", value) for name, value in changed.items()]
    print_table(str(options.model), ("", ""), facts, numbers=False)
    if partition is not None:
        print(f"{partition}\n")
    files = [
        (f"{n}.npy", e["dtype"], "x".join(map(str, e["shape"])), e["bytes"])
        for n, e in arrays.entries.items()
    ]
    total = sum(entry["bytes"] for entry in arrays.entries.values())
    print_table(f"{total / 1e6:.1f} MB in {len(files)} files", ("file", "type", "shape", "bytes"), files)
    if options.verify:
        print(f"All {len(files)} checksums are right.")
    if options.plot is not None:
        _plot(options, loaded, model)
    if options.groups is not None:
        write_groups(model.groups_, options.groups, options.first_label)
        print(f"The groups are in {options.groups}.")
    if options.partition is not None and partition is not None:
        write_places(partition, options.partition)
        print(f"The blocks are in {options.partition}.")


def _frequent(model, count=5):
    """The most frequent labels, where they have names."""
    if model.classes_.dtype.kind != "i":
        best = (-model.label_counts_).argsort(kind="stable")[:count]
        yield (
            "most frequent",
            "; ".join(f"{model.classes_[l]} ({int(model.label_counts_[l])})" for l in best),
        )


def _terms(model):
    """What a model of texts reads, and from where."""
    for part in model.features_.parts if hasattr(model, "features_") else ():
        lengths = _span((part.shortest, part.longest))
        hashed = ", hashed" if part.terms is None else ""
        yield part.of, f"{part.n_columns} terms{hashed}, runs of {lengths}"
    if columns := getattr(model, "columns_", None):
        yield "columns", f"text: {', '.join(columns['text'])}; labels: {columns['labels']}"


def _block_facts(model):
    partition = model.partition_
    lost = "not measured" if partition.lost is None else f"{partition.lost:.1%}"
    router = model.router_
    asked = f"{router.n_routes} a row, {router.lost:.2%} of labels in others" if router else "all"
    return [
        ("blocks", partition.n_blocks),
        ("labels a block", f"{_span(partition.sizes)}, separators with it"),
        ("in separators", f"{len(partition.separator)} labels"),
        ("co-occurrence cut", lost),
        ("blocks asked", asked),
        ("combination", model.combination_),
        ("rows a block", _span([block.n_rows for block in model.blocks_])),
    ]


def _plot(options, loaded, model):
    from ..labels.graph import cooccurrence
    from ..report import draw_partition

    if not hasattr(model, "partition_"):
        raise ValueError(f"{options.model} has no blocks to draw; train with --blocks.")
    Y = _read_labels(options, loaded)
    draw_partition(options.plot, cooccurrence(Y), model.partition_)
    print(f"The picture is in {options.plot}.")


def _read_labels(options, model):
    """Y of the training file."""
    from ..data import Columns, RecordFile, read_xmc, recognise
    from ..text import label_matrix

    d = len(model.classes_)
    if not hasattr(model, "features_"):
        ids = {"first_label": options.first_label, "first_feature": options.first_feature}
        return read_xmc(options.data, n_labels=d, **ids).Y
    columns = Columns() if model.columns_ is None else Columns.from_facts(model.columns_)
    records = RecordFile(options.data, recognise(options.data, columns) or "jsonl", columns, labelled=True)
    return label_matrix([record.labels for record in records], model.classes_)[0][:, :d]


def _tried(tried):
    """Why power and C are what they are."""
    if not tried:
        return ""
    best = "; ".join(f"{power:g}, {C:g}: {value:.3f}" for (power, C), value in tried.items())
    return f" (nDCG@5 on a sample: {best})"


def _ranking(model):
    """What the ranker does, what it was judged by, and how it decides."""
    if model.blend_ is None:
        return
    blend = model.final_blend_ or model.blend_
    parts = {name: value for name, value in blend.to_facts().items() if value and name != "calibrated"}
    yield "log-odds", " + ".join(f"{value:.2f} {name}" for name, value in parts.items())
    if model.ranker_ is not None:
        yield "candidates a row", model.n_candidates_
        yield "ranker weights", len(model.ranker_.values)
        for name, value in model.held_out_.items():
            yield f"held out: {name}", f"{value:.3f}" if isinstance(value, float) else value


def _span(counts):
    low, high = int(min(counts)), int(max(counts))
    return low if low == high else f"{low} to {high}"
