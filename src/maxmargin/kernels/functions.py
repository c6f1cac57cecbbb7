"""Kernels given from outside: a matrix, a function that makes matrices, a function of two objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.points import Entries, Objects, Points


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The data are the kernel values: row i of X holds K(x_i, training points)."""

    @property
    def of_positions(self) -> bool:
        return True

    def prepare(self, X: Any, dtype: Any = np.float64, centre: Array | None = None) -> Points:
        return Entries(X, np.arange(X.shape[0]))

    def rows(self, X: Any, index: Array) -> Any:
        return X[np.ix_(index, index)]

    def pairwise(self, A: Entries, B: Entries) -> Array:
        return np.asarray(A.matrix[np.ix_(A.at, B.at)], np.float64)

    def diagonal(self, A: Entries) -> Array:
        return np.asarray(A.matrix[A.at, A.at], np.float64)


class FunctionKernel(Kernel):
    """The user's own function, of whatever it understands: abstract."""

    @property
    def of_objects(self) -> bool:
        return True

    def prepare(self, X: Any, dtype: Any = np.float64, centre: Array | None = None) -> Points:
        return Objects(X)


@dataclass(frozen=True)
class GramFunction(FunctionKernel):
    """A function of two collections that returns the whole matrix (scikit-learn's convention)."""

    function: Callable[[Any, Any], Any]

    def pairwise(self, A: Objects, B: Objects) -> Array:
        K = np.array(self.function(A.items, B.items), dtype=np.float64)
        if K.shape != (len(A), len(B)):
            raise ValueError(
                f"The kernel function returned an array of shape {K.shape} for {len(A)} and {len(B)} points; "
                f"it must return shape ({len(A)}, {len(B)})."
            )
        return _finite(K)

    def diagonal(self, A: Objects) -> Array:
        blocks = (A.take(slice(first, first + 32)) for first in range(0, len(A), 32))
        return np.concatenate([np.diag(self.pairwise(some, some)) for some in blocks])


@dataclass(frozen=True)
class PairFunction(FunctionKernel):
    """A function of two objects that returns their similarity."""

    function: Callable[[Any, Any], float]

    def pairwise(self, A: Objects, B: Objects) -> Array:
        return _finite(np.array([[float(self.function(a, b)) for b in B.items] for a in A.items]))

    def diagonal(self, A: Objects) -> Array:
        return _finite(np.array([float(self.function(a, a)) for a in A.items]))


def _finite(K: Array) -> Array:
    bad = ~np.isfinite(K)
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"The kernel function returned {K[where]} at position {where} of a block of shape {K.shape}; "
            "kernel values must be finite numbers."
        )
    return K


def from_function(function: Callable[[Any, Any], Any], X: Any) -> Kernel:
    """Find out by a small trial whether ``function`` makes matrices or compares two objects.

    The matrix convention is tried first, on 1 and 2 points and the other way round, so that a function which only
    happens to accept matrices (a @ b for rows of length 2, say) is not taken for one that makes them.
    """
    tries = [(X[:1], X[:2]), (X[:2], X[:1])]
    try:
        answers = [np.asarray(function(left, right), dtype=np.float64).shape for left, right in tries]
        if answers == [(1, 2), (2, 1)]:
            return GramFunction(function)
        matrix_answer = f"arrays of shape {answers[0]} and {answers[1]}"
    except Exception as problem:  # the user's function may fail in any way on input it was not made for
        matrix_answer = f"{type(problem).__name__}: {problem}"
    try:
        value = np.asarray(function(X[0], X[1]), dtype=np.float64)
        if value.ndim == 0:
            return PairFunction(function)
        pair_answer = f"an array of shape {value.shape}"
    except Exception as problem:
        pair_answer = f"{type(problem).__name__}: {problem}"
    raise ValueError(
        "The kernel function fits neither convention. Called with 1 and 2 points, and with 2 and 1, it gave "
        f"{matrix_answer}, where matrices of shape (1, 2) and (2, 1) were expected; called with two single points it "
        f"gave {pair_answer}, where a number was expected."
    )
