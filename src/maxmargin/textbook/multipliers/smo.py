"""Sequential minimal optimization in its simplest complete form (notes 003, 004; Platt 1998).

A quadratic program with two variables is trivial to solve: pick the pair that violates the KKT conditions most (Keerthi
et al. 2001), solve it, repeat until no pair violates them by more than epsilon. v = y - sum_k alpha_k y_k K_k.
"""

import numpy as np

from maxmargin.textbook import inputs


def violating_pair(v, alpha, y, C):
    """i with the largest v whose y_i alpha_i can grow, j with the smallest whose y_j alpha_j can fall; v_i - v_j."""
    up = np.where(y > 0, alpha < C, alpha > 0)
    down = np.where(y > 0, alpha > 0, alpha < C)
    i = np.argmax(np.where(up, v, -np.inf))
    j = np.argmin(np.where(down, v, np.inf))
    return i, j, v[i] - v[j]


def pair_step(i, j, v, alpha, K, y, C):
    """How far y_i alpha_i goes up and y_j alpha_j down: to the top of the parabola, or to the first bound."""
    curvature = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
    room_i = C - alpha[i] if y[i] > 0 else alpha[i]
    room_j = alpha[j] if y[j] > 0 else C - alpha[j]
    return min((v[i] - v[j]) / curvature, room_i, room_j)


def smo(K, y, C, epsilon=1e-6, max_iter=100_000):
    """alpha, b and the history.

    K is the n x n kernel matrix, y the n labels -1 or +1, C > 0 (infinite for the hard margin). A row of history has
    the iteration, the dual objective and the largest violation of the KKT conditions; at the end it is at most epsilon,
    or max_iter came first.
    """
    K, y = inputs.matrix(K, y)
    inputs.weight(C, hard=True)
    alpha, v, history = np.zeros(len(y)), y.copy(), []
    i, j, violation = violating_pair(v, alpha, y, C)
    for t in range(max_iter + 1):
        dual = 0.5 * (alpha.sum() + (alpha * y) @ v)  # sum alpha - 1/2 (alpha y)'K(alpha y), since v = y - K(alpha y)
        history.append({"iteration": t, "dual": dual, "violation": violation})
        if violation <= epsilon:
            break
        step = pair_step(i, j, v, alpha, K, y, C)
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step
        scale = alpha.max() if np.isinf(C) else C  # what rounding is measured by
        for k in (i, j):  # a multiplier one rounding away from its bound is at it
            alpha[k] = 0.0 if alpha[k] < 1e-14 * scale else C if alpha[k] > (1 - 1e-14) * C else alpha[k]
        v -= step * (K[:, i] - K[:, j])
        i, j, violation = violating_pair(v, alpha, y, C)
    b = 0.5 * (v[i] + v[j])  # between the last pair: y_i - w'x_i of examples on the margin
    return alpha, b, history
