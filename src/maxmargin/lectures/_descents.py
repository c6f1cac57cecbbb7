"""Gradients, steps and walks (note 002)."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import _linear_002 as linear
from maxmargin.textbook import newton, sgd

LIMIT = 5000  # steps of gradient descent that are waited for


def drawn_gradient(a: Array, b: float, X: Array, y: Array, lam: float, k: int, rng: Any) -> Array:
    """The gradient of S with k examples drawn."""
    drawn = rng.integers(len(y), size=k)
    return np.append(*sgd.gradient(a, b, X[drawn], y[drawn], lam))


def all_pairs(a: Array, b: float, X: Array, y: Array, lam: float) -> float:
    """How far the means over all draws of two examples are from cost and gradient of all."""
    draws = [[i, j] for i in range(len(y)) for j in range(len(y))]
    costs = [sgd.c(sgd.gamma(a, b, X[two]), y[two], "hinge").mean() for two in draws]
    steps = [np.append(*sgd.gradient(a, b, X[two], y[two], lam)) for two in draws]
    cost_off = np.mean(costs) - sgd.c(sgd.gamma(a, b, X), y, "hinge").mean()
    return float(max(abs(cost_off), np.abs(np.mean(steps, axis=0) - np.append(*sgd.gradient(a, b, X, y, lam))).max()))


def accuracy_by_steps(X: Array, y: Array, n: int) -> tuple[Array, Array, float]:
    """Numbers of steps, mean held-out accuracies of five runs after them, and that of the optimum."""
    lam, held_out = 1e-3, (X[n:], y[n:])
    lengths = [10, 10, 20, 40, 80, 160, 320, 640, 1280, 2560]
    seen = np.cumsum(lengths)
    seasons = [(steps, 0.05 / (1 + 0.2 * np.sqrt(at))) for steps, at in zip(lengths, seen, strict=True)]
    runs = [
        sgd.stochastic_gradient_descent(X[:n], y[:n], lam, seasons, np.random.default_rng(k), held_out=held_out)
        for k in range(5)
    ]
    accuracy = np.mean([[row["accuracy"] for row in history] for _, history in runs], axis=0)
    whole = LinearSVC(loss="hinge", lam=lam).fit(X[:n], y[:n])
    return seen, accuracy, float(whole.score(*held_out))


def shares_of_steps(rng: Any, n: int = 100_000, eta: float = 1e-4, lam: float = 0.1) -> dict[str, Any]:
    """Random lines and examples in the plane: what a short step does to the distance."""
    a, b, x = rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=(n, 2))
    y, norm = rng.choice([-1.0, 1.0], size=n), np.linalg.norm(a, axis=1)
    along = np.sum(a * x, axis=1)
    g = along + b
    inside = g * y <= 1
    new_a = (1 - eta * lam) * a + eta * (inside * y)[:, None] * x
    new_g = np.sum(new_a * x, axis=1) + b + eta * inside * y
    change = new_g * y / np.linalg.norm(new_a, axis=1) - g * y / norm
    nearer = np.where(g * y > 0, change < 0, change > 0)
    rate = (np.sum(x * x, axis=1) + 1 + lam * b * y - g * along / norm**2) / norm
    kinds = {"beyond the margin": ~inside, "misclassified": g * y < 0, "right, within the margin": inside & (g * y > 0)}
    clear = inside & (norm > 0.5)  # where eta is a short step
    return {
        "nearer": {kind: float(nearer[here].mean()) for kind, here in kinds.items()},
        "rule": bool(np.array_equal(nearer[~inside], (b * g < 0)[~inside])),
        "rate": bool(np.allclose(change[clear] / eta, rate[clear], rtol=1e-2, atol=1e-2)),
    }


def walk(X: Array, y: Array, lam: float, etas: Array) -> tuple[Array, Array]:
    """Every point of SGD with single examples."""
    rng = np.random.default_rng(1)
    A, B = np.zeros((len(etas) + 1, X.shape[1])), np.zeros(len(etas) + 1)
    for t, eta in enumerate(etas):
        i = rng.integers(len(y), size=1)
        g_a, g_b = sgd.gradient(A[t], B[t], X[i], y[i], lam)
        A[t + 1], B[t + 1] = A[t] - eta * g_a, B[t] - eta * g_b
    return A, B


def speed(X: Array, y: Array, X_test: Array, y_test: Array) -> dict[str, Any]:
    """Eigenvalue ratio, steps of descent to 1e-3 of the least S, and accuracies after training on these features."""
    lam = 1e-2
    ones = np.column_stack([X, np.ones(len(y))])
    eigenvalues = np.linalg.eigvalsh(ones.T @ ones / len(y))
    (a, _), history = newton.newton(X, y, lam, "logistic")
    least, curve = history[-1]["S"], []
    u_a, u_b, eta = np.zeros(X.shape[1]), 0.0, 1 / (eigenvalues[-1] / 4 + lam)
    while len(curve) < LIMIT and (not curve or curve[-1] > 1e-3):
        g_a, g_b = sgd.gradient(u_a, u_b, X, y, lam, "logistic")
        u_a, u_b = u_a - eta * g_a, u_b - eta * g_b
        curve.append(sgd.S(u_a, u_b, X, y, lam, "logistic") - least)
    runs = [sgd.stochastic_gradient_descent(X, y, lam, [(1000, eta), (1000, eta / 10)], np.random.default_rng(0))[0]
            for eta in np.logspace(-5, 1, 7)]  # fmt: skip
    scores = {bias: LinearSVC(loss="hinge", lam=lam, fit_intercept=bias).fit(X, y).score(X_test, y_test)
              for bias in ("regularized", True)}  # fmt: skip
    return {"condition": float(eigenvalues[-1] / eigenvalues[0]), "steps": len(curve), "curve": np.array(curve),
            "S": least, "a": a, "sgd": max(linear.accuracy(*run, X_test, y_test) for run in runs),
            "penalised": scores["regularized"], "free": scores[True]}  # fmt: skip
