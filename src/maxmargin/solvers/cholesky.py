"""Cholesky factors of matrices that rounding may have made indefinite, and solutions with them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from maxmargin.core.rows import Array

RAISED = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8)  # of its diagonal are added to a matrix that has no factor

_POTRF, _POTRS = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)


def factor(K: Array, diagonal: Array, room: Array | None = None) -> Array | None:
    """The triangle L of L L' = K with another ``diagonal``, raised by as little as lets it exist; None without one.

    K is C-contiguous, and only its upper triangle is read. L is written to ``room`` where that is given.
    """
    at = np.diag_indices_from(K)
    raised = np.empty(K.shape) if room is None else room
    for little in RAISED:
        raised[:] = K
        raised[at] = (1.0 + little) * diagonal
        L, failed = _POTRF(raised.T, lower=1, overwrite_a=1, clean=0)
        if not failed and np.isfinite(np.diag(L)).all():  # OpenBLAS factors what is no number
            return L
    return None


def solution(L: Array, right: Array) -> Array:
    """x of L L'x = right, for one or several columns."""
    return _POTRS(L, right, lower=1)[0]
