"""Machines, data and schedules that several demonstrations of note 002 use."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.preprocessing import Whitener
from maxmargin.textbook import sgd


def accuracy(a: Array, b: float, X: Array, y: Array) -> float:
    """The share of labels predicted right."""
    return float(np.mean(sgd.predict(a, b, X) == y))


def hinge_machine(X: Array, y: Array, lam: float) -> tuple[Array, float]:
    """The minimum of S: exact, and quick for a hundred rows."""
    machine = SVC(kernel="linear", C=1 / (len(y) * lam)).fit(X, y)
    return machine.coef_[0], float(machine.intercept_[0])


def normal_clouds(n: int, d: int, apart: float, rng: Any) -> tuple[Array, Array]:
    """Two round clouds in d dimensions, ``apart`` standard deviations from mean to mean."""
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return rng.normal(size=(n, d)) + 0.5 * apart / np.sqrt(d) * y[:, None], y


def high_digits(n: int, scale: bool = False) -> tuple[Array, Array]:
    """The digits 5 to 9 against 0 to 4, translated (on request scaled) by what the first n show."""
    X, digit = data.digits()
    return Whitener(scale=scale).fit(X[:n]).transform(X), np.where(digit >= 5, 1.0, -1.0)


def steps_like(m: float, n: float, seasons: int, steps: int) -> list[tuple[int, float]]:
    """Seasons with eta = m / (season + n)."""
    return [(steps, m / (season + n)) for season in range(1, seasons + 1)]


def angle(a: Array, b: Array) -> float:
    """Between two weight vectors, in degrees."""
    return float(np.degrees(np.arccos(min(1.0, a @ b / np.linalg.norm(a) / np.linalg.norm(b)))))
