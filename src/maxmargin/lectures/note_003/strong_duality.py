"""The hard margin and its dual (note 003), and the gap that closes between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, frame, line, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import hard_margin as hard
from maxmargin.textbook import margins, smo
from maxmargin.textbook import soft_margin as soft


def hard_margin() -> Shown:
    r"""The hard margin, in primal and dual

    $\min\frac12\|w\|^2$ subject to $y_i(w^Tx_i + b) \ge 1$, and its dual $\max\sum_i\alpha_i -
    \frac12\sum_{ij}\alpha_i\alpha_j y_iy_jx_i^Tx_j$ subject to $\alpha_i\ge 0$, $\sum_i\alpha_iy_i = 0$. Both are
    solved as quadratic programs by the interior-point method. $w = \sum_i\alpha_iy_ix_i$, and every support vector
    gives $b = y_i - w^Tx_i$; the note's "for all $i$" holds on the support vectors $S$ alone, over which it then takes
    the mean. At the optimum both values and the Lagrangian are one number. The table has the optimality conditions of
    $w$ and $b$ from the primal and $\alpha$ from the dual.
    """
    X, y = data.separable_clouds()
    w, b, _, _ = hard.primal(X, y)
    K = X @ X.T
    alpha, _ = hard.dual(K, y)
    S = np.flatnonzero(alpha > 0)
    b_of_S = y[S] - X[S] @ ((alpha * y) @ X)
    values = 0.5 * w @ w, hard.W(alpha, K, y), hard.lagrangian(w, b, alpha, X, y)
    violations = hard.kkt(w, b, alpha, X, y)
    production = SVC(kernel="linear", C=float("inf"), tol=1e-8).fit(X, y)
    conditions = Table(("condition", "largest violation"), [(name, f"{v:.1e}") for name, v in violations.items()])

    def picture() -> Any:
        figure, (left, right) = panels(2)
        frame(left, X)
        points(left, X, y)
        line(left, w, b, (0.0, -1.0, 1.0))
        left.scatter(*X[S].T, s=110, facecolor="none", edgecolor=INK)
        left.set_title(f"{len(S)} support vectors (circles), 1/||w|| = {margins.margin(w):.3f}", fontsize=10)
        colours = [PALETTE[1] if i in S else "#cbd5e0" for i in range(len(y))]
        right.bar(np.arange(len(y)), margins.distance(X, w, b), color=colours)
        right.axhline(margins.margin(w), color=INK, ls="--", lw=1)
        right.set(xlabel="example", ylabel="distance $|w^Tx+b|/\\|w\\|$", title="support vectors are nearest")
        return figure

    return Shown(picture, (conditions,), (
        ("every condition holds to 1e-6, w = sum of alpha_i y_i x_i among them", max(violations.values()) < 1e-6),
        (f"primal value, dual value and Lagrangian are {values[0]:.6f}, to 1e-6 of it",
         bool(np.ptp(values) < 1e-6 * values[0])),
        ("every support vector gives the same b, and so does their mean (1e-6)",
         bool(np.abs(b_of_S - b).max() < 1e-6 and abs(hard.bias(alpha, K, y) - b) < 1e-6)),
        ("SVC(C=inf) has the same hyperplane (1e-5)",
         bool(np.allclose([*production.coef_[0], production.intercept_[0]], [*w, b], atol=1e-5))),
        ("the examples at distance 1/||w|| are the support vectors", set(S) == set(np.flatnonzero(
            margins.distance(X, w, b) < margins.margin(w) * (1 + 1e-6)))),
    ))  # fmt: skip


def duality() -> Shown:
    r"""Strong duality: the gap closes

    The note says that there is always a gap between the primal and the dual problem. There is always a *nonnegative*
    one: for every admissible pair the dual value is at most the primal value. But these programs are convex with linear
    constraints, so strong duality holds: at the optimum the gap is zero (Slater's condition is not even needed for
    linear constraints). That is what every fit of this library reports: a pair that proves how near it is.
    """
    X, y = data.two_clouds(apart=2.5, seed=1)
    K, C = X @ X.T, 1.0
    _, _, found = smo.smo(K, y, C, epsilon=1e-9)
    alphas = _smo_path(K, y, C)
    primal = [_primal_of(alpha, K, y, C) for alpha in alphas]
    dual = [soft.W(alpha, K, y, C) for alpha in alphas]
    best = found[-1]["dual"]
    rng = np.random.default_rng(0)
    any_dual = [soft.W(_admissible(rng, y, C), K, y, C) for _ in range(300)]
    any_primal = [soft.objective(rng.normal(size=2), rng.normal(), X, y, C) for _ in range(300)]
    machine = LinearSVC(loss="hinge", C=C, tol=1e-8).fit(X, y)

    def picture() -> Any:
        figure, (left, right) = panels(2)
        left.plot(primal, color=PALETTE[1], lw=2, label="primal of w, best b")
        left.plot(dual, color=PALETTE[0], lw=2, label="dual W(alpha)")
        left.axhline(best, color=INK, lw=0.8, ls="--")
        left.set(xlabel="pair steps of SMO", ylabel="value", title="both close in on one number", ylim=(0, 3 * best))
        left.legend(fontsize=9)
        right.semilogy(np.array(primal) - np.array(dual), color=PALETTE[2], lw=2)
        right.set(xlabel="pair steps of SMO", ylabel="primal minus dual", title="the gap")
        return figure

    return Shown(picture, claims=(
        ("300 admissible alphas never exceed 300 arbitrary hyperplanes", max(any_dual) <= min(any_primal)),
        (f"the last gap is {primal[-1] - dual[-1]:.1e}, below 1e-6 of the value", primal[-1] - dual[-1] < 1e-6 * best),
        (f"LinearSVC's certificate: relative gap {machine.certificate_.relative_gap:.1e}",
         machine.certificate_.relative_gap < 1e-7),
    ))  # fmt: skip


def _smo_path(K, y, C: float) -> list:
    """The multipliers after every pair step of SMO."""
    alpha, v, path = np.zeros(len(y)), y.copy(), []
    for _ in range(4000):
        i, j, violation = smo.violating_pair(v, alpha, y, C)
        path.append(alpha.copy())
        if violation <= 1e-9:
            break
        step = smo.pair_step(i, j, v, alpha, K, y, C)
        alpha[i], alpha[j] = alpha[i] + y[i] * step, alpha[j] - y[j] * step
        v = v - step * (K[:, i] - K[:, j])
    return path


def _primal_of(alpha, K, y, C: float) -> float:
    """The primal value of w = sum alpha y x with its best bias, one of the kinks y_i - w'x_i."""
    scores = K @ (alpha * y)
    kinks = y - scores
    losses = np.maximum(0.0, 1 - y * (scores + kinks[:, None])).sum(axis=1)
    return float(0.5 * (alpha * y) @ scores + C * losses.min())


def _admissible(rng, y, C: float):
    """Random multipliers in the box whose classes weigh the same."""
    alpha = rng.uniform(0, C, len(y))
    total = min(alpha[y > 0].sum(), alpha[y < 0].sum())
    return alpha * np.where(y > 0, total / alpha[y > 0].sum(), total / alpha[y < 0].sum())
