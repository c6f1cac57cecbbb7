"""The points of a kernel matrix: once in the precision of its tiles, and in float64 where a proof asks for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core.rows import Array, CsrRows, DenseRows, Index
from maxmargin.core.sparsity import ENTRY_COST, TURNED_WIDTH
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.points import Points, Vectors, copied, narrow
from maxmargin.kernels.vectors import FLOAT32_UNIT
from maxmargin.problems.sizes import SMALL_ROWS

FLOAT32_SHARE = 0.1
FLOAT32_POINTS = 0.99
# Nanoseconds of one thread for a kernel value: a constant (exponential, traffic) and a part per feature (BLAS), as
# measured on AVX-512; float64 takes 2.5 times as long. They choose sizes of first working sets, and what is stored.
VALUE_NS, FEATURE_NS, FLOAT64_NS_FACTOR, FUNCTION_NS = 0.4, 0.0145, 2.5, 1000.0
DIFFERENCES_NS, DIFFERENCE_NS = 5.5, 0.2  # the same for float64 values by differences of the rows
KEPT_BYTES = 1 << 22  # of float64 points that are made once
INDEXED_ENTRY_COST = 10.0  # times what BLAS takes for a column: an entry that is looked up in an inverted index


class Source:
    """Rows of ``X`` as points of ``kernel``.

    Tiles are float32 where there are many rows and their relative error stays well below ``accuracy``; otherwise, and
    always with ``accuracy=0``, float64. Sparse rows become dense where they are narrow and that takes little of
    ``budget``.
    """

    def __init__(self, kernel: Kernel, X: Any, accuracy: float, budget: int) -> None:
        self.kernel, self.X = kernel, X
        self._densify = self._dense_pays(budget)
        self.float32_errors: Array | None = None
        self.dtype = np.dtype(np.float32 if accuracy > 0 and X.shape[0] > SMALL_ROWS else np.float64)
        self._centre: Array | None = None
        self._exact: Points | None = None
        if self.dtype == np.float64 or not self._float32_serves(accuracy):
            self.dtype = np.dtype(np.float64)
            self.points, self._centre = kernel.placed(self._form(X))
        with np.errstate(over="ignore"):
            self.diagonal = kernel.diagonal(self.points)
        self.float64_error = kernel.float64_error(self.points) if isinstance(self.points, Vectors) else 0.0
        if not np.isfinite(self.diagonal).all():
            raise ValueError(f"{kernel!r} overflows on these data: scale the features, or choose other parameters.")

    @property
    def value_ns(self) -> float:
        """About how many nanoseconds a kernel value takes on one thread."""
        if not isinstance(self.points, Vectors):
            return FUNCTION_NS if self.kernel.of_objects else VALUE_NS
        rows = self.points.rows
        if self.points.cancels:
            return DIFFERENCES_NS + DIFFERENCE_NS * storage.width(rows)
        if isinstance(rows, DenseRows):
            per_row = float(rows.values.shape[1])
        else:
            entry_cost = ENTRY_COST if rows.width <= TURNED_WIDTH else INDEXED_ENTRY_COST
            per_row = entry_cost * len(rows.data) / max(1, len(self.points))
        return (VALUE_NS + FEATURE_NS * per_row) * (1.0 if self.dtype == np.float32 else FLOAT64_NS_FACTOR)

    @property
    def nbytes(self) -> int:
        """Memory of the points themselves."""
        if not isinstance(self.points, Vectors):
            return 0
        rows = self.points.rows
        return rows.values.nbytes if isinstance(rows, DenseRows) else rows.data.nbytes + rows.indices.nbytes

    def exact(self, index: Index) -> Points:
        """Points in float64 at ``index``, from the user's own data where the tiles are float32."""
        known = self.points if self.dtype == np.float64 else self._exact
        return self._prepare(self.X[index], np.float64) if known is None else known.take(index)

    def exact_bytes(self, rows: int) -> int:
        """Memory of that many points in float64."""
        as_stored = sparse.issparse(self.X) and not self._densify
        stored = self.X.nnz * 1.5 if as_stored else math.prod(self.X.shape)  # a sparse number with its column
        return int(8 * stored * rows / max(1, self.X.shape[0]))

    def score_errors(self, index: Index, sizes: Array, total: float) -> Array:
        """By how much scores of the points at ``index`` may be off, which float32 kernel values sum up to.

        ``sizes`` are the sums of the sizes of their terms, ``total`` is that of all multipliers that were added up.
        """
        assert self.float32_errors is not None, "float32 is used only with kernels that bound its error"
        relative = self.float32_errors[index]
        scale = float(np.max(self.diagonal, initial=0.0))  # "tiny" is relative to the largest kernel value
        return relative * sizes + FLOAT32_UNIT * scale * float(relative.max(initial=0.0)) * total

    def keep_exact(self) -> None:
        """Where float64 points take little memory: make all of them, for many small requests. Sets: exact points."""
        if self.dtype != np.float64 and self.exact_bytes(self.X.shape[0]) <= KEPT_BYTES:
            self._exact = self._prepare(copied(self.X), np.float64)

    def _dense_pays(self, budget: int) -> bool:
        X = self.X
        if not sparse.issparse(X):
            return False
        return narrow(storage.rows_of(X, X.dtype)) and 8 * X.shape[0] * X.shape[1] <= max(budget // 4, 1 << 20)

    def _prepare(self, X: Any, dtype: Any) -> Points:
        return self.kernel.prepare(self._form(X), dtype, self._centre)

    def _form(self, X: Any) -> Any:
        return X.toarray() if self._densify else X

    def _float32_serves(self, accuracy: float) -> bool:
        """Whether float32 points are good enough, sparse ones or at least dense ones. Sets: what ``_try`` sets."""
        form = self._form(self.X)
        if self._try(form, True, accuracy):
            return True
        became_sparse = isinstance(self.points, Vectors) and sparse.issparse(form) != isinstance(
            self.points.rows, CsrRows
        )
        return became_sparse and self._try(form, False, accuracy)

    def _try(self, form: Any, sparsely: bool, accuracy: float) -> bool:
        """Whether these float32 points are good enough. Sets: points, centre, float32_errors."""
        self.points, self._centre = self.kernel.roughly_placed(form, accuracy, sparsely)
        self.float32_errors = self.kernel.float32_errors(self.points)
        return self.float32_errors is not None and float32_serves(self.float32_errors, accuracy)


def float32_serves(errors: Array, accuracy: float) -> bool:
    """Whether float32 is good enough for nearly all points and not too bad for the others, which proofs recompute."""
    good = np.count_nonzero(errors <= FLOAT32_SHARE * accuracy)
    return bool(good >= FLOAT32_POINTS * len(errors) and errors.max(initial=0.0) <= accuracy)
