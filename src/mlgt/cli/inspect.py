"""Tell what is in a model folder: settings, sizes, groups; with --verify compare all checksums."""

from .console import add_model, print_table


def add_arguments(parser):
    add_model(parser)
    parser.add_argument("--verify", action="store_true", help="read every file and compare its checksum")


def run(options):
    import numpy as np

    from ..model_files import StoredArrays, load_model, read_header

    header = read_header(options.model)
    arrays = StoredArrays(options.model, header)
    if options.verify:
        for name in arrays:
            arrays[name]
    model = load_model(options.model)
    seen = int((model.label_counts_ > 0).sum())
    facts = [
        ("model", f"{header.get('class')}, written by mlgt {header.get('mlgt_version')}"),
        ("labels", f"{len(model.classes_)}, {seen} of them seen in training"),
        ("features", model.n_features_in_),
        ("training rows", model.n_rows_),
        ("groups", model.n_groups_),
        ("labels a group", _span(np.diff(model.groups_.indptr))),
        ("groups a label", _span(np.bincount(model.groups_.indices, minlength=len(model.classes_)))),
        ("sweeps", model.n_iter_),
        ("power, C", f"{model.power_:g}, {model.C_:g}" + _tried(model.tried_)),
        *_ranking(model),
    ]
    if (design := model.design_) is not None:
        facts += [("bins", design.n_bins), ("bins a label", model.column_weight_)]
        facts += [("binary digits of an address", design.n_bits), ("tests a bin", design.n_tests)]
    changed = {k: v for k, v in header["params"].items() if v is not None}
    facts += [(f"  {name}", value) for name, value in changed.items()]
    print_table(str(options.model), ("", ""), facts, numbers=False)
    files = [
        (f"{n}.npy", e["dtype"], "x".join(map(str, e["shape"])), e["bytes"])
        for n, e in arrays.entries.items()
    ]
    total = sum(entry["bytes"] for entry in arrays.entries.values())
    print_table(f"{total / 1e6:.1f} MB in {len(files)} files", ("file", "type", "shape", "bytes"), files)
    if options.verify:
        print(f"All {len(files)} checksums are right.")


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
    low, high = int(counts.min()), int(counts.max())
    return low if low == high else f"{low} to {high}"
