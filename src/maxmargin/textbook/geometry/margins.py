"""The margin by algebra (note 001), distances and the geometry of a hyperplane (002, 003)."""

import numpy as np


def distance(x, w, b):
    """|w'x + b| / ||w||, from the point x to the hyperplane w'x + b = 0 (002, 003)."""
    return np.abs(x @ w + b) / np.linalg.norm(w)


def d_plus(x_plus, w, b):
    """(w'x+ + b) / ||w||: signed distance of a positive example. Note 001 divides w'x+ alone and subtracts 1."""
    return (w @ x_plus + b) / np.linalg.norm(w)


def d_minus(x_minus, w, b):
    """-(w'x- + b) / ||w||: distance of a negative example, counted on its own side."""
    return -(w @ x_minus + b) / np.linalg.norm(w)


def margin_by_algebra(x_plus, x_minus, w, b):
    """gamma = 1/2 [d+ + d-]; with w'x+ + b = 1 and w'x- + b = -1 this is 1/||w||. Note 001 prints d+ - d-."""
    return 0.5 * (d_plus(x_plus, w, b) + d_minus(x_minus, w, b))


def margin(w):
    """1/||w|| (001, 003); the width between both margins is twice that (004)."""
    return 1 / np.linalg.norm(w)


def canonical(w, b, X):
    """The same hyperplane with min |w'x + b| = 1 (003)."""
    scale = np.abs(X @ w + b).min()
    return w / scale, b / scale


def slack(w, b, X, y):
    """The smallest xi with y (w'x + b) >= 1 - xi and xi >= 0: exactly the hinge loss (001)."""
    gaps = y * (X @ w + b)
    return np.where(gaps >= 1, 0.0, 1 - gaps)


def objective(w, b, X, y, C):
    """1/2 ||w||^2 (large margin) + C sum of hinge losses (small slack), without constraints (001)."""
    return 0.5 * w @ w + C * slack(w, b, X, y).sum()
