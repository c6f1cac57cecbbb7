"""What kernels compare: vectors with their norms, arbitrary objects, or rows of a given matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core import sparsity
from maxmargin.core.blas import blas_held_for
from maxmargin.core.rows import Array, CsrRows, DenseRows, Index, Rows
from maxmargin.core.sparsity import TURNED_WIDTH

CENTRED_ROWS = 1024  # rows that are moved at a time
NEAR_CENTRE = 1e-3  # of the mean of ||x||^2: by no more would moving the rows make that smaller


class Points(Protocol):
    """An indexable collection of things that a kernel can compare."""

    def __len__(self) -> int: ...

    def take(self, index: Index) -> Points:
        """The points at ``index``."""
        ...


@dataclass(frozen=True)
class Vectors:
    """Rows with their squared norms, possibly moved by a common ``centre``.

    ``cancels`` says that distances between them must not be worked out from inner products: |x|^2 + |z|^2 - 2 x'z would
    leave nothing of a small distance between points that are far from the origin.
    """

    rows: Rows
    squares: Array
    cancels: bool = False

    def __len__(self) -> int:
        return len(self.squares)

    def take(self, index: Index) -> Vectors:
        return Vectors(storage.take_rows(self.rows, index), self.squares[index], self.cancels)

    def products(self, other: Vectors, out: Array | None = None) -> Array:
        """The matrix of inner products, by BLAS where both sides are dense. Writes: out, where given."""
        if isinstance(self.rows, DenseRows) and isinstance(other.rows, DenseRows):
            return np.matmul(self.rows.values, other.rows.values.T, out=out)
        out = np.empty((len(self), len(other)), self.dtype) if out is None else out
        if isinstance(self.rows, CsrRows) and self.rows.width <= TURNED_WIDTH:
            sparsity.products(self.rows, other.rows, out)
        elif isinstance(self.rows, CsrRows) and other.columns is not None:
            storage.products_by_column(self.rows, other.columns, out)
        else:
            storage.inner_products(self.rows, other.rows, np.zeros(storage.width(self.rows)), out)
        return out

    @cached_property
    def columns(self) -> storage.Columns | None:
        """The inverted index of sparse rows, made when first asked for."""
        return storage.columns_of(self.rows) if isinstance(self.rows, CsrRows) else None

    def l1_distances(self, other: Vectors) -> Array:
        """The matrix of city-block distances."""
        if self.cancels or other.cancels:
            return self._differences(other, False)
        out = np.empty((len(self), len(other)), self.dtype)
        storage.l1_distances(self.rows, other.rows, np.zeros(storage.width(self.rows)), out)
        return out

    def squared_distances(self, other: Vectors) -> Array:
        """The matrix of squared Euclidean distances, by differences: for points that cancel."""
        return self._differences(other, True)

    def _differences(self, other: Vectors, squared: bool) -> Array:
        left, right = self.rows, other.rows
        if type(left) is not type(right):
            left, right = (storage.dense_rows(rows) for rows in (left, right))
        out = np.empty((len(self), len(other)), self.dtype)
        storage.distances(left, right, squared, out)
        return out

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return (self.rows.values if isinstance(self.rows, DenseRows) else self.rows.data).dtype


@dataclass(frozen=True)
class ChosenRows:
    """Some rows of an array, copied where they are needed.

    Different rows of many, or rows in another order: their points may be float32, moved or sparse, and then nobody
    needs a copy as they are (w8a as a dense array: 42 MB).
    """

    array: Array
    index: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.index), self.array.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the array."""
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rows: Index) -> Array:
        return self.array[self.index[rows]]


def copied(X: Any) -> Any:
    """Chosen rows as an array; anything else as it is."""
    return X[:] if isinstance(X, ChosenRows) else X


def vectors(X: Any, dtype: Any, centre: Array | None = None) -> Vectors:
    """Rows of ``X`` as vectors of ``dtype``, minus ``centre``: norms then are small and cancel less."""
    if centre is not None:
        X = shifted(X, centre, dtype)
    rows = storage.rows_of(X, dtype)
    return Vectors(rows, storage.finite_squared_norms(rows))


def shifted(X: Any, centre: Array, dtype: Any) -> Any:
    """X - centre in every row; of sparse rows only columns where the centre is not zero are filled."""
    if sparse.issparse(X):
        return _sparse_shifted(X, centre)
    moved = np.empty(X.shape, dtype)
    wide = np.result_type(X.dtype, moved.dtype)  # a float32 difference of float32 numbers is rounded once, too
    for begin in range(0, len(X), CENTRED_ROWS):
        part = slice(begin, begin + CENTRED_ROWS)
        np.subtract(X[part], centre.astype(wide), out=moved[part], casting="same_kind", dtype=wide)
    return moved


def _sparse_shifted(X: Any, centre: Array) -> Any:
    columns, n = np.flatnonzero(centre), X.shape[0]
    indptr = np.arange(n + 1) * len(columns)
    shift = sparse.csr_array((np.tile(centre[columns], n), np.tile(columns, n), indptr), shape=X.shape)
    moved: Any = sparse.csr_array(X, dtype=np.float64) - shift
    moved.eliminate_zeros()
    moved.sort_indices()
    return moved


def centre_of(X: Any) -> Array | None:
    """What the rows are moved by: their mean, rounded to float32.

    Of sparse rows only that of the columns which every row has, so that moving fills nothing; None where there is none.
    (A column that is zero in some rows and far from it in others is spread: a shift would not make its norms small.)
    """
    with np.errstate(over="ignore"):
        mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0]
        mean = mean.astype(np.float32).astype(np.float64)
    if not sparse.issparse(X):
        return mean
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    return np.where(full, mean, 0.0) if full.any() else None


def far_centre(X: Any) -> Array | None:
    """``centre_of``, None where it is so near to zero (standardised features) that the rows may stay where they are."""
    centre = centre_of(X)
    if centre is None or sparse.issparse(X):
        return centre
    flat = X.ravel(order="K")  # as it lies in memory: no copy of a contiguous array
    with np.errstate(over="ignore"), blas_held_for(flat.size):
        squares = float(flat @ flat) / X.shape[0]
        return None if float(centre @ centre) <= NEAR_CENTRE * squares < np.inf else centre


@dataclass(frozen=True)
class Objects:
    """Things that only the user's function understands: strings, graphs, rows of a table."""

    items: Any

    def __len__(self) -> int:
        return self.items.shape[0]

    def take(self, index: Index) -> Objects:
        return Objects(self.items[index])


@dataclass(frozen=True)
class Entries:
    """Positions in a given kernel matrix: ``at`` are rows when it stands left in a block, columns when right."""

    matrix: Array
    at: Array

    def __len__(self) -> int:
        return len(self.at)

    def take(self, index: Index) -> Entries:
        return Entries(self.matrix, self.at[index])


def narrow(rows: Rows) -> bool:
    """Whether BLAS on dense rows beats loops over stored entries: few columns, or many of them stored."""
    if not isinstance(rows, CsrRows):
        return False
    stored = len(rows.data) / max(1, storage.count(rows))
    return rows.width <= max(64.0, 64.0 * stored)


def holds_objects(X: Any) -> bool:
    """Whether X is a collection of things that are not numbers: strings, graphs, ragged lists."""
    if hasattr(X, "to_numpy"):
        return len(X.shape) == 1  # a column of a table
    if sparse.issparse(X):
        return False
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "OUS" or X.ndim == 1
    try:
        return np.asarray(X, dtype=np.float64).ndim != 2
    except (ValueError, TypeError):  # text, ragged lists, graphs
        return True


def as_objects(X: Any) -> Array:
    """An array of objects, one for each row."""
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "to_numpy"):
        return np.asarray(X.to_numpy(), object)
    items = np.empty(len(X), object)
    for position, item in enumerate(X):  # one by one: NumPy would take lists of equal length apart
        items[position] = item
    return items
