"""The soft margin (note 003): its optimality conditions, and slack to the power 1 and 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, frame, line, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import soft_margin as soft


def kkt_table() -> Shown:
    r"""The Karush-Kuhn-Tucker conditions of a fitted machine

    For $p = 1$: $\alpha_i + \beta_i = c$, $\alpha_i[y_i(w^Tx_i+b) - 1 + \xi_i] = 0$ and $\beta_i\xi_i = 0$. They sort
    the examples into three kinds: beyond the margin ($\alpha = 0$), on it ($0 < \alpha < c$, $\xi = 0$), and within it
    or wrong ($\alpha = c$, $\beta = 0$, $\xi > 0$). The table shows three of each; all quantities come from the primal
    program with its slacks and both kinds of multipliers. The Lagrangian is then the objective, since all its products
    vanish, and $b$ follows from the multipliers of the dual program alone, by the examples on the margin.
    """
    X, y = data.two_clouds(apart=2.5, seed=1)
    c = 1.0
    (w, b, xi), (alpha, beta), _ = soft.primal(X, y, c)
    small = 1e-5 * c
    kinds = {
        "beyond": np.flatnonzero(alpha < small),
        "on the margin": np.flatnonzero((alpha > small) & (alpha < c - small)),
        "within or wrong": np.flatnonzero(alpha > c - small),
    }
    f = X @ w + b
    rows = [(i, kind, int(y[i]), float(y[i] * f[i]), *(abs(round(float(v[i]), 6)) for v in (alpha, beta, xi)))
            for kind, members in kinds.items() for i in members[:3]]  # fmt: skip
    violations = soft.kkt(w, b, xi, alpha, beta, X, y, c)
    objective, lagrangian = soft.objective(w, b, X, y, c), soft.lagrangian(w, b, xi, alpha, beta, X, y, c)
    of_dual, _ = soft.dual(X @ X.T, y, c)
    conditions = Table(("condition", "largest violation"), [(name, f"{v:.1e}") for name, v in violations.items()])
    header = ("example", "kind", "y", "y f(x)", "alpha", "beta", "xi")
    margin = kinds["on the margin"]

    def picture() -> Any:
        figure, (left,) = panels(1, width=5.4, height=4.6)
        frame(left, X)
        line(left, w, b, (0.0, -1.0, 1.0))
        points(left, X, y, 18)
        for (kind, members), colour in zip(kinds.items(), ("none", PALETTE[2], PALETTE[3]), strict=True):
            if colour != "none":
                left.scatter(
                    *X[members].T, s=95, facecolor="none", edgecolor=colour, lw=1.6, label=f"{kind}: {len(members)}"
                )
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        left.set_title(f"beyond the margin: {len(kinds['beyond'])} examples")
        return figure

    return Shown(picture, (Table(header, rows), conditions), (
        ("every condition holds to 1e-6", max(violations.values()) < 1e-6),
        (f"the Lagrangian is the objective, {objective:.6f}, and so is the dual value, to 1e-6 of it",
         bool(np.ptp([objective, lagrangian, soft.W(of_dual, X @ X.T, y, c)]) < 1e-6 * objective)),
        (f"the dual's multipliers give the same b = {b:.6f} (1e-6)", abs(soft.bias(of_dual, X @ X.T, y, c) - b) < 1e-6),
        ("examples on the margin have y f = 1 (1e-5)", bool(np.allclose(y[margin] * f[margin], 1, atol=1e-5))),
        ("every misclassified example has alpha = c", bool(np.all(alpha[y * f < 0] > c - small))),
    ))  # fmt: skip


def slack_powers() -> Shown:
    r"""Slack to the power 1 and 2

    $\min\frac12\|w\|^2 + c\sum_i\xi_i^p$. For $p = 2$ the constraint $\xi\ge 0$ changes nothing (a negative slack would
    cost as much as a positive one), $\alpha_i = 2c\xi_i$ has no upper bound, and the dual gets $\frac1{2c}$ on the
    diagonal. For $p = 1$ the slacks vanish from the dual but for the bound $c$.

    The note first writes the objective with $(1 - y_i(w^Tx_i+b))^p$ where it needs $(\cdot)_+$: without it $p = 1$ is
    linear in $b$ and falls for ever if one class has more examples than the other (if not, $w = c\sum_iy_ix_i$,
    whatever the examples look like), and $p = 2$ is least squares, which punishes examples for being *too* right. And
    $\lambda = 1/c$ turns one form into the other for both powers, with the whole objective divided by $c$.
    """
    X, y = data.outlier_clouds()
    c = 1.0
    ((w1, b1, _), _, _), ((w2, b2, xi2), (alpha2, beta2), _) = soft.primal(X, y, c, 1), soft.primal(X, y, c, 2)
    ones = np.column_stack([X, np.ones(len(y))])
    squares = np.linalg.solve(2 * c * ones.T @ ones + np.diag([1.0, 1.0, 0.0]), 2 * c * ones.T @ y)
    without = [c * np.sum(1 - y * (X @ w1 + b)) + 0.5 * w1 @ w1 for b in (0.0, 1e3, 1e6)]
    wrong = {name: int(np.sum(y * (X @ w + b) <= 0)) for name, (w, b) in
             {"p = 1": (w1, b1), "p = 2": (w2, b2), "least squares": (squares[:2], squares[2])}.items()}  # fmt: skip
    apart = [_lambda_against_c(X, y, 2.0, p) for p in (1, 2)]

    def picture() -> Any:
        figure, (left,) = panels(1, width=7.0, height=3.4)
        frame(left, X)
        points(left, X, y, 20)
        line(left, w1, b1, label="p = 1", color=PALETTE[0])
        line(left, w2, b2, label="p = 2", color=PALETTE[2])
        line(left, squares[:2], squares[2], label="p = 2 as printed: least squares", color=PALETTE[3])
        left.legend(fontsize=9, loc="upper right")
        left.set_title("points far on their own side pull the least squares line")
        return figure

    return Shown(picture, (Table(("machine", "misclassified"), list(wrong.items())),), (
        ("p = 2: alpha + beta = 2 c xi (1e-8), and beta vanishes (1e-5)",
         bool(np.allclose(alpha2 + beta2, 2 * c * xi2, atol=1e-8) and beta2.max() < 1e-5)),
        ("without the positive part p = 1 falls without end as b grows",
         bool(without[0] > without[1] > without[2] and without[2] < -1e6)),
        ("least squares misclassifies the most", max(wrong, key=lambda name: wrong[name]) == "least squares"),
        ("for both powers lambda = 1/c (LinearSVC) is the machine of c (quadratic program), to 1e-6",
         max(apart) < 1e-6),
    ))  # fmt: skip


def _lambda_against_c(X, y, c: float, p: int) -> float:
    """The largest difference of w and b: lambda/2 ||w||^2 + sum of xi^p by LinearSVC, c by a quadratic program."""
    (w, b, _), _, _ = soft.primal(X, y, c, p)
    loss = "hinge" if p == 1 else "squared_hinge"
    machine = LinearSVC(loss=loss, lam=1 / c, lam_form="sum", tol=1e-11).fit(X, y)
    return float(np.abs([*machine.coef_[0] - w, machine.intercept_[0] - b]).max())
