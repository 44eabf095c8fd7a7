"""Data in parts: a folder of files, or a pattern of file names, read as one file in the order of names."""

import errno
import glob
import os

from .._core.files import STANDARD_INPUT, PathLike


def part_files(path: PathLike) -> list[str]:
    """The files that a path stands for, in the order of their names: itself, the files of a folder, or
    those that match a pattern such as `rows-*.txt`. Names in a folder that begin with a dot or `_` are
    skipped."""
    name = os.fspath(path)
    if os.path.isdir(name):
        return _in_folder(name)
    if name == STANDARD_INPUT or os.path.exists(name) or not glob.has_magic(name):
        return [name]
    found = sorted(file for file in glob.glob(name) if not os.path.isdir(file))
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no file matches this pattern; check it", name)
    return found


def _in_folder(folder):
    found = sorted(file for file in os.listdir(folder) if not file.startswith((".", "_")))
    found = [os.path.join(folder, file) for file in found]
    if not found or any(map(os.path.isdir, found)):
        what = "has other folders in it" if found else "is empty"
        why = f"this is a folder that {what}; expected a file, or a folder of files, parts of the data"
        raise IsADirectoryError(errno.EISDIR, why, folder)
    return found
