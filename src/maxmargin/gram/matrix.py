"""The kernel matrix of the training rows, within a memory budget.

Rows are computed when they are first needed, in tiles on the pool, and kept in a store while the budget lasts; what
does not fit is computed again (the least recently used goes first), or streamed in blocks that are used and thrown
away. A matrix of some of the rows (``part``) shares the points and, within each class, the values of this one.
"""

from __future__ import annotations

import copy
import enum
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from maxmargin.core import limits, memory
from maxmargin.core import rows as storage
from maxmargin.core.buffers import POOL, scratch
from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map
from maxmargin.gram.sharing import SharedBlocks
from maxmargin.gram.source import Source
from maxmargin.gram.store import RowCounters, RowStore
from maxmargin.gram.tiles import add_rows, assemble, gather, gather_into, mirror, place_both, scatter, scatter_across
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import Precomputed
from maxmargin.kernels.mercer import mercer_defect
from maxmargin.kernels.points import Points, Vectors
from maxmargin.kernels.vectors import FLOAT32_UNIT

ROW_TILE = 512  # 512 x 512 float32 values are 1 MB: a tile stays in the L2 cache between BLAS, exp and the sums
COLUMN_TILE = 512
FEW_ROWS = 128  # so few rows against a tile of wide points are faster the other way round (d = 784: 12.3 for 16.8 ns)
WIDE = 64
SQUARE_TILE = 512
UPDATE_TILE = 2048  # columns of a sum over stored rows: 16 KB of float64 sums stay in the L1 cache
LONG = 0.02  # seconds of a measurement that says what values cost, however few they were
UPDATE_ROWS = 1024  # rows of such a sum between two looks at the clock
LEAST_ROWS = 256  # a store of fewer rows is not worth keeping
LEAST_WORKING = 64
FLOAT64_FACTOR = 4.0  # the price of a float64 kernel value in float32 ones, for time limits: rather too high
DEFINITENESS_ROWS = 2000  # up to here all rows are tested for positive semidefiniteness,
SAMPLED_ROWS = 1000  # beyond it so many: Cholesky and the smallest eigenvalue of 1000 rows take 0.1 s
MEMORY_FRACTION = 0.25
MOST_MEMORY = 1 << 30
NOTHING = np.empty(0, np.int64)
PICK_NS = 3.0  # picking single values from stored rows takes about so long: cheaper ones are computed again
CHUNK_SHARE = 4  # of the budget one part in so many is for the working sets of the solver


class Residence(enum.Enum):
    """Where kernel values live."""

    WHOLE = "whole"
    CACHED = "cached rows"
    STREAMED = "streamed blocks"


def default_budget() -> int:
    """A quarter of the memory that this process may take now, in bytes, and at most a gigabyte.

    More than that rarely pays: first touch of memory costs as much as the kernel values that go there (40,000 rows of
    50 features: 14.0 s with 4 GB, 6.6 s with 1 GB).
    """
    return int(min(MOST_MEMORY, MEMORY_FRACTION * memory.available()))


def _square_bytes(X: Any) -> int:
    """Memory of all kernel values among the rows of X in float64."""
    return 8 * X.shape[0] ** 2


class Gram:
    """K_ij = kernel(x_i, x_j), computed in tiles on ``n_jobs`` threads and held within ``budget`` bytes.

    Kernel values are float32 where there are many rows and their relative error stays well below ``accuracy``;
    otherwise, and always with ``accuracy=0``, float64.
    """

    def __init__(
        self, kernel: Kernel, X: Any, accuracy: float = 0.0, budget: int | None = None, n_jobs: int = 1
    ) -> None:
        budget = default_budget() if budget is None else budget
        if kernel.of_objects and X.shape[0] <= DEFINITENESS_ROWS and 2 * _square_bytes(X) <= budget:
            # All values will be wanted, for the test of definiteness if for nothing else; each call may take long.
            points = kernel.prepare(X)
            kernel, X = Precomputed(), kernel.block(points, points)
            budget -= _square_bytes(X)
        source = Source(kernel, X, accuracy, budget)
        # The points, and as much again for the rows they were made of where equal ones were merged, are memory too.
        budget = max(budget // 2, budget - 2 * source.nbytes)
        self._set(source, [slice(0, len(source.points))], budget, n_jobs, None)

    def _set(
        self,
        source: Source,
        segments: list[slice],
        budget: int,
        n_jobs: int,
        shared: SharedBlocks | None,
    ) -> None:
        """Sets: every attribute."""
        self.source, self.kernel, self.dtype, self.budget = source, source.kernel, source.dtype, budget
        self.n_jobs = 1 if self.kernel.of_objects else n_jobs  # the user's functions are called from one thread
        self._shared, self._segments = shared, segments
        self._borrowed: list[Array] = []
        self._index = np.concatenate([np.arange(s.start, s.stop) for s in segments])
        self.diagonal = source.diagonal[self._index]
        tile = COLUMN_TILE if isinstance(source.points, Vectors) else max(1, len(source.points))
        edges = [slice(a, min(a + tile, s.stop)) for s in segments for a in range(s.start, s.stop, tile)]
        firsts = np.cumsum([0] + [edge.stop - edge.start for edge in edges])
        self._tiles = [(int(first), source.points.take(edge)) for first, edge in zip(firsts, edges, strict=False)]
        self._store: RowStore | None = None
        self._plan()
        self.values_computed = 0
        self.seconds_per_value = 3e-9  # running means, for the cost of a certificate; first guesses until measured
        self.seconds_per_sum = 3e-10
        self._definite: tuple[bool, str] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self._index)

    @property
    def points(self) -> Points:
        """The points of all segments, in the precision of the tiles."""
        return self.source.points

    @property
    def complete(self) -> bool:
        """Whether all of K is stored."""
        return self._store is not None and self._store.complete

    @property
    def counters(self) -> RowCounters:
        """What the row store did."""
        return self._store.counters if self._store else RowCounters(0, 0, 0)

    @property
    def float64_error(self) -> float:
        """A bound on the relative error of float64 values, beyond that of usual arithmetic."""
        return self.source.float64_error

    @property
    def value_ns(self) -> float:
        """About how many nanoseconds a kernel value takes on one thread."""
        return self.source.value_ns

    def part(self, segments: list[slice], budget: int, shared: SharedBlocks | None) -> Gram:
        """The matrix of the rows in ``segments``; values among the rows of one segment are shared by all parts."""
        some = Gram.__new__(Gram)
        some._set(self.source, segments, budget, self.n_jobs, shared)
        return some

    def beside(self) -> Gram:
        """The same matrix for another thread: it reads these rows, all of them stored, and has memory of its own."""
        other = copy.copy(self)
        other._borrowed, other.values_computed, other.n_jobs = [], 0, 1
        return other

    def borrow(self, shape: tuple[int, int]) -> Array:
        """Working memory for kernel values."""
        self._borrowed.append(POOL.take(shape, self.dtype))
        return self._borrowed[-1]

    def give_back(self, array: Array) -> None:
        """End of use of memory from ``borrow``."""
        self._borrowed = [other for other in self._borrowed if other is not array]
        POOL.give(array)

    def tidy(self) -> None:
        """Give working sets back to the pool; the stored rows stay."""
        held = self._store.values if self._store else None
        for array in [other for other in self._borrowed if other is not held]:
            self.give_back(array)

    def release(self) -> None:
        """Give all memory back to the pool; rows asked for later are computed again."""
        self._store = None
        while self._borrowed:
            self.give_back(self._borrowed[-1])

    # --- the row store -----------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        """Sets: residence, capacity and the number of rows to work on together."""
        row = max(1, self.n * self.dtype.itemsize)
        fitting = self.budget // row
        if fitting >= self.n or self.n <= LEAST_WORKING:
            self.residence, self.capacity, self.working_rows = Residence.WHOLE, self.n, self.n
            return
        # A working set of w rows takes two arrays of w^2 values while one is made from the other.
        share = self.budget / (2 * CHUNK_SHARE * self.dtype.itemsize)
        self.working_rows = max(LEAST_WORKING, int(share**0.5))
        chunks = 2 * self.working_rows**2 * self.dtype.itemsize
        self.capacity = int(max(0, self.budget - chunks) // row)
        if self.capacity < LEAST_ROWS:
            self.capacity = 0
        elif self.kernel.of_objects:  # whose working sets are picked from stored rows
            self.working_rows = min(self.working_rows, self.capacity)
        self.residence = Residence.CACHED if self.capacity else Residence.STREAMED

    def _rows(self) -> RowStore:
        if self._store is None:
            self._store = RowStore(self.borrow((self.capacity, self.n)))
        return self._store

    def whole(self) -> Array:
        """All of K; the store itself, so do not write. Only where it fits the budget."""
        store = self._rows()
        if not store.complete:
            store.clear()
            self._fill_whole(store.values)
            store.hold_all()
        return store.values

    def _fill_whole(self, K: Array) -> None:
        """Each pair of rows is computed once. Writes: K."""
        if self._shared is None or not self._fill_from_squares(K, self._shared):
            self._fill_square(K, self._index)

    def _fill_from_squares(self, K: Array, shared: SharedBlocks) -> bool:
        """Whether the values within both segments are shared; then those between them are computed. Writes: K."""
        first, second = self._segments
        with shared.lock(first):
            one = shared.square(first, self)
        with shared.lock(second):
            two = shared.square(second, self)
        if one is None or two is None:
            return False
        assemble(one, two, self._tile(*(self.source.points.take(segment) for segment in self._segments)), K)
        self.values_computed += len(one) * len(two)
        return True

    def _fill_square(self, K: Array, index: Array, begin: int = 0) -> None:
        """K among the points at ``index`` from place ``begin`` on, one triangle of tiles computed. Writes: K."""
        end = len(index)
        side = SQUARE_TILE if isinstance(self.source.points, Vectors) else max(1, end - begin)
        parts = [slice(a, min(a + side, end)) for a in range(begin, end, side)]
        points = [self.source.points.take(index[part]) for part in parts]

        def tile(corner: tuple[int, int]) -> None:
            a, b = corner
            place_both(self._tile(points[a], points[b]), K, parts[a].start, parts[b].start)

        corners = [(a, b) for a in range(len(parts)) for b in range(a, len(parts))]
        values = sum(len(points[a]) * len(points[b]) for a, b in corners)
        self._timed(lambda: thread_map(tile, corners, self.n_jobs), values)

    def _tile(self, left: Points, right: Points) -> Array:
        """K(left, right), in this thread's scratch memory where the kernel is made of inner products."""
        shape = (len(left), len(right))
        return self.kernel.block(left, right, scratch("tile", shape, self.dtype) if self.kernel.uses_products else None)

    def _place(self, left: Points, right: Points, out: Array, slots: Array, first: int) -> None:
        """out[slots_a, first + b] = K(left_a, right_b). Writes: out."""
        if len(left) < FEW_ROWS and isinstance(right, Vectors) and storage.width(right.rows) >= WIDE:
            scatter_across(self._tile(right, left), out, slots, first)
        else:
            scatter(self._tile(left, right), out, slots, first)

    def _timed(self, work: Callable[[], Any], values: int) -> None:
        """Sets: the count of kernel values, and the running mean of their cost if there are enough to measure it."""
        begun = limits.now()
        work()
        self.values_computed += values
        self._learn("seconds_per_value", begun, values)

    def _learn(self, rate: str, begun: float, values: int) -> None:
        """Sets: the running mean of a rate, from a measurement of a million values or of a long time."""
        passed = limits.now() - begun
        if values >= 1_000_000 or (values and passed >= LONG):
            before, seen = getattr(self, rate), passed / values
            # The first guess is far off for the user's functions: a mean with it would not tell what they cost.
            setattr(self, rate, seen if self.kernel.of_objects and seen > before else 0.5 * (before + seen))

    # --- what solvers ask --------------------------------------------------------------------------------------------

    def submatrix(self, rows: Array, older: Array | None = None, places: Array = NOTHING) -> Array:
        """K among ``rows``, in borrowed memory.

        Where the first rows are at ``places`` in ``older``, a matrix of other rows, their values are copied from there;
        those between them and the others come from the row store where it has them.
        """
        known, n = len(places), len(rows)
        K = self.borrow((n, n))
        if self.kernel.of_objects and self.capacity:  # the user's function is dear: call it for whole rows, once
            gather(self._rows().values, self.stored(rows), rows, K, 0, n)
            return K
        if self._store is not None and self._store.complete and self.value_ns > PICK_NS:
            values = self._store.values
            self._in_parts(lambda a, b: gather(values, rows, rows, K, a, b), n)
            return K
        if older is not None and known:
            self._in_parts(lambda a, b: gather(older, places, places, K, a, b), known)
            self._fill_between(K, rows, known)
        self._fill_square(K, self._index[rows], known)
        return K

    def _fill_between(self, K: Array, rows: Array, known: int) -> None:
        """K between the first ``known`` rows and the others, both ways. Writes: K."""
        n, others = len(rows), rows[known:]
        picked = self._store is not None and self.value_ns > PICK_NS
        slots = self._store.slot_of[rows[:known]] if picked and self._store else np.full(known, -1)
        held, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(held):
            values, found = self._rows().values, slots[held]
            self._in_parts(lambda a, b: gather_into(values, found, others, K, held, known, a, b), len(held))
        if len(missing):
            right = self.source.points.take(self._index[others])

            def part(begin: int) -> None:
                chosen = missing[begin : begin + ROW_TILE]
                left = self.source.points.take(self._index[rows[chosen]])
                self._place(left, right, K, chosen, known)

            parts = range(0, len(missing), ROW_TILE)
            self._timed(lambda: thread_map(part, parts, self.n_jobs), len(missing) * len(others))
        self._in_parts(lambda a, b: mirror(K, a, b, known, n), known)

    def _in_parts(self, work: Callable[[int, int], None], n: int) -> None:
        """work(a, b) for ranges that cover 0 ... n - 1."""
        thread_map(lambda a: work(a, min(a + ROW_TILE, n)), range(0, n, ROW_TILE), self.n_jobs)

    @property
    def stored_values(self) -> Array:
        """The memory of the row store, one row per slot."""
        return self._rows().values

    def stored(self, rows: Array) -> Array:
        """Slots of ``rows`` in the store, computing those that are missing."""
        store = self._rows()
        missing = store.missing(rows)
        if len(missing):
            self._compute(missing, store)
        return store.slot_of[rows]

    def _compute(
        self, rows: Array, store: RowStore | None, weights: Array | None = None, out: Array | None = None
    ) -> None:
        """Compute whole rows: keep them in ``store``, add their weighted sum to ``out``, or both. Writes: both."""
        slots = NOTHING if store is None else store.claim(rows)
        if store is None or self._shared is None:
            self._timed(lambda: self._compute_tiles(rows, store, slots, weights, out), len(rows) * self.n)
            if store is not None:
                store.publish(rows, slots)
            return
        self._compute_shared(rows, store, slots, self._shared)
        store.publish(rows, slots)
        if weights is not None:
            assert out is not None
            self._add_stored(slots, weights, out)

    def _compute_tiles(
        self, rows: Array, store: RowStore | None, slots: Array, weights: Array | None, out: Array | None
    ) -> None:
        """Tile by tile, each used while it is in the cache. Writes: store, out."""
        step = ROW_TILE if isinstance(self.source.points, Vectors) else len(rows)
        groups = [slice(a, a + step) for a in range(0, len(rows), step)]
        lefts = [self.source.points.take(self._index[rows[group]]) for group in groups]

        def tile(place: tuple[int, Points]) -> None:
            first, right = place
            for group, left in zip(groups, lefts, strict=True):
                if store is not None:
                    self._place(left, right, store.values, slots[group], first)
                    K, places, begin = store.values, slots[group], first
                else:
                    K, places, begin = self._tile(left, right), np.arange(len(left)), 0
                if weights is not None:
                    assert out is not None
                    sums = out if begin else out[first:]
                    add_rows(K, places, weights[group], sums, begin, begin + len(right))

        thread_map(tile, self._tiles, self.n_jobs)

    def _compute_shared(self, rows: Array, store: RowStore, slots: Array, shared: SharedBlocks) -> None:
        """Values within a segment are copied from the shared ones, the others computed. Writes: store."""
        starts = np.cumsum([0] + [s.stop - s.start for s in self._segments])
        for s, segment in enumerate(self._segments):
            mine = (rows >= starts[s]) & (rows < starts[s + 1])
            some, places = rows[mine], slots[mine]
            if not len(some):
                continue
            shared.copy(segment, some - starts[s], self, store.values, places, int(starts[s]))
            left = self.source.points.take(self._index[some])
            for first, right in self._tiles:
                if not starts[s] <= first < starts[s + 1]:
                    limits.checkpoint()
                    self._place(left, right, store.values, places, first)
                    self.values_computed += len(left) * len(right)

    def accumulate(self, rows: Array, weights: Array, out: Array, keep: bool = True) -> None:
        """out += K[:, rows] @ weights in float64; rows computed for it are kept where possible. Writes: out."""
        if not self.capacity:
            self._compute_in_groups(rows, weights, out)
            return
        store = self._rows()
        held = store.slot_of[rows] >= 0
        if held.any():
            self._add_stored(store.slot_of[rows[held]], weights[held], out)
        if held.all():
            if keep:
                store.missing(rows)
            return
        if not keep:
            self._compute_in_groups(rows[~held], weights[~held], out)
            return
        missing, first = store.missing(rows), weights[~held]
        room = min(len(missing), store.capacity - int(np.count_nonzero(held)))
        if room:
            self._compute(missing[:room], store, first[:room], out)
        self._compute_in_groups(missing[room:], first[room:], out)

    def _compute_in_groups(self, rows: Array, weights: Array, out: Array) -> None:
        """Streamed rows, so many at a time that a look at the clock is never far."""
        for begin in range(0, len(rows), UPDATE_ROWS):
            group = slice(begin, begin + UPDATE_ROWS)
            self._compute(rows[group], None, weights[group], out)

    def _add_stored(self, slots: Array, weights: Array, out: Array) -> None:
        begun = limits.now()
        values = self._rows().values

        def part(first: int) -> None:
            for begin in range(0, len(slots), UPDATE_ROWS):
                group = slice(begin, begin + UPDATE_ROWS)
                add_rows(values, slots[group], weights[group], out, first, min(first + UPDATE_TILE, self.n))
                limits.checkpoint()

        thread_map(part, range(0, self.n, UPDATE_TILE), self.n_jobs)
        self._learn("seconds_per_sum", begun, len(slots) * self.n)

    def accumulate_many(self, rows: Array, weights: Array, out: Array) -> None:
        """out += K[:, rows] @ weights for several columns, by BLAS; rows are kept where possible. Writes: out."""
        some = weights.astype(self.dtype)
        for begin in range(0, len(rows), UPDATE_ROWS):
            group = rows[begin : begin + UPDATE_ROWS]
            self._add_many(group, some[begin : begin + UPDATE_ROWS], out)

    def _add_many(self, rows: Array, weights: Array, out: Array) -> None:
        if len(rows) > self.capacity:
            left = self.source.points.take(self._index[rows])

            def streamed(place: tuple[int, Points]) -> None:
                first, right = place
                out[first : first + len(right)] += self._tile(left, right).T @ weights

            self._timed(lambda: thread_map(streamed, self._tiles, self.n_jobs), len(rows) * self.n)
            return
        slots = self.stored(rows)
        values = self._rows().values

        def part(first: int) -> None:
            out[first : first + UPDATE_TILE] += values[slots, first : first + UPDATE_TILE].T @ weights

        thread_map(part, range(0, self.n, UPDATE_TILE), self.n_jobs)

    # --- what certificates ask ---------------------------------------------------------------------------------------

    def scores(self, beta: Array, exact: bool = False) -> tuple[Array, Array]:
        """f = K beta, and a bound on the error of each value that comes from float32 kernel values."""
        support = np.flatnonzero(beta)
        if self.dtype == np.float64:
            scores = np.zeros(self.n)
            self.accumulate(support, beta[support], scores, keep=False)
            return scores, np.zeros(self.n)
        if exact:
            return self.exact_scores(beta, np.arange(self.n)), np.zeros(self.n)
        # Kernels with float32 tiles are nonnegative, so sum_j |beta_j| K_ij bounds what the relative error can do.
        parts = []
        for side in (support[beta[support] > 0], support[beta[support] < 0]):
            parts.append(np.zeros(self.n))
            self.accumulate(side, beta[side], parts[-1], keep=False)
        above, below = parts
        assert self.source.float32_errors is not None, "float32 is used only with kernels that bound its error"
        relative = self.source.float32_errors[self._index]
        scale = float(np.max(self.diagonal, initial=0.0))  # "tiny" is relative to the largest kernel value
        tiny = FLOAT32_UNIT * scale * float(relative.max(initial=0.0)) * float(np.abs(beta).sum())
        return above + below, relative * (above - below) + tiny

    def many_scores(self, B: Array, exact: bool = False) -> Array:
        """F = K B for several columns of multipliers; with ``exact`` in float64 whatever the type of the tiles."""
        if exact and self.dtype != np.float64:
            return self.exact_scores(B, np.arange(self.n))
        scores, support = np.zeros(B.shape), np.flatnonzero(B.any(axis=1))
        self.accumulate_many(support, B[support], scores)
        return scores

    def exact_scores(self, beta: Array, rows: Array) -> Array:
        """(K beta)_i in float64 for the given rows, from the data themselves; beta may have several columns."""
        support = np.flatnonzero(beta.reshape(len(beta), -1).any(axis=1))
        scores = np.zeros((len(rows), *beta.shape[1:]))
        for begin in range(0, len(support), COLUMN_TILE):
            chosen = support[begin : begin + COLUMN_TILE]
            right, weights = self.source.exact(self._index[chosen]), beta[chosen]

            def tile(first: int, right: Points = right, weights: Array = weights) -> None:
                part = slice(first, first + ROW_TILE)
                left = self.source.exact(self._index[rows[part]])
                K = self.kernel.block(left, right, scratch("exact", (len(left), len(right)), np.float64))
                scores[part] += K @ weights

            thread_map(tile, range(0, len(rows), ROW_TILE), self.n_jobs)
        self.values_computed += len(rows) * len(support)
        return scores

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Estimated time of ``scores`` with so many nonzero multipliers and of some rows of ``exact_scores``."""
        missing = max(0, n_support - (self._store.held if self._store else 0))
        seconds = self.n * (missing * self.seconds_per_value + (n_support - missing) * self.seconds_per_sum)
        if self.dtype == np.float64:
            return seconds
        return seconds + FLOAT64_FACTOR * refreshed * n_support * self.seconds_per_value

    def definiteness(self, prefer: Array) -> tuple[bool, str]:
        """Whether K is positive semidefinite: known for the kernel, else tested, on a sample if there are many rows."""
        if self.kernel.definite:
            return True, ""
        if self._definite is None:
            rows = self._sample(prefer)
            defect = mercer_defect(self._exact_block(rows))
            if not defect and len(rows) < self.n:
                note = f"positive semidefiniteness was checked on {len(rows)} of {self.n} rows"
            else:
                note = f"the Gram matrix is {defect}" if defect else ""
            self._definite = (not defect, note)
        return self._definite

    def smallest_eigenvalue(self) -> float:
        """Of K; estimated from a sample where there are many rows (eigenvalues grow with their number)."""
        rows = self._sample(np.empty(0, np.int64))
        K = self._exact_block(rows)
        smallest = float(linalg.eigvalsh(0.5 * (K + K.T), subset_by_index=(0, 0))[0])
        return smallest if len(rows) == self.n else 1.2 * smallest * self.n / len(rows)

    def _sample(self, prefer: Array) -> Array:
        """All rows, or a sample where there are many: preferred ones and an even spread."""
        if self.n <= DEFINITENESS_ROWS:
            return np.arange(self.n)
        half = SAMPLED_ROWS // 2
        spread = np.linspace(0, self.n - 1, SAMPLED_ROWS - min(half, len(prefer))).astype(np.int64)
        return np.unique(np.concatenate([prefer[:half], spread]))

    def _exact_block(self, rows: Array) -> Array:
        limits.checkpoint()
        if self.dtype == np.float64 and len(rows) == self.n and self.residence is Residence.WHOLE:
            return self.whole()  # the solver will want the same values
        sample = self.source.exact(self._index[rows])
        return self.kernel.block(sample, sample)
