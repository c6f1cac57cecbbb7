"""Which weights of an l1 machine are proved to be zero: the gap-safe rule (Ndiaye et al. 2017).

The dual -sum_i conjugate_i is strongly concave, by 1 / (2 c_i) for the squared hinge and 4 / c_i for the logistic loss,
so the optimal multipliers lie within a ball of radius r = sqrt(2 gap max_i c_i L) around the scaled ones, L = 2 or 1/4
the largest curvature of the loss. A feature with |a_j'beta| + r ||a_j|| < 1 has |a_j'beta*| < 1: its weight is zero.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.linear import balanced, row_multipliers
from maxmargin.core.rows import Array
from maxmargin.losses import Logistic, SquaredHinge
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point

_CURVATURE = {SquaredHinge: 2.0, Logistic: 0.25}


def proved_zeros(problem: LinearProblem, point: Point, gap: float) -> Array:
    """For each feature, whether its weight is proved to be zero at the optimum. ``gap`` is the certificate's."""
    design = problem.design
    beta = row_multipliers(problem, design.scores(point.v)) if point.beta is None else point.beta
    beta, _ = balanced(problem, beta)
    q = design.combine(beta)
    excess = max(1.0, float(np.abs(q[problem.penalized]).max(initial=0.0)))
    radius = math.sqrt(2.0 * gap * float(problem.costs.max()) * _CURVATURE[type(problem.loss)])
    lengths = np.sqrt(design.column_squares(np.arange(problem.n), np.ones(problem.n)))
    return (np.abs(q) / excess + radius * lengths < 1.0)[: design.features]
