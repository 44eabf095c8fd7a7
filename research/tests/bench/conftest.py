import pytest

from mlgt.data import write_xmc


@pytest.fixture(scope="module")
def files(topics, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "topics"
    folder.mkdir()
    for name, part in zip(("train.txt", "test.txt"), topics):
        write_xmc(folder / name, *part)
    return folder / "train.txt", folder / "test.txt"
