"""From an estimator's parameters to a kernel object."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import Precomputed, from_function
from maxmargin.kernels.vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid

KERNEL_NAMES = ("linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed")
ROWS_AT_ONCE = 4096


def is_kernel(value: Any) -> bool:
    """Whether ``value`` may be given as a kernel."""
    if isinstance(value, str):
        return value in KERNEL_NAMES
    return isinstance(value, Kernel) or (callable(value) and not isinstance(value, type))


class Takes(enum.Enum):
    """What X may hold, as the kernel wants it."""

    VECTORS = "vectors of numbers"
    OBJECTS = "vectors, or objects that only the kernel understands"
    VALUES = "kernel values: a point is a row of them, one for each training row"


def taken_by(given: Any) -> Takes:
    """What X may hold with a kernel: an object, a function or a name."""
    if isinstance(given, Kernel):
        return Takes.VALUES if given.of_positions else Takes.OBJECTS if given.of_objects else Takes.VECTORS
    if isinstance(given, str):
        return Takes.VALUES if given == "precomputed" else Takes.VECTORS
    return Takes.OBJECTS if callable(given) else Takes.VECTORS


def named_kernel(name: str, degree: int, coef0: float) -> Kernel:
    """The kernel of a name, its width left open."""
    made = {
        "linear": Linear(),
        "poly": Polynomial(degree, coef0=coef0),
        "rbf": RBF(),
        "sigmoid": Sigmoid(theta=coef0),
        "laplacian": Laplacian(),
        "precomputed": Precomputed(),
    }
    return made[name]


def resolve_kernel(given: Any, degree: int, coef0: float, gamma: Any, X: Any, weights: Array) -> Kernel:
    """The kernel to use on ``X``: widths that were left open are set from ``gamma``."""
    if isinstance(given, str):
        kernel = named_kernel(given, degree, coef0)
    elif isinstance(given, Kernel):
        kernel = given
    else:
        return from_function(given, X)
    numeric = not isinstance(kernel, Linear | Precomputed) and X.dtype.kind == "f"
    return kernel.resolved(choose_gamma(gamma, X, weights)) if numeric else kernel


def choose_gamma(gamma: Any, X: Any, weights: Array) -> float:
    """1 / (d var(X)) with the weighted variance of all entries for "scale", 1 / d for "auto", or the number."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        with np.errstate(over="ignore"):  # what overflows here is refused, with its row, when the kernel is set up
            variance = entry_variance(X, weights)
        # Twelve digits, so that weights and repeated rows, whose sums round differently, give the same width.
        return float(f"{1.0 / (X.shape[1] * variance):.12g}") if 0 < variance < np.inf else 1.0
    return float(gamma)


def entry_variance(X: Any, weights: Array) -> float:
    """Variance of the entries of X, each row counted by its weight, in float64 and without a copy of X."""
    total = weights.sum() * X.shape[1]
    if sparse.issparse(X):
        rows = np.repeat(weights, np.diff(X.indptr))
        values = X.data.astype(np.float64)
        mean = float(rows @ values) / total
        stored = float(rows @ (values - mean) ** 2)
        return (stored + (total - rows.sum()) * mean**2) / total
    mean = float(weights @ X.sum(axis=1, dtype=np.float64)) / total
    square = 0.0
    for first in range(0, X.shape[0], ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        square += float(weights[part] @ ((X[part] - mean) ** 2).sum(axis=1, dtype=np.float64))
    return square / total
