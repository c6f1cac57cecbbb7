"""The optimality (Karush-Kuhn-Tucker) conditions of the box QP.

With v = p - (K + diag(ridge)) beta, the gradient of the objective, a point is optimal if there is a bias b with
v_i <= b wherever beta_i may still grow and v_i >= b wherever it may still shrink. Without a free bias, b = 0.
"""

from __future__ import annotations

import math

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP


@jit()
def extremes(v, beta, lower, upper):
    """max v where beta may grow, min v where it may shrink, and sum and number of v where it may do both."""
    highest, lowest, total, free = -math.inf, math.inf, 0.0, 0
    for i in range(len(v)):
        growable, shrinkable = beta[i] < upper[i], beta[i] > lower[i]
        if growable and v[i] > highest:
            highest = v[i]
        if shrinkable and v[i] < lowest:
            lowest = v[i]
        if growable and shrinkable:
            total += v[i]
            free += 1
    return highest, lowest, total, free


def bias_and_violation(problem: BoxQP, beta: Array, v: Array) -> tuple[float, float]:
    """The bias and the largest violation of the conditions at ``beta`` with gradient ``v``.

    The bias is the mean of v over free multipliers; where none is free, the midpoint of the interval that the bounded
    ones leave. The violation is max_{growable} v - min_{shrinkable} v, the rule by which LIBSVM stops.
    """
    highest, lowest, total, free = extremes(v, beta, problem.lower, problem.upper)
    if not problem.balanced:
        return 0.0, max(highest, -lowest, 0.0)
    if free:
        bias = total / free
    elif math.isfinite(highest) and math.isfinite(lowest):
        bias = 0.5 * (highest + lowest)
    else:  # one side has no row that could move: any bias beyond the other side will do
        bias = highest if math.isfinite(highest) else lowest if math.isfinite(lowest) else 0.0
    return bias, max(highest - lowest, 0.0)
