"""Weights, means and squared deviations of groups of rows: stable in one pass, and mergeable.

Sums of x and x^2 would lose all digits of a variance of 1 around a mean of 1e8. Here every group is seen from its own
first row, which loses nothing, and means and squares follow the rows by Welford's updates. Squares of values beyond
1e154 are infinite: whoever uses them says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, rows_of


class Moments(NamedTuple):
    """For every group its weight W = sum_i w_i, the mean m of its rows, and sum_i w_i (x_i - m)^2 of every feature."""

    weights: Array  # (groups,)
    means: Array  # (groups, features)
    squares: Array  # (groups, features)

    def merged(self, other: Moments) -> Moments:
        """The moments of both sets of rows (Chan, Golub and LeVeque 1979).

        With d = m_b - m_a: m = m_a + d W_b / W and S = S_a + S_b + d^2 W_a W_b / W.
        """
        weights = self.weights + other.weights
        share = np.divide(other.weights, weights, out=np.zeros_like(weights), where=weights > 0)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.means - self.means
            squares = self.squares + other.squares + self.weights[:, None] * share * apart**2
            means = self.means + share * apart
        return Moments(weights, means, squares)

    def pooled(self) -> Moments:
        """All groups as one."""
        weight = self.weights.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.weights @ self.means / weight
            squares = self.squares.sum(axis=0) + self.weights @ (self.means - mean) ** 2
        return Moments(np.array([weight]), mean[None], squares[None])


def grouped_moments(X: Array, groups: Array, weights: Array, count: int) -> Moments:
    """Moments of dense rows, those of group 0 to ``count`` - 1; all weights are above zero."""
    shape = count, X.shape[1]
    first_rows = np.zeros(shape)
    found = Moments(np.zeros(count), np.zeros(shape), np.zeros(shape))
    with np.errstate(over="ignore", invalid="ignore"):
        _follow(rows_of(X, X.dtype), groups, weights, first_rows, found)
    return found._replace(means=found.means + first_rows)


def moments(X: Any, weights: Array) -> Moments:
    """Moments of one group of rows, dense or CSR."""
    if sparse.issparse(X):
        return _sparse_moments(X, weights)
    return grouped_moments(X, np.zeros(len(weights), np.intp), weights, 1)


@jit()
def _follow(rows, groups, weights, first_rows, found):
    """W += w; d = x - m; m += d w / W; S += w d (x - m), x seen from the group's first row.

    Welford (1962), with weights West (1979). Writes: first_rows, found.
    """
    for i in range(len(groups)):
        group, weight = groups[i], weights[i]
        origin, mean, square = first_rows[group], found.means[group], found.squares[group]
        if found.weights[group] == 0.0:
            for k in range(len(origin)):
                origin[k] = rows.values[i, k]
        found.weights[group] += weight
        share = weight / found.weights[group]
        for k in range(len(origin)):
            x = rows.values[i, k] - origin[k]
            apart = x - mean[k]
            mean[k] += share * apart
            square[k] += weight * apart * (x - mean[k])


def _sparse_moments(X: Any, weights: Array) -> Moments:
    """In two passes over the stored entries: the mean, then deviations from it, which also correct it."""
    weight = weights.sum()
    entry_weights = np.repeat(weights, np.diff(X.indptr))

    def column_sums(values: Array) -> Array:
        return np.bincount(X.indices, weights=entry_weights * values, minlength=X.shape[1])

    mean = column_sums(X.data) / weight
    apart = X.data - mean[X.indices]
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    weight_of_zeros = np.where(full, 0.0, weight - column_sums(np.ones(len(X.data))))  # exactly 0 where there are none
    rest = column_sums(apart) - weight_of_zeros * mean
    with np.errstate(over="ignore", invalid="ignore"):
        squares = column_sums(apart**2) + weight_of_zeros * mean**2 - rest**2 / weight
    return Moments(np.array([weight]), (mean + rest / weight)[None], np.maximum(squares, 0.0)[None])
