"""Rows of the kernel matrix that were computed and kept."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np

from maxmargin.core import limits
from maxmargin.core.pages import touch
from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map
from maxmargin.gram.tiles import add_rows

SUM_COLUMNS = 2048  # columns of a sum over stored rows: 16 KB of float64 sums stay in the L1 cache
SUM_ROWS = 1024  # rows of such a sum between two looks at the clock
# Rented rows are computed again until that has cost RENT_NS. From then on there is room for one more each time it has
# cost STORING_NS for each of its values, which is what it takes to touch new memory and to write it.
RENT_NS, STORING_NS = 5e8, 4.0


class Keeping(enum.Enum):
    """Which rows are stored: all; those that are wanted again; those when they are asked for again; as in a rental."""

    ALL = enum.auto()
    WANTED = enum.auto()
    ASKED_AGAIN = enum.auto()
    RENTED = enum.auto()


class RowCounters(NamedTuple):
    """What a row store did."""

    computed: int
    reused: int
    evicted: int


class Sums(NamedTuple):
    """Where weighted rows are added up: those with negative weights apart, where there is a ``below``."""

    above: Array
    below: Array | None = None

    def sides(self, weights: Array) -> list[tuple[Array, Array, Array]]:
        """For each sum: the places of the weights that belong to it, these weights, the sum."""
        if self.below is None:
            return [(np.arange(len(weights)), weights, self.above)]
        sides = (np.flatnonzero(weights > 0.0), self.above), (np.flatnonzero(weights < 0.0), self.below)
        return [(some, weights[some], total) for some, total in sides if len(some)]


class RowStore:
    """Rows kept in the given memory, touched only as they come in; when it is full the least recently used ones go."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.capacity, n = values.shape
        self.slot_of = np.full(n, -1, np.int64)
        self._row_in = np.full(self.capacity, -1, np.int64)
        self._used = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self._filled = 0
        self._asked = np.zeros(n, bool)
        self.allowed = self.capacity  # rows that may be held now
        self._regretted = 0  # rows that were computed again, because they had not been stored
        self.complete = False  # every row is there, in its own place
        self.counters = RowCounters(0, 0, 0)

    @property
    def held(self) -> int:
        """Number of rows in the store."""
        return self._filled

    def missing(self, rows: Array) -> Array:
        """Those of ``rows`` that are not in the store; the others now count as used. Sets: counters."""
        self._clock += 1
        slots = self.slot_of[rows]
        found = slots >= 0
        self._used[slots[found]] = self._clock
        done, kept = self.counters, int(np.count_nonzero(found))
        self.counters = done._replace(computed=done.computed + len(rows) - kept, reused=done.reused + kept)
        return rows[~found]

    def worth_storing(self, rows: Array, wanted: Array, keeping: Keeping, value_ns: float) -> Array:
        """Which of ``rows``, whose values take so long, to store. Sets: asked, regretted, allowed."""
        again = self._asked[rows]
        self._asked[rows] = True
        if keeping is not Keeping.RENTED:
            self.allowed = self.capacity
        if keeping is Keeping.ALL:
            return np.ones(len(rows), bool)
        if keeping is Keeping.WANTED:
            return wanted
        if keeping is Keeping.RENTED:
            self._regretted += int(np.count_nonzero(again))
            paid = self._regretted * value_ns - RENT_NS / len(self.slot_of)  # for each value of a row
            self.allowed = min(self.capacity, max(0, int(paid / STORING_NS)))
        return wanted & again

    def claim(self, rows: Array, n_jobs: int, most: float = np.inf) -> Array:
        """Slots for rows about to be computed: fresh ones while fewer than ``most`` are filled, then recycled ones.

        Recycled are those of rows that were not used lately. At most so many rows may be asked for as there are slots.
        """
        end = int(min(self.capacity, max(most, self._filled)))
        fresh = np.arange(self._filled, min(self._filled + len(rows), end))
        touch(self.values[self._filled : self._filled + len(fresh)], n_jobs)
        self._filled += len(fresh)
        slots = fresh
        if len(fresh) < len(rows):
            slots = np.concatenate([fresh, self._evict(len(rows) - len(fresh), self._filled - len(fresh))])
        self._row_in[slots] = -1
        self._used[slots] = self._clock
        return slots

    def publish(self, rows: Array, slots: Array) -> None:
        """Enter rows whose values are computed: work that is stopped before leaves no incomplete row."""
        self._row_in[slots] = rows
        self.slot_of[rows] = slots

    def _evict(self, count: int, among: int) -> Array:
        slots = np.argsort(self._used[:among], kind="stable")[:count]
        gone = self._row_in[slots]
        gone = gone[gone >= 0]
        self.slot_of[gone] = -1
        self.counters = self.counters._replace(evicted=self.counters.evicted + len(gone))
        return slots

    def clear(self) -> None:
        """Forget all rows."""
        self.slot_of[:] = -1
        self._row_in[:] = -1
        self._filled, self.complete = 0, False

    def hold_all(self) -> None:
        """Every row is now at its own place. Sets: the bookkeeping of the whole matrix."""
        n = len(self.slot_of)
        self.slot_of[:] = self._row_in[:n] = np.arange(n)
        self._filled, self.complete = n, True
        self.counters = self.counters._replace(computed=self.counters.computed + n)

    def add(self, slots: Array, weights: Array, sums: Sums, n_jobs: int) -> None:
        """sums += sum_a weights_a times the row in slots_a, in float64. Writes: sums."""
        n, sides = len(self.slot_of), sums.sides(weights)

        def part(first: int) -> None:
            for some, factors, total in sides:
                for begin in range(0, len(some), SUM_ROWS):
                    group = slice(begin, begin + SUM_ROWS)
                    add_rows(self.values, slots[some[group]], factors[group], total, first, min(first + SUM_COLUMNS, n))
                    limits.checkpoint()

        thread_map(part, range(0, n, SUM_COLUMNS), n_jobs)

    def add_many(self, slots: Array, weights: Array, out: Array, n_jobs: int) -> None:
        """out += the same sums for several columns of weights, by BLAS. Writes: out."""

        def part(first: int) -> None:
            columns = slice(first, first + SUM_COLUMNS)
            out[columns] += self.values[slots, columns].T @ weights

        thread_map(part, range(0, len(self.slot_of), SUM_COLUMNS), n_jobs)
