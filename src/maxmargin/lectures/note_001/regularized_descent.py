"""Algorithm 24 of note 001: gradient descent on the regularised hinge loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import hinge_regularized_gd


def algorithm_24() -> Shown:
    r"""Algorithm 24: its path

    HingeRegularizedGD adds $y x$ of every example with $y(w^Tx + b) \le 1$, subtracts $\lambda w$ and walks a step
    $\eta$, MaxIter times. The signature does not mention $\eta$, and everything depends on it: with one step size the
    path ends in a neighbourhood of the optimum, circling, and its objective stays above by an amount that is here about
    proportional to $\eta$; with $\eta\lambda > 2$ it explodes. Steps that fall like $1/\sqrt t$ and the best point seen
    reach the optimum (`diminishing`). $\lambda$ stands on the norm, beside the *sum* of losses (note 002 has their
    mean): $\frac\lambda2\|w\|^2 + \sum_n\ell(y_n, w^Tx_n + b)$, which is the soft margin with $C = 1/\lambda$.
    """
    X, y = data.two_clouds(apart=2.5, seed=5)
    lam = 5.0
    machine = LinearSVC(loss="hinge", C=1 / lam, tol=1e-9).fit(X, y)
    best = machine.certificate_.primal * lam
    etas, found = (1e-2, 3e-3, 1e-3), {}
    for eta in etas:
        found[f"eta = {eta:g}"] = hinge_regularized_gd.hinge_regularized_gd(X, y, lam, 3000, eta)
    found["diminishing"] = hinge_regularized_gd.diminishing(X, y, lam, 3000, eta=0.5)
    tails = {name: _tail(history, best) for name, (_, history) in found.items()}
    exploded = hinge_regularized_gd.hinge_regularized_gd(X, y, lam, 60, 3 / lam)[1][-1]["objective"]
    rows = [(name, f"{tail:.1e}") for name, tail in tails.items()]
    per_eta = [tails[f"eta = {eta:g}"] / eta for eta in etas]

    def picture() -> Any:
        figure, (left, right) = panels(2)
        for (name, (_, history)), colour in zip(found.items(), PALETTE, strict=False):
            left.loglog([row["iteration"] + 1 for row in history], [row["objective"] / best - 1 for row in history],
                        color=colour, lw=1, label=name)  # fmt: skip
        left.set(xlabel="iteration", ylabel="above the optimum (relative)", title="objective")
        left.legend(fontsize=9)
        _draw_path(right, X, y, lam, machine)
        return figure

    return Shown(picture, (Table(("steps", "above the optimum, mean of the last 1,000"), rows),), (
        ("of fixed steps the distance, divided by eta, is the same for all three within 15 %",
         max(per_eta) < 1.15 * min(per_eta)),
        ("diminishing steps end within 1e-3", tails["diminishing"] < 1e-3),
        ("with eta lambda = 3 the objective explodes", exploded > 1e6 * best),
    ))  # fmt: skip


def _tail(history, best: float) -> float:
    return float(np.mean([row["objective"] for row in history[-1000:]]) / best - 1)


def _draw_path(axes, X, y, lam: float, machine) -> None:
    """The weights after each of the first 300 iterations, and where they should arrive."""
    w, b, path = np.zeros(2), 0.0, [np.zeros(2)]
    for _ in range(300):
        g, g_b = hinge_regularized_gd.ascent_direction(w, b, X, y, lam)
        w, b = w + 3e-3 * g, b + 3e-3 * g_b
        path.append(w)
    axes.plot(*np.array(path).T, ".-", color=PALETTE[1], lw=0.8, ms=3, label="eta = 0.003")
    axes.plot(*machine.coef_[0], "*", color=INK, ms=13, label="optimum")
    axes.set(xlabel="$w_1$", ylabel="$w_2$", title="the path of the weights")
    axes.legend(fontsize=9)
