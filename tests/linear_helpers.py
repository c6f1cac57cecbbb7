"""Linear problems and independent answers that the tests share."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    PowerHinge,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem

CLASS_LOSSES = [Hinge(), SquaredHinge(), Logistic(), HuberHinge(), HuberHinge(0.05), PowerHinge(1.5), PowerHinge(1.1)]
NUMBER_LOSSES = [
    EpsilonInsensitive(0.1),
    EpsilonInsensitive(0.0),
    SquaredEpsilonInsensitive(0.1),
    Huber(),
    Huber(0.3, 0.1),
]
LOSSES = CLASS_LOSSES + NUMBER_LOSSES
BIASES = list(Bias)


def name_of(thing):
    """A short name for a test's id."""
    return thing.value if isinstance(thing, Bias) else "-".join(str(part) for part in (type(thing).__name__, *thing))


def data(loss, n=60, d=4, seed=0):
    """Random rows with labels or targets that suit the loss, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    z = X @ rng.normal(size=d) + 0.5 + rng.normal(size=n)
    return X, np.where(z > 0, 1.0, -1.0) if loss.one_sided else z


def problem(X, y, loss, bias=Bias.FREE, C=1.0, penalty="l2", n_jobs=1, scale=1.0):
    """A problem with costs C (a number or one per row)."""
    costs = np.broadcast_to(np.asarray(C, np.float64), (X.shape[0],)).copy()
    design = Design(rows_of(X, X.dtype), 0.0 if bias is Bias.NONE else scale, n_jobs)
    return LinearProblem(design, np.asarray(y, np.float64), costs, loss, bias, penalty)


def optimum_by_clarabel(X, y, costs, loss, bias, penalty="l2"):
    """The optimal value of a problem with any loss but the logistic one, as a conic program.

    Variables (w, b, xi): minimise Omega + sum c_i xi_i^p subject to xi_i >= 1 - y_i z_i or >= |y_i - z_i| - epsilon.
    Other powers than 1 and 2 are variables t in power cones, t^(1/p) >= xi; the slack of Huber's loss is a sum xi + s,
    of which s costs s^2 / (2 delta).
    """
    n, d = X.shape
    squared = isinstance(loss, SquaredHinge | SquaredEpsilonInsensitive)
    power, huber = isinstance(loss, PowerHinge), isinstance(loss, Huber)
    extra = d if penalty == "l1" else 0  # bounds of |w|, and of the bias that is part of the norm
    total = d + 1 + n + extra + 1 + n
    others = slice(total - n, total)  # t or s
    P = np.zeros(total)
    if penalty == "l2":
        P[:d] = 1.0
        P[d] = 0.0 if bias is Bias.FREE else 1.0  # without a bias b occurs nowhere else, and is zero
    P[d + 1 : d + 1 + n] = 2.0 * costs if squared else 0.0
    q = np.zeros(total)
    q[d + 1 : d + 1 + n] = 0.0 if squared or power else costs
    q[others] = costs if power else 0.0
    P[others] = costs / loss.delta if huber else 0.0
    A_rows, b_rows = [], []

    def below(coefficients, bound):
        A_rows.append(coefficients)
        b_rows.append(bound)

    for i in range(n):
        z = np.zeros(total)
        z[:d] = X[i]
        z[d] = 0.0 if bias is Bias.NONE else 1.0
        xi = np.zeros(total)
        xi[d + 1 + i] = 1.0
        slack = xi + np.eye(total)[others][i] if huber else xi
        if loss.one_sided:
            below(-y[i] * z - slack, -1.0)
        else:
            below(-z - slack, loss.epsilon - y[i])
            below(z - slack, loss.epsilon + y[i])
        below(-xi, 0.0)
    if penalty == "l1":
        bounded = [*range(d), *([d] if bias is Bias.REGULARIZED else [])]
        for k, j in enumerate(bounded):
            bound = np.zeros(total)
            bound[d + 1 + n + k] = 1.0
            q[d + 1 + n + k] = 1.0
            unit = np.eye(total)[j]
            below(unit - bound, 0.0)
            below(-unit - bound, 0.0)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    if penalty == "l1" and bias is Bias.NONE:
        P[d] = 1.0
    cones = [clarabel.NonnegativeConeT(len(b_rows))]
    for i in range(n if power else 0):
        A_rows += [-np.eye(total)[others][i], np.zeros(total), -np.eye(total)[d + 1 + i]]
        b_rows += [0.0, 1.0, 0.0]
        cones.append(clarabel.PowerConeT(1.0 / loss.p))
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.diag(P)), q, sparse.csc_matrix(np.array(A_rows)), np.array(b_rows), cones,
        settings,
    )  # fmt: skip
    solution = solver.solve()
    assert "Solved" in str(solution.status)
    return solution.obj_val
