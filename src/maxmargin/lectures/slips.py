"""The computations of the errata: each returns what it found, in words, and whether that shows the slip."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import zero_one_loss
from sklearn.model_selection import LeaveOneOut, cross_val_score

from maxmargin.bayes import MultinomialNB
from maxmargin.certificates import certify
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.lectures import data
from maxmargin.problems.box import Bias, Loss, soft_margin
from maxmargin.textbook import (
    dual_ascent,
    gradient_descent,
    hard_margin,
    hinge_regularized_gd,
    kernels,
    margins,
    multiclass,
    naive_bayes,
    sgd,
)
from maxmargin.textbook import soft_margin as soft

Finding = tuple[str, bool]


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


def absolute_distance() -> Finding:
    w, k = np.array([3.0, 4.0]), -10.0
    nearest = k / (w @ w) * w
    return f"w = (3, 4), k = -10: the nearest point is {np.linalg.norm(nearest):g} away", bool(
        np.linalg.norm(nearest) == 2
    )


def multiplier_of_a_loose_constraint() -> Finding:
    _, _, alpha, _ = hard_margin.primal(data.TABLE_23_1, data.SIGNS_23_1)
    return f"table 23.1: the multiplier of x_5, far from the margin, is {alpha[4]:.0e}", bool(alpha[4] < 1e-6)


def complementary_slackness_is_needed() -> Finding:
    # min x^2 subject to x - 1 <= 0: at x = -2 the gradient 2x + alpha vanishes with alpha = 4 >= 0, and g = -3 <= 0.
    x, alpha = -2.0, 4.0
    stationary, feasible = 2 * x + alpha == 0, x - 1 <= 0
    return f"min x^2, x <= 1: x = -2 passes with alpha = 4 and costs {x * x:g}; alpha g = {alpha * (x - 1):g}", (
        stationary and feasible
    )


def hard_dual_without_end() -> Finding:
    X, y = data.XOR, data.XOR_SIGNS
    values = [float(hard_margin.W(t * np.ones(4), X @ X.T, y)) for t in (1.0, 10.0, 100.0)]
    return f"XOR, alpha = 1, 10, 100 for all: W = {values}", values == sorted(values) and values[-1] >= 400


def slack_bounds_errors() -> Finding:
    X, y = data.two_clouds(apart=1.5)
    machine = SVC(kernel="linear").fit(X, y)
    xi = margins.slack(machine.coef_[0], machine.intercept_[0], X, y)
    errors = int(np.sum(machine.predict(X) != y))
    return (
        f"{errors} errors, sum of slacks {xi.sum():.1f}, largest slack {xi.max():.1f}",
        errors <= xi.sum() and errors > xi.max(),
    )


def slack_without_error() -> Finding:
    X, y = data.two_clouds(apart=1.5)
    machine = SVC(kernel="linear").fit(X, y)
    xi = margins.slack(machine.coef_[0], machine.intercept_[0], X, y)
    count = int(np.sum((xi > 1e-6) & (machine.predict(X) == y)))
    return f"{count} examples are right and have slack", count > 0


def polynomial_dimension() -> Finding:
    return f"d = 2, p = 2: phi has {kernels.phi(np.ones((1, 2))).shape[1]} entries", kernels.phi(np.ones((1, 2))).shape[
        1
    ] == 6


def tanh_fails_everywhere() -> Finding:
    X = np.random.default_rng(0).normal(size=(30, 2))
    grid = [(kappa, theta) for kappa in (0.01, 0.1, 1.0, 5.0) for theta in (-1.0, 0.0, 0.5, 2.0)]
    least = [kernels.smallest_eigenvalue(kernels.tanh(*pair)(X, X)) for pair in grid]
    return f"30 points, 16 pairs: the smallest eigenvalue is between {min(least):.1f} and {max(least):.0e}", bool(
        max(least) < -1e-9
    )


def rows_make_a_matrix() -> Finding:
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    outer, inner = x.T @ z, x @ z.T
    text = f"rows of two: x_i'x_j has the shape {outer.shape}, phi'phi {(kernels.phi(x).T @ kernels.phi(z)).shape}"
    return text, outer.shape == (2, 2) and float((1 + inner[0, 0]) ** 2) == float(kernels.polynomial(2)(x, z)[0, 0])


def two_margins() -> Finding:
    w, b, _, _ = hard_margin.primal(data.TABLE_23_1, data.SIGNS_23_1)
    least, along = margins.distance(data.TABLE_23_1, w, b).min(), data.TABLE_23_1 @ w / np.linalg.norm(w)
    gap = along[data.SIGNS_23_1 > 0].min() - along[data.SIGNS_23_1 < 0].max()
    return f"table 23.1: {gap:.3f} from class to class, {least:.3f} from class to line", bool(
        abs(gap - 2 * least) < 1e-6
    )


def equal_rows() -> Finding:
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, -1.0, 1.0])
    best = SVC(gamma=100.0, C=1e6).fit(X, y).score(X, y)
    return f"two equal rows of unlike labels, RBF, C = 1e6: {best:.0%} right", best < 1


def formulas_of_the_book() -> Finding:
    X, y, alpha = data.TABLE_23_1, data.SIGNS_23_1, data.ALPHA_23_1
    w = (alpha * y) @ X
    b = np.mean((y - X @ w)[alpha > 0])
    return f"with the printed multipliers w = ({w[0]:.3f}, {w[1]:.3f}), b = {b:.3f}", bool(abs(b + 3.332) < 2e-3)


def exact_weights() -> Finding:
    w, b, _, _ = hard_margin.primal(data.TABLE_23_1, data.SIGNS_23_1)
    second = (data.ALPHA_23_1 * data.SIGNS_23_1) @ data.TABLE_23_1[:, 1]
    text = f"w = ({w[0]:.6f}, {w[1]:.6f}), b = {b:.6f}; the printed terms of w_2 sum to {second:.6f}"
    return text, bool(np.allclose([*w, b], [5 / 6, 1 / 3, -10 / 3], atol=1e-7) and abs(second - 0.333475) < 1e-9)


def printed_products() -> Finding:
    w, x1, x2 = (data.ALPHA_23_1 * data.SIGNS_23_1) @ data.TABLE_23_1, *data.TABLE_23_1[:2]
    rounded = float(np.array([0.833, 0.334]) @ x1)
    text = f"w'x_2 = {w @ x2:.4f} with the printed multipliers; w'x_1 = {rounded:.3f} with the printed w"
    return text, bool(abs(w @ x2 - 4.331) > 5e-4 and abs(rounded - 4.332) > 2e-3)


def multipliers_not_unique() -> Finding:
    X, y = data.TABLE_23_1, data.SIGNS_23_1
    ours, printed = hard_margin.dual(X @ X.T, y)[0], data.ALPHA_23_1
    values = [hard_margin.W(a, X @ X.T, y) for a in (ours, printed)]
    apart = np.abs(ours - printed).max()
    return f"W = {values[0]:.5f} and {values[1]:.5f} with multipliers {apart:.2f} apart", abs(
        values[0] - values[1]
    ) < 1e-4 < apart


def step_is_exact() -> Finding:
    X, y = data.two_clouds(n=10)
    K = dual_ascent.kernel_matrix(dual_ascent.append_one(X), kernels.linear, 1.0, "hinge")
    alpha = np.full(20, 0.3)
    slope = 1 - y[4] * ((alpha * y) @ K[4])
    steps = slope / K[4, 4] * np.linspace(0, 2, 41)
    values = [dual_ascent.dual_objective(alpha + t * np.eye(20)[4], K, y) for t in steps]
    return f"along alpha_4 the dual is largest at {np.argmax(values) / 20:g} times the step", int(
        np.argmax(values)
    ) == 20


def gaussian_does_not_see_the_one() -> Finding:
    X, _ = data.two_clouds(n=10)
    K = kernels.gaussian(1.0)
    apart = np.abs(K(X, X) - K(dual_ascent.append_one(X), dual_ascent.append_one(X))).max()
    return f"the kernel matrices with and without the 1 differ by {apart:.0e}", bool(apart < 1e-12)


def loss_without_effect() -> Finding:
    X, y = data.two_clouds()
    rows, C = dual_ascent.append_one(X), 0.1
    read_literally, _ = dual_ascent.svm_dual(X, y, kernels.linear, C)  # K(x_i, x_k) of lines 6 and 11 knows no 1/(2C)
    gap = certify(
        soft_margin(Gram(Linear(), rows), y, C, Loss.SQUARED_HINGE, bias=Bias.NONE), read_literally
    ).relative_gap
    return (
        f"with K(x_i, x_k) both losses have the multipliers of the hinge; for the quadratic one a gap of {gap:.0%}",
        gap > 0.01,
    )


def clipped_quadratic() -> Finding:
    X, y = data.cancer()
    problem = soft_margin(Gram(Linear(), dual_ascent.append_one(X)), y, 1.0, Loss.SQUARED_HINGE, bias=Bias.NONE)
    alpha, _ = dual_ascent.svm_dual(X, y, kernels.linear, 1.0, loss="quadratic", max_iter=300)
    gap = certify(problem, alpha).relative_gap
    return f"breast cancer, C = 1: relative gap {gap:.0%}", gap > 0.4


def unseen_error_above_the_bound() -> Finding:
    X, y = data.two_clouds(n=10, apart=2.0, seed=40)
    machine = SVC(kernel="linear", C=1000.0).fit(X, y)
    bound = len(machine.support_) / len(y)
    left_out = 1 - cross_val_score(SVC(kernel="linear", C=1000.0), X, y, cv=LeaveOneOut()).mean()
    X_new, y_new = data.two_clouds(n=5000, apart=2.0, seed=999)
    unseen = zero_one_loss(y_new, machine.predict(X_new))
    text = f"20 rows: #SV/n {bound:.2f}, leave-one-out {left_out:.2f}, on 10,000 unseen rows {unseen:.2f}"
    return text, left_out <= bound and unseen > bound


def doubled_scores() -> Finding:
    mean = [float(multiclass.losses(s * np.eye(3), data.SLIDE_SCORES, np.arange(3)).mean()) for s in (1, 2)]
    return f"the mean loss of the slides' W is {mean[0]:.2f}, that of 2W {mean[1]:.2f}", mean[1] > mean[0] > 0


def fewest_is_not_best() -> Finding:
    (X, y), (Z, v) = data.moons(100, 0.2, 0), data.moons(4000, 0.2, 1)
    found = [(len(m.support_), float(m.score(Z, v)))
             for m in (SVC(C=C, gamma=g).fit(X, y) for C in (1, 100, 10_000) for g in (0.1, 1, 10))]  # fmt: skip
    fewest, best = min(found), max(found, key=lambda pair: pair[1])
    text = f"moons: {fewest[0]} support vectors score {fewest[1]:.1%}, {best[0]} score {best[1]:.1%}"
    return text, fewest[0] < best[0] and fewest[1] < best[1]


def no_zero_weights() -> Finding:
    X, y = data.cancer()
    zeros = [int(np.sum(LinearSVC(penalty=p, C=0.01).fit(X, y).coef_ == 0)) for p in ("l2", "l1")]
    return f"breast cancer, C = 0.01: {zeros[0]} of 30 weights are zero with l2, {zeros[1]} with l1", zeros[
        0
    ] == 0 < zeros[1]
