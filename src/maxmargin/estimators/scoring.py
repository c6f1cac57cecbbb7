"""Decision values of new points: kernel blocks against the support vectors, in row chunks on the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core.rows import Array
from maxmargin.core.threads import blas_held, thread_map
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.points import Entries, centre_of, narrow

ROWS = 256
VECTORS = 2048


def kernel_sums(kernel: Kernel, X: Any, vectors: Any, groups: list[Array], n_jobs: int) -> list[Array]:
    """K(X, vectors of group g) @ groups[g] for each group; the vectors are in the order of the groups.

    Each group is a matrix with one row per vector and one column per output. Vectors are rows of data, or points that
    are ready to be compared.
    """
    prepare = _preparation(kernel, X, vectors)
    right = vectors if isinstance(vectors, Entries) else prepare(vectors)
    edges = np.cumsum([0] + [len(group) for group in groups])
    sums = [np.zeros((X.shape[0], group.shape[1])) for group in groups]

    def chunk(first: int) -> None:
        rows = slice(first, first + ROWS)
        left = prepare(X[rows])
        for group, total, start, stop in zip(groups, sums, edges[:-1], edges[1:], strict=True):
            for begin in range(start, stop, VECTORS):
                part = slice(begin, min(begin + VECTORS, stop))
                K = kernel.block(left, right.take(part))
                total[rows] += K @ group[part.start - start : part.stop - start]

    with blas_held():
        # The user's functions are called from one thread.
        thread_map(chunk, range(0, X.shape[0], ROWS), 1 if kernel.of_objects else n_jobs)
    return sums


def _preparation(kernel: Kernel, X: Any, vectors: Any) -> Callable[[Any], Any]:
    """How to bring both sides into one form: dense where that is narrow, centred where the kernel allows it."""
    if not sparse.issparse(X) and not sparse.issparse(vectors):
        centre = centre_of(vectors) if kernel.translation_invariant and len(vectors) else None
        return lambda rows: kernel.prepare(rows, np.float64, centre)
    stored = sparse.csr_array(vectors if sparse.issparse(vectors) else X)
    if narrow(storage.rows_of(stored, np.float64)):
        return lambda rows: kernel.prepare(rows.toarray() if sparse.issparse(rows) else rows)
    return lambda rows: kernel.prepare(sparse.csr_array(rows))
