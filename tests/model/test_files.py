import hashlib
import json
import os

import numpy as np
import pandas as pd
import pytest

import mlgt
from mlgt import MLGTClassifier
from mlgt._core.errors import ModelFileError
from mlgt._core.memory import is_mapped
from mlgt.model.format import VERSION
from mlgt.model.packing import Unpacked
from mlgt.model.reading import open_model
from references.headers import write_header


@pytest.fixture
def model(topics):
    return MLGTClassifier(n_groups=24, column_weight=6, random_state=0).fit(*topics[0])


def test_saved_and_loaded_agree(model, topics, tmp_path):
    X = topics[1][0]
    model.save(tmp_path / "m")
    again = mlgt.load(tmp_path / "m")
    assert again.get_params() == model.get_params()
    for one, two in zip(model.predict_topk(X, 9), again.predict_topk(X, 9)):
        assert (one == two).all()
    again.save(tmp_path / "n")
    assert {f.name for f in (tmp_path / "n").iterdir()} == {f.name for f in (tmp_path / "m").iterdir()}


def test_a_ranker_survives(topics, tmp_path):
    (X, Y), (X_test, _) = topics
    model = MLGTClassifier(
        n_groups=15, column_weight=4, ranker_params={"n_candidates": 10}, random_state=0
    ).fit(X, Y)
    assert model.ranker_ is not None
    model.save(tmp_path / "m")
    expected = model.predict_topk(X_test, 5)
    for again in (mlgt.load(tmp_path / "m"), mlgt.Predictor(tmp_path / "m")):
        for one, two in zip(expected, again.predict_topk(X_test, 5)):
            assert (one == two).all()
    model.set_params(decoder="top_k").save(tmp_path / "hard")
    hard = model.predict_topk(X_test, 5)[0]
    assert (hard != expected[0]).any()
    assert (mlgt.Predictor(tmp_path / "hard").predict_topk(X_test, 5)[0] == hard).all()
    values = np.load(tmp_path / "m" / "ranker_values.npy")
    np.save(tmp_path / "m" / "ranker_values.npy", values + 1)
    with pytest.raises(ModelFileError, match="was altered"):
        mlgt.load(tmp_path / "m")


def test_names_decoder_and_own_groups_survive(topics, tmp_path):
    X, Y = topics[0]
    frame = pd.DataFrame(Y.toarray(), columns=[f"t{j}" for j in range(30)])
    model = MLGTClassifier(
        np.eye(30),
        decoder_params={"prior": 0.2},
        solver_params={"class_weight": np.array([1.0, 2.0])},
        random_state=np.random.RandomState(0),
    ).fit(X, frame)
    model.save(tmp_path / "m")
    again = mlgt.load(tmp_path / "m")
    assert again.classes_.tolist() == frame.columns.tolist()
    assert again.decoder_params == {"prior": 0.2}
    assert (again.predict_topk(X, 5)[1] == model.predict_topk(X, 5)[1]).all()
    again.fit(X, Y)  # a loaded model is an estimator like any other


def test_large_arrays_are_memory_mapped_and_nothing_is_pickled(model, tmp_path, monkeypatch):
    monkeypatch.setattr("mlgt.model.reading.MAX_READ_BYTES", 100)
    model.save(tmp_path / "m")
    assert is_mapped(mlgt.load(tmp_path / "m").classifiers_.coef)
    for file in (tmp_path / "m").glob("*.npy"):
        np.load(file, allow_pickle=False)


def test_an_existing_model_is_replaced_only_on_request(model, tmp_path):
    model.save(tmp_path / "m")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.save(tmp_path / "m")
    model.save(tmp_path / "m", overwrite=True)
    mlgt.load(tmp_path / "m")
    assert [f.name for f in tmp_path.iterdir()] == ["m"]


def test_a_folder_that_is_no_model_is_left_alone(model, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("x")
    with pytest.raises(FileExistsError, match="is no model folder"):
        model.save(tmp_path / "precious", overwrite=True)
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "x"


@pytest.mark.parametrize("damage", ["foreign model.json", "foreign file"])
def test_foreign_files_are_never_replaced(model, tmp_path, damage):
    (tmp_path / "m").mkdir()
    if damage == "foreign model.json":
        (tmp_path / "m" / "model.json").write_text('{"format": "layers-model"}')
    else:
        model.save(tmp_path / "m", overwrite=True)
    (tmp_path / "m" / "thesis.tex").write_text("x")
    with pytest.raises(FileExistsError, match="left as it is"):
        model.save(tmp_path / "m", overwrite=True)
    assert (tmp_path / "m" / "thesis.tex").read_text() == "x"


def test_the_current_folder_is_refused(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileExistsError, match="current folder"):
        model.save(".")


def damage_array(name, change):
    """Alter an array and its checksum: what a crafted folder could hold."""

    def damage(folder):
        array = change(Unpacked(open_model(folder)[1])[name])
        np.save(folder / f"{name}.npy", array)
        header = json.loads((folder / "model.json").read_text())
        content = (folder / f"{name}.npy").read_bytes()
        for part in (f"{name}_gaps", f"{name}_far", f"{name}_farther"):
            header["arrays"].pop(part, None)
        header["arrays"][name] = {
            "dtype": array.dtype.str, "shape": list(array.shape), "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }  # fmt: skip
        write_header(folder, header)

    return damage


def at(index, value):
    def change(array):
        array = array.copy()
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "damage",
    [
        damage_array("groups_indptr", at(1, 10**6)),
        damage_array("groups_indptr", at(3, 0)),
        damage_array("groups_indptr", at(0, 1)),
        damage_array("groups_indptr", lambda a: a.astype(float)),
        damage_array("groups_indices", at(0, -1)),
        damage_array("coef", at((0, 0), np.nan)),
        damage_array("coef", lambda a: a.astype(">f4")),
        damage_array("intercept", at(0, np.inf)),
        damage_array("label_counts", lambda a: a[:-1]),
    ],
)
def test_a_crafted_folder_is_refused_before_any_kernel_sees_it(model, tmp_path, damage):
    model.save(tmp_path / "m")
    damage(tmp_path / "m")
    for load in (mlgt.load, mlgt.Predictor):
        with pytest.raises(ModelFileError, match=r"does not describe a whole model|byte order"):
            load(tmp_path / "m")


def test_a_failed_save_leaves_the_old_model_and_nothing_else(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m")
    before = (tmp_path / "m" / "model.json").read_bytes()

    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mlgt.model.writing.np.save", full_disk)
    for target in ("m", "new"):
        with pytest.raises(OSError, match="No space left"):
            model.save(tmp_path / target, overwrite=True)
    assert [f.name for f in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m" / "model.json").read_bytes() == before


def test_a_link_to_a_model_stays_a_link(model, tmp_path):
    model.save(tmp_path / "v1")
    (tmp_path / "current").symlink_to(tmp_path / "v1", target_is_directory=True)
    model.save(tmp_path / "current", overwrite=True)
    assert (tmp_path / "current").is_symlink()
    mlgt.load(tmp_path / "v1")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["current", "v1"]


def test_an_interrupt_at_the_worst_moment_keeps_the_old_model(model, tmp_path, monkeypatch):
    """Between the two renames the old model has moved aside and the new one is not in place yet."""
    model.save(tmp_path / "m")
    rename, calls = os.rename, []

    def interrupted(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr("mlgt.model.writing._exchange", lambda one, two: False)  # where there is none
    monkeypatch.setattr("mlgt.model.writing.os.rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "m", overwrite=True)
    monkeypatch.undo()
    mlgt.load(tmp_path / "m")
    assert [f.name for f in tmp_path.iterdir()] == ["m"]


def test_what_was_chosen_survives(topics, tmp_path):
    model = MLGTClassifier(n_groups=20, random_state=np.int64(3)).fit(*topics[0])
    model.save(tmp_path / "m")
    again = mlgt.load(tmp_path / "m")
    assert again.column_weight_losses_ == model.column_weight_losses_
    assert again.random_state == 3


def damage_header(**changes):
    def damage(folder):
        header = json.loads((folder / "model.json").read_text())
        write_header(folder, header | changes)

    return damage


def flip_a_byte(folder):
    content = bytearray((folder / "coef.npy").read_bytes())
    content[-1] ^= 1
    (folder / "coef.npy").write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: (m / "model.json").unlink(), "has no model.json"),
        (lambda m: (m / "model.json").write_text("{"), "cannot be read as JSON"),
        (lambda m: (m / "model.json").write_text("[]"), "not an mlgt model"),
        (damage_header(format="other"), "not an mlgt model"),
        (damage_header(format_version=99, mlgt_version="9.0"), "format version 99, written by mlgt 9.0"),
        (damage_header(**{"class": "Oracle"}), "class 'Oracle' is unknown"),
        (damage_header(arrays=[]), "does not list the model's arrays"),
        (damage_header(arrays={"coef": None}), "does not list the model's arrays"),
        (damage_header(n_rows="many"), "does not describe a whole model"),
        (damage_header(n_labels=3), "does not describe a whole model"),
        (damage_header(n_labels=99), "does not describe a whole model"),
        (damage_header(n_groups=3), "does not describe a whole model"),
        (damage_header(n_features=99), "coef has shape"),
        (damage_header(params={"construction": "nmf", "decoder": "zz"}), "params.classifier is missing"),
        (lambda m: (m / "coef.npy").unlink(), "coef.npy is missing"),
        (flip_a_byte, "was altered: its checksum"),
        (lambda m: (m / "coef.npy").write_bytes(b""), "has 0 bytes; expected"),
    ],
)
def test_a_damaged_folder_is_explained(model, tmp_path, damage, message):
    model.save(tmp_path / "m")
    damage(tmp_path / "m")
    with pytest.raises(ModelFileError, match=message):
        mlgt.load(tmp_path / "m")


def test_no_folder_at_all(tmp_path):
    with pytest.raises(ModelFileError, match="not a model folder"):
        mlgt.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_array("saffron_header", lambda a: a + 1), "not that of a design of 30 labels"),
        (damage_array("saffron_header", lambda a: a[:1]), "not that of a design of 30 labels"),
        (damage_array("saffron_indptr", lambda a: a[:0]), "have no bins|saffron_indptr has shape"),
        (damage_array("saffron_indptr", lambda a: a.astype(float)), "saffron_indptr is float64"),
        (damage_array("saffron_indptr", lambda a: a[::-1]), "saffron_indptr does not rise"),
        (damage_array("saffron_indices", lambda a: a + 1), "saffron_indices has ids outside 0 .. 29"),
        (damage_array("saffron_indices", lambda a: a[:, None]), "saffron_indices is int32 in 2 dimensions"),
        (damage_array("saffron_codes", lambda a: a * 1.0), "saffron_codes is float64"),
        (damage_array("saffron_codes", lambda a: a + 1), "not three permutations"),
        (damage_array("saffron_codes", lambda a: a.astype(np.int64) + 2**32), "not three permutations"),
        (damage_array("intercept", lambda a: a[:-1]), "intercept has shape"),
        (damage_header(n_groups=3), "has shape"),
    ],
)
def test_a_crafted_design_is_refused_too(topics, tmp_path, damage, message):
    MLGTClassifier("saffron", decoder="saffron", random_state=0).fit(*topics[0]).save(tmp_path / "m")
    damage(tmp_path / "m")
    for load in (mlgt.load, mlgt.Predictor):
        with pytest.raises(ModelFileError, match=message):
            load(tmp_path / "m")


def test_a_design_must_be_there(topics, tmp_path):
    MLGTClassifier("constant_weight", n_groups=20, column_weight=5, ranker=None).fit(*topics[0]).set_params(
        decoder="saffron"
    ).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="needs a SAFFRON design"):
        mlgt.Predictor(tmp_path / "m")


def test_any_changed_bit_of_a_header_is_noticed(model, tmp_path):
    model.name_labels([f"läbel {i}" for i in range(30)]).save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    content = file.read_bytes()
    rng = np.random.default_rng(0)
    for place, bit in zip(rng.integers(len(content), size=300), rng.integers(8, size=300)):
        changed = bytearray(content)
        changed[place] ^= 1 << bit
        file.write_bytes(changed)
        with pytest.raises(ModelFileError):
            mlgt.load(tmp_path / "m")
    file.write_bytes(content)
    mlgt.load(tmp_path / "m")


def test_a_version_without_digest_cannot_be_pretended(model, tmp_path):
    model.save(tmp_path / "m")
    file = tmp_path / "m" / "model.json"
    file.write_text(
        file.read_text("utf-8").replace(f'"format_version": {VERSION}', '"format_version": 2'), "utf-8"
    )
    with pytest.raises(ModelFileError, match="was altered: its digest"):
        mlgt.load(tmp_path / "m")


def test_a_digest_can_be_demanded(model, tmp_path):
    model.save(tmp_path / "m")
    digest = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))["digest"]
    mlgt.load(tmp_path / "m", digest=digest)
    with pytest.raises(ModelFileError, match="has the digest"):
        mlgt.load(tmp_path / "m", digest="0" * 64)


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "/tmp/outside", "a/b/c", "Coef", ""])
def test_arrays_outside_the_folder_are_refused(model, tmp_path, name):
    model.save(tmp_path / "m")
    header = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))
    header["arrays"][name] = header["arrays"].pop("coef")
    write_header(tmp_path / "m", header)
    with pytest.raises(ModelFileError, match="outside the folder"):
        mlgt.load(tmp_path / "m")


def test_a_linked_array_outside_the_folder_is_refused(model, tmp_path):
    model.save(tmp_path / "m")
    (tmp_path / "m" / "coef.npy").rename(tmp_path / "coef.npy")
    (tmp_path / "m" / "coef.npy").symlink_to(tmp_path / "coef.npy")
    with pytest.raises(ModelFileError, match="is a link"):
        mlgt.load(tmp_path / "m")


def test_a_foreign_byte_order_is_refused(model, tmp_path):
    model.save(tmp_path / "m")
    damage_array("intercept", lambda a: a.astype(">f4"))(tmp_path / "m")
    with pytest.raises(ModelFileError, match="byte order"):
        mlgt.load(tmp_path / "m")


def test_deeply_nested_json_is_refused(model, tmp_path):
    model.save(tmp_path / "m")
    (tmp_path / "m" / "model.json").write_text("[" * 200_000)
    with pytest.raises(ModelFileError, match="cannot be read as JSON"):
        mlgt.load(tmp_path / "m")
