"""Slips of note 003: the rows, and the computations that show them."""

from __future__ import annotations

import numpy as np

from maxmargin.bayes import MultinomialNB
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.errata.slip import Finding, Slip, table_of
from maxmargin.lectures.page import Shown
from maxmargin.textbook import hard_margin, naive_bayes
from maxmargin.textbook import soft_margin as soft


def slips_003() -> Shown:
    """Note 003"""
    return table_of(
        Slip(
            "003:27",
            "Sigma = diag(sigma_1, ...)",
            "its entries are variances, sigma_j^2",
            variances_not_deviations,
        ),
        Slip(
            "003:43",
            "a product over i of pi_i^y_i",
            "over classes; from 003:77 on i is an example",
            None,
        ),
        Slip(
            "003:71, 75, 91, 119",
            "l is the class and, in the denominator, the index of the sum; on 003:119 so is k, the value",
            "the sums run over all classes, over all values: other letters",
            None,
        ),
        Slip(
            "003:77",
            "D is a subset of R^p x {0, 1}^c",
            "of {1, ..., m}^p x {0, 1}^c: the features are categories (003:53)",
            None,
        ),
        Slip(
            "003:77",
            "the denominator is a constant",
            "it is the same for all classes, and depends on x",
            denominator_varies,
        ),
        Slip(
            "003:79",
            "log p(D|theta) is called the likelihood",
            "the log-likelihood; both are largest at one point",
            None,
        ),
        Slip("003:95, 99", "y_j, eta_lj, x_j", "y_i, eta_ljk, x_i", indices_of_the_likelihood),
        Slip(
            "003:103",
            "multipliers lambda_ij of sum_k eta_ijk = 1",
            "lambda_lj, one per class and feature: minus the number of examples of class l",
            multipliers_are_counts,
        ),
        Slip(
            "003:121",
            "p(y|x) has the form f(x|theta) = h(x) exp(...)",
            "a distribution of x: that is the form of p(x|y). p(y|x) is of the family in y, with parameters that are "
            "linear in T(x): a generalised linear model, as the note says",
            posterior_is_linear,
        ),
        Slip("003:145, 205", "w'x - b", "w'x + b elsewhere in the note: b has the other sign", sign_of_b),
        Slip(
            "003:207",
            "there is always a gap",
            "strong duality: it is zero at the optimum ([shown](003.md#duality))",
            no_gap,
        ),
        Slip(
            "003:211",
            "unconstrained dual form",
            "alpha >= 0 and sum alpha y = 0 are constraints",
            dual_needs_its_constraints,
        ),
        Slip("003:213", "the last sum is over i of alpha_j", "one index", lagrangian_becomes_the_dual),
        Slip("003:219", "quadratic linear programming", "quadratic programming", dual_is_curved),
        Slip("003:223", "y_i (w'x_i + b) = 1 for all i", "for the support vectors", only_on_the_margin),
        Slip(
            "003:243",
            "sum of (1 - y f)^p",
            "of the positive parts ([drawn](003.md#slack-powers))",
            no_minimum_in_b,
        ),
        Slip(
            "003:253",
            "lambda = 1/c gives this hinge form",
            "of p = 1; for p = 2 the positive part is squared",
            squared_in_the_other_form,
        ),
        Slip("003:257", "the Lagrangian, without signs", "alpha, beta >= 0", signs_are_needed),
        Slip("003:73", "x_j = x_j^k and theta_lj = ln eta_lj^k", "one entry per value k: theta_ljk = ln eta_ljk", None),
        Slip("003:249", "minimise over w and b", "over w, b and the slacks", None),
        Slip("003:283", "the constant C", "c, as before", None),
    )


def variances_not_deviations() -> Finding:
    x = 3.0 * np.random.default_rng(0).normal(size=1000)
    likely = {entry: -0.5 * float(np.mean(x**2 / entry + np.log(entry))) for entry in (3.0, 9.0)}
    return f"numbers of deviation 3: log-likelihood {likely[3.0]:.2f} with the entry 3, {likely[9.0]:.2f} with 9", (
        likely[9.0] > likely[3.0]
    )


def denominator_varies() -> Finding:
    X, y = data.mushrooms()
    pi, eta = naive_bayes.estimate(X, y, 3, 2)
    p = sorted({round(float((pi * eta[:, 0, a] * eta[:, 1, g]).sum()), 3) for a, g in X})
    return f"p(x) of the rows counted: {p}", len(p) > 1


def indices_of_the_likelihood() -> Finding:
    X, y = data.mushrooms()
    pi, eta = naive_bayes.estimate(X, y, 3, 2)
    by_indicators = np.einsum("il,ijk,ljk->", naive_bayes.indicators(y, 2), naive_bayes.indicators(X, 3),
                              np.log(np.where(eta > 0, eta, 1.0)))  # fmt: skip
    direct = naive_bayes.log_likelihood(X, y, pi, eta) - np.log(pi[y]).sum()
    return f"sum y_il x_ij^k ln eta_ljk = {by_indicators:.6f} = the log-likelihood of eta", abs(
        by_indicators - direct
    ) < 1e-12


def multipliers_are_counts() -> Finding:
    X, y = data.mushrooms()
    _, eta = naive_bayes.estimate(X, y, 3, 2)
    counts = np.einsum("il,ijk->ljk", naive_bayes.indicators(y, 2), naive_bayes.indicators(X, 3))
    slopes = np.divide(counts, eta, out=np.zeros_like(counts), where=eta > 0)
    per_class = [sorted({float(s) for s in slopes[c][slopes[c] > 0]}) for c in (0, 1)]
    return f"count/eta is {per_class[0]} in class 0 and {per_class[1]} in class 1", per_class == [[5.0], [4.0]]


def posterior_is_linear() -> Finding:
    rng = np.random.default_rng(0)
    counts, y = rng.poisson(2.0, size=(40, 5)), rng.integers(2, size=40)
    model = MultinomialNB().fit(counts, y)
    odds = np.diff(model.predict_joint_log_proba(counts), axis=1)[:, 0]
    fit = np.linalg.lstsq(np.column_stack([counts, np.ones(40)]), odds, rcond=None)[0]
    error = np.abs(np.column_stack([counts, np.ones(40)]) @ fit - odds).max()
    return f"log odds of word counts are linear in the counts (residual {error:.0e})", bool(error < 1e-9)


def sign_of_b() -> Finding:
    w, b = np.array([5 / 6, 1 / 3]), -10 / 3
    plus, minus = (np.all(data.SIGNS_23_1 * (data.TABLE_23_1 @ w + s * b) > 0) for s in (1, -1))
    return "with b = -10/3, w'x + b separates table 23.1 and w'x - b does not", bool(plus and not minus)


def no_gap() -> Finding:
    machine = LinearSVC(loss="hinge", tol=1e-8).fit(*data.two_clouds())
    return (
        f"a fit with the relative gap {machine.certificate_.relative_gap:.0e}",
        machine.certificate_.relative_gap < 1e-6,
    )


def dual_needs_its_constraints() -> Finding:
    X, y = data.TABLE_23_1, data.SIGNS_23_1
    rows = y[:, None] * X
    flat = np.ones(14) - rows @ np.linalg.lstsq(rows, np.ones(14), rcond=None)[0]  # rows'flat = 0: no quadratic term
    values = [round(float(hard_margin.W(t * flat, X @ X.T, y)), 3) for t in (1.0, 10.0, 100.0)]
    return f"without them W grows without end: {values}", values == sorted(values) and values[-1] > 10


def lagrangian_becomes_the_dual() -> Finding:
    X, y = data.TABLE_23_1, data.SIGNS_23_1
    alpha, _ = hard_margin.dual(X @ X.T, y)
    L, W = hard_margin.lagrangian((alpha * y) @ X, 0.3, alpha, X, y), hard_margin.W(alpha, X @ X.T, y)
    return f"L at w = sum alpha y x is {L:.6f}, W(alpha) is {W:.6f}", abs(L - W) < 1e-6


def dual_is_curved() -> Finding:
    X, y = data.TABLE_23_1, data.SIGNS_23_1
    one, two = hard_margin.W(np.ones(14), X @ X.T, y), hard_margin.W(2 * np.ones(14), X @ X.T, y)
    return f"W(2 alpha) = {two:g}, 2 W(alpha) = {2 * one:g}", abs(two - 2 * one) > 1


def only_on_the_margin() -> Finding:
    w, b, _, _ = hard_margin.primal(data.TABLE_23_1, data.SIGNS_23_1)
    values = data.SIGNS_23_1 * (data.TABLE_23_1 @ w + b)
    return f"y f of table 23.1 runs from {values.min():.2f} to {values.max():.2f}", bool(values.max() > 1.5)


def no_minimum_in_b() -> Finding:
    _, y = data.outlier_clouds()
    values = [float(np.sum(1 - y * b)) for b in (0.0, 10.0, 1000.0)]
    return f"52 positive and 40 negative examples, w = 0, b = 0, 10, 1000: {values}", values == sorted(values)[::-1]


def squared_in_the_other_form() -> Finding:
    (X, y), c = data.two_clouds(), 2.0
    of_c = [soft.primal(X, y, c, p)[0][0] for p in (1, 2)]
    hinge, squared = (LinearSVC(loss=loss, lam=1 / c, lam_form="sum", tol=1e-11).fit(X, y).coef_[0]
                      for loss in ("hinge", "squared_hinge"))  # fmt: skip
    one, two, square = (np.linalg.norm(v - w) for v, w in ((hinge, of_c[0]), (hinge, of_c[1]), (squared, of_c[1])))
    text = (
        f"c = 2: w of the hinge form is {one:.0e} from p = 1 and {two:.2f} from p = 2, squared {square:.0e} from p = 2"
    )
    return text, bool(max(one, square) < 1e-6 and two > 1e-2)


def signs_are_needed() -> Finding:
    # The hyperplane with x = -1 and x = 3 on its margins instead of -1 and 1, and the multipliers that it asks for.
    X, y, c = np.array([[1.0], [-1.0], [3.0]]), np.array([1.0, -1.0, 1.0]), 1.0
    w, b, xi, alpha = np.array([0.5]), -0.5, np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.625, -0.375])
    found = soft.kkt(w, b, xi, alpha, c - alpha, X, y, c)
    printed = max(value for name, value in found.items() if not name.startswith("alpha_i, beta_i"))
    value, best = soft.objective(w, b, X, y, c), soft.objective(np.ones(1), 0.0, X, y, c)
    text = f"x = 1, -1, 3: alpha = (1, 0.625, -0.375) fulfils all that is printed, at {value}; the optimum is {best}"
    return text, bool(printed < 1e-12 and value > best)
