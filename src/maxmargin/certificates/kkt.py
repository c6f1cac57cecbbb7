"""The optimality (Karush-Kuhn-Tucker) conditions of the box QP.

With v = p - (K + diag(ridge)) beta, the slope of the objective is v_i - kink_i where beta_i grows away from zero and
v_i + kink_i where it comes back: a point is optimal if every group has a bias b_g that no slope upwards exceeds and no
slope downwards falls below. Without a group, b = 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP


class Standing(NamedTuple):
    """A bias per group, the largest slope upwards and the smallest slope downwards in each, and the violation.

    The last entries of ``highest`` and ``lowest`` are those of the rows without a group.
    """

    biases: Array
    highest: Any
    lowest: Any
    violation: float

    @property
    def edges(self) -> Array:
        """The largest slope upwards of each group; its bias where no multiplier can grow."""
        highest = np.array(self.highest[:-1])
        return np.where(np.isfinite(highest), highest, self.biases)


def violations(highest: Array, lowest: Array) -> Array:
    """Of every group, and last that of the rows without one, whose bias is 0."""
    each = highest - lowest
    each[-1] = max(highest[-1], -lowest[-1])
    return np.maximum(each, 0.0)


@jit(inline=True)
def upward(v, beta, kink):
    """The slope of the objective where beta grows."""
    return v - kink if beta >= 0.0 else v + kink


@jit(inline=True)
def downward(v, beta, kink):
    """The slope of the objective where beta shrinks."""
    return v - kink if beta > 0.0 else v + kink


@jit()
def bias_of(highest, lowest, total, free):
    """The bias of a group with these extremes, and the sum and number of the slopes of its free multipliers."""
    if free > 0:
        return total / free
    if highest == -math.inf and lowest == math.inf:
        return 0.0
    # Where one side has no row that could move, any bias beyond the other side will do.
    return lowest if highest == -math.inf else highest if lowest == math.inf else 0.5 * (highest + lowest)


@jit(brief=True)
def extremes(v, beta, box):
    """Largest slope upwards and smallest downwards of one group, its bias, and ``objective_and_size``.

    A multiplier is free if it may move both ways with one slope: between its bounds, and not on a kink.
    """
    highest, lowest, total, free, objective, size = -math.inf, math.inf, 0.0, 0, 0.0, 0.0
    for i in range(len(v)):
        up, down = upward(v[i], beta[i], box.kink[i]), downward(v[i], beta[i], box.kink[i])
        growable, shrinkable = beta[i] < box.upper[i], beta[i] > box.lower[i]
        if growable and up > highest:
            highest = up
        if shrinkable and down < lowest:
            lowest = down
        if growable and shrinkable and up == down:
            total += up
            free += 1
        objective += 0.5 * (box.p[i] + v[i]) * beta[i] - box.kink[i] * abs(beta[i])
        size += abs(beta[i])
    return highest, lowest, bias_of(highest, lowest, total, free), objective, size


@jit(brief=True)
def gradient(box, f, beta):
    """v = p - (K + diag(ridge)) beta, from the scores f = K beta."""
    v = np.empty(len(f))
    for i in range(len(f)):
        v[i] = box.p[i] - f[i] - box.ridge[i] * beta[i]
    return v


@jit(reductions=True, brief=True)
def objective_and_size(p, kink, v, beta):
    """p'beta - 1/2 beta'(K + R) beta - kink'|beta| = 1/2 (p + v)'beta - kink'|beta|, and sum |beta|."""
    objective, size = 0.0, 0.0
    for i in range(len(v)):
        objective += 0.5 * (p[i] + v[i]) * beta[i] - kink[i] * abs(beta[i])
        size += abs(beta[i])
    return objective, size


def standing(problem: BoxQP, beta: Array, v: Array) -> Standing:
    """How far ``beta`` with gradient ``v`` is from the conditions.

    A bias is the mean slope of the free multipliers of its group; where none is free, the midpoint of the interval that
    the bounded ones leave. The violation of a group is its largest slope upwards minus its smallest downwards, the rule
    by which LIBSVM stops.
    """
    return standing_and_value(problem, beta, v)[0]


def standing_and_value(problem: BoxQP, beta: Array, v: Array) -> tuple[Standing, float, float]:
    """``standing``, the objective, and the sum of the sizes of all multipliers."""
    if not problem.one_for_all:
        found = standing_of(beta, v, problem.box, problem.group, problem.n_groups)
        return found, *objective_and_size(problem.p, problem.kink, v, beta)
    highest, lowest, bias, objective, size = extremes(v, beta, problem.box)
    found = Standing(np.array([bias]), (highest, -math.inf), (lowest, math.inf), max(highest - lowest, 0.0))
    return found, objective, size


def standing_of(beta: Array, v: Array, box: Any, group: Array, n_groups: int) -> Standing:
    """``standing`` of some rows in several groups (or none), with the bounds and kinks in ``box``."""
    biases, highest, lowest = extremes_by_group(v, beta, box, group, n_groups)
    return Standing(biases, highest, lowest, float(violations(highest, lowest).max()))


@jit(brief=True)
def extremes_by_group(v, beta, box, group, n_groups):
    """Biases of all groups, and their ``extremes``, of which the last are those of the rows without a group."""
    highest, lowest = np.full(n_groups + 1, -math.inf), np.full(n_groups + 1, math.inf)
    total, free = np.zeros(n_groups + 1), np.zeros(n_groups + 1)
    for i in range(len(v)):
        g = group[i] if group[i] >= 0 else n_groups
        up, down = upward(v[i], beta[i], box.kink[i]), downward(v[i], beta[i], box.kink[i])
        growable, shrinkable = beta[i] < box.upper[i], beta[i] > box.lower[i]
        if growable and up > highest[g]:
            highest[g] = up
        if shrinkable and down < lowest[g]:
            lowest[g] = down
        if growable and shrinkable and up == down:
            total[g] += up
            free[g] += 1.0
    biases = np.empty(n_groups)
    for g in range(n_groups):
        biases[g] = bias_of(highest[g], lowest[g], total[g], free[g])
    return biases, highest, lowest


def slopes(v: Array, beta: Array, kink: Array) -> tuple[Array, Array]:
    """The slopes upwards and downwards of all rows."""
    if not kink.any():
        return v, v
    return np.where(beta >= 0.0, v - kink, v + kink), np.where(beta > 0.0, v - kink, v + kink)
