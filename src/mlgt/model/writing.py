"""A fitted model as a folder: `.npy` arrays and one JSON header, no pickle.

    DIR/model.json      format, versions, class, parameters, names; dtype, shape, size and SHA-256 of
                        each array; last, `digest`, the SHA-256 of all that stands before it
    DIR/NAME.npy        one file per array; NAME may have folders (`block-3/coef`); the terms of a
                        `TextTagger` are `text/words`, the bytes of a JSON list

`ModelWriter` writes arrays one by one into a folder beside the final place, which takes that place by a
rename when it is complete and on the disk: half a model never bears the final name, and an existing
model stays whole until the new one is.
"""

import ctypes
import errno
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._core.aside import folder_aside, locked, replaced_place, sync_folder
from .._core.errors import ModelFileError
from .._core.files import check_folder
from .._version import __version__
from .entries import check_header
from .fitted import FittedModel
from .format import FORMAT, VERSION, check_portable, to_arrays, to_header
from .header import HEADER, signed
from .packing import packed
from .reading import read_header

_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EACCES}


def save_model(
    model: FittedModel, owner: Mapping[str, Any], path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model to the folder `path`; `owner` describes its estimator, as in `format.to_header`."""
    check_portable(model)
    header = to_header(model, owner)
    with model_writer(path, overwrite=overwrite) as writer:
        for name, array in packed(to_arrays(model)).items():
            writer.add(name, array)
        writer.finish(header)


@contextmanager
def claim(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Keep other processes from writing to `path` while its model is made; raise if it may not be written.

    Gives the real path of the model: a link stays a link.
    """
    target = Path(os.path.realpath(path))
    if target == Path.cwd():
        raise FileExistsError(f"{target} is the current folder; choose a folder inside it for the model.")
    check_folder(target.parent)  # it is written aside there first
    with locked(target):
        _restore(target)
        _check_free(target, overwrite)
        yield target


def _check_free(path, overwrite):
    """Raise unless there is nothing in `path`, or a model to overwrite."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    try:
        own = {HEADER, *(f"{name}.npy" for name in read_header(path)["arrays"])}
        own |= {Path(name).parent.as_posix() for name in own}
        foreign = [file for file in path.rglob("*") if file.relative_to(path).as_posix() not in own]
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


@contextmanager
def model_writer(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator["ModelWriter"]:
    """A `ModelWriter` for the folder `path`; nothing is left of it if `finish` is not reached."""
    with claim(path, overwrite=overwrite) as target, folder_aside(target) as aside:
        yield ModelWriter(target, aside, overwrite)


class ModelWriter:
    """A model folder in the making: `add` arrays, `finish` with the facts."""

    def __init__(self, path: Path, aside: Path, overwrite: bool) -> None:
        self.path, self.aside, self.overwrite = path, aside, overwrite
        self.arrays: dict[str, dict] = {}

    def add(self, name: str, array: np.ndarray) -> None:
        """Write one array; its memory can be given back afterwards."""
        array = np.asarray(array)
        with self._new_file(f"{name}.npy") as stream:
            np.save(stream, array, allow_pickle=False)
        self.arrays[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": stream.size,
            "sha256": stream.digest.hexdigest(),
        }

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write the header and move the folder to its place."""
        header = {"format": FORMAT, "format_version": VERSION, "mlgt_version": __version__}
        text = signed(json.dumps({**header, **facts, "arrays": self.arrays}, indent=1, default=_plain))
        try:
            check_header(json.loads(text))
        except ValueError as error:
            raise ValueError(
                f"The model cannot be saved: {error}. Set another value and fit again."
            ) from None
        with self._new_file(HEADER) as stream:
            stream.write(text.encode("utf-8"))
        with self._named_errors():
            self._check_complete()
            for folder in {self.aside, *(self.aside / Path(name).parent for name in self.arrays)}:
                sync_folder(folder)
            _place(self.aside, self.path, self.overwrite)
            sync_folder(self.path.parent)

    def _check_complete(self):
        """Raise if a file in the making has gone, as by a cleaner of temporary files."""
        for name, entry in self.arrays.items():
            if (self.aside / f"{name}.npy").stat().st_size != entry["bytes"]:
                raise OSError(errno.EIO, "a file in the making was changed by others; save again", name)

    @contextmanager
    def _new_file(self, name):
        """A file in the making, on the disk at the end."""
        file = self.aside / name
        with self._named_errors():
            if file.parent != self.aside:
                file.parent.mkdir(exist_ok=True)
            with open(file, "wb") as stream:
                yield _Hashed(stream)
                stream.flush()
                os.fsync(stream.fileno())

    @contextmanager
    def _named_errors(self):
        """Errors of the system with the name of the model instead of a file in the making."""
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(self.path)) from None


class _Hashed:
    """A file with only `write`, so that np.save reports a full disk as one; hashes what it is given."""

    def __init__(self, stream):
        self.stream, self.digest, self.size = stream, hashlib.sha256(), 0

    def write(self, content):
        self.digest.update(content)
        self.size += len(content)
        self.stream.write(content)


def _place(aside, path, overwrite):
    """Rename the folder `aside` to `path`; a model that is there moves to `aside` or goes."""
    try:
        if os.name == "nt" and path.is_dir() and not any(path.iterdir()):
            path.rmdir()  # elsewhere the rename does it
        os.rename(aside, path)  # takes the place of an empty folder, never of a model
        return
    except OSError as error:
        if error.errno not in _TAKEN or not path.exists():
            raise
    if not overwrite:
        raise FileExistsError(
            f"Another process has written {path} meanwhile; it is left as it is. Choose another folder, or "
            "pass overwrite=True (--force) to replace it."
        )
    _check_free(path, overwrite=True)
    if _exchange(aside, path):
        return
    old = replaced_place(path)
    try:
        os.rename(path, old)
        os.rename(aside, path)
    except BaseException:
        _restore(path)
        raise
    finally:
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)


def _restore(path):
    """Put back a model whose writer was killed between the two renames that replace it."""
    old = replaced_place(path)
    if not path.exists() and (old / HEADER).is_file():
        os.rename(old, path)


def _exchange(one, two):
    """Swap two folders in one step if the system can; returns whether it did."""
    libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    names, swap = (os.fsencode(one), os.fsencode(two)), 2  # RENAME_EXCHANGE, RENAME_SWAP
    if sys.platform.startswith("linux") and hasattr(libc, "renameat2"):
        here = -100  # AT_FDCWD
        failed = libc.renameat2(here, names[0], here, names[1], swap)
    elif sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(*names, swap)
    else:
        return False
    if failed and ctypes.get_errno() not in _NO_EXCHANGE:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(two))
    return not failed


def _plain(value):
    """NumPy scalars and arrays as JSON; anything else has no portable form."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise ValueError(
        f"The parameter value {value!r} has no portable file form; keep the model with joblib.dump."
    )
