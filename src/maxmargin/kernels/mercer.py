"""Mercer's condition: is this a kernel? A similarity is one if its Gram matrix is symmetric and positive semidefinite.

A finite sample can refute the condition but never prove it for all data; the report says what was seen on the sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import from_function
from maxmargin.kernels.points import as_objects, holds_objects
from maxmargin.kernels.vectors import Sigmoid

# Rounding in K moves an eigenvalue by at most about n u ||K||: anything above minus this much counts as zero.
EIGENVALUE_SLACK = 1e-10


class MercerReport(NamedTuple):
    """What the Gram matrix of the sample shows."""

    symmetric: bool
    asymmetry: float
    smallest_eigenvalue: float
    largest_eigenvalue: float
    positive_semidefinite: bool
    rows: int

    def __repr__(self) -> str:
        verdict = "positive semidefinite" if self.positive_semidefinite else "NOT positive semidefinite"
        shape = "symmetric" if self.symmetric else f"not symmetric (largest difference {self.asymmetry:.3g})"
        return (
            f"MercerReport: the Gram matrix of {self.rows} rows is {shape} and {verdict}; "
            f"eigenvalues from {self.smallest_eigenvalue:.6g} to {self.largest_eigenvalue:.6g}"
        )


def mercer(kernel: Kernel | Any, X: Any | None = None) -> MercerReport:
    """Check Mercer's condition for a kernel on the rows of ``X``, or for a given Gram matrix."""
    if isinstance(kernel, str):
        raise ValueError(f"mercer needs a kernel with its parameters, such as RBF(gamma=0.5), not the name {kernel!r}.")
    if isinstance(kernel, Kernel) or callable(kernel):
        if X is None:
            raise ValueError("mercer(kernel, X) needs the rows X on which to check the kernel.")
        if not isinstance(kernel, Kernel):
            X = as_objects(X) if holds_objects(X) else np.asarray(X)
            kernel = from_function(kernel, X)
        K = kernel(X)
    else:
        K = np.asarray(kernel, np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A Gram matrix is square; this one has shape {K.shape}.")
    if not np.isfinite(K).all():
        raise ValueError("The Gram matrix contains NaN or infinity.")
    scale = float(np.abs(K).max(initial=0.0))
    asymmetry = float(np.abs(K - K.T).max(initial=0.0))
    eigenvalues = linalg.eigvalsh(0.5 * (K + K.T))
    symmetric = asymmetry <= EIGENVALUE_SLACK * scale
    return MercerReport(
        symmetric=symmetric,
        asymmetry=asymmetry,
        smallest_eigenvalue=float(eigenvalues[0]),
        largest_eigenvalue=float(eigenvalues[-1]),
        positive_semidefinite=bool(symmetric and eigenvalues[0] >= -EIGENVALUE_SLACK * len(K) * scale),
        rows=len(K),
    )


class TanhRegion(NamedTuple):
    """Smallest eigenvalue of tanh(kappa x'z + theta) by kappa (rows) and theta (columns), and where it is >= 0."""

    kappas: Array
    thetas: Array
    smallest_eigenvalue: Array
    positive_semidefinite: Array


def tanh_region(X: Any, kappas: Any, thetas: Any) -> TanhRegion:
    """Map where the sigmoid kernel satisfies Mercer's condition on the rows of ``X``."""
    kappas, thetas = np.asarray(kappas, np.float64), np.asarray(thetas, np.float64)
    reports = [[mercer(Sigmoid(kappa, theta), X) for theta in thetas] for kappa in kappas]
    return TanhRegion(
        kappas,
        thetas,
        np.array([[report.smallest_eigenvalue for report in row] for row in reports]),
        np.array([[report.positive_semidefinite for report in row] for row in reports]),
    )
