"""Slips of note 002: the rows, and the computations that show them."""

from __future__ import annotations

import numpy as np

from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.lectures.errata.slip import Finding, Slip, table_of
from maxmargin.lectures.page import Shown
from maxmargin.textbook import hard_margin, margins, sgd


def slips_002() -> Shown:
    """Note 002"""
    return table_of(
        Slip("002:54", "C(a^T, b)", "C(a, b), as on 002:49", None),
        Slip("002:54, 76", "c(a, b, x_i)", "the cost depends on the label too", cost_needs_the_label),
        Slip("002:109", "c(sa, sb, x) = (1 - s(a'x + b)) y", "1 - s (a'x + b) y, while s gamma y < 1", scaled_cost),
        Slip(
            "002:114",
            "scaling (a, b) down lowers the hinge loss of future items",
            "of wrong ones; that of items which are right but near falls when (a, b) grows",
            scaling_both_ways,
        ),
        Slip(
            "002:169",
            "C_k sums i = 1, ..., k",
            "over the k examples drawn, not the first k of the data",
            first_are_not_drawn,
        ),
        Slip(
            "002:256, 355",
            "the gradient of S'",
            "S' is never defined: it is S with one example drawn, which 002:288 calls S",
            None,
        ),
        Slip(
            "002:286",
            "gamma y > 1 pushes the line away from the example",
            "a shrinks and b stays: the line moves away from the origin, which may be towards the example",
            pushed_towards,
        ),
        Slip(
            "002:294",
            "otherwise the line is pushed towards the example",
            "towards a wrong one; away from one that is right but near",
            moved_away,
        ),
        Slip(
            "002:376",
            "one machine per bit does not work",
            "it works where each bit is easy; a bit may join classes that no line separates from the others",
            a_bit_may_be_hard,
        ),
        Slip(
            "002:305, 366",
            "the gradient is not zero even if every example is right",
            "where lambda > 0; without the penalty it vanishes once all are beyond the margin",
            gradient_that_vanishes,
        ),
        Slip(
            "002:314",
            "a very small set of examples determines the hyperplane in other cases too",
            "small where classes are apart; of overlapping classes most examples are support vectors",
            many_support_vectors,
        ),
        Slip("002:307", "lamda", "lambda", None),
    )


def cost_needs_the_label() -> Finding:
    right, wrong = float(sgd.c(0.5, 1, "hinge")), float(sgd.c(0.5, -1, "hinge"))
    return f"gamma = 0.5 costs {right} if y = 1 and {wrong} if y = -1", right != wrong


def scaled_cost() -> Finding:
    gamma, y, s = 0.5, -1, 0.5
    printed, right = (1 - s * gamma) * y, float(sgd.c(s * gamma, y, "hinge"))
    return f"gamma = 0.5, y = -1, s = 0.5: printed {printed}, cost {right}", printed != right


def scaling_both_ways() -> Finding:
    wrong = [float(sgd.c(s * -0.5, 1, "hinge")) for s in (0.5, 1.0, 2.0)]
    near = [float(sgd.c(s * 0.5, 1, "hinge")) for s in (0.5, 1.0, 2.0)]
    return f"s = 0.5, 1, 2: a wrong item costs {wrong}, a near one {near}", wrong == sorted(wrong) and near == sorted(
        near
    )[::-1]


def pushed_towards() -> Finding:
    a, b, x = np.array([1.0, 0.0]), -2.0, np.array([6.0, 0.0])
    before, after = margins.distance(x, a, b), margins.distance(x, 0.9 * a, b)
    return f"line x1 = 2, example at 6, y = 1, shrunk by 0.9: distance {before:g} becomes {after:.3f}", bool(
        after < before
    )


def moved_away() -> Finding:
    a, b, eta = np.array([1.0, 0.0]), 0.0, 0.1
    found = []
    for x in (np.array([-0.5, 0.0]), np.array([0.5, 0.0])):
        g_a, g_b = sgd.gradient(a, b, x[None], np.array([1.0]), 0.0)
        found.append((margins.distance(x, a, b), margins.distance(x, a - eta * g_a, b - eta * g_b)))
    (wrong, wrong_after), (near, near_after) = found
    text = (
        f"distance of a wrong example: {wrong:.2f} to {wrong_after:.2f}, of a near one: {near:.2f} to {near_after:.2f}"
    )
    return text, bool(wrong_after < wrong and near_after > near)


def first_are_not_drawn() -> Finding:
    X, y = data.cancer()
    costs, k = sgd.c(X[:, 0], y, "hinge"), 16  # of a = (1, 0, ...), b = 0
    first, mean = costs[:k].mean(), costs.mean()
    drawn = np.mean([costs[np.random.default_rng(seed).integers(len(y), size=k)].mean() for seed in range(2000)])
    text = f"breast cancer, k = {k}: the first cost {first:.2f}, 2000 draws {drawn:.2f} on average, all {mean:.2f}"
    return text, bool(abs(drawn - mean) < 0.02 < abs(first - mean))


def gradient_that_vanishes() -> Finding:
    X, y = data.separable_clouds()
    w, b, _, _ = hard_margin.primal(X, y)
    none, some = (np.linalg.norm(sgd.gradient(1.5 * w, 1.5 * b, X, y, lam)[0]) for lam in (0.0, 0.1))
    return f"every example right and beyond: norm {none:g} at lambda = 0, {some:.2f} at lambda = 0.1", none == 0 < some


def many_support_vectors() -> Finding:
    machines = [SVC(kernel="linear").fit(*data.two_clouds(100, apart, seed=5)) for apart in (6.0, 1.0)]
    shares = [len(machine.support_) / 200 for machine in machines]
    return f"clouds 6 deviations apart: {shares[0]:.0%} support vectors, 1 apart: {shares[1]:.0%}", shares[
        1
    ] > 5 * shares[0]


def a_bit_may_be_hard() -> Finding:
    X, y = np.arange(4.0)[:, None], np.arange(4)
    odd = SVC(kernel="linear", C=100.0).fit(X, y % 2).score(X, y % 2)
    high = SVC(kernel="linear", C=100.0).fit(X, y // 2).score(X, y // 2)
    return (
        f"classes 0 to 3 in a row: the high bit is right at {high:.0%}, the low one at {odd:.0%}",
        high == 1 and odd < 1,
    )
