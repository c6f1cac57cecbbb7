"""Decomposition (note 004: "hill-climb over a subset of alpha_i's at a time"; Joachims 1999).

A working set B of q multipliers is freed and the others are held; B's quadratic program is solved by the interior-point
method; repeat until the KKT conditions hold on all examples.
"""

import numpy as np

from maxmargin.textbook import inputs
from maxmargin.textbook.programs.interior_point import at_bounds, box, solve_qp


def working_set(v, alpha, y, C, q):
    """The steepest feasible direction with q entries: q/2 largest v that can go up, q/2 smallest that can go down."""
    up = np.where(y > 0, alpha < C, alpha > 0)
    down = np.where(y > 0, alpha > 0, alpha < C)
    highest = np.argsort(np.where(up, -v, np.inf))[: q // 2]
    lowest = np.argsort(np.where(down, v, np.inf))[: q // 2]
    violation = v[highest[0]] - v[lowest[0]]
    chosen = np.concatenate([highest[up[highest]], lowest[down[lowest]]])
    return np.unique(chosen), violation


def solve_part(B, v, alpha, K, y, C):
    """max over alpha_B with the others held: 0 <= alpha_B <= C, and y'alpha = 0."""
    Q = y[B, None] * K[np.ix_(B, B)] * y[B]
    q = -y[B] * v[B] - Q @ alpha[B]  # gradient of the minimised dual at alpha_B = 0, others held
    total = np.array([y[B] @ alpha[B] - y @ alpha])  # minus that of the others: rounding is corrected
    solution, z, _, _ = solve_qp(Q, q, *box(len(B), C), y[None, B], total, epsilon=1e-16)  # as near as rounding lets it
    return at_bounds(solution, z, C, y[B])


def decompose(K, y, C, q=10, epsilon=1e-6, max_iter=10_000):
    """alpha, b and the history; q is even, at least 2.

    K is the n x n kernel matrix, y the n labels -1 or +1, C > 0 (infinite for the hard margin). A row of history has
    the iteration, the dual objective and the largest violation of the KKT conditions; at the end it is at most epsilon,
    or max_iter came first.
    """
    K, y = inputs.matrix(K, y)
    inputs.weight(C, hard=True)
    if q < 2 or q % 2:
        raise ValueError(f"q must be even and at least 2; got {q}")
    alpha, v, history = np.zeros(len(y)), y, []
    B, violation = working_set(v, alpha, y, C, q)
    for t in range(max_iter + 1):
        dual = alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y)
        history.append({"iteration": t, "dual": dual, "violation": violation})
        if violation <= epsilon:
            break
        alpha[B] = solve_part(B, v, alpha, K, y, C)
        v = y - K @ (alpha * y)
        B, violation = working_set(v, alpha, y, C, q)
    free = (alpha > 0) & (alpha < C)
    b = np.mean(v[free]) if free.any() else 0.5 * (v[B].max() + v[B].min())
    return alpha, b, history
