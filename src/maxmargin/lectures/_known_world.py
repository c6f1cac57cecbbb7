"""A world that is known, to measure bias and variance (note 002).

20 normal features, of which two matter: the label is +1 above a parabola and -1 below it, and some are flipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import _linear_002 as linear

FLIPPED = 0.1  # share of the labels, wrong whatever one predicts


def parabola(x: Array) -> Array:
    """x_2 on the border between the better labels."""
    return 0.6 * (x**2 - 1)


def draw(n: int, rng: Any) -> tuple[Array, Array]:
    """n examples."""
    X = rng.normal(size=(n, 20))
    return X, np.where(X[:, 1] > parabola(X[:, 0]), 1.0, -1.0) * np.where(rng.random(n) < FLIPPED, -1, 1)


def normal_nodes(n: int) -> Array:
    """Values of a standard normal variable, each of probability 1/n."""
    return ndtri((np.arange(n) + 0.5) / n)


def error(a: Array, b: float) -> float:
    """Of sign(a'x + b): quadrature over x_1 and over the part of a'x that comes from features without meaning."""
    x_1, noise = normal_nodes(300)[:, None], normal_nodes(40)[None, :] * np.linalg.norm(a[2:])
    line_at = -(a[0] * x_1 + noise + b) / a[1]  # predicted label changes there, the better label at the parabola
    differ = np.abs(ndtr(line_at) - ndtr(parabola(x_1))).mean()
    return float(FLIPPED + (1 - 2 * FLIPPED) * (differ if a[1] > 0 else 1 - differ))


def best_line_error() -> float:
    """Weights on features without meaning only mix lines of several b, so two weights are enough."""
    starts = ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0))
    found = [minimize(lambda u: error(np.array([u[0], 1.0]), u[1]), start, method="Nelder-Mead") for start in starts]
    return float(min(result.fun for result in found))


def endless(lam: float) -> tuple[Array, float]:
    """The machine of the whole distribution: a grid of equally probable points, each with both labels."""
    X = np.stack(np.meshgrid(normal_nodes(60), normal_nodes(60)), axis=-1).reshape(-1, 2)
    better = np.where(X[:, 1] > parabola(X[:, 0]), 1.0, -1.0)
    weights = np.repeat([1 - FLIPPED, FLIPPED], len(X))
    machine = LinearSVC(loss="hinge", lam=lam).fit(np.vstack([X, X]), np.append(better, -better), weights)
    return machine.coef_[0], float(machine.intercept_[0])


def errors_trained(sets: list[tuple[Array, Array]], lam: float) -> tuple[Array, Array]:
    """Of the machine of every training set: the error by quadrature, and on fresh examples."""
    machines = [linear.hinge_machine(X, y, lam) for X, y in sets]
    fresh = draw(20_000, np.random.default_rng(1))
    return np.array([error(*m) for m in machines]), np.array([1 - linear.accuracy(*m, *fresh) for m in machines])
