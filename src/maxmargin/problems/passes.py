"""Passes over the rows of a linear machine: the loops of ``Design``, each over one piece of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.buffers import scratch
from maxmargin.core.jit import generic, jit, one_by_one
from maxmargin.core.rows import Array, CsrRows, DenseRows, Rows, as_csr, row_axpy, row_dot, take_rows

BLOCK_ROWS = 1024  # rows of a block of a Gram matrix: scaled and widened to float64 in scratch memory


@jit(reductions=True)
def scores(rows, first, last, w, shift, out):
    """z_i = x_i'w + shift. Writes: out."""
    for i in range(first, last):
        out[i] = row_dot(rows, i, w) + shift


@generic
def row_dot_and_size(rows, i, x):
    """sum_k x_ik x_k and sum_k |x_ik x_k| in float64; a row is read once."""


@row_dot_and_size.register(DenseRows)
def _(rows, i, x):
    total, size = 0.0, 0.0
    for k in range(rows.values.shape[1]):
        term = rows.values[i, k] * x[k]
        total += term
        size += abs(term)
    return total, size


@row_dot_and_size.register(CsrRows)
def _(rows, i, x):
    total, size = 0.0, 0.0
    for k in range(rows.indptr[i], rows.indptr[i + 1]):
        one_by_one()
        term = rows.data[k] * x[np.uint64(rows.indices[k])]
        total += term
        size += abs(term)
    return total, size


@jit(reductions=True)
def scores_and_sizes(rows, first, last, w, shift, out, sizes):
    """z_i = x_i'w + shift, and |x_i|'|w| + |shift|. Writes: out, sizes."""
    for i in range(first, last):
        total, size = row_dot_and_size(rows, i, w)
        out[i] = total + shift
        sizes[i] = size + abs(shift) if size > 0.0 else 0.0


@jit(reductions=True)
def combine(rows, first, last, beta, out):
    """out += sum_i beta_i x_i; returns sum_i beta_i, and how many rows were read. Writes: out."""
    total, read = 0.0, 0
    for i in range(first, last):
        if beta[i] != 0.0:
            row_axpy(rows, i, beta[i], out)
            total += beta[i]
            read += 1
    return total, read


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
def combine_and_sizes(rows, first, last, beta, out, sizes):
    """``combine``, and the same of absolute values. Writes: out, sizes."""
    total, size = 0.0, 0.0
    for i in range(first, last):
        if beta[i] != 0.0:
            row_axpy(rows, i, beta[i], out)
            row_add_sizes(rows, i, beta[i], sizes)
            total += beta[i]
            size += abs(beta[i])
    return total, size


@jit(reductions=True)
def weighted_product(rows, index, kappa, w, shift, out):
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
def column_squares(rows, index, kappa, out):
    """out += sum_i kappa_i x_i^2; returns sum_i kappa_i. Writes: out."""
    total = 0.0
    for i in index:
        row_add_squares(rows, i, kappa[i], out)
        total += kappa[i]
    return total


def block_gram(rows: Rows, index: Array, kappa: Array, scale: float, out: Array) -> None:
    """By dense blocks: rows times sqrt(kappa) in float64, then BLAS. Writes: out."""
    d = len(out)
    block = scratch("gram", (BLOCK_ROWS, d), np.float64)
    for first in range(0, len(index), BLOCK_ROWS):
        piece = index[first : first + BLOCK_ROWS]
        scaled_rows(rows, piece, kappa, scale, block)
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
def scaled_rows(rows, index, kappa, scale, out):
    """out_r = sqrt(kappa_i) (x_i, s). Writes: out."""
    last = out.shape[1] - 1
    for r in range(len(index)):
        root = np.sqrt(kappa[index[r]])
        row_write(rows, index[r], root, out[r])
        if scale != 0.0:
            out[r, last] = root * scale


@jit()
def outer_gram(rows, index, kappa, scale, out):
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


def several_scores(rows: Rows, first: int, last: int, W: Array, out: Array, form: Form) -> None:
    """out_im = w_m'x_i for several weight vectors, the rows of W. Writes: out."""
    W = form(W)
    for a, b, X in _pieces(rows, first, last, form):
        out[a:b] = X @ W.T


def several_combined(rows: Rows, first: int, last: int, B: Array, out: Array, form: Form) -> None:
    """out_m += sum_i B_im x_i for several columns of multipliers. Writes: out."""
    for a, b, X in _pieces(rows, first, last, form):
        out += (X.T @ form(B[a:b])).T


class Form(NamedTuple):
    """What products of several vectors are of: numbers as they are, or their sizes; in what precision."""

    absolute: bool = False
    dtype: Any = np.float64

    def __call__(self, values: Array, out: Array | None = None) -> Array:
        """Numbers in this form."""
        if out is not None:
            return (np.abs if self.absolute else np.positive)(values, out=out)
        return (np.abs(values) if self.absolute else values).astype(self.dtype, copy=False)


def _pieces(rows: Rows, first: int, last: int, form: Form) -> Iterator[tuple[int, int, Any]]:
    """The rows from ``first`` to ``last`` as matrices for products, in scratch memory where their form is another."""
    if isinstance(rows, CsrRows):
        some: Any = take_rows(rows, slice(first, last))
        yield first, last, as_csr(some._replace(data=form(some.data)))
        return
    same = not form.absolute and rows.values.dtype == form.dtype
    for a in range(first, last, BLOCK_ROWS):
        b = min(a + BLOCK_ROWS, last)
        X = rows.values[a:b]
        yield a, b, X if same else form(X, scratch("rows in form", (BLOCK_ROWS, X.shape[1]), form.dtype)[: b - a])
