"""Conjugate gradients on the free multipliers of a joint machine: what row after row creeps towards, all at once.

Rows and classes whose multipliers lie strictly between their bounds span a face on which the dual is one concave
quadratic. A few conjugate gradient steps there cost about as much as that many passes over the rows and see the
curvature between rows, which single rows cannot. The end point is brought back into the rows' sets; the way to it is
feasible, and its best point has a closed form, so the dual never falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import limits
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.losses.multiclass import SLIVER, all_inside, row_inside

MOST = 10  # steps, more only while no multiplier crosses a bound: beyond it the face is another one
FURTHER = 200
ENOUGH = 0.05  # of the gradient's norm: more would be lost when the end point is brought back
TO_THE_END = 1e-9  # the same for problems of few rows


class FaceProblem(NamedTuple):
    """Some rows of a joint problem, and ``apply(D)`` = K D among them."""

    loss: Any
    labels: Array
    costs: Array
    apply: Callable[[Array], Array]


def climb(face: FaceProblem, scores: Array, B: Array, enough: float = ENOUGH) -> tuple[Array, Array]:
    """Multipliers with a larger dual value and their scores; those given where there are none."""
    rows = face.loss, face.labels, face.costs
    change = _ascent(face, scores, B, enough)
    target = B + _directions(face.labels, change)
    all_inside(*rows, target)
    D = target - B
    if not D.any():
        return B, scores
    KD = face.apply(D)
    slope, curvature = _along(*rows, scores, B, D, KD)
    if slope <= 0.0:
        return B, scores
    step = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
    if step < 1.0 and enough == TO_THE_END:  # part of the way leaves no multiplier at a bound, and the face as it was
        target = _to_the_bound(*rows, B, change)
        return target, scores + face.apply(target - B)
    return (target if step == 1.0 else B + step * D), scores + step * KD


def _ascent(face: FaceProblem, scores: Array, B: Array, enough: float) -> Array:
    """Conjugate gradients towards the maximum on the face of B, as changes of a."""
    rows = face.loss, face.labels, face.costs
    R, change = np.empty_like(B), np.zeros_like(B)
    _gradient(*rows, scores, B, R)
    first = square = float(np.vdot(R, R))
    P = R.copy()
    most = min(FURTHER, 2 * np.count_nonzero(R))  # without rounding, a step for every free multiplier would do
    for number in range(most):
        if square <= enough**2 * first or (number >= MOST and _crosses(*rows, B, change)):
            break
        limits.checkpoint()
        HP = face.apply(_directions(face.labels, P))
        _curved(*rows, B, P, HP)
        curvature = float(np.vdot(P, HP))
        if curvature <= 0.0:
            break
        step = square / curvature
        change += step * P
        R -= step * HP
        before, square = square, float(np.vdot(R, R))
        P = R + (square / before) * P
    return change


def _directions(labels: Array, P: Array) -> Array:
    """Changes of a as changes of B: minus for the other classes, the sum for the row's own."""
    D = -P
    D[np.arange(len(P)), labels] = P.sum(axis=1)
    return D


@jit(reductions=True)
def _project(loss, y, c, beta, r):
    """r on the face: zero where a multiplier sits at a bound; without its mean where their sum does. Writes: r."""
    count, total = 0, 0.0
    for j in range(len(r)):
        if j != y and beta[j] < 0.0 and (loss.maximum or loss.squared or -beta[j] < c):
            count += 1
            total += r[j]
        else:
            r[j] = 0.0
    if loss.maximum and not loss.squared and beta[y] >= c * (1.0 - SLIVER) and count > 0:
        mean = total / count
        for j in range(len(r)):
            if j != y and beta[j] < 0.0:
                r[j] -= mean


@jit(reductions=True)
def _gradient(loss, labels, costs, scores, B, R):
    """The dual's slope in a, on the face. Writes: R."""
    for i in range(len(labels)):
        y, c = labels[i], costs[i]
        for j in range(B.shape[1]):
            paid = 0.0
            if loss.squared:
                paid = (B[i, y] if loss.maximum else -B[i, j]) / (2.0 * c)
            R[i, j] = 1.0 + scores[i, j] - scores[i, y] - paid
        _project(loss, y, c, B[i], R[i])


@jit(reductions=True)
def _curved(loss, labels, costs, B, P, HP):
    """From K D to minus the dual's second derivative times P, on the face. Writes: HP."""
    for i in range(len(labels)):
        y, c = labels[i], costs[i]
        own, total = HP[i, y], 0.0
        for j in range(B.shape[1]):
            total += P[i, j]
        for j in range(B.shape[1]):
            HP[i, j] = own - HP[i, j]
            if loss.squared:
                HP[i, j] += (total if loss.maximum else P[i, j]) / (2.0 * c)
        _project(loss, y, c, B[i], HP[i])


@jit()
def _to_the_bound(loss, labels, costs, B, change):
    """B with a changed so far that the first multiplier meets its bound, and is set to it. The dual rises."""
    share = 1.0
    for i in range(len(labels)):
        c, total, sum_change = costs[i], B[i, labels[i]], 0.0
        for j in range(B.shape[1]):
            if j != labels[i]:
                a, da = -B[i, j], change[i, j]
                sum_change += da
                if da < 0.0:
                    share = min(share, -a / da)
                elif da > 0.0 and not (loss.maximum or loss.squared):
                    share = min(share, (c - a) / da)
        if loss.maximum and not loss.squared and sum_change > SLIVER * c and total < c * (1.0 - SLIVER):
            share = min(share, (c - total) / sum_change)
    made = B.copy()
    for i in range(len(labels)):
        c = costs[i]
        for j in range(B.shape[1]):
            if j != labels[i]:
                a = share * change[i, j] - B[i, j]
                a = 0.0 if a <= SLIVER * c else a
                if not (loss.maximum or loss.squared) and a >= c * (1.0 - SLIVER):
                    a = c
                made[i, j] = -a
        row_inside(loss, c, labels[i], made[i])
    return made


@jit()
def _crosses(loss, labels, costs, B, change):
    """Whether B with a changed so leaves the set of any row."""
    for i in range(len(labels)):
        y, c, total = labels[i], costs[i], 0.0
        for j in range(B.shape[1]):
            if j != y:
                a = change[i, j] - B[i, j]
                total += a
                if a < 0.0 or (a > c and not (loss.maximum or loss.squared)):
                    return True
        if loss.maximum and not loss.squared and total > c * (1.0 + SLIVER):
            return True
    return False


@jit(reductions=True)
def _along(loss, labels, costs, scores, B, D, KD):
    """Slope of the dual along D at B, and minus its second derivative there."""
    slope, curvature = 0.0, 0.0
    for i in range(len(labels)):
        y, c = labels[i], costs[i]
        slope += D[i, y]
        for j in range(B.shape[1]):
            slope -= D[i, j] * scores[i, j]
            curvature += D[i, j] * KD[i, j]
            if loss.squared and not loss.maximum and j != y:
                slope -= D[i, j] * B[i, j] / (2.0 * c)
                curvature += D[i, j] * D[i, j] / (2.0 * c)
        if loss.squared and loss.maximum:
            slope -= D[i, y] * B[i, y] / (2.0 * c)
            curvature += D[i, y] * D[i, y] / (2.0 * c)
    return slope, curvature
