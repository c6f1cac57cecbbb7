"""Kernel values among the rows of one class, which every machine that this class takes part in needs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.gram.computing import KernelValues
from maxmargin.gram.tiles import assemble, copy_rows


class Block(Protocol):
    """The kernel matrix of one segment, which keeps its rows."""

    @property
    def values_computed(self) -> int:
        """Kernel values computed since this was last set to zero."""
        ...

    @values_computed.setter
    def values_computed(self, count: int) -> None: ...

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def capacity(self) -> int:
        """How many rows may be stored."""
        ...

    @property
    def stored_values(self) -> Array:
        """The memory of stored rows, one row per slot."""
        ...

    def stored(self, rows: Array) -> Array:
        """Slots of ``rows``, computing those that are missing."""
        ...

    def whole(self) -> Array:
        """All of K."""
        ...

    def release(self) -> None:
        """Give all memory back."""
        ...


BlockMaker: TypeAlias = Callable[[list[slice], int], Block]  # from segments and a budget


class SharedBlocks:
    """K[segment, segment] for each segment of the rows, computed by the first who asks, within ``budget`` bytes.

    A part of the matrix (values among the rows of two segments) asks with its ``values`` and ``make``, which makes the
    matrix of one segment.
    """

    def __init__(self, segments: list[slice], budget: int) -> None:
        self._budget = budget // max(1, len(segments))
        # Held while values of a segment may be computed; a whole square no longer changes.
        self._locks = {s.start: threading.Lock() for s in segments}
        self._blocks: dict[int, Block] = {}

    def take_count(self) -> int:
        """Kernel values computed here since the last call."""
        count = sum(block.values_computed for block in self._blocks.values())
        for block in self._blocks.values():
            block.values_computed = 0
        return count

    def fill_whole(self, K: Array, values: KernelValues, make: BlockMaker) -> bool:
        """Whether the values within both segments are shared; then those between them are computed. Writes: K."""
        one, two = (self._square(segment, make) for segment in values.segments)
        if one is None or two is None:
            return False
        assemble(one, two, values.tile(*(values.source.points.take(segment) for segment in values.segments)), K)
        values.count += len(one) * len(two)
        return True

    def fill_rows(self, rows: Array, out: Array, slots: Array, values: KernelValues, make: BlockMaker) -> None:
        """out[slots_a] = K[rows_a]: values within a segment are copied, the others computed. Writes: out."""
        starts = np.cumsum([0] + [s.stop - s.start for s in values.segments])
        for s, segment in enumerate(values.segments):
            mine = (rows >= starts[s]) & (rows < starts[s + 1])
            some, places = rows[mine], slots[mine]
            if not len(some):
                continue
            with self._locks[segment.start]:
                _copy(self._block(segment, make), some - starts[s], out, places, int(starts[s]))
            left = values.points(some)
            for first, right in values.columns:
                if not starts[s] <= first < starts[s + 1]:
                    limits.checkpoint()
                    values.place(left, right, out, places, first)
                    values.count += len(left) * len(right)

    def release(self) -> None:
        """Give all memory back to the pool."""
        for block in self._blocks.values():
            block.release()

    def _square(self, segment: slice, make: BlockMaker) -> Array | None:
        """K among all rows of ``segment``; None where that exceeds the budget."""
        with self._locks[segment.start]:
            block = self._block(segment, make)
            return block.whole() if block.capacity == block.n else None

    def _block(self, segment: slice, make: BlockMaker) -> Block:
        """The matrix of one segment. The lock must be held."""
        if segment.start not in self._blocks:
            self._blocks[segment.start] = make([segment], self._budget)
        return self._blocks[segment.start]


def _copy(block: Block, rows: Array, out: Array, slots: Array, first: int) -> None:
    """out[slots_a, first : first + size] = K[rows_a of the segment, segment]. Writes: out."""
    step = max(1, block.capacity)
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        found = block.stored(rows[part])
        copy_rows(block.stored_values, found, out, slots[part], first)


def affordable(segments: list[slice], budget: int, itemsize: int) -> bool:
    """Whether a useful number of rows of every segment can be shared within ``budget`` bytes."""
    widest = max(s.stop - s.start for s in segments)
    return budget // len(segments) >= min(widest, 512) * widest * itemsize
