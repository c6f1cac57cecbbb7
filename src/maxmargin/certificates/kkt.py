"""The optimality (Karush-Kuhn-Tucker) conditions of the box QP.

With v = p - (K + diag(ridge)) beta, the slope of the objective is v_i - kink_i where beta_i grows away from zero and
v_i + kink_i where it comes back: a point is optimal if every group has a bias b_g that no slope upwards exceeds and no
slope downwards falls below. Without a group, b = 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP

HIGHEST, LOWEST, TOTAL, FREE = range(4)


class Standing(NamedTuple):
    """A bias per group, the largest slope upwards and the smallest slope downwards in each, and the violation.

    The last entries of ``highest`` and ``lowest`` are those of the rows without a group.
    """

    biases: Array
    highest: Array
    lowest: Array
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
def extremes(v, beta, box, group, out):
    """Per group: largest slope upwards, smallest downwards, and sum and number of those of free multipliers.

    A multiplier is free if it may move both ways with one slope: between its bounds, and not on a kink. Rows without a
    group come last. Writes: out.
    """
    for g in range(len(out)):
        out[g, HIGHEST], out[g, LOWEST], out[g, TOTAL], out[g, FREE] = -math.inf, math.inf, 0.0, 0.0
    for i in range(len(v)):
        row = out[group[i]]
        up, down = upward(v[i], beta[i], box.kink[i]), downward(v[i], beta[i], box.kink[i])
        growable, shrinkable = beta[i] < box.upper[i], beta[i] > box.lower[i]
        if growable and up > row[HIGHEST]:
            row[HIGHEST] = up
        if shrinkable and down < row[LOWEST]:
            row[LOWEST] = down
        if growable and shrinkable and up == down:
            row[TOTAL] += up
            row[FREE] += 1.0


def standing(problem: BoxQP, beta: Array, v: Array) -> Standing:
    """How far ``beta`` with gradient ``v`` is from the conditions.

    A bias is the mean slope of the free multipliers of its group; where none is free, the midpoint of the interval that
    the bounded ones leave. The violation of a group is its largest slope upwards minus its smallest downwards, the rule
    by which LIBSVM stops.
    """
    return standing_of(beta, v, problem.box, problem.group, problem.n_groups)


def standing_of(beta: Array, v: Array, box: NamedTuple, group: Array, n_groups: int) -> Standing:
    """``standing`` of some rows, with the bounds and kinks in ``box``."""
    out = np.empty((n_groups + 1, 4))
    extremes(v, beta, box, group, out)
    violation = max(float(out[-1, HIGHEST]), -float(out[-1, LOWEST]), 0.0)
    for row in out[:-1]:
        violation = max(violation, float(row[HIGHEST] - row[LOWEST]))
    biases = np.array([_bias(*row) for row in out[:-1].tolist()])
    return Standing(biases, out[:, HIGHEST], out[:, LOWEST], violation)


def _bias(highest: float, lowest: float, total: float, free: float) -> float:
    if free:
        return total / free
    if math.isfinite(highest) and math.isfinite(lowest):
        return 0.5 * (highest + lowest)
    # One side has no row that could move: any bias beyond the other side will do.
    return highest if math.isfinite(highest) else lowest if math.isfinite(lowest) else 0.0


def by_row(biases: Array, group: Array) -> Array | float:
    """The bias of each row's group; 0 without one."""
    if len(biases) == 0:
        return 0.0
    if len(biases) == 1 and not group.any():
        return float(biases[0])
    return np.append(biases, 0.0)[group]
