"""The duality gap of a joint machine at any weights and multipliers: a function of problem and point alone.

With Q = A'B and scores s = A V,

    primal - dual = 1/2 ||V - Q||^2 + sum_i c_i L(s_i) + (c_i L)*(-B_i) + B_i's_i,

and every term is >= 0. With kernels V = Q, and the first one vanishes.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING
from maxmargin.certificates.linear import doubt_of_products, rounding
from maxmargin.certificates.proof import prove
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.losses.multiclass import all_inside, row_terms, row_violation
from maxmargin.problems.design import SIZES
from maxmargin.problems.joint import JointProblem, KernelJoint, LinearJoint
from maxmargin.problems.solution import Certificate, Point, Proof


@prove.register
def prove_linear_joint(problem: LinearJoint, point: Point, *, exact: bool = False, seconds: float = math.inf) -> Proof:
    """Primal, dual, gap and violation of ``point``; multipliers outside of their sets are first brought inside.

    ``violation`` is the largest one of a row's optimality conditions, in units of the scores, or the largest entry of
    |V - Q|. ``norm`` is that of all weights together. Every sum is float64 and nothing can be left out: ``exact`` and
    ``seconds`` change nothing.
    """
    V, (B, moved) = point.v, _brought_inside(problem, point)
    design = problem.design
    Q, scores, sizes = design.combine_several(B), design.scores_of_several(V), design.scores_of_several(V, SIZES)
    losses, conjugates, rows, worst = terms(problem, scores, B)
    off, spread = V - Q, design.combined_bound(B)
    doubt = _doubt(problem, scores, B, rounding(design.d, sizes).max(axis=1))
    doubt += doubt_of_products(problem.n, float(np.vdot(np.abs(B), sizes)), spread, float(np.linalg.norm(off)))
    features = V[:, : design.features]
    certificate = Certificate(
        primal=0.5 * float(np.vdot(V, V)) + losses,
        dual=-0.5 * float(np.vdot(Q, Q)) - conjugates,
        gap=0.5 * float(np.vdot(off, off)) + rows + doubt,
        violation=max(worst, float(np.abs(off).max(initial=0.0))),
        bias=math.nan,
        norm=float(np.linalg.norm(features)),
        moved=moved,
        rounding=doubt,
    )
    return Proof(Point(V, B), certificate, scores)


def _doubt(problem: JointProblem, scores: Array, B: Array, error: Array) -> float:
    """What the rows' terms may be larger than computed, with the scores of row i off by error_i.

    A term changes with its scores by B + c L' at most, and L' is largest where the row's own score is lowest.
    """
    lowered = scores.copy()
    lowered[np.arange(len(lowered)), problem.labels] -= 2.0 * error
    slopes = problem.costs * np.abs(problem.loss.gradient(lowered, problem.labels)).sum(axis=1)
    return float(error @ (slopes + np.abs(B).sum(axis=1)))


@prove.register
def prove_kernel_joint(problem: KernelJoint, point: Point, *, exact: bool = False, seconds: float = math.inf) -> Proof:
    """Primal, dual, gap and violation of ``point``; multipliers outside of their sets are first brought inside.

    ``violation`` is the largest one of a row's optimality conditions, in units of the scores. ``norm`` is that of all
    weights together. Every kernel value is float64 and nothing can be left out: ``exact`` and ``seconds`` change
    nothing.
    """
    B, moved = _brought_inside(problem, point)
    F = problem.gram.many_scores(B, exact=True)
    _, conjugates, rows, worst = terms(problem, F, B)
    square = max(float(np.vdot(B, F)), 0.0)
    relative = FLOAT64_ROUNDING + problem.gram.float64_error
    score = relative * float(np.abs(problem.gram.diagonal).max(initial=0.0)) * float(np.abs(B).sum())
    doubt = _doubt(problem, F, B, np.full(problem.n, score))
    dual = -0.5 * square - conjugates - doubt
    reason = problem.gram.definiteness(np.flatnonzero(B.any(axis=1))).note
    gap = rows + 2.0 * doubt
    norm = math.sqrt(square)
    certificate = Certificate(dual + gap, dual, gap, worst + 2.0 * score, math.nan, norm, moved, doubt, reason)
    return Proof(Point(B, B), certificate, F)


def _brought_inside(problem: JointProblem, point: Point) -> tuple[Array, float]:
    """The multipliers of ``point`` in the sets of their rows, and how far they had to go."""
    assert point.beta is not None
    B = inside(problem, point.beta)
    return B, float(np.abs(B - point.beta).max(initial=0.0))


def inside(problem: JointProblem, B: Array) -> Array:
    """Multipliers brought into the sets of their rows."""
    if B.shape != (problem.n, problem.n_classes):
        raise ValueError(f"Multipliers must be a matrix of {problem.n} rows and {problem.n_classes} classes.")
    B = np.array(B, np.float64, order="C")
    all_inside(problem.loss, problem.labels, problem.costs, B)
    return B


def terms(problem: JointProblem, scores: Array, B: Array) -> tuple[float, float, float, float]:
    """Sums of the losses, the conjugates and the rows' gaps, and the largest violation."""
    return _terms(problem.loss, problem.labels, problem.costs, np.ascontiguousarray(scores), B)


@jit()
def _terms(loss, labels, costs, scores, B):
    losses, conjugates, gaps, worst = 0.0, 0.0, 0.0, 0.0
    for i in range(len(labels)):
        value, conjugate, gap = row_terms(loss, costs[i], labels[i], scores[i], B[i])
        losses += value
        conjugates += conjugate
        gaps += gap
        worst = max(worst, row_violation(loss, costs[i], labels[i], scores[i], B[i]))
    return losses, conjugates, gaps, worst
