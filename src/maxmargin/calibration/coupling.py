"""Probabilities of k classes from those of their pairs (Wu, Lin and Weng, JMLR 5, 2004, their second method).

With r_ij the probability of class i against class j, p minimises

    sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2    subject to sum_i p_i = 1,

so Q p = lambda e with Q_ii = sum_{j != i} r_ji^2 and Q_ij = -r_ji r_ij, whose solution has no negative entry. As
(Q + e e') p = (lambda + 1) e has the same solution up to its scale, one positive definite system per row is all.
"""

from __future__ import annotations

import itertools

import numpy as np

from maxmargin.core.rows import Array

LEAST = 1e-7  # of a pair's probability: with 0 and 1 the system can be singular
DIGITS = (
    12  # after the point: else the rounding of LAPACK, another one on each processor, decides between equal classes
)
AT_ONCE = 1 << 22  # entries of the systems that are solved together: 32 MB


def coupled(pairs: Array, n_classes: int) -> Array:
    """P(class | x), (rows, classes), from P(first | either, x) of all pairs (0, 1), (0, 2), ..., (1, 2), ..."""
    shares = np.empty((len(pairs), n_classes))
    step = max(1, AT_ONCE // n_classes**2)
    for begin in range(0, len(pairs), step):
        part = slice(begin, begin + step)
        shares[part] = _solved(np.clip(pairs[part], LEAST, 1.0 - LEAST), n_classes)
    return shares


def _solved(pairs: Array, n_classes: int) -> Array:
    first, second = np.array(list(itertools.combinations(range(n_classes), 2))).T
    Q = np.zeros((len(pairs), n_classes, n_classes))
    Q[:, first, second] = Q[:, second, first] = -pairs * (1.0 - pairs)
    for number, (i, j) in enumerate(zip(first, second, strict=True)):
        Q[:, i, i] += (1.0 - pairs[:, number]) ** 2
        Q[:, j, j] += pairs[:, number] ** 2
    p = np.linalg.solve(Q + 1.0, np.ones((len(pairs), n_classes, 1)))[:, :, 0]
    p = np.round(np.maximum(p, 0.0), DIGITS)  # what is below is rounding
    return p / p.sum(axis=1, keepdims=True)
