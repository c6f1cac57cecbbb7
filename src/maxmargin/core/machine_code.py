"""Machine code on disk that proves itself whole before it is used.

A file begins with the checksum of the rest: a damaged byte in machine code would otherwise crash the process. What is
missing, damaged or cannot be written costs time, never a fit: the code is compiled again, and one warning says why.

Processes share these files without locks. Files appear whole (``whole_file``), and the name of a file with machine code
is a checksum of its content, so that no two processes write different code under one name. Of two that renew an index
at the same time the later one wins, and the other's code is compiled once more by the next process that needs it.
"""

from __future__ import annotations

import hashlib
import pathlib
import pickle
import warnings
from collections.abc import Callable
from typing import Any

from maxmargin.core.files import whole_file

CHECKSUM_BYTES = 16

# A folder that others may not read is as good as an empty one.
ABSENT = (FileNotFoundError, NotADirectoryError, PermissionError)

_warned = False


class Unreadable(Exception):
    """A file is there, but is not what was written."""


class MachineCode:
    """The machine code of one function: looked up in all folders, written to the last of them.

    Each folder has an index, which names the file of each specialisation. ``dumps`` pickles keys and code.
    """

    def __init__(self, folders: list[pathlib.Path], name: str, dumps: Callable[[Any], bytes]) -> None:
        self._folders = folders
        self._name = name
        self._dumps = dumps

    def load(self, key: Any) -> Any:
        """The code of one specialisation, or None."""
        for folder in self._folders:
            try:
                file = self._index(folder).get(key)
                code = None if file is None else _read(folder / file)
            except Unreadable as damage:
                warn_once(
                    f"{damage}. It is not used: what it held is compiled again. If this happens again, check the disk, "
                    "delete the file, or set NUMBA_CACHE_DIR to another folder."
                )
            else:
                if code is not None:
                    return code
        return None

    def save(self, key: Any, code: Any) -> None:
        """Keep the code of one specialisation. Raises OSError where that cannot be done."""
        folder = self._folders[-1]
        try:
            index = self._index(folder)
        except Unreadable:  # reported when it was to be loaded from
            index = {}
        content = self._dumps(code)
        file = f"{self._name}.{_checksum(content).hex()}.nbc"
        _write(folder / file, content)
        self._write_index(folder, index | {key: file})

    def flush(self) -> None:
        """Forget all code in the folder that is written to."""
        self._write_index(self._folders[-1], {})

    def _index(self, folder: pathlib.Path) -> dict[Any, str]:
        return _read(self._index_path(folder)) or {}

    def _write_index(self, folder: pathlib.Path, index: dict[Any, str]) -> None:
        _write(self._index_path(folder), self._dumps(index))

    def _index_path(self, folder: pathlib.Path) -> pathlib.Path:
        return folder / f"{self._name}.nbi"


def warn_once(message: str) -> None:
    """One warning per process: whatever is wrong with a disk is wrong for dozens of files."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(f"maxmargin's compiled code: {message}", RuntimeWarning, stacklevel=2)


def warn_not_kept(error: OSError) -> None:
    """What to do where compiled code cannot be written."""
    warn_once(
        f"it cannot be kept on disk ({error}), so every process compiles it again, which takes seconds. Make room "
        "there, set NUMBA_CACHE_DIR to a folder that can be written, or set MAXMARGIN_CACHE=0 to do without."
    )


def _checksum(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


def _write(path: pathlib.Path, content: bytes) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_bytes(_checksum(content) + content)


def _read(path: pathlib.Path) -> Any:
    """What was written there, unpickled; None if there is no such file."""
    try:
        file = memoryview(path.read_bytes())
    except ABSENT:
        return None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error})") from error
    checksum, content = file[:CHECKSUM_BYTES], file[CHECKSUM_BYTES:]
    if checksum != _checksum(content):
        raise Unreadable(f"{path} is damaged")
    try:
        return pickle.loads(content)
    except (ImportError, AttributeError) as error:  # it names a class that this process does not have
        raise Unreadable(f"{path} cannot be used here ({error})") from error
