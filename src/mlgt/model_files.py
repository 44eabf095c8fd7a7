"""A fitted model as a folder: `.npy` arrays and one JSON header, no pickle.

    DIR/model.json      format, versions, class, parameters, shapes, names, a checksum per array
    DIR/NAME.npy        one file per array, memory-mapped on loading

A folder is written beside its final place and moved there by a rename, so half a model never bears
the final name; an existing model stays whole until the new one is.
"""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from ._version import __version__
from .errors import ModelFileError

FORMAT = "mlgt-model"
FORMAT_VERSION = 1
HEADER = "model.json"


def save_model(model, path, *, overwrite=False):
    """Write a fitted estimator to the folder `path`."""
    path = Path(path)
    facts, arrays = model._to_state()
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{path} exists already; pass overwrite=True to replace it, or choose another folder."
        )
    if path.exists() and not (path / HEADER).is_file():
        raise FileExistsError(f"{path} is not a model folder (no {HEADER}); it is left as it is.")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        checksums = {}
        for name, array in arrays.items():
            np.save(aside / f"{name}.npy", array, allow_pickle=False)
            checksums[name] = _checksum(aside / f"{name}.npy")
        header = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "mlgt_version": __version__,
            "class": type(model).__name__,
            "arrays": checksums,
            **facts,
        }
        (aside / HEADER).write_text(json.dumps(header, indent=1, default=_plain), "utf-8")
        aside.chmod(0o755)
        if path.exists():
            old = aside / "replaced"
            os.rename(path, old)
            try:
                os.rename(aside, path)
            except OSError:
                os.rename(old, path)
                raise
            shutil.rmtree(path / "replaced")
        else:
            os.rename(aside, path)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def load_model(path, *, verify=True):
    """Read the folder `path`; `verify` compares every array with its checksum."""
    from .estimators import ESTIMATORS

    path = Path(path)
    header = _read_header(path)
    if header.get("class") not in ESTIMATORS:
        raise ModelFileError(
            f"{path / HEADER}: class {header.get('class')!r} is unknown to mlgt {__version__}; "
            f"expected one of {', '.join(ESTIMATORS)}. A newer release may read it."
        )
    arrays = {name: _read_array(path, name, wanted, verify) for name, wanted in _arrays(header)}
    return ESTIMATORS[header["class"]]._from_state(header, arrays)


def _arrays(header):
    return header["arrays"].items()


def _read_header(path):
    try:
        header = json.loads((path / HEADER).read_text("utf-8"))
    except FileNotFoundError:
        raise ModelFileError(
            f"{path} is not a model folder: it has no {HEADER}. Expected a folder written by "
            "save(path) or `mlgt train`."
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError, NotADirectoryError) as error:
        raise ModelFileError(
            f"{path / HEADER} cannot be read as JSON ({error}). Restore it from a copy, or train again."
        ) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f'{path / HEADER} is not an mlgt model: "format" is not "{FORMAT}".')
    if header.get("format_version") != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {header.get('format_version')}, written by mlgt "
            f"{header.get('mlgt_version')}; mlgt {__version__} reads version {FORMAT_VERSION}. Install "
            f"mlgt {header.get('mlgt_version')} or newer to read it."
        )
    return header


def _read_array(path, name, wanted, verify):
    file = path / f"{name}.npy"
    try:
        if verify and _checksum(file) != wanted:
            raise ModelFileError(
                f"{file} is not the file that was saved: its checksum differs. Restore it from a "
                "copy, or train again."
            )
        return np.load(file, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise ModelFileError(f"{file} is missing. Restore it from a copy, or train again.") from None
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{file} is not a NumPy array file ({error}).") from None


def _checksum(file):
    with open(file, "rb") as stream:
        return (
            hashlib.file_digest(stream, "sha256").hexdigest()
            if hasattr(hashlib, "file_digest")
            else hashlib.sha256(stream.read()).hexdigest()
        )


def _plain(value):
    """NumPy scalars and arrays as JSON; anything else has no portable form."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise ValueError(
        f"The parameter value {value!r} has no portable file form; keep the model with joblib.dump."
    )
