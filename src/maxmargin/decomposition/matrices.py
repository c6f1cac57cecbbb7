"""Kernel matrices by what they do to a few columns: K V, and about the mean in feature space H K H V.

H = I - 11'/n takes the mean of every column off. It is applied to V and to the product; K itself stays as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map
from maxmargin.decomposition.tall import combined, inner
from maxmargin.gram import Gram
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.kernels.points import centre_of, shifted
from maxmargin.machines.refusals import refuse_asymmetric

# Relative error that float32 kernel values may have. The residuals of what they find are worked out in float64, and
# where these are too large float64 values go on: see ``spectrum``.
VALUE_ACCURACY = 1e-3
PART_ROWS = 512
UNLIMITED = 1 << 62


class Matrix(Protocol):
    """A symmetric matrix K."""

    diagonal: Array
    dtype: Any  # of its values

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    def product(self, V: Array, exact: bool = False) -> Array:
        """K V in float64; with ``exact`` of values in float64."""
        ...

    def release(self) -> None:
        """Give memory back."""
        ...


class StoredMatrix(Matrix, Protocol):
    """A symmetric matrix with all its values in memory."""

    def whole(self) -> Array:
        """K; do not write."""
        ...


class Factored:
    """K = X X', never made: K V = X (X'V)."""

    dtype = np.dtype(np.float64)

    def __init__(self, X: Any, n_jobs: int) -> None:
        self.X, self._n_jobs = X if sparse.issparse(X) else np.asarray(X, np.float64), n_jobs
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", self.X, self.X)
        self.diagonal = np.asarray(squares, np.float64).ravel()

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    def product(self, V: Array, exact: bool = False) -> Array:
        """X (X'V)."""
        if sparse.issparse(self.X):
            return np.asarray(self.X @ np.asarray(self.X.T @ V))
        return combined(self.X, inner(self.X, V, self._n_jobs), self._n_jobs)

    def release(self) -> None:
        """There is nothing to give back."""


class Given:
    """K itself, the user's own array."""

    dtype = np.dtype(np.float64)

    def __init__(self, K: Array, n_jobs: int) -> None:
        self._K, self._n_jobs, self.diagonal = K, n_jobs, np.asarray(np.diagonal(K), np.float64)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self._K)

    def whole(self) -> Array:
        """The array."""
        return self._K

    def product(self, V: Array, exact: bool = False) -> Array:
        """K V, some rows at a time: float32 ones are turned into float64 piece by piece."""
        out = np.empty((self.n, V.shape[1]))

        def piece(first: int) -> None:
            part = slice(first, first + PART_ROWS)
            np.matmul(self._K[part], V, out=out[part])

        thread_map(piece, range(0, self.n, PART_ROWS), self._n_jobs)
        return out

    def release(self) -> None:
        """The array stays."""


class KernelRows(NamedTuple):
    """Training rows with their kernel, and what their matrix may take."""

    kernel: Kernel
    X: Any
    center: bool
    budget: int
    n_jobs: int

    def matrix(self, float32: bool = True) -> Matrix:
        """K for products, within the budget; with ``float32`` its values may be that, where their error is bounded."""
        if isinstance(self.kernel, Linear):
            return Factored(self.moved(), self.n_jobs)
        if isinstance(self.kernel, Precomputed):
            return self.stored()
        return self._gram(self.X, VALUE_ACCURACY if float32 else 0.0, self.budget)

    def stored(self) -> StoredMatrix:
        """K in float64, all of it whatever the budget says."""
        X = self.moved() if isinstance(self.kernel, Linear) else self.X
        gram = self._gram(X, 0.0, UNLIMITED)
        return Given(X, self.n_jobs) if isinstance(self.kernel, Precomputed) else gram

    def _gram(self, X: Any, accuracy: float, budget: int) -> Gram:
        """The kernel matrix; an error where values that came from outside are not symmetric."""
        gram = Gram(self.kernel, X, accuracy, budget, self.n_jobs)
        if self.kernel.of_positions or self.kernel.of_objects:
            refuse_asymmetric(gram, self.kernel)
        return gram

    def moved(self) -> Any:
        """The rows about their mean where K is centred, which makes no difference to it but for less cancellation."""
        centre = centre_of(self.X) if self.center else None
        return self.X if centre is None else shifted(self.X, centre, np.float64)


class Centred:
    """A = H K H, or K itself where nothing is to be centred."""

    def __init__(self, matrix: Matrix, center: bool) -> None:
        self.matrix, self.centers = matrix, center

    def product(self, V: Array, exact: bool = False) -> Array:
        """A V."""
        return self.about_mean(self.matrix.product(self.about_mean(V), exact))

    def about_mean(self, V: Array) -> Array:
        """H V."""
        return V - V.mean(axis=0) if self.centers else V
