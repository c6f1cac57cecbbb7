"""The data of a linear machine as a matrix A = [X, s 1] that is never built, and passes over its rows.

The last column stands for the bias: its entry is s (``intercept_scaling``) for a bias that is part of the norm, 1 for a
free one, and it is absent (s = 0) without a bias. Vectors v over the columns are (w, v_0) with b = s v_0.

Every pass runs over fixed chunks of rows on the pool, sums in float64, and adds the chunks' parts in order: results are
the same bits for every number of threads.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import limits
from maxmargin.core.buffers import scratch
from maxmargin.core.jit import generic, jit
from maxmargin.core.rows import (
    Array,
    CsrRows,
    DenseRows,
    Rows,
    as_csr,
    count,
    row_axpy,
    row_dot,
    rows_of,
    squared_norms,
    width,
)
from maxmargin.core.threads import thread_map

CHUNK_ENTRIES = 1 << 18  # stored entries of a chunk: about a megabyte, so that a second look finds it in the cache
# Entries up to which X is one chunk: a pass takes a millisecond, and little less on two threads, for Python's lock.
ONE_CHUNK = 1 << 20
DENSE_SHARE = 0.25  # of the entries: a stored one takes four times as long as one of a dense row, and twice the memory
BLOCK_ROWS = 1024  # rows of a block of a Gram matrix: scaled and widened to float64 in scratch memory
PART_SUMS = 4_000_000  # that a part of a Hessian takes, each a nanosecond: shorter parts are not worth another thread
BLAS_SUMS = 20.0  # of BLAS on dense blocks, in the time of one sum at a place that is looked up
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
        thread_map(lambda c: _scores(self.rows, c.start, c.stop, w, shift, out), self.chunks, self.n_jobs)
        self.passes += 1.0
        return out

    def scores_and_sizes(self, v: Array) -> tuple[Array, Array]:
        """A v, and the sums |A| |v| of the absolute terms of each score: what its rounding is in proportion to.

        Zero where the bias is the only term, which is not rounded.
        """
        out, sizes = np.empty(self.n), np.empty(self.n)
        w, shift = v[: self.features], self._shift(v)
        thread_map(
            lambda c: _scores_and_sizes(self.rows, c.start, c.stop, w, shift, out, sizes), self.chunks, self.n_jobs
        )
        self.passes += 1.0
        return out, sizes

    def combine(self, beta: Array) -> Array:
        """A' beta; rows with beta_i = 0 are not read."""

        def part(c: slice, sums: Array) -> None:
            total = _combine(self.rows, c.start, c.stop, beta, sums)
            if self.scale:
                sums[-1] = self.scale * total

        self.passes += np.count_nonzero(beta) / max(self.n, 1)
        return self._added(part, self.chunks, np.zeros(self.d))

    def combine_and_sizes(self, beta: Array) -> tuple[Array, Array]:
        """A' beta, and the sums |A|' |beta| of the absolute terms of each entry."""

        def part(c: slice, sums: Array) -> None:
            total, size = _combine_and_sizes(self.rows, c.start, c.stop, beta, sums[0], sums[1])
            if self.scale:
                sums[:, -1] = self.scale * total, abs(self.scale) * size

        self.passes += np.count_nonzero(beta) / max(self.n, 1)
        both = self._added(part, self.chunks, np.zeros((2, self.d)))
        return both[0], both[1]

    def weighted_product(self, index: Array, kappa: Array, v: Array) -> Array:
        """A_J' diag(kappa_J) A_J v for the rows J in ``index``."""
        w, shift = v[: self.features], self._shift(v)

        def part(piece: Array, sums: Array) -> None:
            total = _weighted_product(self.rows, piece, kappa, w, shift, sums)
            if self.scale:
                sums[-1] = self.scale * total

        self.passes += len(index) / max(self.n, 1)
        return self._added(part, self._pieces(index), np.zeros(self.d))

    def gram(self, index: Array, kappa: Array, to: Array | None = None) -> Array:
        """A_J' diag(kappa_J) A_J, d x d: its upper triangle, added ``to`` a sum. kappa may be of both signs."""
        to = np.zeros((self.d, self.d)) if to is None else to
        by_outer, by_blocks = self._gram_sums()
        outer = by_outer < by_blocks
        work: Any = _outer_gram if outer else _block_gram
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

    def shared(self, n_jobs: int) -> Design:
        """The same rows for another problem, with its own count of passes."""
        other = copy.copy(self)
        other.n_jobs, other.passes = n_jobs, 0.0
        return other

    def column_squares(self, index: Array, kappa: Array) -> Array:
        """sum_i kappa_i a_ij^2 over the rows in ``index``."""

        def part(piece: Array, sums: Array) -> None:
            total = _column_squares(self.rows, piece, kappa, sums)
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
        return max(16 * self.d, 4 * BLOCK_ROWS, int(PART_SUMS / max(1.0, min(self._gram_sums()))))

    def _pieces(self, index: Array) -> list[Array]:
        if not len(index):
            return []
        size = self.chunks[0].stop
        return [index[first : first + size] for first in range(0, len(index), size)]


@jit(reductions=True)
def _scores(rows, first, last, w, shift, out):
    """z_i = x_i'w + shift. Writes: out."""
    for i in range(first, last):
        out[i] = row_dot(rows, i, w) + shift


@generic
def row_size(rows, i, x):
    """sum_k |x_ik x_k| in float64."""


@row_size.register(DenseRows)
def _(rows, i, x):
    total = 0.0
    for k in range(rows.values.shape[1]):
        total += abs(rows.values[i, k] * x[k])
    return total


@row_size.register(CsrRows)
def _(rows, i, x):
    total = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        total += abs(rows.data[k] * x[np.uint64(rows.indices[k])])
    return total


@jit(reductions=True)
def _scores_and_sizes(rows, first, last, w, shift, out, sizes):
    """z_i = x_i'w + shift, and |x_i|'|w| + |shift|. Writes: out, sizes."""
    for i in range(first, last):
        out[i] = row_dot(rows, i, w) + shift
        size = row_size(rows, i, w)
        sizes[i] = size + abs(shift) if size > 0.0 else 0.0


@jit(reductions=True)
def _combine(rows, first, last, beta, out):
    """out += sum_i beta_i x_i; returns sum_i beta_i. Writes: out."""
    total = 0.0
    for i in range(first, last):
        if beta[i] != 0.0:
            row_axpy(rows, i, beta[i], out)
            total += beta[i]
    return total


@generic
def row_add_sizes(rows, i, scale, x):
    """x += |scale x_i|, entry by entry."""


@row_add_sizes.register(DenseRows)
def _(rows, i, scale, x):
    for k in range(rows.values.shape[1]):
        x[k] += abs(scale * rows.values[i, k])


@row_add_sizes.register(CsrRows)
def _(rows, i, scale, x):
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        x[np.uint64(rows.indices[k])] += abs(scale * rows.data[k])


@jit(reductions=True)
def _combine_and_sizes(rows, first, last, beta, out, sizes):
    """``_combine``, and the same of absolute values. Writes: out, sizes."""
    total, size = 0.0, 0.0
    for i in range(first, last):
        if beta[i] != 0.0:
            row_axpy(rows, i, beta[i], out)
            row_add_sizes(rows, i, beta[i], sizes)
            total += beta[i]
            size += abs(beta[i])
    return total, size


@jit(reductions=True)
def _weighted_product(rows, index, kappa, w, shift, out):
    """out += sum_i kappa_i (x_i'w + shift) x_i; returns the sum of the factors. Writes: out."""
    total = 0.0
    for i in index:
        factor = kappa[i] * (row_dot(rows, i, w) + shift)
        row_axpy(rows, i, factor, out)
        total += factor
    return total


@generic
def row_add_squares(rows, i, scale, x):
    """x += scale x_i^2, entry by entry."""


@row_add_squares.register(DenseRows)
def _(rows, i, scale, x):
    for k in range(rows.values.shape[1]):
        here = np.float64(rows.values[i, k])
        x[k] += scale * here * here


@row_add_squares.register(CsrRows)
def _(rows, i, scale, x):
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        here = np.float64(rows.data[k])
        x[rows.indices[k]] += scale * here * here


@jit()
def _column_squares(rows, index, kappa, out):
    """out += sum_i kappa_i x_i^2; returns sum_i kappa_i. Writes: out."""
    total = 0.0
    for i in index:
        row_add_squares(rows, i, kappa[i], out)
        total += kappa[i]
    return total


def _block_gram(rows: Rows, index: Array, kappa: Array, scale: float, out: Array) -> None:
    """By dense blocks: rows times sqrt(kappa) in float64, then BLAS. Writes: out."""
    d = len(out)
    block = scratch("gram", (BLOCK_ROWS, d), np.float64)
    for first in range(0, len(index), BLOCK_ROWS):
        piece = index[first : first + BLOCK_ROWS]
        _scaled_rows(rows, piece, kappa, scale, block)
        some = block[: len(piece)]
        with np.errstate(over="ignore", invalid="ignore"):  # the solver says what to do about that
            out += some.T @ some


@generic
def row_write(rows, i, scale, x):
    """x = scale x_i in all columns of the rows."""


@row_write.register(DenseRows)
def _(rows, i, scale, x):
    for k in range(rows.values.shape[1]):
        x[k] = scale * rows.values[i, k]


@row_write.register(CsrRows)
def _(rows, i, scale, x):
    for k in range(rows.width):
        x[k] = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        x[rows.indices[k]] = scale * rows.data[k]


@jit()
def _scaled_rows(rows, index, kappa, scale, out):
    """out_r = sqrt(kappa_i) (x_i, s). Writes: out."""
    last = out.shape[1] - 1
    for r in range(len(index)):
        root = np.sqrt(kappa[index[r]])
        row_write(rows, index[r], root, out[r])
        if scale != 0.0:
            out[r, last] = root * scale


@jit()
def _outer_gram(rows, index, kappa, scale, out):
    """out += kappa_i a_i a_i', its upper triangle: columns of a row are in ascending order. Writes: out.

    Rows are copied first, or the compiler reads them again for every sum that it writes: 1.6 instead of 3.6 ms.
    """
    d, columns, values = np.uint64(len(out)), np.empty(len(out), np.uint64), np.empty(len(out))
    sums = out.reshape(len(out) * len(out))
    for i in index:
        first, stored = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i]
        for p in range(stored):
            columns[p], values[p] = rows.indices[first + p], rows.data[first + p]
        if scale != 0.0:
            columns[stored], values[stored], stored = d - np.uint64(1), scale, stored + 1
        for p in range(np.uint64(stored)):
            left, row = kappa[i] * values[p], columns[p] * d
            for q in range(p, np.uint64(stored)):
                sums[row + columns[q]] += left * values[q]
