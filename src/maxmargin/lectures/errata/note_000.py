"""Slips of note 000: the rows, and the computations that show them."""

from __future__ import annotations

import numpy as np

from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.errata.slip import Finding, Slip, table_of
from maxmargin.lectures.page import Shown
from maxmargin.textbook import gradient_descent, multiclass


def slips_000() -> Shown:
    """Note 000"""
    return table_of(
        Slip(
            "000:110",
            "the update adds the misclassified examples",
            "those of E: right ones within the margin as well",
            right_ones_are_added,
        ),
        Slip(
            "000:33, 58",
            "descent with this line search goes lower at every step and finds the minimum of a convex F",
            "at a kink -grad F may lead upwards for every r, and it stops ([shown](000.md#stalling-descent)); for "
            "smooth F see 000:71",
            line_search_stalls,
        ),
        Slip(
            "000:71",
            "line search moves lower",
            "line 3 accepts equality: where r = 1/2 only reflects w, F stays and descent stops",
            equality_accepted,
        ),
        Slip(
            "000:122",
            "the right class leads by more than 1",
            "by at least 1: the loss is zero at equality",
            zero_loss_at_equality,
        ),
        Slip(
            "000:128",
            "the joint objective has no C, and w_k for w_K",
            "C = 1 whatever the number of rows",
            None,
        ),
    )


def line_search_stalls() -> Finding:
    X, y = data.cancer()
    best = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-8).fit(X, y).certificate_.primal
    above = gradient_descent.soft_margin(X, y, 1.0)[1][-1]["F"] / best - 1
    return f"breast cancer, C = 1: it ends {above:.0%} above the optimum", above > 0.1


def equality_accepted() -> Finding:
    w, history = gradient_descent.gradient_descent(lambda w: 2 * w @ w, lambda w: 4 * w, np.ones(1))
    end = history[-1]["F"]
    return f"F = 2 w^2 from w = 1: r = {history[-1]['r']}, it stops at w = {w[0]:g}, F = {end:g}", w[
        0
    ] == -1 and end == 2


def right_ones_are_added() -> Finding:
    X, y = data.cancer()
    w, _ = gradient_descent.soft_margin(X, y, 0.01)
    gaps = y * (X @ w)
    inside, wrong = int(np.sum(gaps < 1)), int(np.sum(gaps <= 0))
    return f"breast cancer, C = 0.01: E has {inside} examples, of which {wrong} are misclassified", inside > 2 * wrong


def zero_loss_at_equality() -> Finding:
    loss = multiclass.L_i_vectorized(np.array([1.0]), 0, np.array([[2.0], [1.0]]))
    return f"a lead of exactly 1 has the loss {loss:g}", loss == 0
