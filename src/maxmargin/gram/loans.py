"""Working memory of one matrix, borrowed from the pool."""

from __future__ import annotations

from typing import Any

from maxmargin.core.buffers import POOL
from maxmargin.core.rows import Array


class Loans:
    """Arrays that were taken from the pool and not yet given back."""

    def __init__(self) -> None:
        self._arrays: list[Array] = []

    def take(self, shape: tuple[int, int], dtype: Any, room: int = 0) -> Array:
        """An array of unspecified content, the beginning of memory for ``room`` values."""
        self._arrays.append(POOL.take(shape, dtype, room))
        return self._arrays[-1]

    def give_back(self, array: Array) -> None:
        """End of use of an array."""
        self._arrays = [other for other in self._arrays if other is not array]
        POOL.give(array)

    def give_back_all(self, but: Array | None = None) -> None:
        """End of use of all arrays, or of all but one."""
        for array in [other for other in self._arrays if other is not but]:
            self.give_back(array)
