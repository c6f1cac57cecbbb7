"""The duality gap of a kernel machine with a curved conjugate: a sum of nonnegative terms, one per row.

With f = K beta and z = f + b,

    primal - dual = sum_i c_i l(y_i, z_i) + conjugate_i(beta_i) + beta_i z_i,

and b times what the multipliers of a free bias add up to. Every score is worked out in float64: no term is certainly
zero, as those of rows at a bound are for piecewise quadratic losses. A term is smooth, so the rounding of its score
enters by its square only; it is counted nevertheless.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING, definiteness, split_bias
from maxmargin.certificates.kkt import standing
from maxmargin.certificates.linear import best_bias
from maxmargin.certificates.proof import prove
from maxmargin.core.rows import Array
from maxmargin.losses.base import fenchel_young, largest_terms
from maxmargin.losses.curved import dual_slopes
from maxmargin.problems.box import Bias
from maxmargin.problems.feasible import feasible
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.solution import Certificate, Point, Proof


@prove.register
def prove_kernel(problem: KernelProblem, point: Point, *, exact: bool = False, seconds: float = math.inf) -> Proof:
    """The certificate of ``point``, the feasible point it holds for, and its scores f = K beta.

    ``violation`` is the largest slope of the objective upwards minus the smallest downwards, in units of the decision
    function. Every kernel value is float64: ``exact`` and ``seconds`` change nothing.
    """
    beta, _, size, _, moved = feasible(problem.constraints, point.beta)
    f, _ = problem.gram.scores(beta, exact=True)
    rounding = (FLOAT64_ROUNDING + problem.gram.float64_error) * problem.constraints.largest * size
    free = problem.bias is Bias.FREE
    b = best_bias(problem, f) if free else 0.0
    violation = standing(problem.constraints, beta, gradient(problem, f, b, beta)).violation + 2.0 * rounding
    biases = np.array([b]) if free else np.empty(0)
    certificate = _certificate(problem, beta, f, b, rounding)
    shown_bias, norm = split_bias(problem.constraints, beta, biases, max(float(beta @ f), 0.0))
    certificate = certificate._replace(violation=violation, bias=shown_bias, norm=norm, moved=moved)
    return Proof(Point(beta=beta, biases=biases), certificate, f)


def _certificate(problem: KernelProblem, beta: Array, f: Array, b: float, rounding: float) -> Certificate:
    """Values and gap at feasible multipliers with scores f, each off by at most ``rounding``."""
    square, doubt = float(beta @ f), 0.5 * rounding * float(np.abs(beta).sum())
    definite, reason = definiteness(problem.constraints, beta, square, doubt)
    if not definite:
        return Certificate(math.nan, math.nan, math.nan, math.nan, b, math.nan, reason=reason)
    (y, c, _), z, some = problem.terms, f[problem.paid] + b, beta[problem.paid]
    _, conjugates, terms, _ = fenchel_young(problem.loss, y, c, z, some)
    worst = max(terms, largest_terms(problem.loss, y, c, z, some, np.full(len(z), rounding)))
    dual = -0.5 * max(square, 0.0) - conjugates - doubt
    gap = worst + abs(b * float(beta.sum())) + 2.0 * doubt
    return Certificate(
        dual + gap, dual, gap, math.nan, b, math.nan, rounding=worst - terms + 2.0 * doubt, reason=reason
    )


def gradient(problem: KernelProblem, f: Array, b: float, beta: Array) -> Array:
    """The slope of the dual objective in every multiplier; zero, as it cannot move, for a row without cost."""
    v, rows = np.zeros(problem.n), problem.paid
    v[rows] = dual_slopes(problem.loss, problem.terms, f[rows], b, beta[rows])
    return v
