"""Kernel values among the rows of one class, which every machine that this class takes part in needs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from maxmargin.core.rows import Array
from maxmargin.gram.tiles import copy_rows

if TYPE_CHECKING:
    from maxmargin.gram.matrix import Gram


class SharedBlocks:
    """K[segment, segment] for each segment of the rows, computed by the first who asks, within ``budget`` bytes."""

    def __init__(self, segments: list[slice], budget: int) -> None:
        self._budget = budget // max(1, len(segments))
        self._locks = {s.start: threading.Lock() for s in segments}
        self._blocks: dict[int, Gram] = {}

    def take_count(self) -> int:
        """Kernel values computed here since the last call."""
        count = sum(block.values_computed for block in self._blocks.values())
        for block in self._blocks.values():
            block.values_computed = 0
        return count

    def lock(self, segment: slice) -> threading.Lock:
        """To be held while values of the segment may be computed; a whole square no longer changes."""
        return self._locks[segment.start]

    def square(self, segment: slice, gram: Gram) -> Array | None:
        """K among all rows of ``segment``; None where that exceeds the budget. The lock must be held."""
        block = self._block(segment, gram)
        return block.whole() if block.capacity == block.n else None

    def copy(self, segment: slice, rows: Array, gram: Gram, out: Array, slots: Array, first: int) -> None:
        """out[slots_a, first : first + size] = K[rows_a of the segment, segment]. Writes: out."""
        with self.lock(segment):
            block = self._block(segment, gram)
            step = max(1, block.capacity)
            for begin in range(0, len(rows), step):
                part = slice(begin, begin + step)
                found = block.stored(rows[part])
                copy_rows(block.stored_values, found, out, slots[part], first)

    def release(self) -> None:
        """Give all memory back to the pool."""
        for block in self._blocks.values():
            block.release()

    def _block(self, segment: slice, gram: Gram) -> Gram:
        if segment.start not in self._blocks:
            self._blocks[segment.start] = gram.part([segment], self._budget, None)
        return self._blocks[segment.start]


def affordable(segments: list[slice], budget: int, itemsize: int) -> bool:
    """Whether a useful number of rows of every segment can be shared within ``budget`` bytes."""
    widest = max(s.stop - s.start for s in segments)
    return budget // len(segments) >= min(widest, 512) * widest * itemsize
