"""Whether a kernel matrix is one: symmetric and positive semidefinite, tested on a sample where there are many rows."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from maxmargin.core.rows import Array
from maxmargin.kernels.mercer import EIGENVALUE_SLACK
from maxmargin.problems.definiteness import Definiteness

ALL_ROWS = 2000  # up to here all rows are tested for positive semidefiniteness,
SAMPLED_ROWS = 1000  # beyond it this many: Cholesky and the smallest eigenvalue of 1000 rows take 0.1 s
ASYMMETRY_SLACK = 1e-5  # matrices that were stored as float32 are symmetric to about 1e-7
GROWTH = 1.2  # what the smallest eigenvalue of all rows may exceed that of a sample by, beyond their number


def sample(n: int, prefer: Array) -> Array:
    """All of ``n`` rows, or some where there are many: preferred ones and an even spread."""
    if n <= ALL_ROWS:
        return np.arange(n)
    half = SAMPLED_ROWS // 2
    spread = np.linspace(0, n - 1, SAMPLED_ROWS - min(half, len(prefer))).astype(np.int64)
    return np.unique(np.concatenate([prefer[:half], spread]))


def definiteness_of(K: Array, n: int) -> Definiteness:
    """What K, the values among all or some of ``n`` rows, says of the whole matrix."""
    scale = float(np.abs(K).max(initial=0.0))
    if np.abs(K - K.T).max(initial=0.0) > ASYMMETRY_SLACK * scale:
        return Definiteness(False, symmetric=False, note="the Gram matrix is not symmetric")
    if not _semidefinite(K, scale):
        return Definiteness(False, note="the Gram matrix is not positive semidefinite")
    if len(K) < n:
        return Definiteness(True, note=f"positive semidefiniteness was checked on {len(K)} of {n} rows")
    return Definiteness(True)


def _semidefinite(K: Array, scale: float) -> bool:
    """K + slack I has a Cholesky factor: a quick test of positive semidefiniteness up to rounding."""
    slack = EIGENVALUE_SLACK * len(K) * scale
    try:
        linalg.cholesky(K + slack * np.eye(len(K)), lower=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def smallest_eigenvalue(K: Array, n: int) -> float:
    """Of the matrix of ``n`` rows, estimated from K among some of them (eigenvalues grow with their number)."""
    smallest = float(linalg.eigvalsh(0.5 * (K + K.T), subset_by_index=(0, 0))[0])
    return smallest if len(K) == n else GROWTH * smallest * n / len(K)
