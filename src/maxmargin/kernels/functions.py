"""Kernels given from outside: a matrix, a function that makes matrices, a function of two objects."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Complex, Real
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.points import Entries, Objects, Points

DIAGONAL_CALLS = 64  # of a function of collections, which cannot be asked for a diagonal alone


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
        limits.checkpoint()  # a call may take long
        shape = (len(A), len(B))
        try:
            return _finite(np.array(real_numbers(self.function(A.items, B.items), shape), np.float64))
        except Unfit as found:
            raise ValueError(
                f"The kernel function returned {found} for {len(A)} and {len(B)} points; it must return real numbers "
                f"in an array of shape {shape}."
            ) from None

    def diagonal(self, A: Objects) -> Array:
        side = max(32, -(-len(A) // DIAGONAL_CALLS))
        blocks = (A.take(slice(first, first + side)) for first in range(0, len(A), side))
        return np.concatenate([np.diag(self.pairwise(some, some)) for some in blocks])


@dataclass(frozen=True)
class PairFunction(FunctionKernel):
    """A function of two objects that returns their similarity."""

    function: Callable[[Any, Any], float]

    def pairwise(self, A: Objects, B: Objects) -> Array:
        return _finite(np.array([[self._value(a, b) for b in B.items] for a in A.items]))

    def diagonal(self, A: Objects) -> Array:
        return _finite(np.array([self._value(a, a) for a in A.items]))

    def _value(self, a: Any, b: Any) -> float:
        limits.checkpoint()
        value = self.function(a, b)
        if isinstance(value, float):
            return value
        try:
            return float(real_numbers(value, ()))
        except Unfit as found:
            raise ValueError(
                f"The kernel function returned {found} for {reprlib.repr(a)} and {reprlib.repr(b)}; it must return "
                "one real number."
            ) from None


class Unfit(Exception):
    """What the user's function returned, in words, where that cannot be kernel values."""


def real_numbers(answer: Any, shape: tuple[int, ...]) -> Array:
    """What the user's function returned, as an array of numbers of the given shape.

    NumPy alone would read None as NaN and text as the number that it spells, and drop imaginary parts.
    """
    try:
        values = np.asarray(answer.toarray() if sparse.issparse(answer) else answer)
    except ValueError:
        raise Unfit("lists of different lengths") from None
    if values.dtype.kind == "O" and all(map(_is_real, values.flat)):  # fractions, decimals, large integers
        values = values.astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise Unfit(_in_words(next((item for item in values.flat if not _is_real(item)), answer)))
    if values.shape != shape:
        raise Unfit(f"an array of shape {values.shape}" if values.ndim else f"a single number ({values})")
    return values


def _is_real(value: Any) -> bool:
    """Whether it is a number without an imaginary part, of whatever kind: ``float`` alone would read text too."""
    return isinstance(value, Real) or (
        hasattr(value, "__float__") and not isinstance(value, Complex | str | bytes | np.ndarray)
    )


def _in_words(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, str | bytes):
        return f"text ({str(value)[:30]!r})"
    if isinstance(value, Complex):
        return f"complex numbers ({value}, for one)"
    return f"an object of type {type(value).__name__}"


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
    of_matrices = _misfit(function, X[:1], X[:2], (1, 2)) or _misfit(function, X[:2], X[:1], (2, 1))
    if not of_matrices:
        return GramFunction(function)
    of_pairs = _misfit(function, X[0], X[-1], ())
    if not of_pairs:
        return PairFunction(function)
    raise ValueError(
        f"The kernel function fits neither convention. Called with 1 and 2 points, or with 2 and 1, it {of_matrices}, "
        "where real numbers in an array of shape (1, 2) or (2, 1) were expected; called with two single points it "
        f"{of_pairs}, where a real number was expected."
    )


def _misfit(function: Callable[[Any, Any], Any], a: Any, b: Any, shape: tuple[int, ...]) -> str:
    """What is wrong with what the function answers, in words; empty where nothing is."""
    try:
        real_numbers(function(a, b), shape)
    except Unfit as found:
        return f"returned {found}"
    except Exception as problem:  # the user's function may fail in any way on input it was not made for
        return f"raised {type(problem).__name__}: {problem}"
    return ""
