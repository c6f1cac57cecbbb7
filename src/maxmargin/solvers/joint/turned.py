"""Few columns for the rows of a design: the same inner products in a basis that begins with the rows' mean.

A machine whose bias is part of the norm is not the same machine on centred data, and not on scaled data. But rotating
the rows a_i = (x_i, s) with an orthogonal matrix changes neither inner products nor norms: weights w of the rotated
rows are weights H w of the rows. With H the reflection that takes the mean m to its length in the last coordinate,

    H a_i = H (a_i - m) -+ ||m|| e_last,

what is rotated are deviations from the mean, so an offset of 1e4 costs them no digits; the matrix A A' would have lost
eight. The other columns are turned among themselves, once more orthogonally, into those of a singular value
decomposition: there are no more of them than rows, and each has its own size, so that large features do not round
small ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, svd

from maxmargin.core import limits
from maxmargin.core.rows import Array, CsrRows, as_csr
from maxmargin.problems.design import Design
from maxmargin.solvers.contract import Overflow


class Turned(NamedTuple):
    """Rows L with L L' = A A', and the basis with A' B = basis (L' B)."""

    rows: Array
    basis: Array


def turned(design: Design) -> Turned:
    """The rows of ``design`` in a basis that begins with their mean; at most one column more than there are rows."""
    X = as_csr(design.rows).toarray() if isinstance(design.rows, CsrRows) else design.rows.values
    X = X.astype(np.float64)
    mean = X.mean(axis=0)
    mean += (X - mean).mean(axis=0)  # the first sum has rounded
    apart = X - mean
    if design.scale:
        mean, apart = np.append(mean, design.scale), np.column_stack([apart, np.zeros(len(X))])
    normal = mean.copy()  # of the mirror: Householder's, with the sign that adds
    length = np.copysign(np.linalg.norm(mean), mean[-1])
    normal[-1] += length
    normal /= np.linalg.norm(normal) or 1.0
    rows = apart - 2.0 * np.outer(apart @ normal, normal)
    rows[:, -1] -= length
    # The mean's column stays as it is: its size would round the others.
    limits.checkpoint()
    try:
        left, sizes, right = svd(rows[:, :-1], full_matrices=False)
    except LinAlgError as problem:
        raise Overflow("the singular vectors of the rows cannot be worked out") from problem
    directions = np.zeros((design.d, len(sizes) + 1))
    directions[:-1, :-1], directions[-1, -1] = right.T, 1.0
    basis = directions - 2.0 * np.outer(normal, normal @ directions)
    return Turned(np.column_stack([left * sizes, rows[:, -1]]), basis)
