"""What a solution says about its data: the margin, slacks, kinds of support vectors, and a bound on future error."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.box import split_bias
from maxmargin.certificates.kkt import standing
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP
from maxmargin.problems.feasible import feasible_point


class Margins(NamedTuple):
    """The hyperplane f(x) = w'phi(x) + b and how the rows lie about it.

    ``norm`` is ||w||; ``margin`` is 1 / ||w||, from the hyperplane to f = 1; ``width`` is 2 / ||w||, from f = -1 to
    f = 1. ``slacks`` are xi_i = max(0, 1 - y_i f_i), and ``slack_multipliers`` are theirs, mu_i = C_i - alpha_i (with
    the squared hinge the constraint xi >= 0 never binds, and they are zero). ``free`` support vectors have
    0 < alpha < C and lie on the margin; ``bounded`` ones have alpha = C. ``leave_one_out`` is the notes' bound on the
    leave-one-out error: the number of support vectors over the number of rows.
    """

    norm: float
    margin: float
    width: float
    bias: float
    decision: Array
    slacks: Array
    slack_multipliers: Array
    free: Array
    bounded: Array
    leave_one_out: float


def margins(problem: BoxQP, alpha: Array) -> Margins:
    """Read the geometry off the multipliers ``alpha`` of a classification problem, in float64."""
    beta = feasible_point(problem, problem.point_of(alpha).beta)
    f, _ = problem.gram.scores(beta, exact=True)
    biases = standing(problem, beta, problem.p - f - problem.ridge * beta).biases
    decision = f + problem.by_row(biases)
    shown_bias, norm = split_bias(problem, beta, biases, max(float(beta @ f), 0.0))
    bound = np.abs(problem.upper - problem.lower)
    support, at_bound = beta != 0, np.abs(beta) == bound
    return Margins(
        norm=norm,
        margin=1.0 / norm if norm > 0 else math.inf,
        width=2.0 / norm if norm > 0 else math.inf,
        bias=shown_bias,
        decision=decision,
        slacks=np.maximum(0.0, 1.0 - np.sign(problem.p) * decision),
        slack_multipliers=np.where(np.isinf(bound), 0.0, bound - np.abs(beta)),
        free=np.flatnonzero(support & ~at_bound),
        bounded=np.flatnonzero(support & at_bound),
        leave_one_out=float(support.mean()),
    )


def distances(decision: Any, norm: float | Array) -> Array:
    """Distance of points to the hyperplane, |w'phi(x) + b| / ||w||, from their decision values."""
    with np.errstate(divide="ignore", invalid="ignore"):  # where w = 0 there is no hyperplane
        return np.where(np.asarray(norm) > 0, np.abs(np.asarray(decision, np.float64)) / norm, np.inf)
