"""Stochastic gradient descent (note 002): S(a, b; lambda) = (1/N) sum_i c(gamma_i, y_i) + lambda a'a / 2.

gamma_i = a'x_i + b; c is the hinge loss max(1 - gamma y, 0) or the logistic loss log(1 + exp(-gamma y)). The recipe is
one for other costs too: ``loss`` may be an object with the methods value(y, gamma), which is c, and slope(y, gamma),
which is dc/dgamma, on arrays.
"""

import numpy as np

from maxmargin.textbook import inputs


def gamma(a, b, X):
    """a'x + b: its sign is the predicted label, its size is proportional to the distance from the line."""
    return X @ a + b


def predict(a, b, X):
    """+1 where gamma >= 0, else -1: a score of exactly zero is class +1."""
    return np.where(gamma(a, b, X) >= 0, 1.0, -1.0)


def c(gamma, y, loss):
    """The cost of each example."""
    inputs.loss(loss, "hinge", "logistic")
    if not isinstance(loss, str):
        return loss.value(y, gamma)
    return np.maximum(1 - gamma * y, 0.0) if loss == "hinge" else np.logaddexp(0.0, -gamma * y)


def slope(gamma, y, loss):
    """dc/dgamma: -y or 0 for the hinge (-y at the kink), -y e^{-gamma y} / (1 + e^{-gamma y}) for the logistic loss."""
    inputs.loss(loss, "hinge", "logistic")
    if not isinstance(loss, str):
        return loss.slope(y, gamma)
    if loss == "hinge":
        return np.where(gamma * y > 1, 0.0, -y)
    return -y * np.exp(-np.logaddexp(0.0, gamma * y))  # e^{-t} / (1 + e^{-t}) = 1 / (1 + e^t), without overflow


def S(a, b, X, y, lam, loss="hinge"):
    """Data term (empirical risk) plus regularisation term."""
    return c(gamma(a, b, X), y, loss).mean() + lam * a @ a / 2


def C_k(a, b, X, y, k, rng, loss="hinge"):
    """The mean cost of k examples drawn uniformly at random; its expected value is the data term of S."""
    drawn = rng.integers(len(y), size=k)
    return c(gamma(a, b, X[drawn]), y[drawn], loss).mean()


def gradient(a, b, X, y, lam, loss="hinge"):
    """Of S on these examples: (mean of slope x + lambda a, mean of slope)."""
    slopes = slope(gamma(a, b, X), y, loss)
    return slopes @ X / len(y) + lam * a, slopes.mean()


def seasons_of_the_note(n=2, steps=1000, first=1e-3):
    """1000 steps at 1e-3; 1000 steps at 1e-4; etc."""
    return [(steps, first * 10.0**-k) for k in range(n)]


def diminishing_seasons(lam, n, steps=1000):
    """Seasons of ``steps`` whose length falls like 1 / (lambda t), with the sums that convergence needs."""
    return [(steps, 1 / (lam * steps * (s + 1))) for s in range(n)]


def stochastic_gradient_descent(X, y, lam, seasons, rng, k=1, loss="hinge", held_out=None, average=False):
    """Repeat: k examples at random, step down their gradient. (a, b), and a row of history per season.

    X is n x p, y has the n labels -1 or +1, lam >= 0, rng is a NumPy generator or a seed, and loss "hinge", "logistic"
    or an object with value and slope. A row has the season, its eta, S and the norm of a after it, and the accuracy on
    held-out examples.

    ``seasons`` is a list of (steps, eta). With ``held_out = (X, y)`` its accuracy is monitored. ``average`` returns the
    mean of the second half of all steps, which removes the noise that a step of fixed length keeps.
    """
    X, y = inputs.examples(X, y)
    held_out = None if held_out is None else inputs.examples(*held_out)
    inputs.penalty(lam)
    rng = np.random.default_rng(rng)
    a, b, done = np.zeros(X.shape[1]), 0.0, 0
    half = sum(steps for steps, _ in seasons) // 2
    mean_a, mean_b, at, history = np.zeros_like(a), 0.0, (a, b), []
    for season, (steps, eta) in enumerate(seasons, 1):
        for _ in range(steps):
            drawn = rng.integers(len(y), size=k)
            g_a, g_b = gradient(a, b, X[drawn], y[drawn], lam, loss)
            a, b, done = a - eta * g_a, b - eta * g_b, done + 1
            if done > half:
                mean_a += (a - mean_a) / (done - half)
                mean_b += (b - mean_b) / (done - half)
        at = (mean_a, mean_b) if average and done > half else (a, b)
        row = {"season": season, "eta": eta, "S": S(*at, X, y, lam, loss), "norm": np.linalg.norm(at[0])}
        if held_out is not None:
            row["accuracy"] = np.mean(predict(*at, held_out[0]) == held_out[1])
        history.append(row)
    return at, history
