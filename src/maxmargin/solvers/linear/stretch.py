"""Weights of multipliers, made longer or shorter by the best factor.

Coordinate descent ends with dual values that are far better than its primal ones: on imdb with the hinge loss and C =
100 (no multiplier at its bound), 77 passes leave 1e-7 and 5e-3. Rows that should be at the margin miss it by a little,
and each pays C times that. Weights that are longer by 0.03 % bring most of them across: 9e-4. One factor is a line
search, and its derivative phi'(t) = t ||w||^2 - z'beta(tz) needs no more than the scores.
"""

from __future__ import annotations

from typing import Any

from scipy.optimize import brentq

from maxmargin.certificates.linear import row_multipliers
from maxmargin.losses.base import fenchel_young
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point

LEAST, MOST = 0.5, 2.0  # a better factor beyond belongs to weights that are far from any end
DIGITS = 1e-7


def stretched(problem: LinearProblem, point: Point) -> tuple[float, float]:
    """The t that minimises phi(t) = t^2 / 2 ||w||^2 + sum_i c_i l(y_i, t z_i) for z = Av, and the gap of (t v, beta).

    ``point`` has v = A'beta but for its bias: the gap is (t - 1)^2 / 2 ||w||^2 and the rows' shares of it.
    """
    assert point.beta is not None
    z, w = problem.design.scores(point.v), point.v[problem.penalized]
    square = float(w @ w)

    def slope(t: float) -> float:
        return t * square - float(z @ row_multipliers(problem, t * z))

    if slope(LEAST) >= 0.0:
        t = LEAST
    elif slope(MOST) <= 0.0:
        t = MOST
    else:
        root: Any = brentq(slope, LEAST, MOST, xtol=DIGITS)
        t = float(root)
    rows = fenchel_young(problem.loss, problem.y, problem.costs, t * z, point.beta)[2]
    return t, 0.5 * (t - 1.0) ** 2 * square + rows
