"""How much memory kernel values may take, and what that allows: a plan, made once for each matrix."""

from __future__ import annotations

import enum
from typing import NamedTuple

from maxmargin.core import memory
from maxmargin.problems.sizes import SMALL_ROWS

MEMORY_FRACTION = 0.25
MOST_MEMORY = 1 << 30
SMALL_BUDGET = 1 << 26
LEAST_ROWS = 256  # a store of fewer rows is not worth keeping
LEAST_WORKING = 64
CHUNK_SHARE = 4  # one part in this many of the budget is for the working sets of the solver


class Residence(enum.Enum):
    """Where kernel values live."""

    WHOLE = "whole"
    CACHED = "cached rows"
    STREAMED = "streamed blocks"


class Plan(NamedTuple):
    """Where the values of a matrix live, how many of its rows are stored, and how many may be worked on together."""

    residence: Residence
    capacity: int
    working_rows: int


def default_budget() -> int:
    """A quarter of the memory that this process may take now, in bytes, and at most a gigabyte.

    More than that rarely pays: first touch of memory costs as much as the kernel values that go there (40,000 rows of
    50 features: 14.0 s with 4 GB, 6.6 s with 1 GB).
    """
    return int(min(MOST_MEMORY, MEMORY_FRACTION * memory.available()))


def granted(asked: int | None, n: int) -> int:
    """What the kernel values of ``n`` rows may take: what is asked for, otherwise the default.

    Small problems do not wait for the system to tell how much is free.
    """
    if asked is not None:
        return asked
    return SMALL_BUDGET if n <= SMALL_ROWS else default_budget()


def plan(n: int, itemsize: int, budget: int, picked: bool) -> Plan:
    """The plan of a matrix of ``n`` rows; ``picked``: working sets are picked from stored rows, never computed."""
    row = max(1, n * itemsize)
    if budget // row >= n or n <= LEAST_WORKING:
        return Plan(Residence.WHOLE, n, n)
    # A working set of w rows takes two arrays of w^2 values while one is made from the other.
    working = _working_rows(budget / CHUNK_SHARE, 2, itemsize)
    capacity = int(max(0, budget - 2 * working**2 * itemsize) // row)
    if capacity < LEAST_ROWS:
        return Plan(Residence.STREAMED, 0, working)
    return Plan(Residence.CACHED, capacity, min(working, capacity) if picked else working)


def _working_rows(share: float, arrays: int, itemsize: int) -> int:
    """Rows w such that this many arrays of w^2 values fit into ``share`` bytes."""
    return max(LEAST_WORKING, int((share / (arrays * itemsize)) ** 0.5))


def base_budget(n: int, base: Plan, base_n: int, itemsize: int, budget: int) -> int:
    """What the matrix below a view of ``n`` rows may take of ``budget``: less where its own rows fill it.

    All of it where the working sets of the view, or the whole view, fit beside the rows that the base stores.
    """
    held, share = base.capacity * base_n * itemsize, budget // CHUNK_SHARE
    return budget if held + min(share, n * n * itemsize) <= budget else budget - share


def view_plan(n: int, base: Plan, base_n: int, itemsize: int, budget: int) -> Plan:
    """The plan of a view of ``n`` rows of a matrix of ``base_n``, which stores what its own plan says."""
    stored = base.residence is Residence.WHOLE
    left = budget - base.capacity * base_n * itemsize
    # Two working sets of the view, and that of the base from which the newer one is gathered.
    working = _working_rows(budget // CHUNK_SHARE, 3, itemsize)
    if not stored:
        working = min(working, base.working_rows)
    if n <= max(LEAST_WORKING, working) or (stored and n * n * itemsize <= left):
        return Plan(Residence.WHOLE, base.capacity, n)
    return Plan(Residence.CACHED if base.capacity else Residence.STREAMED, base.capacity, working)
