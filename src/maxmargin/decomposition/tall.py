"""Algebra of tall matrices, many rows and few columns, in pieces of rows on the pool: the same bits for every n_jobs.

Left to a BLAS with several threads these products took 20 times as long while another process used a core.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map

ROWS = 2048
# Directions whose squared length is below this share of the longest one's are rounding and are left out.
LEAST_SQUARE = 1e-13


def _parts(A: Array) -> list[slice]:
    return [slice(first, first + ROWS) for first in range(0, len(A), ROWS)]


def inner(A: Array, B: Array, n_jobs: int) -> Array:
    """A'B, the pieces added in order."""
    return np.sum(thread_map(lambda part: A[part].T @ B[part], _parts(A), n_jobs), axis=0)


def combined(A: Array, Y: Array, n_jobs: int) -> Array:
    """A Y, in new memory."""
    out = np.empty((len(A), Y.shape[1]))

    def piece(part: slice) -> None:
        np.matmul(A[part], Y, out=out[part])

    thread_map(piece, _parts(A), n_jobs)
    return out


def orthonormal(W: Array, Q: Array | None, n_jobs: int) -> Array:
    """An orthonormal basis of the part of W that is orthogonal to the orthonormal columns of Q; it may be smaller.

    W V D^(-1/2) with W'W = V D V', which needs products alone (Stathopoulos and Wu, SIAM J. Sci. Comput. 23, 2002).
    Twice, because the first time leaves what W'W rounds away.
    """
    for _ in range(2):
        if Q is not None:
            W = W - combined(Q, inner(Q, W, n_jobs), n_jobs)
        lengths = np.sqrt(np.einsum("ij,ij->j", W, W))
        W = W[:, lengths > 0] / lengths[lengths > 0]
        if not W.shape[1]:
            return W
        squares, V = linalg.eigh(inner(W, W, n_jobs))
        found = squares > LEAST_SQUARE * squares.max(initial=0.0)
        W = combined(W, V[:, found] / np.sqrt(squares[found]), n_jobs)
    return W
