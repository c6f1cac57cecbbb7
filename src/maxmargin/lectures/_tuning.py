"""A grid over C and gamma with certified fits (note 004:827)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.estimators import SVC
from maxmargin.lectures import data

CS, GAMMAS = 10.0 ** np.arange(-2, 4), 10.0 ** np.arange(-5, 1)


class Tried(NamedTuple):
    """Mean accuracy over the folds, and the largest certified relative gap of the fits."""

    accuracy: float
    gap: float


def cross_validate(C: float, gamma: float, folds: int = 5) -> Tried:
    """A Gaussian machine on all folds of the 400 rows but one, tried on that one."""
    (X, y), _ = data.cancer_parts()
    fold, scores, gaps = np.arange(len(y)) % folds, [], []
    for k in range(folds):
        machine = SVC(C=C, gamma=gamma).fit(X[fold != k], y[fold != k])
        scores.append(machine.score(X[fold == k], y[fold == k]))
        gaps.append(machine.certificate_.relative_gap)
    return Tried(float(np.mean(scores)), max(gaps))


def kept_aside(C: float, gamma: float) -> float:
    """Accuracy on the 169 rows kept aside."""
    tuned_on, aside = data.cancer_parts()
    return float(SVC(C=C, gamma=gamma).fit(*tuned_on).score(*aside))
