"""Linear machines whose optimum is known before any solver runs: zero weights that have no loss."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.linear import prove_linear
from maxmargin.losses.base import total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Solution, Status, Trace
from maxmargin.solvers.contract import Options

FAR = 750.0  # a score of a label at which every loss of labels is zero in float64: exp(-750) is


def flat_solution(problem: LinearProblem, options: Options) -> Solution | None:
    """Zero weights with their proof, where they have no loss.

    They are then the optimum, 0. No gap is small beside that, so it must be met exactly: a solver ends a rounding
    above.
    """
    flat = flat_fit(problem)
    loss = _loss(problem, flat)
    if loss != 0.0 and problem.free_bias and flat.v[-1] != 0.0:
        flat.v[-1] *= FAR  # the logistic loss of one class is zero nowhere else
        loss = _loss(problem, flat)
    if loss != 0.0:
        return None
    proof = prove_linear(problem, flat).certificate
    if proof.relative_gap > options.tol:
        return None
    return Solution(flat, Status.CONVERGED, proof, Trace(), 0, "none", "zero weights have no loss", problem.passes)


def _loss(problem: LinearProblem, flat: Point) -> float:
    scores = np.full(problem.n, flat.v[-1] if problem.free_bias else 0.0)
    return total(problem.loss, problem.y, problem.costs, scores)


def flat_fit(problem: LinearProblem) -> Point:
    """Zero weights, and the middle of the targets as the bias where that is free."""
    v = np.zeros(problem.d)
    if problem.free_bias:
        v[-1] = 0.5 * float(problem.y.min()) + 0.5 * float(problem.y.max())
    return Point(v, np.zeros(problem.n))
