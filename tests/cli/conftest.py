import subprocess
import sys

import pytest

from mlgt.cli import main
from mlgt.data import write_xmc


@pytest.fixture(scope="module")
def folder(topics, tmp_path_factory):
    """train.txt, test.txt.gz and a trained model."""
    folder = tmp_path_factory.mktemp("cli")
    write_xmc(folder / "train.txt", *topics[0])
    write_xmc(folder / "test.txt.gz", *topics[1])
    settings = ["--n-groups", "20", "--column-weight", "5"]
    assert main(["train", str(folder / "train.txt"), "--model", str(folder / "model"), *settings]) == 0
    return folder


@pytest.fixture
def mlgt_command():
    """Runs `mlgt` as a process of its own."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "mlgt", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, **options)

    return run
