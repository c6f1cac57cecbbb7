"""The soft margin as a quadratic program (note 003, section 2.3), slack to the power p = 1 or 2.

primal   min 1/2 ||w||^2 + c sum_i xi_i^p   subject to y_i (w'x_i + b) >= 1 - xi_i, xi_i >= 0
dual     p = 1: max sum alpha - 1/2 alpha'Q alpha              subject to 0 <= alpha_i <= c, sum_i alpha_i y_i = 0
         p = 2: max sum alpha - 1/2 alpha'(Q + I/(2c)) alpha   subject to 0 <= alpha_i,      sum_i alpha_i y_i = 0

alpha_i are the multipliers of the first constraint, beta_i those of xi_i >= 0.
"""

import numpy as np

from maxmargin.textbook import inputs
from maxmargin.textbook.programs.interior_point import at_bounds, box, solve_qp


def ridge(c, p):
    """What the power p adds to the diagonal of K: 0 or 1/(2c)."""
    inputs.choice("p", p, 1, 2)
    return 0.0 if p == 1 else 1 / (2 * c)


def objective(w, b, X, y, c, p=1):
    """The primal value of (w, b) with its smallest slacks."""
    return 0.5 * w @ w + c * (np.maximum(0.0, 1 - y * (X @ w + b)) ** p).sum()


def W(alpha, K, y, c, p=1):
    """The dual objective."""
    return alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y) - 0.5 * ridge(c, p) * alpha @ alpha


def lagrangian(w, b, xi, alpha, beta, X, y, c, p=1):
    """L(w, b, xi, alpha, beta)."""
    return 0.5 * w @ w + c * (xi**p).sum() - alpha @ (y * (X @ w + b) - 1 + xi) - beta @ xi


def primal(X, y, c, p=1):
    """(w, b, xi), their multipliers (alpha, beta), and the history (as of interior_point.solve_qp).

    X is n x d, y has the n labels -1 or +1, c > 0 is the C of other notes, p is 1 or 2.
    """
    X, y = inputs.examples(X, y)
    inputs.weight(c)
    inputs.choice("p", p, 1, 2)
    n, d = X.shape
    curvature = np.full(n, 0.0 if p == 1 else 2 * c)
    P = np.diag(np.concatenate([np.ones(d), [0.0], curvature]))
    q = np.concatenate([np.zeros(d + 1), np.full(n, c if p == 1 else 0.0)])
    margin = np.column_stack([-y[:, None] * X, -y, -np.eye(n)])  # -y (w'x + b) - xi <= -1
    positive = np.column_stack([np.zeros((n, d + 1)), -np.eye(n)])  # -xi <= 0
    u, z, _, history = solve_qp(P, q, np.vstack([margin, positive]), np.concatenate([-np.ones(n), np.zeros(n)]))
    return (u[:d], u[d], u[d + 1 :]), (z[:n], z[n:]), history


def dual(K, y, c, p=1):
    """alpha and the history (as of interior_point.solve_qp, whose objective is the minimised -W).

    K is the n x n kernel matrix, y the n labels -1 or +1, c > 0 is the C of other notes, p is 1 or 2.
    """
    K, y = inputs.matrix(K, y)
    inputs.weight(c)
    n, bound = len(y), c if p == 1 else np.inf
    Q = y[:, None] * K * y + ridge(c, p) * np.eye(n)
    alpha, z, _, history = solve_qp(Q, -np.ones(n), *box(n, bound), y[None, :], np.zeros(1))
    return at_bounds(alpha, z, bound, y), history


def bias(alpha, K, y, c, p=1):
    """b from the support vectors on the margin: mean of y_i (1 - xi_i) - w'x_i; p = 2 has xi_i = alpha_i / (2c).

    For p = 1 those have 0 < alpha_i < c; where there are none, b is the middle of the values that KKT allows.
    """
    scores = K @ (alpha * y)
    xi = ridge(c, p) * alpha
    b = y * (1 - xi) - scores
    low, high = alpha > 0, alpha < c if p == 1 else np.full(len(y), True)
    if np.any(low & high):
        return np.mean(b[low & high])
    below = np.where(y > 0, high, low)  # b_i <= b
    above = np.where(y > 0, low, high)  # b <= b_i
    return 0.5 * (b[below].max() + b[above].min())


def kkt(w, b, xi, alpha, beta, X, y, c, p=1):
    """How far each condition is from holding; all zero at the optimum. The third is c - alpha_i - beta_i for p = 1."""
    gap = y * (X @ w + b) - 1 + xi
    return {
        "w - sum alpha_i y_i x_i": np.abs(w - (alpha * y) @ X).max(),
        "sum alpha_i y_i": abs(alpha @ y),
        "c p xi_i^(p-1) - alpha_i - beta_i": np.abs(c * p * xi ** (p - 1) - alpha - beta).max(),
        "y_i (w'x_i + b) >= 1 - xi_i": max(0.0, -gap.min()),
        "alpha_i, beta_i, xi_i >= 0": max(0.0, -min(alpha.min(), beta.min(), xi.min())),
        "alpha_i [y_i (w'x_i + b) - 1 + xi_i]": np.abs(alpha * gap).max(),
        "beta_i xi_i": np.abs(beta * xi).max(),
    }
