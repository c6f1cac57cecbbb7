"""Joint machines for K classes (notes 000 and 004): a weight vector per class, the highest score w_j'x wins.

Note 004 has the mean of the sum loss and no norm, which leaves W open: 2W is as good as W once the loss is zero.

maximum (000)   F(W) = 1/2 sum_j ||w_j||^2 + C sum_i max{0, max_{j != y_i} w_j'x_i + 1 - w_{y_i}'x_i}    (000 has C = 1)
sum             F(W) = 1/2 sum_j ||w_j||^2 + C sum_i sum_{j != y_i} max(0, w_j'x_i - w_{y_i}'x_i + 1)
"""

import numpy as np

from maxmargin.textbook import inputs
from maxmargin.textbook.descent.gradient_descent import gradient_descent, subgradient_descent


def L_i_vectorized(x, y, W):
    """The sum loss of one example, as on the slide."""
    scores = W.dot(x)
    margins = np.maximum(0, scores - scores[y] + 1)
    margins[y] = 0
    loss_i = np.sum(margins)
    return loss_i


def margins(W, X, y):
    """max(0, s_j - s_{y_i} + 1) for all examples and classes, 0 for j = y_i."""
    scores = X @ W.T
    rows = np.arange(len(y))
    all_margins = np.maximum(0.0, scores - scores[rows, y][:, None] + 1)
    all_margins[rows, y] = 0.0
    return all_margins


def losses(W, X, y, kind="sum"):
    """Of each example: the sum over classes, the sum of squares, or the maximum: kind "sum", "squared" or "max"."""
    inputs.choice("kind", kind, "sum", "squared", "max")
    m = margins(W, X, y)
    return {"sum": m.sum(axis=1), "squared": (m**2).sum(axis=1), "max": m.max(axis=1)}[kind]


def F(W, X, y, C, kind):
    """The joint objective."""
    return 0.5 * np.sum(W**2) + C * losses(W, X, y, kind).sum()


def gradient_of_F(W, X, y, C, kind):
    """W + C sum_i d_i x_i': d_i is +1 at violating classes (the worst one for "max") and minus their sum at y_i."""
    inputs.choice("kind", kind, "sum", "squared", "max")
    m, rows = margins(W, X, y), np.arange(len(y))
    d = (m > 0) * 1.0 if kind == "sum" else 2 * m if kind == "squared" else np.zeros_like(m)
    if kind == "max":
        worst = m.argmax(axis=1)
        d[rows, worst] = m[rows, worst] > 0
    d[rows, y] = -d.sum(axis=1)
    return W + C * d.T @ X


def descend(X, y, C, kind, literal=False, max_iter=20_000):
    """W by algorithm 1 with the line search, or by diminishing steps and averages, which reaches the optimum.

    X is n x p, y has the n labels 0 to K-1, C > 0, kind is "max", "sum" or "squared". W is K x p; a row of history has
    the iteration, F after it and the step r.
    """
    X = inputs.rows(X)
    y = inputs.classes(y, len(X))
    inputs.weight(C)
    start = np.zeros((y.max() + 1, X.shape[1]))
    algorithm = gradient_descent if literal else subgradient_descent
    return algorithm(lambda W: F(W, X, y, C, kind), lambda W: gradient_of_F(W, X, y, C, kind), start, max_iter=max_iter)


def classify(W, X):
    """y(x) = argmax_j w_j'x."""
    return np.argmax(X @ W.T, axis=1)
