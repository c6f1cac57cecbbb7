"""Few columns G with G G' = K: a pivoted Cholesky factor, from as many rows of the kernel matrix as it has columns.

The row i with the largest error d_i = K_ii - |g_i|^2 is next:

    column = (K e_i - G g_i) / sqrt(d_i),    d <- d - column^2.

K - G G' stays positive semidefinite, so no entry of it exceeds the largest d_i, and no score K beta is off by more than
max d_i sum |beta| (Fine and Scheinberg, JMLR 2, 2001). The linear kernel ends after as many columns as it has features.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.problems.box import GramMatrix

SAMPLE = 2  # rows for each column that G may have: they tell whether it can have so few
FLOAT32_NOISE = 1e-6  # of the largest K_ii: what float32 values add to the eigenvalues of a sample
EXACT_COLUMNS = 256  # of K, worked out in float64 at a time where tiles are float32

(_PSTRF,) = get_lapack_funcs(("pstrf",), dtype=np.float64)


def low_rank(gram: GramMatrix, most: int, error: float) -> Array | None:
    """G with no d_i above ``error``; None where that takes more than ``most`` columns."""
    left = gram.diagonal.copy()
    columns = np.zeros((most + 1, gram.n))
    for rank in range(most + 1):
        limits.checkpoint()
        pivot = int(np.argmax(left))
        if left[pivot] <= error:
            return np.ascontiguousarray(columns[: max(1, rank)].T)
        new, known = columns[rank], columns[:rank]
        new[:] = (_column(gram, pivot) - known[:, pivot] @ known) / np.sqrt(left[pivot])
        left = np.maximum(left - new**2, 0.0)
        left[pivot] = 0.0  # but for rounding
    return None


def needs_more(gram: GramMatrix, most: int, error: float) -> bool:
    """Whether some of the rows alone already need more than ``most`` columns."""
    rows = np.unique(np.linspace(0, gram.n - 1, SAMPLE * most).astype(np.int64))
    picked = gram.submatrix(rows)
    K = picked.astype(np.float64)
    noise = FLOAT32_NOISE * float(np.max(np.diag(K))) if picked.dtype == np.float32 else 0.0
    gram.give_back(picked)
    return bool(_PSTRF(K, tol=max(error, noise), lower=1)[2] > most)


def values_among(gram: GramMatrix, rows: Array) -> Array:
    """K among ``rows`` in float64; read only."""
    if gram.dtype == np.float64:
        return gram.whole() if len(rows) == gram.n else gram.submatrix(rows)
    K = np.empty((len(rows), len(rows)))
    for begin in range(0, len(rows), EXACT_COLUMNS):
        part = slice(begin, begin + EXACT_COLUMNS)
        K[:, part] = _exact(gram, rows, rows[part])
    return K


def _column(gram: GramMatrix, row: int) -> Array:
    """K e_row in float64."""
    if gram.dtype != np.float64:
        return _exact(gram, np.arange(gram.n), np.array([row]))[:, 0]
    column = np.zeros(gram.n)
    gram.accumulate(np.array([row]), np.ones(1), column)  # which keeps it where there is room
    return column


def _exact(gram: GramMatrix, rows: Array, columns: Array) -> Array:
    """K[rows][:, columns] in float64, whatever the type of the tiles."""
    limits.checkpoint()
    picked = np.zeros((gram.n, len(columns)))
    picked[columns, np.arange(len(columns))] = 1.0
    return gram.exact_scores(picked, rows)
