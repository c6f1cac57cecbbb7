"""Primal, dual and violation of fitted machines in long double, from their fitted attributes and the data alone.

Nothing here is shared with the library but the parameters of its kernels: kernel values are worked out from their
definition, distances as sums of squared differences, so that neither cancellation nor centring can hide an error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from maxmargin.losses import PowerHinge

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


def kernel_matrix(kernel, X, Z=None):
    """K(x_i, z_j) by the kernel's definition; of X with itself where no Z is given."""
    X = wide(X)
    Z = X if Z is None else wide(Z)
    if isinstance(kernel, RBF | Laplacian):
        power = 2 if isinstance(kernel, RBF) else 1
        columns = zip(X.T, Z.T, strict=True)
        distances = sum(np.abs(np.subtract.outer(column, other)) ** power for column, other in columns)
        return np.exp(-wide(kernel.gamma) * distances)
    products = X @ Z.T
    if isinstance(kernel, Linear):
        return products
    if isinstance(kernel, Polynomial):
        return (wide(kernel.gamma) * products + wide(kernel.coef0)) ** int(kernel.degree)
    assert isinstance(kernel, Sigmoid)
    return np.tanh(wide(kernel.kappa) * products + wide(kernel.theta))


# --- losses ----------------------------------------------------------------------------------------------------------


def loss_of(name, y, z, epsilon):
    """l(y, z) of every row; ``name`` is that of a loss, or a power of the slack."""
    if isinstance(name, PowerHinge):
        return np.maximum(1.0 - y * z, wide(0.0)) ** wide(name.p)
    if name == "logistic":
        return np.logaddexp(wide(0.0), -y * z)
    if name == "huber_hinge":
        room = np.maximum(1.5 - y * z, 0.0)
        return np.where(room < 1.0, room**2 / 2.0, 1.0 - y * z)
    regression = name.endswith("epsilon_insensitive") or name == "huber"
    short = np.abs(y - z) - wide(epsilon) if regression else 1.0 - y * z
    short = np.maximum(short, 0.0)
    if name == "huber":
        return np.where(short < 1.0, short**2 / 2.0, short - 0.5)
    return short**2 if name.startswith("squared") else short


def joint_loss_of(maximum, squared, scores, labels):
    """The maximum or the sum of the other classes' hinges, or of their squares."""
    missed = np.maximum(1.0 + scores - scores[np.arange(len(labels)), labels][:, None], 0.0)
    missed[np.arange(len(labels)), labels] = 0.0
    missed = missed**2 if squared else missed
    return missed.max(axis=1) if maximum else missed.sum(axis=1)


# --- kernel machines -------------------------------------------------------------------------------------------------


def box_of(loss, signs, costs):
    """p, bound and ridge of every row: the conjugate is -p beta + ridge beta^2 / 2 for 0 <= y beta <= bound."""
    reciprocal = np.divide(1.0, costs, out=np.zeros_like(costs), where=costs > 0)
    if loss == "squared_hinge":
        return signs, np.where(costs > 0, np.inf, 0.0), reciprocal / 2.0
    if loss == "huber_hinge":
        return 1.5 * signs, costs, reciprocal
    return signs, costs, np.zeros_like(costs)


def curved_of(loss, signs, costs, beta):
    """The conjugate of every row that costs something, and its slope."""
    alpha = signs * beta
    if isinstance(loss, PowerHinge):
        p, t = wide(loss.p), alpha / (wide(loss.p) * costs)
        return (p - 1.0) * costs * t ** (p / (p - 1.0)) - alpha, signs * (t ** (1.0 / (p - 1.0)) - 1.0)
    share = np.clip(alpha / costs, np.longdouble("1e-4000"), 1.0 - wide(1e-19))
    entropy = share * np.log(share) + (1.0 - share) * np.log1p(-share)
    return costs * entropy, signs * (np.log(share) - np.log1p(-share))


def box_machine(loss, signs, costs, beta, scores, square, decisions, free_bias):
    """One soft margin: multipliers beta = sign alpha, their scores K beta, beta'K beta, and the model's decisions.

    Where the bias is part of the norm, K is the kernel K + 1 that holds it.
    """
    signs, costs, beta = wide(signs), wide(costs), wide(beta)
    primal = square / 2.0 + costs @ loss_of(loss, signs, decisions, 0.0)
    if isinstance(loss, PowerHinge) or loss == "logistic":
        rows, v, bound = costs > 0, np.zeros_like(beta), np.where(costs > 0, wide(np.inf), 0.0)
        conjugates, slopes = curved_of(loss, signs[rows], costs[rows], beta[rows])
        dual, v[rows] = -square / 2.0 - conjugates.sum(), -slopes - scores[rows]
    else:
        p, bound, ridge = box_of(loss, signs, costs)
        dual = p @ beta - square / 2.0 - ridge @ beta**2 / 2.0
        v = p - scores - ridge * beta
    upper, lower = np.where(signs > 0, bound, 0.0), np.where(signs < 0, -bound, 0.0)
    grows, shrinks = beta < upper * (1.0 - AT_BOUND), beta > lower * (1.0 - AT_BOUND)
    highest, lowest = v[grows].max(initial=-np.inf), v[shrinks].min(initial=np.inf)
    violation = max(highest - lowest if free_bias else max(highest, -lowest), 0.0)
    # Multipliers near the ends of the logistic loss's domain are not known to the digits that their slopes would need.
    return Recomputed(float(primal), float(dual), float("nan") if loss == "logistic" else float(violation))


def joint_machine(labels, costs, B, square, decisions, maximum, squared):
    """A joint machine with multipliers B (rows, classes), ||W||^2 and the decisions of the model."""
    costs, B = wide(costs), wide(B)
    primal = square / 2.0 + costs @ joint_loss_of(maximum, squared, decisions, labels)
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
