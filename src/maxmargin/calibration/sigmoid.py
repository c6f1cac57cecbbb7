"""Platt's sigmoid: P(+1 | f) = 1 / (1 + exp(A f + B)), by maximum likelihood.

With z = A f + B and targets t the negative log-likelihood of a row is log(1 + exp(z)) - (1 - t) z: its slope in z is
t - p and its curvature p (1 - p). Newton's method with backtracking minimises the weighted sum (Lin, Lin and Weng,
Machine Learning 68, 2007).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from maxmargin.calibration.targets import regularised_targets
from maxmargin.core.rows import Array

STEPS = 100
LEAST_STEP = 1e-10
DECREASE = 1e-4  # of what the slope promises, for a step to be taken
RIDGE = 1e-12  # keeps the 2 x 2 system solvable where all scores are equal
NEGLIGIBLE = 1e-10  # of the slope, relative to the sum of the weights


class Sigmoid(NamedTuple):
    """P(+1 | f) = 1 / (1 + exp(A f + B)), with A <= 0: it never falls with the score."""

    A: float
    B: float

    def __call__(self, scores: Array) -> Array:
        """P(+1 | f)."""
        return expit(-(self.A * scores + self.B))


def fit_sigmoid(scores: Array, positive: Array, weights: Array) -> Sigmoid:
    """Fit to scores of rows, of which some are ``positive``.

    Where higher scores make a positive row less likely (a machine that learned nothing does that to rows which it has
    not seen) the best sigmoid with A <= 0 is flat: the share of the positive rows, whatever the score.
    """
    targets = regularised_targets(positive, weights)
    flat = _flat(targets, weights)
    # Newton's method does not care for the scale of the scores, but rounding and the ridge do.
    scale = float(np.max(np.abs(scores), initial=0.0)) or 1.0
    A, B = _minimised(scores / scale, targets, weights, flat.B)
    return Sigmoid(A / scale, B) if A < 0.0 else flat


def _flat(targets: Array, weights: Array) -> Sigmoid:
    share = float(weights @ targets) / float(weights.sum())
    return Sigmoid(0.0, float(np.log((1.0 - share) / share)))


def _minimised(f: Array, t: Array, w: Array, B: float) -> tuple[float, float]:
    """A and B of the largest likelihood, from A = 0."""
    at, value = np.array([0.0, B]), _cost(f, t, w, 0.0, B)
    for _ in range(STEPS):
        p = expit(-(at[0] * f + at[1]))
        slopes, bends = w * (t - p), w * p * (1.0 - p)
        gradient = np.array([f @ slopes, slopes.sum()])
        if np.abs(gradient).max() <= NEGLIGIBLE * w.sum():
            break
        off = float(f @ bends)
        hessian = np.array([[(f * f) @ bends + RIDGE, off], [off, bends.sum() + RIDGE]])
        direction = -np.linalg.solve(hessian, gradient)
        step, slope = 1.0, float(gradient @ direction)
        while step >= LEAST_STEP:
            tried = at + step * direction
            new = _cost(f, t, w, *tried)
            if new < value + DECREASE * step * slope:
                at, value = tried, new
                break
            step *= 0.5
        else:
            break  # rounding is all that is left
    return float(at[0]), float(at[1])


def _cost(f: Array, t: Array, w: Array, A: float, B: float) -> float:
    z = A * f + B
    return float(w @ (np.logaddexp(0.0, z) - (1.0 - t) * z))
