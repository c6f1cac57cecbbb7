"""Newton's method (note 002: "second derivatives help choose" the direction) on u = (a, b).

S(u) = (1/N) sum_i c(gamma_i y_i) + lambda a'a / 2 with the squared hinge c(t) = max(0, 1 - t)^2 or the logistic loss
c(t) = log(1 + e^-t).
"""

import numpy as np

from maxmargin.textbook import inputs


def cost(t, loss):
    """c, c' and c'' at t = gamma y (the second derivative of the squared hinge jumps at 1)."""
    inputs.choice("loss", loss, "squared_hinge", "logistic")
    if loss == "squared_hinge":
        return np.maximum(0.0, 1 - t) ** 2, -2 * np.maximum(0.0, 1 - t), 2.0 * (t < 1)
    p = np.exp(-np.logaddexp(0.0, t))  # e^-t / (1 + e^-t)
    return np.logaddexp(0.0, -t), -p, p * (1 - p)


def value_gradient_hessian(u, X, y, lam, loss):
    """S, its gradient and its Hessian at u; the bias is the weight of a column of ones that lambda leaves alone."""
    ones = np.column_stack([X, np.ones(len(y))])
    penalty = np.append(np.full(X.shape[1], lam), 0.0)
    c, first, second = cost(y * (ones @ u), loss)
    gradient = (first * y) @ ones / len(y) + penalty * u
    hessian = ones.T @ (second[:, None] * ones) / len(y) + np.diag(penalty)
    return c.mean() + penalty @ u**2 / 2, gradient, hessian


def newton(X, y, lam, loss="squared_hinge", epsilon=1e-10, max_iter=100):
    """u <- u + eta p with H p = -g; eta is halved from 1 until S falls by a tenth of what the slope promises.

    X is n x p, y has the n labels -1 or +1, lam >= 0, loss is "squared_hinge" or "logistic". (a, b), and a row of
    history has the iteration, S before it and the norm of its gradient.
    """
    X, y = inputs.examples(X, y)
    inputs.penalty(lam)
    u, history = np.zeros(X.shape[1] + 1), []
    for t in range(max_iter + 1):
        value, g, hessian = value_gradient_hessian(u, X, y, lam, loss)
        history.append({"iteration": t, "S": value, "gradient": np.linalg.norm(g)})
        if history[-1]["gradient"] <= epsilon:
            break
        p = np.linalg.solve(hessian + 1e-12 * np.eye(len(u)), -g)  # no example within the margin: b has no curvature
        eta = 1.0
        while value_gradient_hessian(u + eta * p, X, y, lam, loss)[0] > value + 0.1 * eta * g @ p and eta > 1e-10:
            eta = eta / 2
        u = u + eta * p
    return (u[:-1], u[-1]), history
