"""A fitted model as a folder: `.npy` arrays and one JSON header, no pickle.

    DIR/model.json      format, versions, class, parameters, names; dtype, shape, size and SHA-256 of
                        each array; last, `digest`, the SHA-256 of all that stands before it
    DIR/NAME.npy        one file per array, memory-mapped; NAME may have folders (`block-3/coef`); the terms
                        of a `TextTagger` are `text/words`, the bytes of a JSON list

`ModelWriter` writes arrays one by one beside the final place and moves the whole folder there by a
rename when it is complete, so half a model never bears the final name; an existing model stays whole
until the new one is. `StoredArrays` opens an array when it is first used and compares it with its
checksum then; loading itself reads the header and looks at the file sizes only.
"""

import ctypes
import hashlib
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._core.errors import ModelFileError
from .._core.files import check_folder
from .._version import __version__
from .fitted import FittedModel
from .format import (
    CLASSES,
    FORMAT,
    READABLE,
    VERSION,
    check_portable,
    from_folder,
    to_arrays,
    to_header,
    upgrade,
)

HEADER = "model.json"
_ARRAY_NAME = re.compile(r"[a-z_]+(-[0-9]+)?(/[a-z_]+)?")
_DIGEST = re.compile(r',\n "digest": "([0-9a-f]{64})"\n\}\Z')
MAX_READ_BYTES = 1 << 16
"""Size up to which arrays are read; larger ones are mapped."""
_ADVICE = "Restore it from a copy, or train again."


def save_model(
    model: FittedModel, owner: Mapping[str, Any], path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model to the folder `path`; `owner` describes its estimator, as in `format.to_header`."""
    check_portable(model)
    header = to_header(model, owner)
    with ModelWriter(path, overwrite=overwrite) as writer:
        for name, array in to_arrays(model).items():
            writer.add(name, array)
        writer.finish(header)


def read_model(
    path: str | os.PathLike[str], digest: str | None = None
) -> tuple[dict[str, Any], FittedModel]:
    """(header, model) of the folder `path`; the header is upgraded to the current version.

    With `digest`, raise unless the model has it.
    """
    header = read_header(path)
    if digest is not None and header.get("digest") != digest:
        raise ModelFileError(f"{path} has the digest {header.get('digest')}; expected {digest}.")
    if header.get("class") not in CLASSES:
        raise ModelFileError(
            f"{Path(path) / HEADER}: class {header.get('class')!r} is unknown to mlgt {__version__}; "
            f"expected one of {', '.join(CLASSES)}. A newer release may read it."
        )
    with report_bad_header(path):
        arrays = StoredArrays(path, header)
        header = upgrade(header)
        model = from_folder(header, arrays)
        model.decoder, model.calibrated  # noqa: B018  made once, for all threads; raise if options are wrong
        return header, model


@contextmanager
def report_bad_header(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong in putting a model together into words about its header."""
    try:
        yield
    except ModelFileError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{Path(path) / HEADER} does not describe a whole model ({error!r}). {_ADVICE}"
        ) from None


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Raise unless a model may be written to `path`; better known before training than after."""
    path = Path(os.path.realpath(path))
    if path == Path.cwd():
        raise FileExistsError(f"{path} is the current folder; choose a folder inside it for the model.")
    check_folder(path.parent)  # it is written aside there first
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    try:
        own = {HEADER, *(f"{name}.npy" for name in read_header(path)["arrays"])}
        foreign = [file for file in path.rglob("*") if file.is_file() and _inside(file, path) not in own]
    except (ModelFileError, KeyError, TypeError, OSError):
        raise FileExistsError(f"{path} exists and is no model folder; it is left as it is.") from None
    if foreign:
        raise FileExistsError(
            f"{path} holds files that are not the model's ({foreign[0].name}); it is left as it is. Move "
            "them, or choose another folder."
        )
    if not overwrite:
        raise FileExistsError(
            f"{path} holds a model already; pass overwrite=True (--force) to replace it, or choose "
            "another folder."
        )


def _inside(file, folder):
    return file.relative_to(folder).as_posix()


class ModelWriter:
    """A model folder in the making: `add` arrays, `finish` with the facts; a context that cleans up."""

    def __init__(self, path, *, overwrite=False):
        check_target(path, overwrite=overwrite)
        self.path = Path(os.path.realpath(path))  # a link stays a link
        self.arrays: dict[str, dict] = {}

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.aside = Path(tempfile.mkdtemp(prefix=f".{self.path.name}-", dir=self.path.parent))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.aside, ignore_errors=True)  # gone already if `finish` was reached

    def add(self, name: str, array: np.ndarray) -> None:
        """Write one array; its memory can be given back afterwards."""
        array = np.asarray(array)
        file = self.aside / f"{name}.npy"
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(file, "wb") as stream:
                np.save(_OnlyWrite(stream), array, allow_pickle=False)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(self.path)) from None
        self.arrays[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": file.stat().st_size,
            "sha256": _checksum(file),
        }

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write the header and move the folder to its place."""
        header = {"format": FORMAT, "format_version": VERSION, "mlgt_version": __version__}
        text = signed(json.dumps({**header, **facts, "arrays": self.arrays}, indent=1, default=_plain))
        with open(self.aside / HEADER, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        self.aside.chmod(0o777 & ~_umask())
        if not self.path.exists():
            os.rename(self.aside, self.path)
        elif not _exchange(self.aside, self.path):  # the old one is then in `aside`, which goes
            replaced = self.aside / ".replaced"
            os.rename(self.path, replaced)
            try:
                os.rename(self.aside, self.path)
            except BaseException:
                os.rename(replaced, self.path)
                raise
            shutil.rmtree(self.path / ".replaced")


def signed(header: str) -> str:
    """The JSON of a header with the digest of its bytes as its last entry."""
    digest = hashlib.sha256(header.encode("utf-8")).hexdigest()
    return f'{header.removesuffix("}").rstrip()},\n "digest": "{digest}"\n}}'


def _is_signed(text):
    """True if the digest at the end of a header is that of the bytes before it."""
    found = _DIGEST.search(text)
    return found is not None and signed(text[: found.start()] + "\n}") == text


def _exchange(one, two):
    """Swap two folders in one step if the system can (Linux); returns whether it did."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return renameat2(here, os.fsencode(one), here, os.fsencode(two), exchange) == 0


class _OnlyWrite:
    """A file that np.save writes to in the ordinary way, so that a full disk is reported as one."""

    def __init__(self, stream):
        self.write = stream.write


class StoredArrays(Mapping):
    """The arrays of a model folder by name: memory-mapped if large, verified when first used."""

    def __init__(self, path, header):
        self.path = Path(path)
        self.entries = header.get("arrays")
        keys = {"dtype", "shape", "bytes", "sha256"}
        if not isinstance(self.entries, dict) or not all(
            isinstance(entry, dict) and keys <= set(entry) for entry in self.entries.values()
        ):
            raise ModelFileError(f"{self.path / HEADER} does not list the model's arrays. {_ADVICE}")
        self._open: dict[str, np.ndarray] = {}
        for name, entry in self.entries.items():
            self._check_size(name, entry)

    def __getitem__(self, name):
        if name not in self._open:
            self._open[name] = self._read(name, self.entries[name])
        return self._open[name]

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)

    def file(self, name: str) -> Path:
        return self.path / f"{name}.npy"

    def _check_size(self, name, entry):
        file = self.file(name)
        inside = Path(os.path.realpath(file)).is_relative_to(os.path.realpath(self.path))
        if not _ARRAY_NAME.fullmatch(name) or not inside:
            raise ModelFileError(
                f"{self.path / HEADER} names the array {name!r} outside the folder. {_ADVICE}"
            )
        if not file.is_file():
            raise ModelFileError(f"{file} is missing. {_ADVICE}")
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise ModelFileError(f"{file} has {size} bytes; expected {entry['bytes']}. {_ADVICE}")

    def _read(self, name, entry):
        file = self.file(name)
        self._check_size(name, entry)
        if _checksum(file) != entry["sha256"]:
            raise ModelFileError(f"{file} was altered: its checksum is not the saved one. {_ADVICE}")
        dtype = np.dtype(entry["dtype"])
        if not dtype.isnative or dtype.itemsize * math.prod(entry["shape"]) > entry["bytes"]:
            raise ModelFileError(
                f"{file} has a foreign byte order, or is too short for its shape. {_ADVICE}"
            )
        mapped = entry["bytes"] > MAX_READ_BYTES  # a mapped file stays open, and there may be thousands
        array = np.load(file, mmap_mode="r" if mapped else None, allow_pickle=False)
        if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
            raise ModelFileError(f"{file} has another type or shape than {HEADER} says. {_ADVICE}")
        return array


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of a model folder as a dict, its format checked."""
    path = Path(path)
    file = path / HEADER
    if not file.is_file():
        kind = "there is no such folder" if not path.exists() else f"it has no {HEADER}"
        raise ModelFileError(
            f"{path} is not a model folder: {kind}. Expected one written by `mlgt train` or save(path)."
        )
    try:
        text = file.read_bytes().decode("utf-8")
        header = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ModelFileError(f"{file} cannot be read as JSON ({error}). {_ADVICE}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f'{file} is not an mlgt model: "format" is not "{FORMAT}".')
    if header.get("format_version") not in READABLE:
        written = header.get("mlgt_version")
        raise ModelFileError(
            f"{path} has format version {header.get('format_version')}, written by mlgt {written}; mlgt "
            f"{__version__} reads up to version {VERSION}. Install mlgt {written} to read it."
        )
    if (header["format_version"] >= 3 or "digest" in header) and not _is_signed(text):
        raise ModelFileError(f"{file} was altered: its digest is not the saved one. {_ADVICE}")
    return header


def _checksum(file):
    digest = hashlib.sha256()
    with open(file, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _plain(value):
    """NumPy scalars and arrays as JSON; anything else has no portable form."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise ValueError(
        f"The parameter value {value!r} has no portable file form; keep the model with joblib.dump."
    )
