"""The data of a linear machine as a matrix A = [X, s 1] that is never built, and passes over its rows.

The last column stands for the bias: its entry is s (``intercept_scaling``) for a bias that is part of the norm, 1 for a
free one, and it is absent (s = 0) without a bias. Vectors v over the columns are (w, v_0) with b = s v_0.

Every pass runs over fixed chunks of rows on the pool, sums in float64, and adds the chunks' parts in order: results are
the same bits for every number of threads.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import limits
from maxmargin.core.rows import (
    Array,
    CsrRows,
    DenseRows,
    Rows,
    as_csr,
    count,
    rows_of,
    squared_norms,
    take_rows,
    width,
)
from maxmargin.core.threads import thread_map
from maxmargin.problems import passes
from maxmargin.problems.passes import Form

CHUNK_ENTRIES = 1 << 18  # stored entries of a chunk: about a megabyte, so that a second look finds it in the cache
# Entries up to which X is one chunk: a pass takes a millisecond, and little less on two threads, for Python's lock.
ONE_CHUNK = 1 << 20
DENSE_SHARE = 0.25  # of the entries: a stored one takes four times as long as one of a dense row, and twice the memory
PART_SUMS = 4_000_000  # that a part of a Hessian takes, each a nanosecond: shorter parts are not worth another thread
BLAS_SUMS = 20.0  # of BLAS on dense blocks, in the time of one sum at a place that is looked up
NORM_SAFETY = 2.0  # of a sum of squares in float32
FULL, SIZES, ROUGH = Form(), Form(absolute=True), Form(dtype=np.float32)
SEVERAL_BYTES = 1 << 26  # of sums that are made side by side for several columns of multipliers
OUTER_COLUMNS = 4096  # columns of a part of A A': a product of few rows with this many takes some milliseconds


def design_of(X: Any, scale: float, n_jobs: int = 1) -> Design:
    """The design of an array or CSR matrix, whose memory is read where it is; much filled CSR is made dense."""
    filled = sparse.issparse(X) and X.nnz > DENSE_SHARE * X.shape[0] * X.shape[1]
    return Design(rows_of(X.toarray() if filled else X, X.dtype), scale, n_jobs)


class Design:
    """A = [X, s 1]. ``passes`` counts how often all rows were read."""

    def __init__(self, rows: Rows, scale: float, n_jobs: int = 1) -> None:
        self.rows, self.scale, self.n_jobs = rows, scale, n_jobs
        self.n, self.features = count(rows), width(rows)
        self.d = self.features + (scale != 0.0)
        self.passes = 0.0
        self._norms: Array | None = None
        self._square_sum: float | None = None
        entries = rows.values.size if isinstance(rows, DenseRows) else len(rows.data)
        self.entries = entries
        short = entries <= (ONE_CHUNK if self.sparse else ONE_CHUNK / DENSE_SHARE)
        size = max(64, self.n if short else int(CHUNK_ENTRIES * self.n / max(entries, 1)))
        # A chunk's part of X' beta has d numbers: few chunks where d is large.
        size = max(size, 4 * self.features // max(1, entries // max(self.n, 1)))
        self.chunks = [slice(first, min(first + size, self.n)) for first in range(0, self.n, size)]

    @property
    def dtype(self) -> Any:
        """Of the stored entries."""
        return self.rows.values.dtype if isinstance(self.rows, DenseRows) else self.rows.data.dtype

    @property
    def sparse(self) -> bool:
        """Whether X is stored without its zeros."""
        return isinstance(self.rows, CsrRows)

    def scores(self, v: Array, out: Array | None = None) -> Array:
        """A v."""
        out = np.empty(self.n) if out is None else out
        w, shift = v[: self.features], self._shift(v)
        thread_map(lambda c: passes.scores(self.rows, c.start, c.stop, w, shift, out), self.chunks, self.n_jobs)
        self.passes += 1.0
        return out

    def scores_and_sizes(self, v: Array) -> tuple[Array, Array]:
        """A v, and the sums |A| |v| of the absolute terms of each score: what its rounding is in proportion to.

        Zero where the bias is the only term, which is not rounded.
        """
        out, sizes = np.empty(self.n), np.empty(self.n)
        w, shift = v[: self.features], self._shift(v)
        thread_map(
            lambda c: passes.scores_and_sizes(self.rows, c.start, c.stop, w, shift, out, sizes),
            self.chunks,
            self.n_jobs,
        )
        self.passes += 1.0
        return out, sizes

    def combine(self, beta: Array) -> Array:
        """A' beta; rows with beta_i = 0 are not read."""
        read: list[int] = []

        def part(c: slice, sums: Array) -> None:
            total, rows_read = passes.combine(self.rows, c.start, c.stop, beta, sums)
            read.append(rows_read)
            if self.scale:
                sums[-1] = self.scale * total

        sums = self._added(part, self.chunks, np.zeros(self.d))
        self.passes += sum(read) / max(self.n, 1)
        return sums

    def combine_and_sizes(self, beta: Array) -> tuple[Array, Array]:
        """A' beta, and the sums |A|' |beta| of the absolute terms of each entry."""

        def part(c: slice, sums: Array) -> None:
            total, size = passes.combine_and_sizes(self.rows, c.start, c.stop, beta, sums[0], sums[1])
            if self.scale:
                sums[:, -1] = self.scale * total, abs(self.scale) * size

        self.passes += np.count_nonzero(beta) / max(self.n, 1)
        both = self._added(part, self.chunks, np.zeros((2, self.d)))
        return both[0], both[1]

    def scores_of_several(self, V: Array, form: Form = FULL) -> Array:
        """A v for several vectors, the rows of V, a column for each; of sizes |A| |v| (see ``scores_and_sizes``)."""
        W, out = np.ascontiguousarray(V[:, : self.features]), np.empty((self.n, len(V)))
        thread_map(lambda c: passes.several_scores(self.rows, c.start, c.stop, W, out, form), self.chunks, self.n_jobs)
        if self.scale:
            out += form(self.scale * V[:, -1])
        self.passes += 1.0
        return out

    def combine_several(self, B: Array, form: Form = FULL) -> Array:
        """A'beta for several columns of multipliers, a row for each."""

        def part(chunks: list[slice], sums: Array) -> None:
            for c in chunks:
                passes.several_combined(self.rows, c.start, c.stop, B, sums[:, : self.features], form)
                if self.scale:
                    sums[:, -1] += self.scale * B[c].sum(axis=0)
                limits.checkpoint()

        self.passes += 1.0
        out = np.zeros((B.shape[1], self.d))
        parts = max(2, SEVERAL_BYTES // max(1, out.nbytes))  # whatever ``n_jobs`` is: sums are rounded alike
        size = -(-len(self.chunks) // parts)
        groups = [self.chunks[first : first + size] for first in range(0, len(self.chunks), size)]
        return self._added(part, groups, out)

    def weighted_product(self, index: Array, kappa: Array, v: Array) -> Array:
        """A_J' diag(kappa_J) A_J v for the rows J in ``index``."""
        w, shift = v[: self.features], self._shift(v)

        def part(piece: Array, sums: Array) -> None:
            total = passes.weighted_product(self.rows, piece, kappa, w, shift, sums)
            if self.scale:
                sums[-1] = self.scale * total

        self.passes += len(index) / max(self.n, 1)
        return self._added(part, self._pieces(index), np.zeros(self.d))

    def gram(self, index: Array, kappa: Array, to: Array | None = None) -> Array:
        """A_J' diag(kappa_J) A_J, d x d: its upper triangle, added ``to`` a sum. kappa may be of both signs."""
        to = np.zeros((self.d, self.d)) if to is None else to
        by_outer, by_blocks = self._gram_sums()
        outer = by_outer < by_blocks
        work: Any = passes.outer_gram if outer else passes.block_gram
        falls = index[:0] if outer else index[kappa[index] < 0.0]
        if len(falls):  # blocks are multiplied by sqrt(kappa)
            return np.subtract(self.gram(index[kappa[index] > 0.0], kappa, to), self.gram(falls, -kappa), out=to)

        def part(piece: Array, sums: Array) -> None:
            work(self.rows, piece, kappa, self.scale, sums)

        size = self._rows_of_a_part()
        pieces = [index[first : first + size] for first in range(0, len(index), size)]
        self.passes += len(index) / max(self.n, 1)
        return self._added(part, pieces, to)

    def outer_gram(self) -> Array:
        """A A', n x n in float64, for few rows."""
        if isinstance(self.rows, CsrRows):
            X: Any = as_csr(self.rows)
            return (X.astype(np.float64) @ X.T).toarray() + self.scale**2
        product = np.full((self.n, self.n), self.scale**2)
        for first in range(0, self.features, OUTER_COLUMNS):
            limits.checkpoint()
            some = self.rows.values[:, first : first + OUTER_COLUMNS].astype(np.float64, copy=False)
            product += some @ some.T
        return product

    def gram_passes(self) -> float:
        """About how many passes over the rows a ``gram`` of all of them takes, and the factoring of it."""
        return (self.n * min(self._gram_sums()) + self.d**3 / (3.0 * BLAS_SUMS)) / max(self.entries, 1)

    def _gram_sums(self) -> tuple[float, float]:
        """Sums for each row of a ``gram``: outer products of the stored entries, and BLAS on dense blocks."""
        stored = self.entries / max(self.n, 1)
        return 0.5 * stored**2 if self.sparse else np.inf, 2.0 * self.d + self.d**2 / BLAS_SUMS

    def squared_norms(self) -> Array:
        """||a_i||^2; computed once, also for those that share the rows (``shared``)."""
        if self._norms is None:
            self._norms = squared_norms(self.rows) + self.scale**2
        return self._norms

    def mean_square(self) -> float:
        """The mean of ||a_i||^2, right to some per cent: by BLAS, where ``squared_norms`` takes a pass."""
        return self._sum_of_squares() / max(self.n, 1) + self.scale**2

    def norm_bound(self) -> float:
        """At least the norm ||A||_F of all entries, and not much more."""
        return math.sqrt(NORM_SAFETY * self._sum_of_squares() + self.n * self.scale**2)

    def _sum_of_squares(self) -> float:
        """Of the stored entries; computed once. A float32 sum of many terms is right to some per cent."""
        if self._square_sum is None:
            values = self.rows.values.ravel() if isinstance(self.rows, DenseRows) else self.rows.data
            with np.errstate(over="ignore"):
                self._square_sum = float(values @ values)
            if not math.isfinite(self._square_sum):
                self._square_sum = float(self.squared_norms().sum())
        return self._square_sum

    def combined_bound(self, beta: Array) -> float:
        """At least the norm of |A|' |beta|, for one or several columns of multipliers: ||A||_F ||beta||_F."""
        size = float(np.linalg.norm(beta))
        return self.norm_bound() * size if size else 0.0  # rows may be too large for their squares

    def shared(self, n_jobs: int) -> Design:
        """The same rows for another problem, with its own count of passes."""
        other = copy.copy(self)
        other.n_jobs, other.passes = n_jobs, 0.0
        return other

    def some(self, index: Array) -> Design:
        """The rows at ``index`` by themselves."""
        return Design(take_rows(self.rows, index), self.scale, self.n_jobs)

    def column_squares(self, index: Array, kappa: Array) -> Array:
        """sum_i kappa_i a_ij^2 over the rows in ``index``."""

        def part(piece: Array, sums: Array) -> None:
            total = passes.column_squares(self.rows, piece, kappa, sums)
            if self.scale:
                sums[-1] = self.scale**2 * total

        self.passes += len(index) / max(self.n, 1)
        return self._added(part, self._pieces(index), np.zeros(self.d))

    def _added(self, work: Callable[[Any, Array], None], pieces: list[Any], sums: Array) -> Array:
        """The sum of what ``work`` adds for each piece to zeros, of the first one to ``sums``, in order."""
        # Zeros are made here: a thread would wait for Python's lock.
        parts = [(piece, np.zeros(sums.shape) if number else sums) for number, piece in enumerate(pieces)]
        thread_map(lambda part: work(*part), parts, self.n_jobs)
        for _, part in parts[1:]:
            sums += part
        return sums

    def _shift(self, v: Array) -> float:
        return float(self.scale * v[-1]) if self.scale else 0.0

    def _rows_of_a_part(self) -> int:
        """Rows of a part of a ``gram``. A part has d^2 sums of its own: it has at least 16 rows for each column."""
        return max(16 * self.d, 4 * passes.BLOCK_ROWS, int(PART_SUMS / max(1.0, min(self._gram_sums()))))

    def _pieces(self, index: Array) -> list[Array]:
        if not len(index):
            return []
        size = self.chunks[0].stop
        return [index[first : first + size] for first in range(0, len(index), size)]
