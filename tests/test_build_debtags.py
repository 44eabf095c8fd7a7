"""The steps of scripts/build_debtags.py that need neither Debian nor the network."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "build_debtags.py"


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build_debtags", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


INDEX = """\
Package: chess
Source: chess-suite (1.2)
Description: game
Description-md5: 1
Tag: game::board, role::program,
 uitoolkit::{gtk,qt}, use::TODO

Package: untagged
Description: nothing
Description-md5: 2

Package: chess
Source: chess-suite (1.3)
Description: a later version
Description-md5: 3
Tag: game::board
"""
ENGLISH = """\
Package: chess
Description-md5: 1
Description-en: play chess
 Against a C++ engine: it thinks.
 .
 In 3D.
"""


def test_control_files_and_tags(build):
    """Continued lines join their field, a version leaves the source, braces expand, TODO goes."""
    (chess,) = build.read_packages(build.paragraphs(INDEX), build.paragraphs(ENGLISH))
    assert (chess.name, chess.source) == ("chess", "chess-suite")
    assert chess.tags == {"game::board", "role::program", "uitoolkit::gtk", "uitoolkit::qt"}
    assert chess.text.split("\n") == ["play chess", "Against a C++ engine: it thinks.", ".", "In 3D."]
    assert build.source_of({"Package": "alone"}) == "alone"


@pytest.mark.parametrize(
    ("field", "tags"),
    [
        ("", []),
        ("a::b", ["a::b"]),
        ("a::{b,c:d}, e::f,\ng::h", ["a::b", "a::c:d", "e::f", "g::h"]),
        ("a::{b, c}", ["a::b", "a::c"]),
        ("devel::lang:TODO, culture::TODO, a::b", ["a::b"]),
    ],
)
def test_expand_tags(build, field, tags):
    assert build.expand_tags(field) == tags


def package(build, i, tags=("role::program",), text="chess engine"):
    return build.Package(f"p{i:03}", f"source{i // 3}", frozenset(tags), text)


def test_a_source_is_on_one_side(build):
    packages = [package(build, i) for i in range(300)]
    train, test = build.split_by_source(packages, np.random.default_rng(1))
    build.check_split(train, test)
    assert len(test) == 60
    assert sorted(train + test) == packages
    assert build.split_by_source(packages, np.random.default_rng(1)) == (train, test)
    with pytest.raises(RuntimeError, match="on both sides"):
        build.check_split(train, [*test, train[0]])


def test_rare_tags_go_and_packages_with_nothing_else(build):
    packages = [package(build, 0, ["a", "b"]), package(build, 1, ["a"]), package(build, 2, ["c"])]
    kept, tags = build.keep_common_tags(packages)
    assert tags == ["a"]
    assert [p.name for p in kept] == ["p000", "p001"]


def test_same_packages_same_bytes(build, tmp_path):
    """The file holds counts of training words, drops rows without one, and is reproducible."""
    train = [package(build, i, text="Chess, chess in C++ and 3D (1997).") for i in range(3)]
    test = [package(build, 4, text="chess chess chess go"), package(build, 5, text="unheard of")]
    arrays = build.encode(train, test, ["role::program"])
    assert arrays["words"].tobytes() == b"3d\nc++\nchess"
    assert arrays["train_word_counts"].tolist() == [1, 1, 2] * 3
    assert arrays["test_packages"].tobytes() == b"p004"
    assert arrays["test_word_ids"].tolist() == [2]
    assert arrays["test_word_counts"].tolist() == [3]
    for name in ("one.npz", "two.npz"):
        build.write_npz(tmp_path / name, arrays)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as stored:
        assert stored["train_tags_per_row"].tolist() == [1, 1, 1]
