"""Losses of all classes at once: functions of the scores s_1 ... s_k of a row and its label y.

With t_j = 1 + s_j - s_y for the other classes j (what class j is short of the margin):

    maximum (Crammer and Singer)   max_j max(0, t_j)        notes 000
    sum (Weston and Watkins)       sum_j max(0, t_j)        notes 004
    their squares                  max_j max(0, t_j)^2,  sum_j max(0, t_j)^2.

The vectorised functions take ``scores`` (n, k) and ``labels`` (n class indices) and return one value, or one row of
slopes, per row. The compiled functions below them work on one row. Their multipliers are those of the dual,
beta_j = -c dL/ds_j: beta_j = -a_j with a_j >= 0 for the other classes, beta_y = sum_j a_j =: S, and

    maximum: S <= c,    sum: a_j <= c,    squares: no bound, but S^2 / (4c) or sum_j a_j^2 / (4c) is paid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.jit import jit, larger, smaller
from maxmargin.core.rows import Array

NEWTON_STEPS = 100  # a bound only: the function has 2k linear pieces, and few are crossed
SLIVER = 1e-12  # of c: multipliers this near to a bound are at it, up to rounding
SAME = 4.0 * float(np.finfo(np.float64).eps)


class JointLoss(NamedTuple):
    """Which of the four: the maximum over the other classes or the sum, of the hinge or of its square."""

    maximum: bool
    squared: bool

    def value(self, scores: Any, labels: Any) -> Array:
        """The loss of every row."""
        missed = np.maximum(errors(scores, labels), 0.0)
        missed = missed**2 if self.squared else missed
        return missed.max(axis=1) if self.maximum else missed.sum(axis=1)

    def gradient(self, scores: Any, labels: Any) -> Array:
        """A (sub)gradient in the scores, (n, k). At a kink the smaller slope; of equal maxima the lowest class."""
        t = errors(scores, labels)
        slopes = np.where(t > 0, 2.0 * t if self.squared else 1.0, 0.0)
        rows = np.arange(len(t))
        if self.maximum:
            largest = np.argmax(t, axis=1)
            kept = slopes[rows, largest]
            slopes = np.zeros_like(slopes)
            slopes[rows, largest] = kept
        slopes[rows, labels] = -slopes.sum(axis=1)
        return slopes


def errors(scores: Any, labels: Any) -> Array:
    """t_ij = 1 + s_ij - s_iy, and 0 for j = y."""
    scores, labels = np.asarray(scores, np.float64), np.asarray(labels)
    if scores.ndim != 2 or labels.shape != scores.shape[:1] or scores.shape[1] < 2:
        raise ValueError(
            f"Scores must have a row per label and a column for each of at least two classes; got {scores.shape} and "
            f"{labels.shape} labels."
        )
    if not np.issubdtype(labels.dtype, np.integer) or np.any((labels < 0) | (labels >= scores.shape[1])):
        raise ValueError(f"Labels must be class indices 0 ... {scores.shape[1] - 1}, the columns of the scores.")
    rows = np.arange(len(labels))
    t = scores - scores[rows, labels][:, None] + 1.0
    t[rows, labels] = 0.0
    return t


def max_hinge(scores: Any, labels: Any) -> Array:
    """max_{j != y} max(0, 1 + s_j - s_y), Crammer and Singer's loss."""
    return JointLoss(True, False).value(scores, labels)


def max_hinge_gradient(scores: Any, labels: Any) -> Array:
    """A subgradient of ``max_hinge`` in the scores."""
    return JointLoss(True, False).gradient(scores, labels)


def sum_hinge(scores: Any, labels: Any) -> Array:
    """sum_{j != y} max(0, 1 + s_j - s_y), Weston and Watkins' loss."""
    return JointLoss(False, False).value(scores, labels)


def sum_hinge_gradient(scores: Any, labels: Any) -> Array:
    """A subgradient of ``sum_hinge`` in the scores."""
    return JointLoss(False, False).gradient(scores, labels)


def squared_sum_hinge(scores: Any, labels: Any) -> Array:
    """sum_{j != y} max(0, 1 + s_j - s_y)^2."""
    return JointLoss(False, True).value(scores, labels)


def squared_sum_hinge_gradient(scores: Any, labels: Any) -> Array:
    """The gradient of ``squared_sum_hinge`` in the scores."""
    return JointLoss(False, True).gradient(scores, labels)


# --- one row, compiled ----------------------------------------------------------------------------------------------


@jit(reductions=True, inline=True)
def row_terms(loss, c, y, scores, beta):
    """c L(s), the conjugate at beta, and the row's share of the duality gap: their sum + beta's, never negative."""
    value, a_sum, a_squares, linear = 0.0, 0.0, 0.0, 0.0
    for j in range(len(scores)):
        if j != y:
            t = 1.0 + scores[j] - scores[y]
            a = -beta[j]
            hinge = max(t, 0.0)
            here = hinge * hinge if loss.squared else hinge
            value = max(value, here) if loss.maximum else value + here
            a_sum += a
            a_squares += a * a
            linear += a * t
    paid = 0.0
    if loss.squared:
        paid = (a_sum * a_sum if loss.maximum else a_squares) / (4.0 * c)
    return c * value, paid - a_sum, max(c * value + paid - linear, 0.0)


@jit(reductions=True)
def sums_of_terms(loss, labels, costs, scores, B, first, last):
    """Sums of ``row_terms`` over some rows."""
    losses, conjugates, gaps = 0.0, 0.0, 0.0
    for i in range(first, last):
        value, conjugate, gap = row_terms(loss, costs[i], labels[i], scores[i], B[i])
        losses += value
        conjugates += conjugate
        gaps += gap
    return losses, conjugates, gaps


@jit(reductions=True)
def row_violation(loss, c, y, scores, beta):
    """How far the row is from its optimality conditions, in units of the scores.

    Seen as shares of one budget, the other classes and "no slack" (t = 0, share c - S) of the maximum: a class that
    may grow must not have a larger t than one that has a share. For the sum every class has a budget of its own.
    """
    S = beta[y]
    if loss.maximum:
        rest = S / (2.0 * c) if loss.squared else 0.0
        highest, lowest = rest, np.inf
        if loss.squared or c * (1.0 - SLIVER) > S:
            lowest = rest
        for j in range(len(scores)):
            if j != y:
                t = 1.0 + scores[j] - scores[y]
                highest = max(highest, t)
                if beta[j] < -SLIVER * c:
                    lowest = min(lowest, t)
        return highest - lowest if highest > lowest else 0.0
    worst = 0.0
    for j in range(len(scores)):
        if j != y:
            a = -beta[j]
            t = 1.0 + scores[j] - scores[y] - (a / (2.0 * c) if loss.squared else 0.0)
            if t > 0.0 and (loss.squared or a < c * (1.0 - SLIVER)):
                worst = max(worst, t)
            if t < 0.0 and a > SLIVER * c:
                worst = max(worst, -t)
    return worst


@jit()
def row_inside(loss, c, y, beta):
    """Multipliers brought into their set: signs, then bounds; a sum that is too large is scaled down. Writes: beta."""
    total = 0.0
    for j in range(len(beta)):
        if j != y:
            beta[j] = min(beta[j], 0.0)
            if not (loss.maximum or loss.squared):
                beta[j] = max(beta[j], -c)
            total -= beta[j]
    if loss.maximum and not loss.squared and total > c:
        for j in range(len(beta)):
            beta[j] *= c / total
        total = c
    beta[y] = total


@jit()
def all_inside(loss, labels, costs, B):
    """``row_inside`` for every row. Writes: B."""
    for i in range(len(labels)):
        row_inside(loss, costs[i], labels[i], B[i])


@jit(inline=True)
def _steepest(loss, c, y, scores, new):
    """-c times a (sub)gradient of the loss at the scores. Writes: new."""
    best, highest = -1, 0.0
    new[:] = 0.0
    for j in range(len(scores)):
        t = 1.0 + scores[j] - scores[y]
        if j != y and t > 0.0:
            if loss.maximum:
                if t > highest:
                    best, highest = j, t
            else:
                new[j] = -2.0 * c * t if loss.squared else -c
                new[y] -= new[j]
    if best >= 0:
        new[best] = -2.0 * c * highest if loss.squared else -c
        new[y] = -new[best]


@jit()
def shape_of(loss, c, q):
    """kappa, cap, share and limit of ``best_row``."""
    if loss.maximum and loss.squared:
        return 1.0, np.inf, 1.0 / (1.0 + 1.0 / (2.0 * c * q)), np.inf
    if loss.maximum:
        return 1.0, np.inf, 1.0, c
    if loss.squared:
        return q / (q + 1.0 / (2.0 * c)), np.inf, 1.0, np.inf
    return 1.0, c, 1.0, np.inf


@jit(reductions=True, inline=True)
def best_row(loss, c, q, y, scores, beta, u, new):
    """The row's multipliers that maximise the dual while all others stay, exactly. Returns tau. Writes: u, new.

    With q = ||x||^2, u_j = t_j / q + a_j + S and the largest of the u above zero they are

        a_j = clip(kappa (u_j - tau), 0, cap),    sum_j a_j = min(share tau, limit),

    where kappa, cap, share and limit are (1, inf, 1, c) for the maximum, (1, c, 1, inf) for the sum, (1, inf,
    1 / (1 + 1 / (2 c q)), inf) for the maximum's square and (q / (q + 1 / (2 c)), inf, 1, inf) for the sum's. The two
    sides fall and rise with tau, so it is one number, the root of a piecewise linear function. Afterwards a class
    without a multiplier is q (tau - u_j) short of getting one.
    """
    if q <= 0.0:  # a row of zeros: its scores are 0 whatever the weights
        _steepest(loss, c, y, scores, new)
        u[:] = 0.0
        return 0.0
    kappa, cap, share, limit = shape_of(loss, c, q)
    top, inverse = 0.0, 1.0 / q
    shift = (1.0 - scores[y]) * inverse + beta[y]
    for j in range(len(scores)):
        u[j] = scores[j] * inverse - beta[j] + shift
    u[y] = -np.inf
    for j in range(len(scores)):
        top = larger(top, u[j])
    if top <= 0.0:
        new[:] = 0.0
        return 0.0
    tau = threshold(u, top, beta[y] / share, kappa, cap, share, limit)
    total, active = 0.0, 0
    for j in range(len(scores)):
        a = smaller(larger(kappa * (u[j] - tau), 0.0), cap)
        total += a
        active += a > 0.0
        new[j] = -a
    if share * tau > limit:  # at the bound exactly, so that rows can be seen to rest there
        total = limit
        if active == 1:
            for j in range(len(scores)):
                new[j] = -limit if new[j] < 0.0 else 0.0
    new[y] = total
    return tau


@jit(reductions=True, inline=True)
def threshold(u, top, guess, kappa, cap, share, limit):
    """tau in (0, top) with kappa sum_j clip(u_j - tau, 0, cap / kappa) = min(share tau, limit).

    Newton's method, exact on a linear piece, within a bracket.
    """
    low, high = 0.0, top
    tau = guess if low < guess < high else 0.5 * top
    for _ in range(NEWTON_STEPS):
        excess, slope = 0.0, 0.0
        for j in range(len(u)):
            a = kappa * (u[j] - tau)
            excess += smaller(larger(a, 0.0), cap)
            slope -= kappa if 0.0 < a < cap else 0.0
        if share * tau < limit:
            excess -= share * tau
            slope -= share
        else:
            excess -= limit
        if excess > 0.0:
            low = tau
        else:
            high = tau
        step = tau - excess / slope if slope < 0.0 else -1.0
        if abs(step - tau) <= SAME * tau:
            return step
        tau = step if low < step < high else 0.5 * (low + high)
    return tau


# --- all rows under a penalty: the augmented Lagrangian ---------------------------------------------------------------


class Penalized(NamedTuple):
    """The terms of all rows, with penalties sigma c_i on changes of their multipliers."""

    loss: JointLoss
    labels: Array
    costs: Array
    sigma: float


@jit(reductions=True)
def shift_rows(terms, scores, old, first, last, B, curved):
    """The rows' multipliers near ``old`` ones (``best_row`` with q = 1 / (sigma c_i)); do they change with the scores?

    Writes: B, curved.
    """
    u = np.empty(B.shape[1])
    for i in range(first, last):
        c, y = terms.costs[i], terms.labels[i]
        q = 1.0 / (terms.sigma * c)
        best_row(terms.loss, c, q, y, scores[i], old[i], u, B[i])
        count, weight = _active(terms.loss, c, q, y, B[i])
        curved[i] = count > 1 or count * (1.0 - weight) > 0.0


@jit()
def _active(loss, c, q, y, beta):
    """How many classes have a multiplier strictly between its bounds, and the w of ``bend_rows``."""
    kappa, cap, share, limit = shape_of(loss, c, q)
    count = 0
    for j in range(len(beta)):
        count += j != y and 0.0 < -beta[j] < cap
    if beta[y] >= limit:
        return count, 1.0 / max(count, 1)
    return count, kappa / (share + kappa * count)


@jit()
def bends_of(terms, B, index, active, size, weight):
    """What ``bend_rows`` needs of the rows at ``index``: active classes (ones), kappa sigma c and w.

    Writes: active, size, weight.
    """
    for r in range(len(index)):
        c, y, beta = terms.costs[index[r]], terms.labels[index[r]], B[index[r]]
        q = 1.0 / (terms.sigma * c)
        kappa, cap, _, _ = shape_of(terms.loss, c, q)
        for j in range(len(beta)):
            active[r, j] = 1.0 if j != y and 0.0 < -beta[j] < cap else 0.0
        size[r], weight[r] = kappa / q, _active(terms.loss, c, q, y, beta)[1]


@jit(reductions=True)
def bend_rows(labels, active, size, weight, D):
    """From changes of scores to minus the changes of multipliers that follow (``shift_rows``). Writes: D.

    With delta_j = ds_j - ds_y of the active classes these change by da_j = size (delta_j - w sum delta), and the label
    by minus their sum.
    """
    for r in range(len(labels)):
        row, on = D[r], active[r]
        own, mean, total = row[labels[r]], 0.0, 0.0
        for j in range(len(row)):
            mean += on[j] * (row[j] - own)
        mean *= weight[r]
        for j in range(len(row)):
            row[j] = size[r] * on[j] * (row[j] - own - mean)
            total += row[j]
        row[labels[r]] = -total
