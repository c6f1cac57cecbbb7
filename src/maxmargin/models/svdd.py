"""The smallest ball around the data (support vector data description; Tax and Duin 2004).

    minimise  R^2 + sum_i C_i max(0, ||phi(x_i) - a||^2 - R^2),    a = sum_i beta_i phi(x_i), sum_i beta_i = 1.

Half of it is the canonical problem with p_i = K_ii / 2, and its bias is (R^2 - ||a||^2) / 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.box import Box
from maxmargin.models.canonical import costs_of, solvable
from maxmargin.problems.box import BoxQP, GramMatrix, one_group
from maxmargin.problems.solution import Solution


class Ball(NamedTuple):
    """A centre, as coefficients of the rows, and a squared radius."""

    coef: Array
    squared_radius: float


def svdd(gram: GramMatrix, C: Array | float) -> BoxQP:
    """A cost ``C`` for all rows or each of lying outside (infinity: none may); they must add up to at least 1."""
    c, zero = costs_of(gram, np.minimum(C, 1.0)), np.zeros(gram.n)  # beta > 1 would exceed their sum
    return solvable(gram, Box(0.5 * gram.diagonal, zero, c, zero, zero), *one_group(gram.n, 1.0))


def ball(solution: Solution) -> Ball:
    """R^2 = ||a||^2 + 2 b."""
    bias = float(solution.point.biases[0])
    return Ball(solution.point.beta, solution.certificate.norm**2 + 2.0 * bias)
