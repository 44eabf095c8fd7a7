import numpy as np
import pytest

from mlgt._core.errors import MLGTError
from mlgt.labels.graph import cooccurrence
from mlgt.labels.partition import Partition
from mlgt.report import draw_partition
from mlgt.report.pictures import binned_cooccurrence


def test_the_reordered_matrix_is_summed_in_squares(rng):
    G = cooccurrence(rng.random((30, 8)) < 0.3)
    order = rng.permutation(8)
    dense = G.toarray()[np.ix_(order, order)]
    assert (binned_cooccurrence(G, order, 8) == dense).all()
    assert (binned_cooccurrence(G, order, 4) == dense.reshape(4, 2, 4, 2).sum(axis=(1, 3))).all()


PARTITION = Partition(np.arange(8), np.array([0, 3, 6, 8]), np.array([2, 2, -1]))


@pytest.mark.parametrize(
    ("name", "begins"),
    [("spy.png", b"\x89PNG"), ("spy", b"\x89PNG"), ("spy.PDF", b"%PDF"), ("spy.svg", b"<?xml")],
)
def test_a_partition_is_drawn_in_the_format_of_the_name(rng, tmp_path, name, begins):
    draw_partition(tmp_path / name, cooccurrence(rng.random((30, 8)) < 0.3), PARTITION)
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_pictures_that_cannot_be_written_are_refused(tmp_path):
    G = cooccurrence(np.eye(8))
    with pytest.raises(
        MLGTError, match=r"\.txt is not a supported picture format; choose a name that ends in \.png, \.pdf"
    ):
        draw_partition(tmp_path / "spy.txt", G, PARTITION)
    with pytest.raises(FileNotFoundError, match="folder of the picture does not exist"):
        draw_partition(tmp_path / "nowhere" / "spy.png", G, PARTITION)
    assert list(tmp_path.iterdir()) == []
