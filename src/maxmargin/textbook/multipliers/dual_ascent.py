"""Dual stochastic gradient ascent (note 004, algorithm 23.1), one multiplier at a time in the order of the examples.

max sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K(x_i, x_j); the bias is the weight of an appended 1, so the dual
has no equality constraint.
"""

import numpy as np

from maxmargin.textbook import inputs


def append_one(X):
    """Line 1: x_i <- (x_i, 1)."""
    return np.column_stack([X, np.ones(len(X))])


def kernel_matrix(X, K, C, loss):
    """Lines 2 to 5: K(x_i, x_j), and for the quadratic loss 1/(2C) on the diagonal."""
    inputs.choice("loss", loss, "hinge", "quadratic")
    return K(X, X) + (np.eye(len(X)) / (2 * C) if loss == "quadratic" else 0.0)


def dual_objective(alpha, K, y):
    """With the ridge of the quadratic loss in K."""
    return alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y)


def svm_dual(X, y, K, C, epsilon=1e-8, loss="hinge", literal=True, max_iter=10_000):
    """Algorithm 23.1: alpha and the history. X is n x p, y has the n labels -1 or +1, C > 0 (infinite: no bound).

    K is a function of two matrices of rows, such as ``kernels.linear`` or ``kernels.gaussian(sigma)``; loss is "hinge"
    or "quadratic". A row of history has the iteration (a pass over the examples), the dual objective after it and the
    change of alpha; at the end it is at most epsilon, or max_iter came first.

    ``literal`` keeps line 13 for both losses; without it the quadratic loss has no upper bound. The bound belongs to
    the hinge loss alone: the quadratic loss has alpha_i = 2 C xi_i, which may be larger than C. A kernel of distances
    does not see the appended 1, so with it the machine has no bias.
    """
    X, y = inputs.examples(X, y)
    inputs.weight(C, hard=True)
    if not callable(K):
        raise ValueError("K must be a function of two matrices of rows: kernels.linear")
    K = kernel_matrix(append_one(X), K, C, loss)  # 1-5
    eta = 1 / np.diag(K)  # 6
    bound = C if loss == "hinge" or literal else np.inf
    alpha, history = np.zeros(len(y)), []  # 7-8
    for t in range(1, max_iter + 1):  # 9
        before = alpha.copy()  # 10
        for k in range(len(y)):  # 11
            alpha[k] = alpha[k] + eta[k] * (1 - y[k] * ((alpha * y) @ K[k]))
            alpha[k] = max(alpha[k], 0.0)  # 12
            alpha[k] = min(alpha[k], bound)  # 13
        change = np.linalg.norm(alpha - before)  # 14-16
        history.append({"iteration": t, "dual": dual_objective(alpha, K, y), "change": change})
        if change <= epsilon:  # 17
            break
    return alpha, history


def decide(Z, X, y, alpha, K):
    """f(z) = sum_i alpha_i y_i K(x_i, z) with the appended 1: class 1 where f >= 0."""
    return K(append_one(Z), append_one(X)) @ (alpha * y)
