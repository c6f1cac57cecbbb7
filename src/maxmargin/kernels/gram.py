"""The kernel matrix of the training rows, within a memory budget.

Three ways, chosen by how many rows of n values fit the budget: the *whole* matrix (each row made when first asked
for), *cached* rows (the least recently used one goes), or *streamed* blocks that are used and thrown away.
"""

from __future__ import annotations

import enum
import os
import time
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from maxmargin.core import limits
from maxmargin.core import rows as storage
from maxmargin.core.jit import kernel as compiled
from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.mercer import mercer_defect
from maxmargin.kernels.points import Points, Vectors, centre_of, narrow

ROW_TILE = 256  # 256 x 1024 float32 values are 1 MB: a tile stays in the L2 cache between BLAS and exp
COLUMN_TILE = 1024
UPDATE_TILE = 8192  # columns per thread when rows are added up: 64 KB of float64 sums
STREAMED_ROWS = 512
FLOAT64_ROWS = 2000  # up to here float64 costs little and problems are solved to the last digits
FLOAT32_SHARE = 0.1
FLOAT64_FACTOR = 4.0  # a float64 kernel value takes about four times as long as a float32 one
DEFINITENESS_ROWS = 2000  # up to here all rows are tested for positive semidefiniteness,
SAMPLED_ROWS = 1000  # beyond it so many: Cholesky and the smallest eigenvalue of 1000 rows take 0.1 s
MEMORY_FRACTION = 0.25


class Residence(enum.Enum):
    """Where kernel values live."""

    WHOLE = "whole"
    CACHED = "cached rows"
    STREAMED = "streamed blocks"


class RowCounters(NamedTuple):
    """What the row store did."""

    computed: int
    reused: int
    evicted: int


@compiled()
def gather(store, slots, columns, out):
    """out_ab = store[slots_a, columns_b]. Writes: out."""
    for a in range(len(slots)):
        for b in range(len(columns)):
            out[a, b] = store[slots[a], columns[b]]


@compiled(reductions=True)
def add_rows(store, slots, weights, out, first, last):
    """out_j += sum_a weights_a store[slots_a, j] for first <= j < last, in float64. Writes: out."""
    for a in range(len(slots)):
        weight = weights[a]
        row = store[slots[a]]
        for j in range(first, last):
            out[j] += weight * row[j]


def default_budget() -> int:
    """A quarter of the memory that is available now, in bytes."""
    try:
        with open("/proc/meminfo") as report:
            lines = dict(line.split(":", 1) for line in report)
        available = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return int(MEMORY_FRACTION * available)


class Gram:
    """K_ij = kernel(x_i, x_j), computed in tiles on ``n_jobs`` threads and held within ``budget`` bytes.

    Kernel values are float32 where there are many rows and their relative error stays well below ``accuracy``;
    otherwise, and always with ``accuracy=0``, float64.
    """

    def __init__(
        self, kernel: Kernel, X: Any, accuracy: float = 0.0, budget: int | None = None, n_jobs: int = 1
    ) -> None:
        self.kernel = kernel
        self.n_jobs = 1 if kernel.of_objects else n_jobs  # the user's functions are called from one thread
        self._X = X
        self._centre = centre_of(X) if kernel.translation_invariant else None
        self.budget = default_budget() if budget is None else budget
        self._densify = self._dense_pays(X)
        self.dtype = np.dtype(np.float32 if accuracy > 0 and X.shape[0] > FLOAT64_ROWS else np.float64)
        self.points = self._prepare(X, self.dtype)
        if self.dtype == np.float32 and not self._float32_serves(accuracy):
            self.dtype = np.dtype(np.float64)
            self.points = self._prepare(X, self.dtype)
        with np.errstate(over="ignore"):
            self.diagonal = self.kernel.diagonal(self.points)
        if not np.isfinite(self.diagonal).all():
            raise ValueError(f"{kernel!r} overflows on these data: scale the features, or choose other parameters.")
        self._column_tile = COLUMN_TILE if isinstance(self.points, Vectors) else max(1, self.n)
        self._make_store()
        self.seconds_per_value = 3e-9  # running means, for the cost of a certificate; first guesses until measured
        self.seconds_per_sum = 3e-10
        self._definite: tuple[bool, str] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    @property
    def working_rows(self) -> int:
        """As many rows as the store holds together; a fixed number where nothing is stored."""
        return STREAMED_ROWS if self.residence is Residence.STREAMED else self.capacity

    def _dense_pays(self, X: Any) -> bool:
        if not sparse.issparse(X):
            return False
        return narrow(storage.rows_of(X, X.dtype)) and 8 * X.shape[0] * X.shape[1] <= max(self.budget // 4, 1 << 20)

    def _prepare(self, X: Any, dtype: Any) -> Points:
        return self.kernel.prepare(X.toarray() if self._densify else X, dtype, self._centre)

    def _float32_serves(self, accuracy: float) -> bool:
        error = self.kernel.float32_error(self.points)
        return error is not None and error <= FLOAT32_SHARE * accuracy

    def _exact_points(self, index: Array) -> Points:
        """Points in float64 at ``index``, from the user's own data where the tiles are float32."""
        if self.dtype == np.float64:
            return self.points.take(index)
        return self._prepare(self._X[index], np.float64)

    # --- the row store -----------------------------------------------------------------------------------------------

    def _make_store(self) -> None:
        """Sets: residence, capacity, the store and its bookkeeping."""
        n = self.n
        fitting = self.budget // max(1, n * self.dtype.itemsize)
        if fitting >= n:
            self.residence, self.capacity = Residence.WHOLE, n
        elif fitting >= ROW_TILE:
            self.residence, self.capacity = Residence.CACHED, int(fitting)
        else:
            self.residence, self.capacity = Residence.STREAMED, 0
        self._store = np.empty((self.capacity, n), self.dtype)
        self._slot_of = np.full(n, -1, np.int64)
        self._row_in = np.full(self.capacity, -1, np.int64)
        self._used = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self.counters = RowCounters(0, 0, 0)

    def _stored(self, rows: Array) -> Array:
        """Slots of ``rows``, computing those that are missing. Sets: the store, its bookkeeping and counters."""
        missing = rows[self._slot_of[rows] < 0]
        evicted = 0
        if len(missing):
            slots, evicted = self._claim(missing, rows)
            for first in range(0, len(missing), ROW_TILE):
                part = slice(first, first + ROW_TILE)
                self._compute(missing[part], slots[part])
                self._row_in[slots[part]] = missing[part]
                self._slot_of[missing[part]] = slots[part]
        self._clock += 1
        found = self._slot_of[rows]
        self._used[found] = self._clock
        done = self.counters
        self.counters = RowCounters(
            done.computed + len(missing), done.reused + len(rows) - len(missing), done.evicted + evicted
        )
        return found

    def _claim(self, missing: Array, pinned: Array) -> tuple[Array, int]:
        """Slots for the missing rows: their own in the whole matrix, else free ones, else the least recently used."""
        if self.residence is Residence.WHOLE:
            return missing, 0
        age = self._used.copy()
        age[self._row_in < 0] = -1
        held = self._slot_of[pinned]
        age[held[held >= 0]] = np.iinfo(np.int64).max
        slots = np.argsort(age, kind="stable")[: len(missing)]
        evicted = self._row_in[slots]
        evicted = evicted[evicted >= 0]
        self._slot_of[evicted] = -1
        self._row_in[slots] = -1
        return slots, len(evicted)

    def _compute(self, rows: Array, slots: Array) -> None:
        """Writes: the store at ``slots``."""
        left = self.points.take(rows)

        def tile(first: int) -> None:
            columns = slice(first, first + self._column_tile)
            self._store[slots, columns] = self.kernel.block(left, self.points.take(columns))

        begun = time.perf_counter()
        thread_map(tile, range(0, self.n, self._column_tile), self.n_jobs)
        self._learn("seconds_per_value", begun, len(rows) * self.n)

    def _learn(self, rate: str, begun: float, values: int) -> None:
        """Sets: the running mean of a rate, from a measurement of at least a million values."""
        if values >= 1_000_000:
            seen = (time.perf_counter() - begun) / values
            setattr(self, rate, 0.5 * (getattr(self, rate) + seen))

    # --- what solvers ask --------------------------------------------------------------------------------------------

    def submatrix(self, rows: Array) -> Array:
        """K among ``rows``, contiguous. The whole store itself where all rows are asked for in order: do not write."""
        if self.residence is Residence.STREAMED:
            some = self.points.take(rows)
            return np.ascontiguousarray(self.kernel.block(some, some), self.dtype)
        slots = self._stored(rows)
        if self.residence is Residence.WHOLE and len(rows) == self.n and np.array_equal(rows, np.arange(self.n)):
            return self._store
        out = np.empty((len(rows), len(rows)), self.dtype)
        gather(self._store, slots, rows, out)
        return out

    def accumulate(self, rows: Array, weights: Array, out: Array) -> None:
        """Out += K[:, rows] @ weights in float64. Writes: out."""
        held = self._slot_of[rows] >= 0
        if held.any():
            self._add_stored(self._slot_of[rows[held]], weights[held], out)
        if not held.all():
            self._stream(rows[~held], weights[~held], out)

    def _add_stored(self, slots: Array, weights: Array, out: Array) -> None:
        begun = time.perf_counter()
        # Rows in groups, so that a deadline or Ctrl-C is seen within milliseconds.
        for begin in range(0, len(slots), ROW_TILE):
            group = slice(begin, begin + ROW_TILE)
            slots_here, weights_here = slots[group], weights[group]

            def part(first: int, s: Array = slots_here, w: Array = weights_here) -> None:
                add_rows(self._store, s, w, out, first, min(first + UPDATE_TILE, self.n))

            thread_map(part, range(0, self.n, UPDATE_TILE), self.n_jobs)
        self._learn("seconds_per_sum", begun, len(slots) * self.n)

    def _stream(self, rows: Array, weights: Array, out: Array) -> None:
        """Out += K[:, rows] @ weights without keeping K. Writes: out."""
        begun = time.perf_counter()
        for begin in range(0, len(rows), ROW_TILE):
            left, w = self.points.take(rows[begin : begin + ROW_TILE]), weights[begin : begin + ROW_TILE]

            def tile(first: int, left: Points = left, w: Array = w) -> None:
                columns = slice(first, first + self._column_tile)
                out[columns] += w @ self.kernel.block(left, self.points.take(columns)).astype(np.float64)

            thread_map(tile, range(0, self.n, self._column_tile), self.n_jobs)
        self._learn("seconds_per_value", begun, len(rows) * self.n)

    def restricted(self, rows: Array, budget: int) -> Gram:
        """The matrix of some of the rows; what this one has computed is copied, not computed again."""
        part = Gram(self.kernel, self.kernel.rows(self._X, rows), 0.0, budget, self.n_jobs)
        if self.dtype == part.dtype and part.residence is Residence.WHOLE:
            part._store[:] = self.submatrix(rows)
            part._slot_of[:] = part._row_in[:] = np.arange(part.n)
        return part

    # --- what certificates ask ---------------------------------------------------------------------------------------

    def scores(self, beta: Array, exact: bool = False) -> tuple[Array, Array]:
        """F = K beta, and a bound on the error of each value that comes from float32 kernel values."""
        support = np.flatnonzero(beta)
        if self.dtype == np.float64:
            scores = np.zeros(self.n)
            self.accumulate(support, beta[support], scores)
            return scores, np.zeros(self.n)
        if exact:
            return self.exact_scores(beta, np.arange(self.n)), np.zeros(self.n)
        relative = self.kernel.float32_error(self.points)
        assert relative is not None, "float32 is used only with kernels that bound its error"
        scores, magnitude = np.zeros(self.n), np.zeros(self.n)
        self.accumulate(support, beta[support], scores)
        # Such kernels are nonnegative, so sum_j |beta_j| K_ij bounds what the relative error can do.
        self.accumulate(support, np.abs(beta[support]), magnitude)
        return scores, relative * magnitude

    def exact_scores(self, beta: Array, rows: Array) -> Array:
        """(K beta)_i in float64 for the given rows, from the data themselves."""
        support = np.flatnonzero(beta)
        scores = np.zeros(len(rows))
        for begin in range(0, len(support), COLUMN_TILE):
            chosen = support[begin : begin + COLUMN_TILE]
            right, weights = self._exact_points(chosen), beta[chosen]

            def tile(first: int, right: Points = right, weights: Array = weights) -> None:
                part = slice(first, first + ROW_TILE)
                scores[part] += self.kernel.block(self._exact_points(rows[part]), right) @ weights

            thread_map(tile, range(0, len(rows), ROW_TILE), self.n_jobs)
        return scores

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Estimated time of ``scores`` with so many nonzero multipliers and of some rows of ``exact_scores``."""
        missing = max(0, n_support - int(np.count_nonzero(self._row_in >= 0)))
        seconds = self.n * (missing * self.seconds_per_value + (n_support - missing) * self.seconds_per_sum)
        if self.dtype == np.float64:
            return seconds
        return 2.0 * seconds + FLOAT64_FACTOR * refreshed * n_support * self.seconds_per_value

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
        if self.dtype == np.float64 and len(rows) <= self.capacity:
            return self.submatrix(rows)  # the solver will want the same values
        sample = self._exact_points(rows)
        return self.kernel.block(sample, sample)
