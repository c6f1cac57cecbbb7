"""The optimality (Karush-Kuhn-Tucker) conditions of the box QP.

With v = p - (K + diag(ridge)) beta, the gradient of the objective, a point is optimal if there is a bias b with
v_i <= b wherever beta_i may still grow and v_i >= b wherever it may still shrink. Without a free bias, b = 0.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.problem import BoxQP
from maxmargin.core.rows import Array


def bias_and_violation(problem: BoxQP, beta: Array, v: Array) -> tuple[float, float]:
    """The bias and the largest violation of the conditions at ``beta`` with gradient ``v``.

    The bias is the mean of v over free multipliers; where none is free, the midpoint of the interval that the bounded
    ones leave. The violation is max_{growable} v - min_{shrinkable} v, the rule by which LIBSVM stops.
    """
    growable, shrinkable = beta < problem.upper, beta > problem.lower
    highest = float(np.max(v, where=growable, initial=-np.inf))
    lowest = float(np.min(v, where=shrinkable, initial=np.inf))
    if not problem.balanced:
        return 0.0, max(highest, -lowest, 0.0)
    free = growable & shrinkable
    if free.any():
        bias = float(v[free].mean())
    elif np.isfinite(highest) and np.isfinite(lowest):
        bias = 0.5 * (highest + lowest)
    else:  # one side has no row that could move: any bias beyond the other side will do
        bias = highest if np.isfinite(highest) else lowest if np.isfinite(lowest) else 0.0
    return bias, max(highest - lowest, 0.0)
