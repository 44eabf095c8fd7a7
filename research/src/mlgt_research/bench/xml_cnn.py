"""XML-CNN: a convolutional network over the words of a text (Liu, Chang, Wu & Yang, SIGIR 2017).

The network is LibMultiLabel's, with the filters and layers of its example configurations. Word vectors are
learned from random ones, because pretrained ones are not at hand. Training is by Adam on the binary
cross-entropy of all labels, and ends after `epochs` or when `seconds` of CPU time have passed.
"""

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .trained import Trained

NETWORK = {
    "embed_dropout": 0.2, "filter_sizes": [2, 4, 8], "hidden_dim": 512, "num_filter_per_size": 256,
    "num_pool": 2, "activation": "relu",
}  # fmt: skip
DEFAULTS = {"seconds": 300, "epochs": 50, "batch": 64, "lr": 1e-3, "words": 100, "dimension": 128}
MIN_COUNT = 3
"""Texts that a word must be in to have a vector."""
PADDING, UNKNOWN = 0, 1


def split_words(text: str) -> list[str]:
    """Lower-case runs of letters and digits."""
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def number_words(texts: Any) -> dict[str, int]:
    """{word: number} of the words in enough texts, from 2 on."""
    counts: dict[str, int] = {}
    for text in texts:
        for word in set(split_words(text)):
            counts[word] = counts.get(word, 0) + 1
    kept = sorted(word for word, count in counts.items() if count >= MIN_COUNT)
    return {word: number for number, word in enumerate(kept, UNKNOWN + 1)}


def to_numbers(texts: Any, numbers: dict[str, int], length: int) -> np.ndarray:
    """(n, length) the numbers of the first words of each text, padded."""
    found = np.full((len(texts), length), PADDING, np.int64)
    for row, text in zip(found, texts):
        own = [numbers.get(word, UNKNOWN) for word in split_words(text)[:length]]
        row[: len(own)] = own
    return found


class XMLCNN(Trained):
    def __init__(self, network, numbers, length, epoch):
        self.network, self.numbers, self.length = network.eval(), numbers, length
        self.stages = {"an epoch": epoch}

    def prepare(self, X: Any) -> Any:
        return to_numbers(X, self.numbers, self.length)

    def predict(self, rows: Any, k: int) -> Any:
        torch: Any = import_module("torch")
        with torch.no_grad():
            parts = torch.split(torch.from_numpy(rows), 256)
            scores = (self.network({"text": part})["logits"] for part in parts)
            return np.concatenate([torch.topk(part, k).indices.numpy() for part in scores])

    def save(self, folder: Path) -> None:
        torch: Any = import_module("torch")
        torch.save(self.network.state_dict(), folder / "model.pt")


def xml_cnn(
    X: Any, Y: sp.csr_array, options: dict[str, Any], threads: int, seed: int, folder: Path
) -> Trained:
    torch: Any = import_module("torch")
    network_of = import_module("libmultilabel.nn.networks.xml_cnn").XMLCNN

    settings = DEFAULTS | options
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    began = time.process_time()
    numbers = number_words(X)
    rows = torch.from_numpy(to_numbers(X, numbers, settings["words"]))
    vectors = 0.1 * torch.randn(len(numbers) + UNKNOWN + 1, settings["dimension"])
    network = network_of(vectors, Y.shape[1], **NETWORK)
    steps = torch.optim.Adam(network.parameters(), lr=settings["lr"])
    loss = torch.nn.BCEWithLogitsLoss(reduction="sum")
    batches = -(-len(rows) // settings["batch"])
    done = 0
    for batch in _batches(torch, len(rows), settings):
        if time.process_time() - began > settings["seconds"]:
            break
        target = torch.from_numpy(Y[batch.numpy()].toarray().astype(np.float32))
        steps.zero_grad()
        (loss(network({"text": rows[batch]})["logits"], target) / len(batch)).backward()
        steps.step()
        done += 1
    epoch = (time.process_time() - began) * batches / max(done, 1)
    return XMLCNN(network, numbers, settings["words"], epoch)


def _batches(torch, n, settings):
    """Row numbers of each step, in an order drawn again for each epoch."""
    for _ in range(settings["epochs"]):
        yield from torch.split(torch.randperm(n), settings["batch"])
