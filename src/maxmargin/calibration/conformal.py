"""Cross-conformal prediction: sets and intervals that contain the truth with a promised frequency.

The rows are divided into folds, and a machine is trained without each. Rows of a fold and new points are compared by
the machine that has seen neither.

Sets (Vovk, Ann. Math. Artif. Intell. 74, 2015): a label y stays in the set of x where

    (1 + number of rows i with a_i >= a_k(i)(x, y)) / (n + 1) > 1 - coverage,

a_i being how badly the machine without the fold k(i) of row i fits its label, and a_k(x, y) how badly it fits y at x.

Intervals (Barber, Candes, Ramdas and Tibshirani, Ann. Statist. 49, 2021, CV+): with r_i = |y_i - f_k(i)(x_i)|, from the
order statistic floor((1 - coverage)(n + 1)) of f_k(i)(x) - r_i to ceil(coverage (n + 1)) of f_k(i)(x) + r_i.

Both cover at least 2 coverage - 1 of exchangeable rows whatever the machine, and near ``coverage`` of them where
leaving a fold out changes it little. Rows count by their weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array

# Misfits that differ by this share of the largest one are equal: that of a row of the fit, worked out once more, must
# not decide by its last digit whether the row fits as badly as itself.
SAME_MISFIT = 1e-9
BISECTIONS = 200  # halve any interval of float64 numbers to two neighbours; most end after some 60


class Ranked(NamedTuple):
    """Numbers of the rows of one fold in ascending order, and how much weight lies below each and in all."""

    values: Array
    below: Array  # one entry more than values

    @property
    def total(self) -> float:
        """The weight of the fold."""
        return float(self.below[-1])

    @property
    def slack(self) -> float:
        """By how much equal numbers may differ."""
        return SAME_MISFIT * float(np.abs(self.values).max(initial=0.0))

    def weight_up_to(self, limit: Array) -> Array:
        """The weight of the rows with values <= limit."""
        return self.below[np.searchsorted(self.values, limit, side="right")]

    def weight_from(self, limit: Array) -> Array:
        """The weight of the rows with values >= limit."""
        return self.total - self.below[np.searchsorted(self.values, limit, side="left")]


def ranked(values: Array, weights: Array) -> Ranked:
    """Numbers of some rows, ready to be counted."""
    order = np.argsort(values, kind="stable")
    return Ranked(values[order], np.concatenate([[0.0], np.cumsum(weights[order])]))


def set_members(misfits: list[Ranked], misfits_of_points: list[Array], coverage: float) -> Array:
    """Which labels belong to the sets of points, a flag each: (points, labels).

    ``misfits`` are the a_i of each fold, ``misfits_of_points`` the a_k(x, y) of its machine, (points, labels).
    """
    worse = sum(fold.weight_from(here - fold.slack) for fold, here in zip(misfits, misfits_of_points, strict=True))
    n = sum(fold.total for fold in misfits)
    return (1.0 + np.asarray(worse)) / (n + 1.0) > 1.0 - coverage


def interval_bounds(residuals: list[Ranked], predictions: Array, coverage: float) -> tuple[Array, Array]:
    """Lower and upper ends of the intervals of points; infinite where there are too few rows for the coverage.

    ``residuals`` are the r_i of each fold, ``predictions`` those of its machine, (folds, points).
    """
    n = sum(fold.total for fold in residuals)
    rank = coverage * (n + 1.0)
    if rank > n:
        return np.full(predictions.shape[1], -np.inf), np.full(predictions.shape[1], np.inf)
    return -_order_statistic(residuals, -predictions, rank), _order_statistic(residuals, predictions, rank)


def _order_statistic(residuals: list[Ranked], centres: Array, rank: float) -> Array:
    """The smallest t with a weight of at least ``rank`` of centre_k + r_i <= t, for every point, by bisection."""
    low = centres.min(axis=0) + min(fold.values[0] for fold in residuals if len(fold.values))
    high = centres.max(axis=0) + max(fold.values[-1] for fold in residuals if len(fold.values))
    rank -= 1e-9  # sums of weights round
    for _ in range(BISECTIONS):
        middle = low + 0.5 * (high - low)
        if np.all((middle <= low) | (middle >= high)):
            break
        held = sum(fold.weight_up_to(middle - centre) for fold, centre in zip(residuals, centres, strict=True))
        enough = np.asarray(held) >= rank
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
