"""The duality gap of the box QP: a proof of how far a point is from the optimum.

With f = K beta and t_i = p_i - f_i - b the gap is a sum of nonnegative terms (Fenchel and Young), so nothing cancels:

    primal - dual = sum_i l_i(t_i) + ridge_i beta_i^2 / 2 - beta_i t_i.

A term is exactly zero where beta_i sits at the bound that t_i points to, whatever the rounding in f_i. So scores may
come from float32 kernel values: the rows whose term is not certainly zero are recomputed in float64, and what is not
recomputed enters with its error bound.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.kkt import bias_and_violation
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Certificate

FLOAT64_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # of max K_ii sum |beta|: what a score is uncertain by
BALANCE_SLACK = 1e-12  # a relative imbalance of the multipliers that is rounding, not infeasibility


def certify(problem: BoxQP, alpha: Array, *, exact: bool = False) -> Certificate:
    """Primal value, dual value, duality gap and KKT violation at the multipliers ``alpha`` (the notes' alpha >= 0).

    Uses the problem and the point alone. Multipliers outside the constraints are first brought inside. With ``exact``
    every kernel value is float64.
    """
    alpha = np.asarray(alpha, np.float64)
    if alpha.shape != (problem.n,) or not np.isfinite(alpha).all():
        raise ValueError(f"alpha must hold one finite multiplier for each of the {problem.n} rows.")
    return evaluate(problem, problem.sign * alpha, exact=exact)[0]


def evaluate(
    problem: BoxQP, beta: Array, *, exact: bool = False, refreshed: float = math.inf
) -> tuple[Certificate, Array]:
    """``certify`` in the signed multipliers, and the scores f = K beta that it worked out.

    At most ``refreshed`` doubtful rows are recomputed in float64; the others enter with their error bound.
    """
    original = beta
    given = np.clip(original, problem.lower, problem.upper)
    beta = feasible_point(problem, given)
    moved = float(np.max(np.abs(beta - original), initial=0.0))
    f, error = _scores(problem, beta, exact, refreshed)
    largest = float(np.max(np.abs(problem.gram.diagonal), initial=0.0))
    error += (FLOAT64_ROUNDING + problem.gram.float64_error) * largest * float(np.abs(beta).sum())
    # The bias belongs to the model the user gave, whose free multipliers balancing may have blurred.
    bias, violation = bias_and_violation(problem, given, problem.p - f - problem.ridge * beta)
    violation += 2.0 * float(error.max(initial=0.0))
    definite, _, reason = problem.gram.definiteness(np.flatnonzero(beta))
    square, doubt = float(beta @ f), 0.5 * float(np.abs(beta) @ error)  # doubt: rounding in beta'K beta / 2
    if definite and square < -2.0 * doubt:
        definite, reason = False, "the Gram matrix is not positive semidefinite: beta'K beta is negative"
    reason = "; ".join(part for part in (reason, problem.note) if part)
    square = max(square, 0.0)
    shown_bias, norm = split_bias(problem, beta, bias, square)
    if not definite:
        return Certificate(math.nan, math.nan, math.nan, violation, shown_bias, norm, moved, 0.0, reason), f
    dual = float(problem.p @ beta) - 0.5 * square - 0.5 * float(problem.ridge @ beta**2) - doubt
    if problem.hard:
        primal = _hard_primal(problem, f + bias, square)
        gap = max(primal - dual, 0.0)
        return Certificate(primal, dual, gap, violation, shown_bias, norm, moved, 0.0, reason), f
    terms, worst = gap_terms(problem.p - f - bias, error, beta, problem.lower, problem.upper, problem.ridge)
    gap = worst + abs(bias * float(beta.sum())) + 2.0 * doubt
    rounding = worst - terms + 2.0 * doubt
    return Certificate(dual + gap, dual, gap, violation, shown_bias, norm, moved, rounding, reason), f


def split_bias(problem: BoxQP, beta: Array, bias: float, square: float) -> tuple[float, float]:
    """Bias and ||w||. A regularised bias is the weight sum(beta) of the appended 1, and part of the kernel's norm."""
    if problem.bias is not Bias.REGULARIZED:
        return bias, math.sqrt(square)
    inside = float(beta.sum())
    return inside, math.sqrt(max(square - inside**2, 0.0))


def feasible_point(problem: BoxQP, beta: Array) -> Array:
    """``beta`` clipped to the box and, with a free bias, the heavier side scaled down until sum(beta) = 0."""
    beta = np.clip(beta, problem.lower, problem.upper)
    if not problem.balanced:
        return beta
    up, down = sides(beta)
    if abs(up - down) <= BALANCE_SLACK * (up + down):
        return beta
    scale = np.ones(len(beta))
    scale[beta > 0] = min(1.0, down / up) if up > 0 else 0.0
    scale[beta < 0] = min(1.0, up / down) if down > 0 else 0.0
    return beta * scale


@jit()
def sides(beta):
    """The sums of the positive and, without their sign, of the negative values."""
    up, down = 0.0, 0.0
    for value in beta:
        if value > 0.0:
            up += value
        else:
            down -= value
    return up, down


@jit()
def gap_terms(t, error, beta, lower, upper, ridge):
    """Sum of l_i(t_i) + ridge_i beta_i^2 / 2 - beta_i t_i, and the largest it can be with t_i off by error_i.

    A term is convex in t, so over an interval it is largest at an end. Rounding below zero is cut off.
    """
    total, worst = 0.0, 0.0
    for i in range(len(t)):
        here = _term(t[i], beta[i], lower[i], upper[i], ridge[i])
        total += here
        if error[i] > 0.0:
            below = _term(t[i] - error[i], beta[i], lower[i], upper[i], ridge[i])
            above = _term(t[i] + error[i], beta[i], lower[i], upper[i], ridge[i])
            here = max(below, above)
        worst += here
    return total, worst


@jit()
def _term(t, beta, lower, upper, ridge):
    best = min(max(t / ridge, lower), upper) if ridge > 0.0 else upper if t > 0.0 else lower
    if best == beta:
        return 0.0
    return max((best - beta) * t - 0.5 * ridge * (best**2 - beta**2), 0.0)


def _scores(problem: BoxQP, beta: Array, exact: bool, refreshed: float) -> tuple[Array, Array]:
    """Scores f = K beta and error bounds; rows whose term could be nonzero are recomputed in float64, without error."""
    f, error = problem.gram.scores(beta, exact)
    free = (beta > problem.lower) & (beta < problem.upper)
    while error.any() and refreshed >= 1:
        bias, _ = bias_and_violation(problem, beta, problem.p - f - problem.ridge * beta)
        t = problem.p - f - bias
        doubtful = np.flatnonzero(unsettled(t, error, beta, problem.lower, problem.upper))
        if not len(doubtful):  # the bias that settles the rest no longer moves
            return f, np.zeros(problem.n)
        order = np.lexsort(
            (np.abs(t[doubtful]), ~free[doubtful])
        )  # free ones first, they set the bias; then by nearness
        chosen = doubtful[order[: int(min(refreshed, len(doubtful)))]]
        f[chosen] = problem.gram.exact_scores(beta, chosen)
        error[chosen] = 0.0
        refreshed -= len(chosen)
    return f, error


@jit()
def unsettled(t, error, beta, lower, upper):
    """Where the term of the gap may be other than zero, for all that is known of t."""
    out = np.empty(len(t), np.bool_)
    for i in range(len(t)):
        down, up = beta[i] == lower[i] and t[i] < -error[i], beta[i] == upper[i] and t[i] > error[i]
        out[i] = error[i] > 0.0 and not (down or up)
    return out


def _hard_primal(problem: BoxQP, decision: Array, square: float) -> float:
    """||w||^2 / 2 after scaling (w, b) until the smallest y f is one; infinite where a row is on the wrong side."""
    smallest = float(np.min(problem.p * decision))
    return 0.5 * square / smallest**2 if smallest > 0 else math.inf
