"""Forged headers and arrays, with right checksums and digest, are refused in one line or harmless."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mlgt
from mlgt._core.errors import ModelFileError
from mlgt.labels.partition import Partition
from mlgt.model.packing import Unpacked
from mlgt.model.reading import open_model
from references.headers import write_header

GOLDEN = Path(__file__).parent / "golden"
NAN, INFINITE = float("nan"), float("inf")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One model of each kind in the current version, with its header."""
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for kind, golden in (
        ("flat", "model-v2"), ("blocks", "v2-blocks-calibrated"), ("routed", "v2-routed"),
        ("saffron", "v2-saffron"), ("text", "v2-text"), ("hashed", "v2-text-hashed"), ("kept", "v7-flat"),
        ("dense", None),
    ):  # fmt: skip
        model = _dense_model() if golden is None else mlgt.load(GOLDEN / golden)
        if kind == "kept":  # taught, it keeps its rows as bytes
            model.extend(np.eye(3, 60), np.eye(3, 41))
        model.save(folder / kind)
        found[kind] = folder / kind, json.loads((folder / kind / "model.json").read_text("utf-8"))
    return found


def _dense_model():
    """A model of dense rows."""
    rng, options = np.random.default_rng(0), {"centroids": True, "n_candidates": 8}
    X, Y = rng.normal(size=(300, 12)), rng.random((300, 30)) < 0.1
    return mlgt.MLGTClassifier(n_groups=8, ranker_params=options, random_state=0).fit(X, Y)


def load_with(folder, header):
    """Load and predict with another header; the model is left as it was."""
    before = (folder / "model.json").read_bytes()
    write_header(folder, header)
    try:
        mlgt.load(folder)
        predictor = mlgt.Predictor(folder)
        labels, scores = predictor(np.array([0, 1]), np.array([1.0, 0.5]), 1)
        assert np.isfinite(scores[labels >= 0]).all()
    finally:
        (folder / "model.json").write_bytes(before)


def changed(header, path, value):
    """A copy of the header with another value at a path of keys, or without the last key."""
    header = json.loads(json.dumps(header))
    owner = header
    *above, last = path.split(".")
    for key in above:
        owner = owner[int(key) if isinstance(owner, list) else key]
    if value is ...:
        del owner[last]
    else:
        owner[int(last) if isinstance(owner, list) else last] = value
    return header


WRONG = [
    *[("flat", "power", value) for value in (NAN, INFINITE, 0, -1, 1e300, "1", None, True, [], ...)],
    *[("flat", "n_candidates", value) for value in (0, -1, 2.5, 10**13, True, None, ...)],
    *[("flat", "n_rows", value) for value in (-5, 0, 1.5, 10**30, "many", ...)],
    *[("flat", f"n_{name}", value) for name in ("labels", "features", "groups") for value in (0, 10**13)],
    *[("flat", name, ...) for name in ("params", "label_names", "blend", "C", "tried", "n_iter")],
    *[("flat", f"blend.{name}", value) for name in ("ranker", "margin") for value in (NAN, 1e300, ...)],
    *[("flat", "params.normalize", value) for value in (2, None, "yes", 10**19, ...)],
    *[("flat", "params.n_jobs", value) for value in ("\0", 1.5, [])],
    *[("flat", "params.decoder_params", value) for value in ([], {"slope": "x"}, {"slope": NAN}, {"x": 1})],
    *[("flat", "params.random_state", value) for value in (-1, "x", 1.5)],
    ("flat", "params.tail", -1), ("flat", "params.tail", NAN), ("flat", "params.ranker", 7),
    ("flat", "params.decoder", "saffron"), ("flat", "params.decoder", ["soft"]),
    ("flat", "label_names", ["x"]), ("flat", "label_names.0", 7), ("flat", "feature_names", ["x"]),
    ("flat", "feature_names", 1e-300), ("flat", "column_weight", 99), ("flat", "column_weight", [3]),
    ("flat", "column_weight_losses", [[1]]), ("flat", "tried", [[1, 2]]), ("flat", "tried", [[1, 2, None]]),
    ("flat", "held_out", -INFINITE), ("flat", "reasons", NAN), ("flat", "reproducible", 1),
    ("flat", "C", 0), ("flat", "candidate_prior", INFINITE), ("flat", "params.solver_params", "x"),
    ("blocks", "blocks.width", 10**13), ("blocks", "blocks.width", 33), ("blocks", "blocks.width", 0),
    ("blocks", "blocks.combination", "x"), ("blocks", "blocks.bonus", NAN),
    ("blocks", "blocks.bonus", None),
    ("blocks", "blocks.rows", [1]), ("blocks", "blocks.rows.0", "\ud800"), ("blocks", "blocks", []),
    ("blocks", "column_weight", 4), ("blocks", "column_weight", [4]),
    ("routed", "blocks.routes", 0), ("routed", "blocks.routes", 99), ("routed", "blocks.routes", 1.0),
    ("routed", "blocks.lost_routes", "x"), ("routed", "blocks.lost_routes", None),
    ("saffron", "n_labels", 61), ("saffron", "n_groups", 210),
    ("text", "text.parts", []), ("text", "text.parts.0.of", "x"), ("text", "text.parts.0.shortest", 0),
    ("text", "text.parts.0.longest", 0), ("text", "text.parts.1.of", "words"),
    ("text", "text.columns", {"text": "x"}), ("text", "text.params.characters", [3]),
    ("text", "text.default_classifier", None), ("text", "label_names.0", "cats"),
    ("text", "label_names", None), ("text", "text.languages", ["klingon"]),
    ("text", "text.languages", "english"),
    ("text", "text.max_characters", 0), ("text", "text.language_shares", {"english": 2}),
    ("text", "text.params.language", 7), ("text", "text.params.max_characters", -1), ("text", "text", []),
    ("hashed", "text.parts.0.hashed", False), ("hashed", "n_features", 127),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "path", "value"), WRONG)
def test_a_wrong_entry_is_refused_in_one_line(models, kind, path, value):
    folder, header = models[kind]
    with pytest.raises(ModelFileError) as caught:
        load_with(folder, changed(header, path, value))
    assert "\n" not in str(caught.value)
    assert "Restore it from a copy, or train again." in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("flat", "note", {"any": ["thing"]}),
        ("flat", "params.n_jobs", 2),
        ("flat", "power", 2),
        ("blocks", "blocks.note", 1),
    ],
)
def test_entries_that_nobody_knows_and_other_right_values_do_no_harm(models, kind, path, value):
    folder, header = models[kind]
    load_with(folder, changed(header, path, value))


def test_the_message_names_the_entry_and_what_was_expected(models):
    folder, header = models["blocks"]
    with pytest.raises(ModelFileError, match=r"blocks\.width is -3; expected .* a whole number from 1 to"):
        load_with(folder, changed(header, "blocks.width", -3))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**13),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def paths(node, above=""):
    for key, value in node.items() if isinstance(node, dict) else enumerate(node[:2]):
        yield f"{above}{key}"
        if isinstance(value, dict | list):
            yield from paths(value, f"{above}{key}.")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_header_is_refused_in_one_line_or_answers(models, data):
    folder, header = models[data.draw(st.sampled_from(sorted(models)))]
    entries = {name: value for name, value in header.items() if name not in ("arrays", "digest")}
    path = data.draw(
        st.sampled_from([path for path in paths(entries) if "." not in path.split(".", 3)[-1]])
    )
    try:
        load_with(folder, changed(header, path, data.draw(VALUES)))
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017


# Arrays.


def load_with_array(folder, name, array):
    """Load with another array, its entry in the header right; the model is left as it was. Ids that are
    packed are given as they are."""
    file = folder / f"{name}.npy"
    before = file.read_bytes() if file.exists() else None
    header = json.loads((folder / "model.json").read_text("utf-8"))
    for part in (f"{name}_gaps", f"{name}_far", f"{name}_farther"):
        header["arrays"].pop(part, None)
    np.save(file, array)
    content = file.read_bytes()
    header["arrays"][name] = {
        "dtype": array.dtype.str, "shape": list(array.shape), "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip
    try:
        load_with(folder, header)
    finally:
        file.unlink() if before is None else file.write_bytes(before)


def at(index, value):
    def change(array):
        array = array.copy()
        array[index] = value
        return array

    return change


WRONG_ARRAYS = [
    ("flat", "label_counts", at(0, -1)), ("flat", "label_counts", lambda a: a.astype("<f8")),
    ("flat", "label_counts", lambda a: np.zeros((10**13, 0), np.int64)),
    ("flat", "coef", lambda a: a[:-9]), ("flat", "coef", lambda a: a[None]),
    ("flat", "coef", lambda a: a.astype(np.int16)),
    ("flat", "coef_scale", at(0, 3e38)), ("flat", "coef_scale", at(0, NAN)),
    ("flat", "intercept", lambda a: a[:, None]), ("flat", "intercept", lambda a: a[:0]),
    ("flat", "intercept", lambda a: a[0]), ("flat", "groups_indices", lambda a: a.astype(np.int8)),
    ("flat", "groups_indptr", lambda a: a[:0]),
    ("flat", "groups_indptr", lambda a: at(slice(1, 3), [2**31 - 1, -2])(a)),
    ("flat", "ranker_indptr", lambda a: at(slice(1, 3), [2**63 - 1, -2])(a)),
    ("flat", "ranker_indptr", lambda a: a.astype(np.uint32)), ("flat", "ranker_indices", at(3, 40)),
    ("flat", "ranker_indices", lambda a: a.astype(np.uint8)), ("flat", "ranker_scale", at(0, NAN)),
    ("flat", "ranker_values", lambda a: np.full(len(a), np.nan, np.float32)),
    ("flat", "ranker_values", lambda a: a[:, None]), ("flat", "ranker_bias", at(0, np.inf)),
    ("flat", "centroids_values", lambda a: a.astype(np.float64)), ("flat", "centroids_labels", at(0, 20)),
    ("flat", "ranker_indices_gaps", at(0, 255)), ("flat", "ranker_indices_gaps", lambda a: a[:-1]),
    ("flat", "ranker_indices_gaps", at(1, 200)), ("flat", "ranker_indices_gaps", lambda a: a.astype(int)),
    ("flat", "ranker_indices_far", lambda a: np.append(a, a.dtype.type(3))),
    ("flat", "ranker_indices_far", lambda a: a.astype(np.float32)),
    ("kept", "sample/values_deflated", lambda a: a[:-9]), ("kept", "sample/indptr", at(-1, 2**63 - 1)),
    ("kept", "sample/values_deflated", lambda a: a.astype(np.int16)), ("kept", "sample/scale", at(0, NAN)),
    ("dense", "centroids_matrix", lambda a: a[:, :-1]), ("dense", "centroids_matrix", lambda a: a[:-1]),
    ("dense", "centroids_matrix", lambda a: a.view(np.uint8)), ("dense", "centroids_dense", at(1, 0)),
    ("dense", "centroids_matrix", np.asfortranarray), ("dense", "centroids_dense", at(-1, 12)),
    ("dense", "centroids_dense", lambda a: a.astype(np.int64)),
    ("kept", "sample/indptr", at(-1, 1 << 27)),
    ("flat", "companions_values", lambda a: a.view(np.int8)), ("flat", "companions_labels", at(0, -1)),
    ("blocks", "partition/permutation", lambda a: np.zeros((10**13, 0), np.int64)),
    ("blocks", "partition/parents", lambda a: a[:0]), ("blocks", "partition/offsets", lambda a: a[:0]),
    ("blocks", "partition/parents", at(0, 10**6)), ("blocks", "partition/permutation", at(0, 10**9)),
    ("blocks", "sketch/signs", at(0, 0)), ("blocks", "sketch/columns", at(0, 32)),
    ("blocks", "sketch/columns", lambda a: a.astype(np.int64)),
    ("blocks", "calibration/slopes", at(0, NAN)),
    ("blocks", "block-0/coef", lambda a: a[:, :0]), ("blocks", "block-1/groups_indices", lambda a: a[:0]),
    ("routed", "router/intercept", lambda a: a[:-1]),
    ("saffron", "saffron_header", lambda a: np.zeros((10**13, 0), np.int64)),
    ("saffron", "saffron_indices", lambda a: a[0]), ("saffron", "saffron_codes", np.asfortranarray),
    ("text", "text/words", lambda a: np.frombuffer(b"[" * 5000, np.uint8)),
    *[
        ("text", "text/words", lambda a, terms=terms: np.frombuffer(json.dumps(terms).encode(), np.uint8))
        for terms in ({}, [[]] * 19, list(range(19)), [chr(0xD800 + i) for i in range(19)], ["a"] * 19)
    ],
    ("text", "text/words_idf", at(0, NAN)), ("text", "text/words_idf", lambda a: a[:0]),
    ("text", "text/words_idf", lambda a: a[:, None]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "change"), WRONG_ARRAYS)
def test_a_wrong_array_is_refused_in_one_line(models, kind, name, change):
    folder, _ = models[kind]
    with pytest.raises(ModelFileError) as caught:
        load_with_array(folder, name, np.asarray(change(Unpacked(open_model(folder)[1])[name])))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", ["model-v1", "v2-routed"])
@pytest.mark.parametrize("name", ["params", "blend", "blocks", "arrays", "n_candidates", "label_names"])
@pytest.mark.parametrize("value", [[], "company", 7, NAN, [["a", 1]], ...])
def test_old_headers_are_checked_too(version, name, value, tmp_path):
    shutil.copytree(GOLDEN / version, tmp_path / "m")
    header = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))
    if value is ...:
        if name in ("blend", "blocks") or name not in header:
            pytest.skip("an old header may lack it")
        del header[name]
    else:
        header[name] = value
    if (name, value) == ("n_candidates", 7):
        return
    write_header(tmp_path / "m", header)
    with pytest.raises(ModelFileError) as caught:
        mlgt.load(tmp_path / "m")
    assert "\n" not in str(caught.value)


def test_a_chain_of_separators_is_not_walked_once_per_block():
    n = 100_000
    parents = np.append(np.arange(1, n), -1)
    offsets = np.ones(n + 1, np.int64)
    offsets[0] = 0
    arrays = {"permutation": np.zeros(1, np.int64), "offsets": offsets, "parents": parents}
    with pytest.raises(ValueError, match="has 99999 levels; expected at most 1000"):
        Partition.from_arrays(arrays, 1)
