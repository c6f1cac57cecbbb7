"""The duality gap of the box QP: a proof of how far a point is from the optimum.

With f = K beta and t_i = p_i - f_i - b_g(i) the gap is a sum of nonnegative terms (Fenchel and Young), so nothing
cancels:

    primal - dual = sum_i l_i(t_i) + kink_i |beta_i| + ridge_i beta_i^2 / 2 - beta_i t_i,

and b_g times what the sum of a group is off by. A term is exactly zero where beta_i sits where t_i points to, whatever
the rounding in f_i. So scores may come from float32 kernel values: the rows whose term is not certainly zero are
recomputed in float64, and what is not recomputed enters with its error bound. They may be those that a solver kept
(``Point.scores``), which spares most of the work: they are believed as long as every row that is recomputed lies within
its bound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.kkt import Standing, gradient, standing
from maxmargin.certificates.proof import prove
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.problems.box import REFRESHED_ROWS, BoxQP, largest_size
from maxmargin.problems.feasible import feasible
from maxmargin.problems.solution import Certificate, Point, Proof, Scores

FLOAT64_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # of max K_ii sum |beta|: what a score is uncertain by
MOVED_BY_ROUNDING = 1e-8  # of the largest multiplier


@prove.register
def prove_box(problem: BoxQP, point: Point, *, exact: bool = False, seconds: float = math.inf) -> Proof:
    """The certificate of ``point``, the feasible point it holds for, and its scores f = K beta.

    With ``exact`` every kernel value is float64. Otherwise doubtful rows are recomputed in float64, as many as
    ``seconds`` allow but always some; the others enter with their error bound.
    """
    beta, _, size, largest, moved = feasible(problem, point.beta)
    kept = None if exact or point.scores is None else _moved_scores(problem, point.scores, beta - point.beta)
    f, error, here = _scores(problem, beta, exact, kept, _affordable_rows(problem, beta, seconds))
    error += (FLOAT64_ROUNDING + problem.gram.float64_error) * problem.largest * size
    # A sum that is off by rounding moves multipliers off their bounds: which of them are free is asked before that.
    rounding = 0.0 < moved <= MOVED_BY_ROUNDING * largest
    if rounding or here is None:
        judged = np.clip(point.beta, problem.lower, problem.upper) if rounding else beta
        here = standing(problem, judged, gradient(problem.box, f, beta))
    certificate = _certificate(problem, beta, f, error, here.biases)
    violation = in_units(here.violation + 2.0 * largest_size(error), problem.unit(here.biases))
    point = Point(beta=beta, biases=here.biases, edges=here.edges)
    return Proof(point, certificate._replace(violation=violation, moved=moved), f)


def in_units(size: float, unit: float) -> float:
    """size / unit; infinite where there is no unit."""
    return size / unit if unit > 0.0 else math.inf


def _certificate(problem: BoxQP, beta: Array, f: Array, error: Array, biases: Array) -> Certificate:
    """Values and gap at feasible multipliers with scores f, each off by at most ``error``."""
    found = values_of(problem.box, beta, f, problem.p - f - problem.by_row(biases), error)
    definite, reason = definiteness(problem, beta, found.square, found.doubt)
    square = max(found.square, 0.0)
    bias, norm = split_bias(problem, beta, biases, square)
    if not definite:
        return Certificate(math.nan, math.nan, math.nan, math.nan, bias, norm, reason=reason)
    if problem.hard:
        dual, primal = found.dual, _hard_primal(problem, f + problem.by_row(biases), square)
        return Certificate(primal, dual, max(primal - dual, 0.0), math.nan, bias, norm, reason=reason)
    gap = found.gap + _imbalance(problem, beta, biases)
    return Certificate(found.dual + gap, found.dual, gap, math.nan, bias, norm, rounding=found.rounding, reason=reason)


class Values(NamedTuple):
    """What a certificate is made of: beta'K beta, the rounding in half of it, p'beta - kink'|beta| - ridge'beta^2 / 2.

    ``terms`` is the sum of the terms of the gap, ``worst`` its largest within the errors of the scores. Numbers, or
    arrays of them for many problems.
    """

    square: Any
    doubt: Any
    concave: Any
    terms: Any
    worst: Any

    @property
    def norm(self) -> Any:
        """sqrt(beta'K beta), which rounding may have made negative."""
        return (0.5 * (self.square + abs(self.square))) ** 0.5

    @property
    def dual(self) -> Any:
        """The dual value, rounded downwards."""
        return self.concave - 0.25 * (self.square + abs(self.square)) - self.doubt

    @property
    def gap(self) -> Any:
        """The gap of multipliers whose groups have their totals."""
        return self.worst + 2.0 * self.doubt

    @property
    def rounding(self) -> Any:
        """The part of the gap that only bounds rounding."""
        return self.worst - self.terms + 2.0 * self.doubt


def definiteness(problem: BoxQP, beta: Array, square: float, doubt: float) -> tuple[bool, str]:
    """Whether K is positive semidefinite for all that is known, with beta'K beta = square; and what is to be said."""
    definite, _, reason = problem.gram.definiteness(np.flatnonzero(beta))
    if definite and square < -2.0 * doubt:
        definite, reason = False, "the Gram matrix is not positive semidefinite: beta'K beta is negative"
    return definite, "; ".join(part for part in (reason, problem.note) if part)


def _imbalance(problem: BoxQP, beta: Array, biases: Array) -> float:
    """sum_g |b_g (total_g - sum of the group)|: rounding keeps a sum from its total."""
    if problem.n_groups == 0:
        return 0.0
    if problem.one_for_all:
        return abs(float(biases[0])) * abs(float(problem.totals[0]) - float(beta.sum()))
    sums = np.bincount(problem.group + 1, weights=beta, minlength=problem.n_groups + 1)[1:]
    return float(np.abs(biases) @ np.abs(problem.totals - sums))


def split_bias(problem: BoxQP, beta: Array, biases: Array, square: float) -> tuple[float, float]:
    """Bias and ||w|| of the machine. A regularised bias is part of the kernel's norm, and not of that of w."""
    bias = problem.bias_of(Point(beta=beta, biases=biases))
    norm = math.sqrt(max(square - bias**2, 0.0) if problem.appended else square)
    return bias, in_units(norm, problem.unit(biases)) if problem.divided else norm


@jit(brief=True)
def values_of(box, beta, f, t, error):
    """``Values`` at multipliers with scores f and t = p - f - b, both off by at most ``error``.

    A term of the gap, l_i(t_i) + kink_i |beta_i| + ridge_i beta_i^2 / 2 - beta_i t_i, is convex in t, so over an
    interval it is largest at an end. Rounding below zero is cut off.
    """
    square, doubt, concave, terms, worst = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(beta)):
        size = abs(beta[i])
        square += beta[i] * f[i]
        doubt += 0.5 * size * error[i]
        concave += box.p[i] * beta[i] - box.kink[i] * size - 0.5 * box.ridge[i] * size * size
        limits = Limits(box.lower[i], box.upper[i], box.kink[i], box.ridge[i])
        here = _term(t[i], beta[i], limits)
        terms += here
        if error[i] > 0.0:
            here = max(_term(t[i] - error[i], beta[i], limits), _term(t[i] + error[i], beta[i], limits))
        worst += here
    return Values(square, doubt, concave, terms, worst)


class Limits(NamedTuple):
    """Of one multiplier: numbers, because arrays that are handed on have their references counted for every row."""

    lower: float
    upper: float
    kink: float
    ridge: float


@jit()
def best_multiplier(t, limits):
    """argmax over the box of beta t - kink |beta| - ridge beta^2 / 2: where a multiplier belongs whose row has t."""
    beyond = max(t - limits.kink, 0.0) + min(t + limits.kink, 0.0)
    if beyond == 0.0:
        aim = 0.0
    elif limits.ridge > 0.0:
        aim = beyond / limits.ridge
    else:
        aim = math.inf if beyond > 0.0 else -math.inf
    return min(max(aim, limits.lower), limits.upper)


@jit()
def _term(t, beta, limits):
    best = best_multiplier(t, limits)
    if best == beta:
        return 0.0
    if math.isinf(best):  # a row on the wrong side of a hard margin; below, zero times infinity would be NaN
        return math.inf
    smooth = (best - beta) * t - 0.5 * limits.ridge * (best**2 - beta**2)
    return max(smooth - limits.kink * (abs(best) - abs(beta)), 0.0)


def _moved_scores(problem: BoxQP, kept: Scores, change: Array) -> Scores | None:
    """Scores kept of multipliers that ``change`` made feasible; None where that is more than rounding."""
    off = problem.largest * float(np.abs(change).sum())
    return Scores(kept.f.copy(), kept.errors + off) if off <= largest_size(kept.errors) else None


def _scores(
    problem: BoxQP, beta: Array, exact: bool, kept: Scores | None, refreshed: float
) -> tuple[Array, Array, Standing | None]:
    """Scores f = K beta and error bounds; rows whose term could be nonzero are recomputed in float64, without error.

    And the standing of beta with these scores, where it was worked out on the way.
    """
    f, error = problem.gram.scores(beta, exact) if kept is None else kept
    allowed = refreshed
    while refreshed >= 1 and largest_size(error) > 0.0:
        here = standing(problem, beta, gradient(problem.box, f, beta))
        t = problem.p - f - problem.by_row(here.biases)
        chosen = np.flatnonzero(unsettled(t, error, beta, problem.box))
        if not len(chosen):  # the biases that settle the rest no longer move
            return f, np.zeros(problem.n), here
        if len(chosen) > refreshed:  # free ones first, they set the biases; then by nearness
            free = (beta[chosen] > problem.lower[chosen]) & (beta[chosen] < problem.upper[chosen])
            chosen = chosen[np.lexsort((np.abs(t[chosen]), ~free))[: int(refreshed)]]
        fresh = problem.gram.exact_scores(beta, chosen)
        if kept is not None and (np.abs(fresh - f[chosen]) > error[chosen]).any():
            return _scores(problem, beta, exact, None, allowed)
        f[chosen], error[chosen] = fresh, 0.0
        refreshed -= len(chosen)
    return f, error, None


def _affordable_rows(problem: BoxQP, beta: Array, seconds: float) -> float:
    """How many rows the time that is left lets a certificate recompute, but always some."""
    if seconds == math.inf:
        return math.inf
    support, gram = int(np.count_nonzero(beta)), problem.gram
    least = gram.certificate_seconds(support, 0)
    each = gram.certificate_seconds(support, 1) - least
    return max(float(REFRESHED_ROWS), (seconds - least) / each if each > 0 else math.inf)


@jit(brief=True)
def unsettled(t, error, beta, box):
    """Where the term of the gap may be other than zero, for all that is known of t."""
    out = np.empty(len(t), np.bool_)
    for i in range(len(t)):
        out[i] = False
        if error[i] > 0.0:
            limits = Limits(box.lower[i], box.upper[i], box.kink[i], box.ridge[i])
            below = best_multiplier(t[i] - error[i], limits) == beta[i]
            out[i] = not (below and best_multiplier(t[i] + error[i], limits) == beta[i])
    return out


def _hard_primal(problem: BoxQP, decision: Array, square: float) -> float:
    """||w||^2 / 2 after scaling (w, b) until the smallest f / p is one; infinite where a row is on the wrong side.

    Rows without cost, the only others beside those without slack (``models.classifier``), do not count.
    """
    rows = np.isinf(problem.upper - problem.lower)
    smallest = float(np.min(decision[rows] / problem.p[rows]))
    return 0.5 * square / smallest**2 if smallest > 0 else math.inf
