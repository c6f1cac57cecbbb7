"""HingeRegularizedGD (note 001, algorithm 24): a bias, lambda on 1/2 ||w||^2 beside the sum of hinge losses.

lambda/2 ||w||^2 + sum_n max(0, 1 - y_n (w'x_n + b)) is note 001's objective with C = 1/lambda, divided by C.
"""

import numpy as np

from maxmargin.textbook import inputs


def objective(w, b, X, y, lam):
    """What the algorithm descends on."""
    return lam / 2 * w @ w + np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


def ascent_direction(w, b, X, y, lam):
    """Lines 3 to 10: minus the gradient, of weights and bias. Examples at the kink y (w'x + b) = 1 count."""
    g, g_b = np.zeros_like(w), 0.0  # 3
    for x_n, y_n in zip(X, y, strict=True):  # 4
        if y_n * (w @ x_n + b) <= 1:  # 5
            g = g + y_n * x_n  # 6
            g_b = g_b + y_n  # 7
    return g - lam * w, g_b  # 10


def ascent_direction_vectorized(w, b, X, y, lam):
    """The same sums by one product."""
    inside = y * (X @ w + b) <= 1
    return y[inside] @ X[inside] - lam * w, y[inside].sum()


def hinge_regularized_gd(X, y, lam, max_iter, eta=1e-3):
    """Algorithm 24 as printed, with its one step size eta: it ends in a neighbourhood of the optimum.

    X is n x p, y has the n labels -1 or +1, lam = 1/C. (w, b), and a row of history has the iteration and the objective
    after it.
    """
    X, y = inputs.examples(X, y)
    inputs.penalty(lam)
    w, b = np.zeros(X.shape[1]), 0.0  # 1
    history = [{"iteration": 0, "objective": objective(w, b, X, y, lam)}]
    for t in range(1, max_iter + 1):  # 2
        g, g_b = ascent_direction_vectorized(w, b, X, y, lam)  # 3-10
        w = w + eta * g  # 11
        b = b + eta * g_b  # 12
        history.append({"iteration": t, "objective": objective(w, b, X, y, lam)})
    return (w, b), history  # 14


def diminishing(X, y, lam, max_iter, eta=1e-2):
    """The corrected algorithm: eta / sqrt(t) times the unit direction, and the best point seen (Shor 1985).

    X, y and lam as in hinge_regularized_gd; the history's objective is the least so far.
    """
    X, y = inputs.examples(X, y)
    inputs.penalty(lam)
    w, b = np.zeros(X.shape[1]), 0.0
    best, least = (w, b), objective(w, b, X, y, lam)
    history = [{"iteration": 0, "objective": least}]
    for t in range(1, max_iter + 1):
        g, g_b = ascent_direction_vectorized(w, b, X, y, lam)
        step = eta / np.sqrt(t) / max(np.sqrt(g @ g + g_b**2), 1e-12)
        w, b = w + step * g, b + step * g_b
        value = objective(w, b, X, y, lam)
        if value < least:
            best, least = (w, b), value
        history.append({"iteration": t, "objective": least})
    return best, history
