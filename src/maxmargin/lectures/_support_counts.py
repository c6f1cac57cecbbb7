"""Support vectors counted against errors (note 004, overfitting and Ockham's razor)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data

CS, GAMMAS = (0.1, 1.0, 10.0, 1000.0), (0.1, 1.0, 10.0, 100.0)


class Counted(NamedTuple):
    """One machine: shares of wrong training, unseen and left-out examples, and of support vectors."""

    C: float
    gamma: float
    train: float
    test: float
    left_out: float
    support: float


def count(C: float, gamma: float, n: int = 30) -> Counted:
    """Fit a Gaussian machine to n points, to all but one of them in turn, and try it on 4000 others."""
    X, y = data.moons(n, noise=0.3, seed=0)
    Z, labels = data.moons(4000, noise=0.3, seed=1)
    machine = SVC(C=C, gamma=gamma).fit(X, y)
    wrong = [_left_out_is_wrong(i, X, y, C, gamma) for i in range(n)]
    errors = (1 - machine.score(X, y), 1 - machine.score(Z, labels), float(np.mean(wrong)))
    return Counted(C, gamma, *errors, len(machine.support_) / n)


def _left_out_is_wrong(i: int, X: Array, y: Array, C: float, gamma: float) -> bool:
    others = np.arange(len(y)) != i
    return bool(SVC(C=C, gamma=gamma).fit(X[others], y[others]).predict(X[i : i + 1])[0] != y[i])


def simulate(samples: int = 120, n: int = 20, apart: float = 2.4) -> Array:
    """For each of many samples of two Gaussian clouds: the machine's exact error, and its support vectors / n.

    The error needs no test data: w'x + b of a class is normal with variance ||w||^2.
    """
    rng, y, found = np.random.default_rng(0), np.repeat([-1.0, 1.0], n // 2), []
    for _ in range(samples):
        X = rng.normal(size=(n, 2)) + 0.5 * apart * y[:, None] * np.array([1.0, 0.0])
        machine = SVC(kernel="linear", C=1e4).fit(X, y)
        w, b = machine.coef_[0], machine.intercept_[0]
        wrong = norm.cdf((-0.5 * apart * w[0] + b * np.array([-1, 1])) / np.linalg.norm(w))
        found.append((wrong.mean(), len(machine.support_) / n))
    return np.array(found)


def botanist() -> tuple[float, float, float]:
    """A machine so narrow that it knows every tree by heart: its training error, unseen trees it accepts, and b."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat([1.0, -1.0], [20, 40])  # 20 trees, 40 other plants
    X[:20] *= 0.4
    machine = SVC(C=10.0, gamma=1e5).fit(X, y)
    unseen = 0.4 * rng.normal(size=(500, 2))
    return 1 - machine.score(X, y), float(np.mean(machine.predict(unseen) > 0)), float(machine.intercept_[0])
