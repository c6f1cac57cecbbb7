"""The nu-machines (Schoelkopf, Smola, Williamson and Bartlett 2000): a share nu of the rows instead of a cost.

nu-SVC: the classes are two groups whose multipliers add up to +- nu W / 2, W the sum of the weights:

    minimise  1/2 ||w||^2 - nu W rho + sum_i c_i max(0, rho - y_i (f_i + b))       (up to the factor that rho sets).

nu-SVR: the upper and the lower side of the tube are two groups on a doubled view of one kernel matrix, with totals
+- C nu W / 2; its half width epsilon is found along with the machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.box import Box
from maxmargin.models.canonical import solvable, targets_of, weights_of
from maxmargin.problems.box import BoxQP, GramMatrix
from maxmargin.problems.solution import Point


class Margin(NamedTuple):
    """A machine f(x) = sum_i coef_i K(x_i, x) + bias, and what nu decided: rho for classes, epsilon for numbers."""

    coef: Array
    bias: float
    width: float


ROUNDING = 1e-12  # of nu: what exceeds the largest one by less is rounding


def largest_nu(y: Array, weights: Array) -> float:
    """The largest feasible nu of a classifier: twice the lighter class's share of the weight."""
    sides = _sides(y, weights)
    return 2.0 * min(sides) / sum(sides) if any(sides) else 0.0


def _sides(y: Array, weights: Array) -> tuple[float, float]:
    """The weight of each class, summed by itself: beside a class of 10^7 times its weight a difference is rounding."""
    return float(weights[y > 0].sum()), float(weights[y < 0].sum())


def nu_classifier(gram: GramMatrix, y: Array, nu: float, weights: Array | float = 1.0) -> BoxQP:
    """Labels ``y``; at least a share ``nu`` of the weight are support vectors, at most that share margin errors."""
    y, c = targets_of(gram, y, labels=True), weights_of(gram, weights)
    largest = largest_nu(y, c)
    if not 0 < nu <= largest * (1.0 + ROUNDING):
        raise ValueError(f"nu={nu:.15g} is infeasible: with these classes and weights it is at most {largest:.15g}.")
    half = min(0.5 * nu * float(c.sum()), *_sides(y, c))
    zero = np.zeros(gram.n)
    box = Box(zero, np.where(y < 0, -c, 0.0), np.where(y > 0, c, 0.0), zero, zero)
    return solvable(gram, box, (y < 0).astype(np.int64), np.array([half, -half]), divided=True)


def class_margin(point: Point) -> Margin:
    """f = -b_0 on one margin and -b_1 on the other, so the machine is (f + (b_0 + b_1) / 2) / rho.

    Where rho is not positive there is no machine, and f = 0: the solve was stopped too early, or the classes as nu
    sees them (their reduced convex hulls) meet, in which case it does not converge, and a larger nu may help.
    """
    first, second = point.biases
    rho = 0.5 * float(second - first)
    if not rho > 0.0:
        return Margin(np.zeros_like(point.beta), 0.0, 0.0)
    return Margin(point.beta / rho, 0.5 * float(first + second) / rho, rho)


def nu_regression(gram: GramMatrix, y: Array, nu: float, C: Array | float = 1.0) -> BoxQP:
    """Targets ``y``. Two multipliers per row, on a view of ``gram`` with its rows twice: the upper side comes first."""
    n = gram.n
    if not 0 < nu <= 1:
        raise ValueError(f"nu={nu:g} is infeasible: it is a share of the rows, above 0 and at most 1.")
    targets, c = np.tile(targets_of(gram, y, labels=False), 2), np.tile(weights_of(gram, C), 2)
    upper = np.arange(2 * n) < n
    half = 0.5 * nu * float(c[:n].sum())
    zero = np.zeros(2 * n)
    box = Box(targets, np.where(upper, 0.0, -c), np.where(upper, c, 0.0), zero, zero)
    doubled = gram.view(np.tile(np.arange(n), 2))
    return solvable(doubled, box, (~upper).astype(np.int64), np.array([half, -half]))


def tube(point: Point) -> Margin:
    """y - f = b + epsilon on one side of the tube and b - epsilon on the other."""
    first, second = point.biases
    n = len(point.beta) // 2
    return Margin(point.beta[:n] + point.beta[n:], 0.5 * float(first + second), 0.5 * float(first - second))
