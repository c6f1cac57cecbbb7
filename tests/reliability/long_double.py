"""Primal, dual and violation of fitted machines in long double, from their fitted attributes and the data alone.

Nothing here is shared with the library but the parameters of its kernels: kernel values are worked out from their
definition, distances as sums of squared differences, so that neither cancellation nor centring can hide an error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid

AT_BOUND = 1e-12  # of a bound: rows that share a multiplier divide it, and rounding moves it off its bound


class Recomputed(NamedTuple):
    """The values of one machine; ``violation`` is NaN where it is not worked out."""

    primal: float
    dual: float
    violation: float

    @property
    def gap(self):
        return self.primal - self.dual

    @property
    def scale(self):
        return max(abs(self.primal), abs(self.dual))


def wide(values):
    """In long double."""
    return np.asarray(values, np.longdouble)


def kernel_matrix(kernel, X):
    """K(x_i, x_j) by the kernel's definition."""
    X = wide(X)
    if isinstance(kernel, RBF | Laplacian):
        power = 2 if isinstance(kernel, RBF) else 1
        distances = sum(np.abs(np.subtract.outer(column, column)) ** power for column in X.T)
        return np.exp(-wide(kernel.gamma) * distances)
    products = X @ X.T
    if isinstance(kernel, Linear):
        return products
    if isinstance(kernel, Polynomial):
        return (wide(kernel.gamma) * products + wide(kernel.coef0)) ** int(kernel.degree)
    assert isinstance(kernel, Sigmoid)
    return np.tanh(wide(kernel.kappa) * products + wide(kernel.theta))


# --- losses ----------------------------------------------------------------------------------------------------------


def loss_of(name, y, z, epsilon):
    """l(y, z) of every row."""
    if name == "logistic":
        return np.logaddexp(wide(0.0), -y * z)
    if name == "huber_hinge":
        room = np.maximum(1.5 - y * z, 0.0)
        return np.where(room < 1.0, room**2 / 2.0, 1.0 - y * z)
    regression = name.endswith("epsilon_insensitive")
    short = np.abs(y - z) - wide(epsilon) if regression else 1.0 - y * z
    short = np.maximum(short, 0.0)
    return short**2 if name.startswith("squared") else short


def joint_loss_of(maximum, squared, scores, labels):
    """The maximum or the sum of the other classes' hinges, or of their squares."""
    missed = np.maximum(1.0 + scores - scores[np.arange(len(labels)), labels][:, None], 0.0)
    missed[np.arange(len(labels)), labels] = 0.0
    missed = missed**2 if squared else missed
    return missed.max(axis=1) if maximum else missed.sum(axis=1)


# --- kernel machines -------------------------------------------------------------------------------------------------


def box_machine(K, signs, costs, beta, bias, squared, free_bias, decisions=None):
    """One soft margin: multipliers beta = sign alpha, a free bias or (None) the one that the kernel K + 1 holds.

    ``decisions`` are those of the model where it does not work them out from K.
    """
    K, signs, costs, beta = wide(K), wide(signs), wide(costs), wide(beta)
    K = K if free_bias is not None else K + 1.0
    b = wide(bias) if free_bias else wide(0.0)
    f = K @ beta
    square = beta @ f
    short = np.maximum(1.0 - signs * (f + b if decisions is None else decisions), 0.0)
    primal = square / 2.0 + costs @ (short**2 if squared else short)
    ridge = 1.0 / (2.0 * costs) if squared else np.zeros_like(costs)
    dual = signs @ beta - square / 2.0 - ridge @ beta**2 / 2.0
    bound = np.full_like(costs, np.inf) if squared else costs
    upper, lower = np.where(signs > 0, bound, 0.0), np.where(signs < 0, -bound, 0.0)
    v = signs - f - ridge * beta
    grows, shrinks = beta < upper * (1.0 - AT_BOUND), beta > lower * (1.0 - AT_BOUND)
    highest, lowest = v[grows].max(initial=-np.inf), v[shrinks].min(initial=np.inf)
    violation = highest - lowest if free_bias else max(highest, -lowest)
    return Recomputed(float(primal), float(dual), float(max(violation, 0.0)))


def joint_machine(K, labels, costs, B, maximum, squared, biased):
    """A joint machine with multipliers B (rows, classes)."""
    K, costs, B = wide(K), wide(costs), wide(B)
    F = (K + 1.0 if biased else K) @ B
    square = np.sum(B * F)
    primal = square / 2.0 + costs @ joint_loss_of(maximum, squared, F, labels)
    a = -B
    a[np.arange(len(labels)), labels] = 0.0
    total = a.sum(axis=1)
    paid = (total**2 if maximum else (a**2).sum(axis=1)) / (4.0 * costs) if squared else np.zeros_like(total)
    return Recomputed(float(primal), float(total.sum() - square / 2.0 - paid.sum()), float("nan"))


# --- linear machines -------------------------------------------------------------------------------------------------


def linear_primal(X, y, costs, w, bias_weight, b, loss, penalty, epsilon):
    """Omega(w) + sum c l. ``bias_weight`` is what the norm counts of the bias."""
    w = wide(w)
    norm = np.abs(w).sum() + abs(bias_weight) if penalty == "l1" else (w @ w + wide(bias_weight) ** 2) / 2.0
    return float(norm + wide(costs) @ loss_of(loss, wide(y), wide(X) @ w + wide(b), epsilon))


def linear_joint_primal(X, labels, costs, coef, intercept, maximum, squared):
    """1/2 ||V||^2 + sum c L of a joint machine, whose biases are part of the norm."""
    V, b = wide(coef), wide(intercept)
    if len(V) == 1:  # two classes as one: w_1 = -w_0 is half of what is shown
        V, b = np.vstack([-V, V]) / 2.0, np.concatenate([-b, b]) / 2.0
    norm = (np.sum(V**2) + np.sum(b**2)) / 2.0
    return float(norm + wide(costs) @ joint_loss_of(maximum, squared, wide(X) @ V.T + b, labels))
