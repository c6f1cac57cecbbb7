"""Gradient descent on the soft margin objective (note 000: formula 1, algorithms 1 and 2).

F(w) = 1/2 ||w||^2 + C sum_i max{0, 1 - y_i w'x_i}, labels -1 and +1, no bias.
"""

import numpy as np

from maxmargin.textbook import inputs

R_SMALLEST = 2.0**-60  # of line search's halvings: beyond it w - r g is w to machine precision


def H(w, x, y):
    """The hinge loss max{0, 1 - y w'x}; x is one example or a matrix of them."""
    return np.maximum(0.0, 1.0 - y * (x @ w))


def gradient_of_H(w, x, y):
    """Of one example: 0 where y w'x >= 1, -y x elsewhere (2)."""
    return np.zeros_like(w) if y * (x @ w) >= 1 else -y * x


def F(w, X, y, C):
    """The objective (1)."""
    return 0.5 * w @ w + C * H(w, X, y).sum()


def added(w, X, y, C):
    """C sum_{i in E} y_i x_i, with E the examples that are misclassified or within the margin."""
    E = y * (X @ w) < 1
    return C * (y[E] @ X[E])


def gradient_of_F(w, X, y, C):
    """grad F(w) = w + C sum_{i in E} -y_i x_i."""
    return w - added(w, X, y, C)


def line_search(F, g, w0):
    """Algorithm 2, line for line; r = 0 where even the smallest step leads upwards."""
    r = 1 / 2  # 2
    while F(w0 - r * g) > F(w0):  # 3: equality is accepted
        r = r / 2  # 4
        if r < R_SMALLEST:
            return 0.0
    return r  # 5


def gradient_descent(F, gradient, w, r=None, epsilon=1e-12, max_iter=10_000):
    """Algorithm 1 for any F: with the step size r, or with the line search between its lines 4 and 5 (r=None).

    F and gradient are functions of w, w is the start. A row of history has the iteration, F after it and its r.
    """
    value = F(w)
    history = [{"iteration": 0, "F": value, "r": np.nan}]
    for t in range(1, max_iter + 1):  # 3
        g = gradient(w)  # 4
        step = line_search(F, g, w) if r is None else r
        w = w - step * g  # 5
        before, value = value, F(w)
        history.append({"iteration": t, "F": value, "r": step})
        if abs(before - value) <= epsilon:  # 3
            break
    return w, history  # 6


def soft_margin(X, y, C=1.0, epsilon=1e-12, start=None, max_iter=10_000):
    """Both algorithms on (1), in the form that shrinks w and adds examples: w and the history.

    X is n x p, y has the n labels -1 or +1, C > 0. A row of history has the iteration, F after it and its r.

    As printed: where F has a kink -g can lead upwards at every r, and then w stays, short of the optimum. ``start`` is
    None for w = 0, or a NumPy generator or a seed for a normal one.
    """
    X, y = inputs.examples(X, y)
    inputs.weight(C)
    w = np.zeros(X.shape[1]) if start is None else np.random.default_rng(start).normal(size=X.shape[1])  # 2
    value = F(w, X, y, C)
    history = [{"iteration": 0, "F": value, "r": np.nan}]
    for t in range(1, max_iter + 1):  # 3
        sum_of_E = added(w, X, y, C)
        r = line_search(lambda v: F(v, X, y, C), w - sum_of_E, w)  # 4
        w = (1 - r) * w + r * sum_of_E  # 5
        before, value = value, F(w, X, y, C)
        history.append({"iteration": t, "F": value, "r": r})
        if abs(before - value) <= epsilon:  # 3
            break
    return w, history  # 6


def subgradient_descent(F, gradient, w, max_iter=20_000):
    """The corrected descent: r_t = 2 / (t + 1), and the average of all w with weights t.

    F - F* <= 2 G^2 / (max_iter + 1) where G bounds ||g||, since 1/2 ||w||^2 makes F strongly convex with modulus 1
    (Lacoste-Julien, Schmidt and Bach 2012). F, gradient and w as in gradient_descent; the
    history's F is that of the average.
    """
    average, history = np.zeros_like(w), [{"iteration": 0, "F": F(w), "r": np.nan}]
    for t in range(1, max_iter + 1):
        r = 2 / (t + 1)
        average = (1 - r) * average + r * w
        w = w - r * gradient(w)
        history.append({"iteration": t, "F": F(average), "r": r})
    return average, history
