"""Kernel values among training rows, computed tile by tile on the pool."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.core import limits
from maxmargin.core.buffers import scratch
from maxmargin.core.rows import NO_ROWS, Array, DenseRows
from maxmargin.core.threads import thread_map
from maxmargin.gram.source import Source
from maxmargin.gram.store import Sums
from maxmargin.gram.tiles import add_rows, place_both, scatter, scatter_across
from maxmargin.gram.timing import Rate
from maxmargin.kernels.points import Points, Vectors

TILE = 512  # 512 x 512 float32 values are 1 MB: a tile stays in the L2 cache between BLAS, exp and the sums
# Fewer rows than this against a tile of points at least this wide: the transposed product is faster (d = 784: 12.3
# instead of 16.8 ns a value).
FEW_ROWS = 128
WIDE = 64
EXACT_PARTS, LEAST_EXACT = 4, 64  # of such rows: parts, so that threads end together; the least of a part or block
FEW_EXACT = 1 << 22  # bytes: up to here the float64 points of rows are made once for all of their tiles
EXACT_BLOCK = 1 << 20  # bytes of the float64 points of a block of the support, up to 2,048 features: one a thread
BLOCKS_AT_ONCE = 16  # blocks of the support whose sums over exact values wait to be added in order
STREAMED_ROWS = 1024  # rows that are computed, used and thrown away between two looks at the clock
LEFT_PARTS = 4  # parts of the rows that share what is prepared for another one in a product
NO_VALUES = np.empty((0, 0))
VALUE_SECONDS = 3e-9  # of one kernel value, until it is measured


class KernelValues:
    """K among the rows of some segments of a source, on ``n_jobs`` threads.

    ``index`` says where these rows are in the source. ``count`` is the number of values that were computed, ``rate``
    what one of them costs.
    """

    def __init__(self, source: Source, segments: list[slice], n_jobs: int) -> None:
        self.source, self.kernel, self.dtype, self.segments = source, source.kernel, source.dtype, segments
        self.n_jobs = 1 if self.kernel.of_objects else n_jobs  # the user's functions are called from one thread
        self.index = np.concatenate([np.arange(s.start, s.stop) for s in segments])
        self.count, self.rate = 0, Rate(VALUE_SECONDS, unknown=self.kernel.of_objects)
        tile = self._side(len(source.points))
        edges = [slice(a, min(a + tile, s.stop)) for s in segments for a in range(s.start, s.stop, tile)]
        firsts = np.cumsum([0] + [edge.stop - edge.start for edge in edges])
        self.columns = [(int(first), source.points.take(edge)) for first, edge in zip(firsts, edges, strict=False)]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.index)

    def alone(self) -> KernelValues:
        """The same values for another thread, which computes by itself and counts its own."""
        other = copy.copy(self)
        other.n_jobs, other.count, other.rate = 1, 0, copy.copy(self.rate)
        return other

    def _side(self, points: int) -> int:
        """Points of one side of a tile; the user's functions are called for all of them at once."""
        return TILE if isinstance(self.source.points, Vectors) else max(1, points)

    @contextmanager
    def counted(self, values: int) -> Iterator[None]:
        """Around work that computes this many values. Sets: count, rate."""
        begun = limits.now()
        yield
        self.count += values
        self.rate.learn(begun, values)

    # --- tiles -------------------------------------------------------------------------------------------------------

    def points(self, rows: Array) -> Points:
        """The points of ``rows``."""
        return self.source.points.take(self.index[rows])

    def tile(self, left: Points, right: Points, dtype: Any = None) -> Array:
        """K(left, right), in this thread's scratch memory where the kernel is made of inner products."""
        if not self.kernel.uses_products:
            return self.kernel.block(left, right)
        return self.kernel.block(left, right, scratch("tile", (len(left), len(right)), dtype or self.dtype))

    def place(self, left: Points, right: Points, out: Array, slots: Array, first: int) -> None:
        """out[slots_a, first + b] = K(left_a, right_b). Writes: out."""
        if self._across(left, right):
            scatter_across(self.tile(right, left), out, slots, first)
        else:
            scatter(self.tile(left, right), out, slots, first)

    def _across(self, left: Points, right: Points) -> bool:
        """Whether K(right, left) is faster than K(left, right)."""
        if len(left) >= FEW_ROWS or not isinstance(right, Vectors) or not isinstance(right.rows, DenseRows):
            return False
        return right.rows.values.shape[1] >= WIDE

    def _rows_tile(self, left: Points, right: Points) -> Array:
        """K(left, right), in this thread's scratch memory, by the faster way."""
        if not self._across(left, right):
            return self.tile(left, right)
        out = scratch("across", (len(left), len(right)), self.dtype)
        scatter_across(self.tile(right, left), out, np.arange(len(left)), 0)
        return out

    # --- squares and blocks ------------------------------------------------------------------------------------------

    def fill_square(self, K: Array, rows: Array | slice, begin: int = 0, border: bool = False) -> None:
        """K among ``rows`` from place ``begin`` on, each pair of tiles computed once. Writes: K.

        With ``border`` also between these rows and those before them, both ways.
        """
        index = self.index[rows]
        end, side = len(index), self._side(len(index))
        first = 0 if border else begin
        starts = [*range(first, begin, side), *range(begin, end, side)]
        parts = [slice(a, min(a + side, begin if a < begin else end)) for a in starts]
        points = [self.source.points.take(_as_slice(index[part])) for part in parts]

        def tile(corner: tuple[int, int]) -> None:
            a, b = corner
            place_both(self.tile(points[a], points[b]), K, parts[a].start, parts[b].start)

        fresh = [b for b, part in enumerate(parts) if part.start >= begin]
        corners = [(a, b) for b in fresh for a in range(b + 1)]
        with self.counted(sum(len(points[a]) * len(points[b]) for a, b in corners)):
            thread_map(tile, corners, self.n_jobs)

    def fill_block(self, rows: Array, others: Array, out: Array, places: Array, first: int) -> None:
        """out[places_a, first + b] = K[rows_a, others_b]. Writes: out."""
        right = self.points(others)

        def part(begin: int) -> None:
            group = slice(begin, begin + TILE)
            self.place(self.points(rows[group]), right, out, places[group], first)

        with self.counted(len(rows) * len(others)):
            thread_map(part, range(0, len(rows), TILE), self.n_jobs)

    # --- whole rows and their sums -----------------------------------------------------------------------------------

    def fill_rows(self, rows: Array, out: Array, slots: Array) -> None:
        """out[slots_a] = K[rows_a]. Writes: out."""
        groups = [(self.points(rows[g]), slots[g]) for g in self._groups(rows)]

        def tile(column: tuple[int, Points]) -> None:
            first, right = column
            for left, places in groups:
                self.place(left, right, out, places, first)

        with self.counted(len(rows) * self.n):
            thread_map(tile, self.columns, self.n_jobs)

    def add_rows(self, rows: Array, weights: Array, sums: Sums, out: Array = NO_VALUES, slots: Array = NO_ROWS) -> None:
        """sums += K[:, rows] @ weights in float64, by tiles that are thrown away. Writes: sums, out.

        Where there are ``slots``, the rows that have one (others have -1) are kept: out[slots_a] = K[rows_a].
        """
        for begin in range(0, len(rows), STREAMED_ROWS):
            part = slice(begin, begin + STREAMED_ROWS)
            self._add_streamed(rows[part], weights[part], sums, out, slots[part])

    def _add_streamed(self, rows: Array, weights: Array, sums: Sums, out: Array, slots: Array) -> None:
        groups = [(self.points(rows[g]), sums.sides(weights[g]), slots[g]) for g in self._groups(rows)]

        def tile(column: tuple[int, Points]) -> None:
            first, right = column
            for left, sides, places in groups:
                T = self._rows_tile(left, right)
                for some, factors, total in sides:
                    add_rows(T, some, factors, total[first:], 0, len(right))
                if len(places):
                    scatter(T, out, places, first)

        with self.counted(len(rows) * self.n):
            thread_map(tile, self.columns, self.n_jobs)

    def _groups(self, rows: Array) -> list[slice]:
        """Groups of the rows, as high as a tile."""
        step = self._side(len(rows))
        return [slice(a, a + step) for a in range(0, len(rows), step)]

    def add_many(self, rows: Array, weights: Array, sums: Array) -> None:
        """sums += K[:, rows] @ weights for several columns, by BLAS. Writes: sums."""
        left = self.points(rows)

        def tile(column: tuple[int, Points]) -> None:
            first, right = column
            sums[first : first + len(right)] += self.tile(left, right).T @ weights

        with self.counted(len(rows) * self.n):
            thread_map(tile, self.columns, self.n_jobs)

    # --- float64, from the data themselves ---------------------------------------------------------------------------

    def exact_square(self, rows: Array) -> Array:
        """K among ``rows`` in float64."""
        limits.checkpoint()
        points = self.source.exact(self.index[rows])
        return self.kernel.block(points, points)

    def exact_tile(self, rows: slice, columns: slice) -> Array:
        """K between two ranges of rows in float64."""
        left = self.source.exact(_as_slice(self.index[rows]))
        right = left if rows == columns else self.source.exact(_as_slice(self.index[columns]))
        self.count += len(left) * len(right)
        return self.kernel.block(left, right)

    def exact_scores(self, beta: Array, rows: Array) -> Array:
        """(K beta)_i in float64 for the given rows; beta may have several columns."""
        support = np.flatnonzero(beta.reshape(len(beta), -1).any(axis=1))
        return self.exact_sums(rows, support, beta[support])

    def exact_sums(self, rows: Array, support: Array, beta: Array) -> Array:
        """K[rows, support] beta in float64; beta may have several columns."""
        scores = np.zeros((len(rows), *beta.shape[1:]))
        few = self.source.exact(self.index[rows]) if self.source.exact_bytes(len(rows)) <= FEW_EXACT else None
        step = min(TILE, max(LEAST_EXACT, -(-len(rows) // EXACT_PARTS)))
        block = min(TILE, max(LEAST_EXACT, EXACT_BLOCK // max(1, self.source.exact_bytes(1))))

        def sums(begin: int) -> Array:
            """Of one block of the support; on the pool where it is the only one, else a thread for each block."""
            chosen, out = slice(begin, begin + block), np.zeros(scores.shape)
            right = self.source.exact(self.index[support[chosen]])

            def tile(first: int) -> None:
                part = slice(first, first + step)
                left = self.source.exact(self.index[rows[part]]) if few is None else few.take(part)
                out[part] = self.tile(left, right, np.float64) @ beta[chosen]

            thread_map(tile, range(0, len(rows), step), self.n_jobs)
            return out

        begins = range(0, len(support), block)
        for first in range(0, len(begins), BLOCKS_AT_ONCE):
            for part in thread_map(sums, begins[first : first + BLOCKS_AT_ONCE], self.n_jobs):
                scores += part
        self.count += len(rows) * len(support)
        return scores


class PairTiles:
    """The tiles K(a, b) of all pairs a <= b of parts of the rows: the upper half of K, which is enough for products.

    Those that fit into ``room`` bytes are kept from one product to the next, the others are computed each time; with
    ``exact`` in float64, from the data themselves. ``size`` is the number of values that are kept.
    """

    def __init__(self, values: KernelValues, room: int = 0, exact: bool = False) -> None:
        self._values, self._dtype = values, np.dtype(np.float64) if exact else values.dtype
        self._take = values.source.exact if exact else values.source.points.take
        side = TILE if isinstance(values.source.points, Vectors) else STREAMED_ROWS
        self._parts = [slice(first, min(first + side, values.n)) for first in range(0, values.n, side)]
        self._index = [_as_slice(values.index[part]) for part in self._parts]
        lengths = np.array([part.stop - part.start for part in self._parts], np.int64)
        above, right = np.triu_indices(len(lengths))
        self._number = np.full((len(lengths), len(lengths)), -1)
        self._number[above, right] = np.arange(len(above))
        self._ends = np.cumsum(lengths[above] * lengths[right])
        kept = int(np.searchsorted(self._ends, room // self._dtype.itemsize, side="right"))
        self.size, self.complete = int(self._ends[kept - 1]) if kept else 0, kept == len(above)
        self._filled, self._memory = np.zeros(kept, bool), np.empty(0, self._dtype)

    def keep_in(self, memory: Array) -> None:
        """Where ``size`` values are to be kept. Sets: the memory."""
        self._memory = memory.reshape(-1)

    def add_product(self, V: Array, sums: Array) -> None:
        """sums += K V for several columns. Writes: sums.

        T = K(a, b) adds T V_b to the sums of a, and T'V_a to those of b.
        """
        parts, V = self._parts, V.astype(self._dtype, copy=False)
        with self._values.counted(self._missing()):
            for first in range(0, len(parts), LEFT_PARTS):
                lefts = [(a, self._take(self._index[a])) for a in range(len(parts))[first : first + LEFT_PARTS]]

                def column(b: int, lefts: list[tuple[int, Points]] = lefts) -> list[Array]:
                    right, pieces = self._take(self._index[b]), []
                    for a, left in lefts[: b + 1 - lefts[0][0]]:
                        T = self._tile(a, b, left, right)
                        if a < b:
                            sums[parts[b]] += T.T @ V[parts[a]]
                        pieces.append(T @ V[parts[b]])
                    return pieces

                for pieces in thread_map(column, range(first, len(parts)), self._values.n_jobs):
                    for a, piece in enumerate(pieces, first):
                        sums[parts[a]] += piece

    def _missing(self) -> int:
        """Values that the next product computes."""
        sizes, kept = np.diff(self._ends, prepend=0), len(self._filled)
        return int(sizes[kept:].sum() + sizes[:kept][~self._filled].sum())

    def _tile(self, a: int, b: int, left: Points, right: Points) -> Array:
        """K(a, b) from memory, into memory, or where there is none in this thread's scratch memory."""
        number, shape = int(self._number[a, b]), (len(left), len(right))
        if number >= len(self._filled):
            return self._values.tile(left, right, self._dtype)
        end = int(self._ends[number])
        tile = self._memory[end - shape[0] * shape[1] : end].reshape(shape)
        if not self._filled[number]:
            kernel = self._values.kernel
            made = kernel.block(left, right, tile if kernel.uses_products else None)
            if made is not tile:
                tile[:] = made
            self._filled[number] = True
        return tile


def _as_slice(index: Array) -> Array | slice:
    """The same rows as a slice, which copies nothing, where they follow one another."""
    return slice(int(index[0]), int(index[-1]) + 1) if len(index) and (np.diff(index) == 1).all() else index


def in_parts(work: Callable[[int, int], None], n: int, n_jobs: int) -> None:
    """work(a, b) for ranges that cover 0 ... n - 1, on the pool."""
    thread_map(lambda a: work(a, min(a + TILE, n)), range(0, n, TILE), n_jobs)
