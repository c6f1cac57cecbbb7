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


class Limits(NamedTuple):
    """Bounds and kinks of some rows."""

    lower: Array
    upper: Array
    kink: Array


class Standing(NamedTuple):
    """A bias per group, the largest slope upwards and the smallest slope downwards in each, and the violation.

    The last entries of ``highest`` and ``lowest`` are those of the rows without a group.
    """

    biases: Array
    highest: Any
    lowest: Any
    violation: float


@jit(inline=True)
def upward(v, beta, kink):
    """The slope of the objective where beta grows."""
    return v - kink if beta >= 0.0 else v + kink


@jit(inline=True)
def downward(v, beta, kink):
    """The slope of the objective where beta shrinks."""
    return v - kink if beta > 0.0 else v + kink


@jit()
def extremes(v, beta, box):
    """Largest slope upwards, smallest downwards, and sum and number of those of free multipliers.

    A multiplier is free if it may move both ways with one slope: between its bounds, and not on a kink.
    """
    highest, lowest, total, free = -math.inf, math.inf, 0.0, 0
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
    return highest, lowest, total, free


def standing(problem: BoxQP, beta: Array, v: Array) -> Standing:
    """How far ``beta`` with gradient ``v`` is from the conditions.

    A bias is the mean slope of the free multipliers of its group; where none is free, the midpoint of the interval that
    the bounded ones leave. The violation of a group is its largest slope upwards minus its smallest downwards, the rule
    by which LIBSVM stops.
    """
    if problem.one_for_all:
        highest, lowest, total, free = extremes(v, beta, problem.box)
        biases = np.array([_bias(highest, lowest, total, free)])
        return Standing(biases, (highest, -math.inf), (lowest, math.inf), max(highest - lowest, 0.0))
    return standing_of(beta, v, problem.box, problem.group, problem.n_groups)


def standing_of(beta: Array, v: Array, box: Any, group: Array, n_groups: int) -> Standing:
    """``standing`` of some rows in several groups (or none), with the bounds and kinks in ``box``."""
    found = [_extremes_among(group == g, v, beta, box) for g in (*range(n_groups), -1)]
    highest, lowest = (np.array([each[k] for each in found]) for k in range(2))
    violation = max(float(highest[-1]), -float(lowest[-1]), float((highest - lowest)[:-1].max(initial=0.0)), 0.0)
    return Standing(np.array([_bias(*each) for each in found[:-1]]), highest, lowest, violation)


def _extremes_among(members: Array, v: Array, beta: Array, box: Any) -> tuple[float, float, float, int]:
    """``extremes`` of some rows."""
    some = Limits(box.lower[members], box.upper[members], box.kink[members])
    return extremes(v[members], beta[members], some)


def _bias(highest: float, lowest: float, total: float, free: float) -> float:
    if free:
        return total / free
    if math.isfinite(highest) and math.isfinite(lowest):
        return 0.5 * (highest + lowest)
    # One side has no row that could move: any bias beyond the other side will do.
    return highest if math.isfinite(highest) else lowest if math.isfinite(lowest) else 0.0
