"""Probabilities that rise with the score and are otherwise free: isotonic regression."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from maxmargin.calibration.targets import regularised_targets
from maxmargin.core.rows import Array


class Isotonic(NamedTuple):
    """P(+1 | f) at some scores, in ascending order; linear between them, and constant beyond."""

    scores: Array
    probabilities: Array

    def __call__(self, scores: Array) -> Array:
        """P(+1 | f)."""
        return np.interp(scores, self.scores, self.probabilities)


def fit_isotonic(scores: Array, positive: Array, weights: Array) -> Isotonic:
    """Least squares under p(f) <= p(f') for f <= f', of targets that are a little less certain than 0 and 1."""
    levels, place = np.unique(scores, return_inverse=True)
    total = np.bincount(place, weights=weights)
    targets = np.bincount(place, weights=weights * regularised_targets(positive, weights)) / total
    fitted = isotonic_regression(targets, weights=total).x
    # Of a run of equal probabilities its two ends say all.
    ends = np.ones(len(levels), bool)
    ends[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
    return Isotonic(levels[ends], fitted[ends])
