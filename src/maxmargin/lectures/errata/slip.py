"""A slip of a note, and the table of all slips of one note."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from maxmargin.lectures.page import Shown, Table

Finding = tuple[str, bool]


class Slip(NamedTuple):
    """One slip; ``compute`` is None where there is nothing to compute: spelling, letters, numbers."""

    where: str
    printed: str
    holds: str
    compute: Callable[[], Finding] | None


def table_of(*found: Slip) -> Shown:
    """In the order of the note's lines."""
    slips_and_words = [(slip, *(slip.compute() if slip.compute else ("", True))) for slip in sorted(found, key=_line)]
    rows = [(slip.where, slip.printed, slip.holds, words) for slip, words, _ in slips_and_words]
    failed = tuple((f"the computation shows {slip.where}", False) for slip, _, shows in slips_and_words if not shows)
    computed = sum(slip.compute is not None for slip in found)
    every = ((f"all {computed} computations show what they should", True),)
    return Shown(None, (Table(("line", "printed", "holds", "computed"), rows),), failed or every)


def _line(slip: Slip) -> int:
    """The first of its lines: 33 of 000:33, 58."""
    return int(re.split(r"\D", slip.where.partition(":")[2])[0])
