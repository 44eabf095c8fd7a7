"""A changed header of a model folder with its digest: what a crafted folder could hold."""

import hashlib
import json

import numpy as np

from mlgt.model.header import signed


def write_header(folder, header):
    """Write `header` to the model folder, signed again."""
    body = {key: value for key, value in header.items() if key != "digest"}
    (folder / "model.json").write_text(signed(json.dumps(body, indent=1)), "utf-8")


def rewrite_array(folder, name, array):
    """Write another array of the model folder, with its checksum in the header."""
    file = folder / f"{name}.npy"
    np.save(file, array)
    header, content = json.loads((folder / "model.json").read_text("utf-8")), file.read_bytes()
    header["arrays"][name] = {
        "dtype": array.dtype.str, "shape": list(array.shape), "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip
    write_header(folder, header)
