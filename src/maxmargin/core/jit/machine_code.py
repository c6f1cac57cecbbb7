"""Machine code on disk that proves itself whole before it is used.

A file begins with the checksum of its first part, the code: a damaged byte in machine code would otherwise crash the
process. The second part, which only compilations of other functions need (bitcode), has a checksum of its own and is
read when it is asked for. What is missing, damaged or cannot be written costs time, never a fit: the code is compiled
again, and one warning says why.

Processes share these files without locks: a file is named by what it was compiled for, and appears whole
(``whole_file``), so that of two processes that write the same one after the other a third reads one or the other.
"""

from __future__ import annotations

import hashlib
import pathlib
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from maxmargin.core.files import whole_file

CHECKSUM_BYTES, LENGTH_BYTES = 16, 8

# A folder that others may not read is as good as an empty one.
ABSENT = (FileNotFoundError, NotADirectoryError, PermissionError)

_warned = False


class Unreadable(Exception):
    """A file is there, but is not what was written."""


class MachineCode:
    """The machine code of one function: looked up in all folders, written to the last of them."""

    def __init__(self, folders: list[pathlib.Path], name: str, dumps: Callable[[Any], bytes]) -> None:
        self._folders = folders
        self._name = name
        self._dumps = dumps

    def load(self, key: str) -> tuple[Any, Callable[[], bytes]] | None:
        """The code for types with this key, and what reads its second part; None where there is none."""
        for folder in self._folders:
            path = folder / self._file(key)
            try:
                code = _read(path)
            except Unreadable as damage:
                warn_once(
                    f"{damage}. It is not used: what it held is compiled again. If this happens again, check the disk, "
                    "delete the file, or set NUMBA_CACHE_DIR to another folder."
                )
            else:
                if code is not None:
                    return code, partial(_read_more, path)
        return None

    def save(self, key: str, code: Any, more: bytes) -> None:
        """Keep the code for types with this key, and its second part. Raises OSError where that cannot be done."""
        content = self._dumps(code)
        with whole_file(self._folders[-1] / self._file(key)) as unfinished:
            head = len(content).to_bytes(LENGTH_BYTES, "little") + content
            unfinished.write_bytes(_checksum(head) + head + _checksum(more) + more)

    def flush(self) -> None:
        """Forget all code in the folder that is written to."""
        for path in self._folders[-1].glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _file(self, key: str) -> str:
        return f"{self._name}.{_checksum(key.encode()).hex()}.nbc"


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


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


def _read(path: pathlib.Path) -> Any:
    """The first part of a file, unpickled; None if there is no such file."""
    try:
        with path.open("rb") as file:
            checksum, length = file.read(CHECKSUM_BYTES), file.read(LENGTH_BYTES)
            content = file.read(int.from_bytes(length, "little"))
    except ABSENT:
        return None
    except (OSError, OverflowError, MemoryError) as error:  # a damaged length may be any number
        raise Unreadable(f"{path} cannot be read ({error})") from error
    if checksum != _checksum(length + content):
        raise Unreadable(f"{path} is damaged")
    try:
        return pickle.loads(content)
    except (ImportError, AttributeError) as error:  # it names a class that this process does not have
        raise Unreadable(f"{path} cannot be used here ({error})") from error


def _read_more(path: pathlib.Path) -> bytes:
    """The second part of a file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error})") from error
    begin = CHECKSUM_BYTES + LENGTH_BYTES
    begin += int.from_bytes(content[CHECKSUM_BYTES:begin], "little")
    checksum, more = content[begin : begin + CHECKSUM_BYTES], content[begin + CHECKSUM_BYTES :]
    if checksum != _checksum(more):
        raise Unreadable(f"{path} is damaged")
    return more
