import os
from pathlib import Path

import numpy as np
import pytest

from mlgt._core.errors import DataFormatError
from mlgt.data.datasets import ENVIRONMENT
from mlgt.labels.graph import adjacency, cooccurrence
from mlgt.labels.partition import (
    Partition,
    lost_share,
    partition_labels,
    read_permutation,
    read_reordering,
    write_reordering,
)

PERM = "3\r\n1\r\n5\r\n2\r\n4\r\n6\r\n"
COMM = """ sepsz = 3, nneg = 2\r
\r
set1 = [1:2, 4:5, 6:6]; tsize = 5;\r
Y1 = Y(set1,:); Yt1 = Ytest(set1,:);\r
set2 = [3:3, 6:6]; tsize = 2;\r
Y2 = Y(set2,:); Yt2 = Ytest(set2,:);

--------------------
[1:5, 6:6]"""


@pytest.fixture
def files(tmp_path):
    def write(perm=PERM, comm=COMM):
        (tmp_path / "perm.txt").write_bytes(perm.encode())
        (tmp_path / "comm.txt").write_bytes(comm.encode())
        return tmp_path / "perm.txt", tmp_path / "comm.txt"

    return write


def test_the_authors_form_is_read(files):
    partition = read_reordering(*files())
    assert [list(partition.labels(i)) for i in range(2)] == [[0, 1, 2, 3, 5], [4, 5]]
    assert [[list(s) for s in level] for level in partition.levels] == [[[5]], [[1, 3]]]
    assert partition.partitioner == "file"


def test_what_is_written_is_read_back(rng, tmp_path):
    G = cooccurrence(rng.random((300, 80)) < 0.05)
    one = partition_labels(G, rng, n_blocks=6, budget=0.2, partitioner="propagation")
    assert all(len(one.node(v)) for v in range(one.n_nodes))
    write_reordering(one, tmp_path / "perm.txt", tmp_path / "comm.txt")
    two = read_reordering(tmp_path / "perm.txt", tmp_path / "comm.txt")
    assert (one.permutation == two.permutation).all()
    assert (one.offsets == two.offsets).all()
    assert (one.parents == two.parents).all()
    assert f"tsize = {one.sizes[0]};" in (tmp_path / "comm.txt").read_text()


def test_empty_separators_come_back_as_such(tmp_path):
    one = Partition(np.array([2, 0, 1]), np.array([0, 1, 3, 3]), np.array([2, 2, -1]))
    write_reordering(one, tmp_path / "perm.txt", tmp_path / "comm.txt")
    two = read_reordering(tmp_path / "perm.txt", tmp_path / "comm.txt")
    assert [list(two.labels(i)) for i in range(2)] == [[2], [0, 1]]
    assert len(two.separator) == 0


@pytest.mark.parametrize(
    ("perm", "message"),
    [
        ("1\n3\n2\n3\n", "line 4: label 3 is in line 2 already"),
        (
            "1\n2\n4\n",
            "line 3: '4' is not a label of a permutation; expected each number from 1 to 3",
        ),
        ("0\n1\n2\n", "line 1: '0' is not a label.*count from 1"),
        ("1\n\n2.5\n", "line 3: '2.5' is not a label"),
        ("1\n" + "7" * 5000, "line 2: '7{40}' is not a label"),
        ("1\n\u0662\n", "line 2: .* is not a label"),
        ("\n", "is empty"),
    ],
)
def test_a_file_that_is_no_permutation_is_refused(files, perm, message):
    with pytest.raises(DataFormatError, match=rf"perm.txt.*{message}"):
        read_permutation(files(perm=perm)[0])


def test_a_file_that_is_no_text_is_refused(files):
    perm, comm = files()
    perm.write_bytes(b"1\n\xff\n")
    with pytest.raises(DataFormatError, match=r"perm.txt, line 2: this is not UTF-8 text"):
        read_reordering(perm, comm)


def test_writing_fails_as_a_whole(tmp_path):
    partition = Partition(np.array([2, 0, 1]), np.array([0, 1, 3, 3]), np.array([2, 2, -1]))
    with pytest.raises(FileNotFoundError, match="folder to write in"):
        write_reordering(partition, tmp_path / "perm.txt", tmp_path / "nowhere" / "comm.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("comm", "message"),
    [
        ("nothing", "names no block"),
        ("set1 = [1:3; 4:6]", r"line 1: \[1:3; 4:6\] is not a list of ranges"),
        ("set1 = [1:3]; \nset2 = [5:6];", "starts at 4, found 5:6"),
        ("set1 = [1:3]; \nset2 = [3:6];", "starts at 4, found 3:6"),
        ("set1 = [1:3, 4:5]", "starts at 6, found 7:7"),
        ("set1 = [1:3, 6:6]\nset2 = [4:4, 5:5]\nset3 = [1:3, 5:5]", "set3 puts 1:3 below 5:5, an earlier"),
    ],
)
def test_ranges_that_are_no_tree_are_refused(files, comm, message):
    with pytest.raises(DataFormatError, match=rf"comm.txt.*{message}"):
        read_reordering(*files(comm=comm))


def test_the_published_reordering_of_eurlex_is_strict(eurlex):
    folder = Path(os.environ[ENVIRONMENT]) / "reorderings"
    if not folder.is_dir():
        pytest.skip("MLGT_DATA has no reorderings")
    partition = read_reordering(folder / "Eurlex-perm.txt", folder / "Eurlex-comm.txt")
    assert (partition.n_blocks, len(partition.separator)) == (8, 1352)
    assert list(partition.sizes) == [1295, 1342, 1327, 1330, 1393, 1527, 1496, 1963]
    assert lost_share(adjacency(cooccurrence(eurlex.train.Y)), partition) == 0
