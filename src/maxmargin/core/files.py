"""Files that are whole or not there."""

from __future__ import annotations

import pathlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole_file(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Another name to write under: it becomes ``path`` at the end, and goes if that is not reached.

    The name is the caller's own: processes that write the same file at the same time do not meet.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex[:16]}.part")
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
