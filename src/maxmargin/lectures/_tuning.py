"""A grid over C and gamma with certified fits (note 004:827)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data

CS, GAMMAS = 10.0 ** np.arange(-2, 4), 10.0 ** np.arange(-5, 1)


class Tried(NamedTuple):
    """Mean accuracy over the folds, and the largest certified relative gap of the fits."""

    accuracy: float
    gap: float


def rows() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """400 rows of the breast cancer data to tune on, and 169 kept aside."""
    X, y = data.cancer()
    order = np.random.default_rng(0).permutation(len(y))
    return (X[order[:400]], y[order[:400]]), (X[order[400:]], y[order[400:]])


def cross_validate(C: float, gamma: float, folds: int = 5) -> Tried:
    """A Gaussian machine on each part of the rows for tuning, tried on the rest."""
    (X, y), _ = rows()
    fold, scores, gaps = np.arange(len(y)) % folds, [], []
    for k in range(folds):
        machine = SVC(C=C, gamma=gamma).fit(X[fold != k], y[fold != k])
        scores.append(machine.score(X[fold == k], y[fold == k]))
        gaps.append(machine.certificate_.relative_gap)
    return Tried(float(np.mean(scores)), max(gaps))


def kept_aside(C: float, gamma: float) -> float:
    """Accuracy on the rows kept aside."""
    tuned_on, aside = rows()
    return float(SVC(C=C, gamma=gamma).fit(*tuned_on).score(*aside))
