"""Slips of note 001: the rows, and the computations that show them."""

from __future__ import annotations

import numpy as np

from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.errata.slip import Finding, Slip, table_of
from maxmargin.lectures.page import Shown
from maxmargin.textbook import hard_margin, hinge_regularized_gd, margins


def slips_001() -> Shown:
    """Note 001"""
    return table_of(
        Slip(
            "001:9, 17, 35",
            "minimise 1/f over x and b",
            "over w and b; f(w, b) stands for the margin 1/||w||",
            margin_is_inverse_norm,
        ),
        Slip(
            "001:27, 29",
            "d+ = (1/||w||) w'x+ + b - 1",
            "d+ = (w'x+ + b)/||w||: the bias is scaled too",
            printed_distance,
        ),
        Slip(
            "001:33",
            "1/2 [d+ - d-]",
            "1/2 [d+ + d-], since d- is counted on its own side; and w'x+ is 1 - b, not 1",
            printed_margin,
        ),
        Slip(
            "001:35, 47",
            "||w||^2 here, 1/2 ||w||^2 there",
            "the same machine needs half the C in the second form",
            half_the_C,
        ),
        Slip(
            "001:51",
            "the algorithm has the parameters D, lambda, MaxIter",
            "and a step size eta, on which all depends",
            explodes,
        ),
        Slip(
            "001:49",
            "the algorithm finds the large margin",
            "a neighbourhood of it that shrinks with eta ([its path](001.md#algorithm-24))",
            neighbourhood,
        ),
    )


def margin_is_inverse_norm() -> Finding:
    w, b, _, _ = hard_margin.primal(data.TABLE_23_1, data.SIGNS_23_1)
    least = margins.distance(data.TABLE_23_1, w, b).min()
    return f"table 23.1: smallest distance {least:.6f}, 1/norm {margins.margin(w):.6f}", abs(
        least - margins.margin(w)
    ) < 1e-6


def printed_distance() -> Finding:
    w, b, x = np.array([5 / 6, 1 / 3]), -10 / 3, np.array([3.5, 4.25])
    printed, right = w @ x / np.linalg.norm(w) + b - 1, margins.d_plus(x, w, b)
    return f"x_1 of table 23.1: printed {printed:.3f}, distance {right:.3f}", bool(abs(printed - right) > 0.1)


def printed_margin() -> Finding:
    w, b, plus, minus = np.array([5 / 6, 1 / 3]), -10 / 3, np.array([3.5, 4.25]), np.array([2.0, 2.0])
    difference = 0.5 * (margins.d_plus(plus, w, b) - margins.d_minus(minus, w, b))
    return (
        f"half the difference is {difference:.3f}, half the sum {margins.margin_by_algebra(plus, minus, w, b):.3f}",
        bool(abs(difference) < 1e-9),
    )


def half_the_C() -> Finding:
    X, y = data.two_clouds()
    machine = LinearSVC(loss="hinge", C=0.5, tol=1e-9).fit(X, y)
    w, b = machine.coef_[0], machine.intercept_[0]

    def without_half(w, b):
        return w @ w + np.maximum(0.0, 1 - y * (X @ w + b)).sum()

    rng = np.random.default_rng(0)
    near = [without_half(w + 0.05 * rng.normal(size=2), b + 0.05 * rng.normal()) for _ in range(200)]
    return "the machine of C = 1/2 minimises the first form at C = 1 among 200 neighbours", min(near) > without_half(
        w, b
    )


def explodes() -> Finding:
    X, y = data.two_clouds()
    (w, _), _ = hinge_regularized_gd.hinge_regularized_gd(X, y, 5.0, 60, eta=3 / 5.0)
    return f"eta lambda = 3: the norm is {np.linalg.norm(w):.0e} after 60 iterations", bool(np.linalg.norm(w) > 1e6)


def neighbourhood() -> Finding:
    X, y = data.two_clouds(apart=2.5, seed=5)
    best, ends = LinearSVC(loss="hinge", C=0.2, tol=1e-9).fit(X, y).certificate_.primal * 5, []
    for eta in (1e-2, 1e-3):
        _, history = hinge_regularized_gd.hinge_regularized_gd(X, y, 5.0, 3000, eta)
        ends.append(np.mean([row["objective"] for row in history[-500:]]) / best - 1)
    return f"eta = 1e-2 ends {ends[0]:.0e}, eta = 1e-3 ends {ends[1]:.0e} above the optimum", bool(
        ends[0] > 3 * ends[1]
    )
