"""One view of data rows for dense and CSR storage.

Loops see rows only through the generic functions below, so each loop is written once.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from maxmargin.core.jit import fetch, generic, jit, one_by_one

Array: TypeAlias = np.ndarray[Any, Any]
NO_ROWS = np.empty(0, np.int64)
Index: TypeAlias = Array | slice

CACHE_LINE = 64  # bytes
FETCHED = 512  # entries of a row: further ones are read in time
INDEX_SHARE = 4  # an inverted index has at most this many edges per stored entry


class DenseRows(NamedTuple):
    """Rows of a C-contiguous matrix."""

    values: Array


class CsrRows(NamedTuple):
    """Rows of a compressed sparse matrix with ``width`` columns."""

    data: Array
    indices: Array
    indptr: Array
    width: int


Rows: TypeAlias = DenseRows | CsrRows


def rows_of(X: Any, dtype: Any) -> Rows:
    """View ``X`` (ndarray or CSR) as rows of ``dtype``; copies only if the type or layout differs.

    Loops meet the columns of a CSR row in ascending order, each once: some have room for no more.
    """
    if sparse.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return read_only(CsrRows(X.data.astype(dtype, copy=False), X.indices, X.indptr, X.shape[1]))
    return read_only(DenseRows(np.ascontiguousarray(X, dtype)))


def read_only(rows: Any) -> Any:
    """The same memory behind views that cannot be written: loops then compile once for all arrays."""
    views = [part.view() if isinstance(part, np.ndarray) else part for part in rows]
    for view in views:
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
    return type(rows)(*views)


def take_rows(rows: Rows, index: Index) -> Rows:
    """The rows at ``index``: a view for a slice, a copy otherwise."""
    if isinstance(rows, DenseRows):
        return read_only(DenseRows(rows.values[index]))
    if isinstance(index, slice):
        first, last, _ = index.indices(count(rows))
        part = slice(rows.indptr[first], rows.indptr[max(first, last)])
        edges = rows.indptr[first : last + 1] - part.start
        return read_only(CsrRows(rows.data[part], rows.indices[part], edges, rows.width))
    chosen = as_csr(rows)[index]
    return read_only(CsrRows(chosen.data, chosen.indices, chosen.indptr, rows.width))


def as_csr(rows: CsrRows) -> sparse.csr_array:
    """The same memory as a SciPy matrix."""
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(count(rows), rows.width))


def dense_rows(rows: Rows) -> DenseRows:
    """The same rows with their zeros."""
    return rows if isinstance(rows, DenseRows) else read_only(DenseRows(as_csr(rows).toarray()))


def as_dense(values: Any) -> Array:
    """A matrix of SciPy's with its zeros; an array as it is."""
    return values.toarray() if sparse.issparse(values) else values


def count(rows: Rows) -> int:
    """Number of rows."""
    return len(rows.values) if isinstance(rows, DenseRows) else len(rows.indptr) - 1


def width(rows: Rows) -> int:
    """Number of columns."""
    return rows.values.shape[1] if isinstance(rows, DenseRows) else rows.width


@generic
def row_dot(rows, i, x):
    """x_i' x for a dense vector x, summed in float64."""


@row_dot.register(DenseRows)
def _(rows, i, x):
    total = 0.0
    for k in range(rows.values.shape[1]):
        total += rows.values[i, k] * x[k]
    return total


@row_dot.register(CsrRows)
def _(rows, i, x):
    # Two sums, so that a product need not wait for the one before; unsigned indices, which need no test for being
    # negative; and a loop for the odd entry, or the compiler counts references to the arrays in every row.
    s0, s1 = 0.0, 0.0
    first, last = rows.indptr[i], rows.indptr[i + 1]
    whole = last - (last - first) % 2
    for k in range(first, whole, 2):
        one_by_one()
        s0 += rows.data[k] * x[np.uint64(rows.indices[k])]
        s1 += rows.data[k + 1] * x[np.uint64(rows.indices[k + 1])]
    for k in range(whole, last):
        one_by_one()
        s0 += rows.data[k] * x[np.uint64(rows.indices[k])]
    return s0 + s1


@generic
def row_fetch(rows, i):
    """Begin to load x_i, or its first part: the processor reads on by itself.

    For rows in random order: a visit to a row of imdb (135 entries) took 750 ns, and 420 where the row before it
    fetched it.
    """


@row_fetch.register(DenseRows)
def _(rows, i):
    width = rows.values.shape[1]
    for k in range(0, min(width, FETCHED), CACHE_LINE // rows.values.itemsize):
        fetch(rows.values, i * width + k)


@row_fetch.register(CsrRows)
def _(rows, i):
    first, last = rows.indptr[i], rows.indptr[i + 1]
    for k in range(first, min(last, first + FETCHED), CACHE_LINE // rows.data.itemsize):
        fetch(rows.data, k)
        fetch(rows.indices, k)


@generic
def row_axpy(rows, i, scale, x):
    """x += scale * x_i. Writes: x."""


@row_axpy.register(DenseRows)
def _(rows, i, scale, x):
    for k in range(rows.values.shape[1]):
        x[k] += scale * rows.values[i, k]


@row_axpy.register(CsrRows)
def _(rows, i, scale, x):
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        x[np.uint64(rows.indices[k])] += scale * rows.data[k]


@generic
def row_l1(rows, i, x, norm):
    """||x_i - x||_1 for a dense vector x with norm = ||x||_1."""


@row_l1.register(DenseRows)
def _(rows, i, x, norm):
    total = 0.0
    for k in range(rows.values.shape[1]):
        total += abs(rows.values[i, k] - x[k])
    return total


@row_l1.register(CsrRows)
def _(rows, i, x, norm):
    total = norm  # where the sparse row is zero, |0 - x_k| = |x_k|
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        one_by_one()
        here = x[np.uint64(rows.indices[k])]
        total += abs(rows.data[k] - here) - abs(here)
    return max(total, 0.0)


@generic
def row_distance(rows, i, others, j, squared):
    """sum_k |x_ik - z_jk|, or of the squares, term by term: nothing cancels. Both sides are stored alike."""


@row_distance.register(DenseRows)
def _(rows, i, others, j, squared):
    total = 0.0
    for k in range(rows.values.shape[1]):
        apart = np.float64(rows.values[i, k]) - np.float64(others.values[j, k])
        total += apart * apart if squared else abs(apart)
    return total


@row_distance.register(CsrRows)
def _(rows, i, others, j, squared):
    total = 0.0
    p, p_end, q, q_end = rows.indptr[i], rows.indptr[i + 1], others.indptr[j], others.indptr[j + 1]
    while p < p_end or q < q_end:  # columns are in ascending order on both sides
        left = rows.indices[p] if p < p_end else rows.width
        right = others.indices[q] if q < q_end else rows.width
        apart = 0.0
        if left <= right:
            apart += rows.data[p]
            p += 1
        if right <= left:
            apart -= others.data[q]
            q += 1
        total += apart * apart if squared else abs(apart)
    return total


@generic
def row_clear(rows, i, x):
    """x = 0 at the columns that row i stores. Writes: x."""


@row_clear.register(DenseRows)
def _(rows, i, x):
    for k in range(rows.values.shape[1]):
        x[k] = 0.0


@row_clear.register(CsrRows)
def _(rows, i, x):
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        x[rows.indices[k]] = 0.0


@generic
def row_hash(rows, i, multipliers):
    """Sum of multipliers_k times the bits of x_ik, mod 2^64, for rows of unsigned integers.

    The upper half of the bits is laid over the lower one: round numbers in float64 have nothing but zeros there.
    """


@row_hash.register(DenseRows)
def _(rows, i, multipliers):
    total = np.uint64(0)
    for k in range(rows.values.shape[1]):
        bits = np.uint64(rows.values[i, k])
        total += (bits ^ (bits >> np.uint64(32))) * multipliers[k]
    return total


@row_hash.register(CsrRows)
def _(rows, i, multipliers):
    total = np.uint64(0)
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        one_by_one()
        bits = np.uint64(rows.data[k])
        total += (bits ^ (bits >> np.uint64(32))) * multipliers[np.uint64(rows.indices[k])]
    return total


@generic
def rows_equal(rows, i, j):
    """Whether x_i = x_j; sparse rows have sorted columns and store no zeros."""


@rows_equal.register(DenseRows)
def _(rows, i, j):
    k, width = 0, rows.values.shape[1]
    while k < width and rows.values[i, k] == rows.values[j, k]:
        k += 1
    return k == width


@rows_equal.register(CsrRows)
def _(rows, i, j):
    k, end, shift = rows.indptr[i], rows.indptr[i + 1], rows.indptr[j] - rows.indptr[i]
    if end + shift != rows.indptr[j + 1]:
        return False
    while k < end and rows.data[k] == rows.data[k + shift] and rows.indices[k] == rows.indices[k + shift]:
        k += 1
    return k == end


@jit(reductions=True)
def inner_products(A, B, scratch, out):
    """out_ij = a_i' b_j. Writes: out, scratch (one dense row of zeros, left zero)."""
    for i in range(out.shape[0]):
        row_axpy(A, i, 1.0, scratch)
        for j in range(out.shape[1]):
            out[i, j] = row_dot(B, j, scratch)
        row_clear(A, i, scratch)


class Columns(NamedTuple):
    """The columns of a block of sparse rows: for each feature the rows that have it, an inverted index."""

    data: Array
    rows: Array
    edges: Array


def columns_of(rows: CsrRows) -> Columns | None:
    """The inverted index of ``rows``; None where features without any row would make up most of it."""
    if rows.width > INDEX_SHARE * len(rows.data):
        return None
    turned = as_csr(rows).tocsc()
    return read_only(Columns(turned.data, turned.indices, turned.indptr))


@jit()
def products_by_column(A, B, out):
    """out_ij = a_i' b_j for sparse rows A and an inverted index B: only common features are touched. Writes: out."""
    for i in range(out.shape[0]):
        sums = out[i]
        sums[:] = 0.0
        for k in range(A.indptr[i], A.indptr[i + 1]):
            value, feature = A.data[k], A.indices[k]
            for t in range(B.edges[feature], B.edges[feature + 1]):
                sums[B.rows[t]] += value * B.data[t]


@jit(reductions=True)
def l1_distances(A, B, scratch, out):
    """out_ij = ||a_i - b_j||_1. Writes: out, scratch (one dense row of zeros, left zero)."""
    for i in range(out.shape[0]):
        row_axpy(A, i, 1.0, scratch)
        norm = 0.0
        for k in range(len(scratch)):
            norm += abs(scratch[k])
        for j in range(out.shape[1]):
            out[i, j] = row_l1(B, j, scratch, norm)
        row_clear(A, i, scratch)


@jit(reductions=True)
def distances(A, B, squared, out):
    """out_ij = ||a_i - b_j||_1, or ||a_i - b_j||^2 if squared, by differences. Writes: out."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = row_distance(A, i, B, j, squared)


@generic
def row_square(rows, i):
    """x_i' x_i in float64."""


@row_square.register(DenseRows)
def _(rows, i):
    total = 0.0
    for k in range(rows.values.shape[1]):
        here = np.float64(rows.values[i, k])
        total += here * here
    return total


@row_square.register(CsrRows)
def _(rows, i):
    total = 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        here = np.float64(rows.data[k])
        total += here * here
    return total


@jit(reductions=True)
def row_squares(rows, out):
    """out_i = ||x_i||^2. Writes: out."""
    for i in range(len(out)):
        out[i] = row_square(rows, i)


def squared_norms(rows: Rows) -> Array:
    """||x_i||^2 in float64; infinite where that overflows."""
    sums = np.empty(count(rows))
    with np.errstate(over="ignore"):  # in plain Python
        row_squares(rows, sums)
    return sums


def finite_squared_norms(rows: Rows) -> Array:
    """||x_i||^2 in float64; an error where that overflows."""
    squares = squared_norms(rows)
    if not np.isfinite(squares).all():
        raise ValueError(
            f"Row {int(np.argmin(np.isfinite(squares)))} of X is too large: its squared length overflows. "
            "Scale the features."
        )
    return squares
