"""Slips of note 004: the rows, and the computations that show them."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import zero_one_loss
from sklearn.model_selection import LeaveOneOut, cross_val_score

from maxmargin.certificates import certify
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.lectures import data
from maxmargin.lectures.errata.slip import Finding, Slip, table_of
from maxmargin.lectures.page import Shown
from maxmargin.losses import SquaredHinge
from maxmargin.models import Bias, soft_margin
from maxmargin.textbook import dual_ascent, hard_margin, kernels, margins, multiclass


def slips_004() -> Shown:
    """Note 004"""
    return table_of(
        Slip("004:54, 370", "the margin is 2/||w||, then 1/||w||", "the first is twice the second", two_margins),
        Slip("004:50", "the origin is k/||w|| from w'x = k", "|k|/||w||", absolute_distance),
        Slip(
            "004:71",
            "multipliers should be positive",
            "not negative: zero where a constraint is loose",
            multiplier_of_a_loose_constraint,
        ),
        Slip(
            "004:78",
            "stationary, g <= 0 and alpha >= 0",
            "and alpha_i g_i = 0",
            complementary_slackness_is_needed,
        ),
        Slip(
            "004:105",
            "a global maximum can always be found",
            "if a hyperplane separates the classes; if none does, the hard dual grows without end",
            hard_dual_without_end,
        ),
        Slip(
            "004:129, 141",
            "xi_i approximates, or bounds, the number of errors",
            "the sum of all xi_i bounds it",
            slack_bounds_errors,
        ),
        Slip("004:140", "xi_i = 0 if x_i is no error", "if it is right and beyond the margin", slack_without_error),
        Slip(
            "004:227",
            "the feature space is typically infinite-dimensional",
            "the Gaussian kernel's is; a polynomial one's has binom(d + p, p) dimensions",
            polynomial_dimension,
        ),
        Slip(
            "004:232",
            "a space always separates the training set",
            "unless equal rows have unlike labels",
            equal_rows,
        ),
        Slip(
            "004:392, 400",
            "(23.27) and (23.28)",
            "w = sum alpha y x and b = mean(y - w'x): of the book, not in the note",
            formulas_of_the_book,
        ),
        Slip(
            "004:397",
            "w = (0.833, 0.334)",
            "w = (5/6, 1/3), b = -10/3; the multipliers were rounded, w_2 perhaps twice",
            exact_weights,
        ),
        Slip(
            "004:360",
            "the QP yields the following multipliers",
            "it has many optimal ones here",
            multipliers_not_unique,
        ),
        Slip(
            "004:423",
            "stochastic gradient ascent",
            "the examples come in order: cyclic coordinate ascent with exact steps",
            step_is_exact,
        ),
        Slip(
            "004:427",
            "append a 1 for the bias",
            "of use to kernels of inner products; a Gaussian does not see it",
            gaussian_does_not_see_the_one,
        ),
        Slip(
            "004:432, 439",
            "K(x_k, x_k) and K(x_i, x_k), also for the quadratic loss",
            "entries of the matrix with 1/(2C) on its diagonal",
            loss_without_effect,
        ),
        Slip("004:441", "alpha_k <= C for both losses", "for the hinge loss alone", clipped_quadratic),
        Slip(
            "004:811",
            "the share of unseen data that is wrong is at most #SV/n",
            "the leave-one-out error is",
            unseen_error_above_the_bound,
        ),
        Slip(
            "004:792",
            "inherent feature selection",
            "it selects examples; only penalty='l1' selects features",
            no_zero_weights,
        ),
        Slip(
            "004:280",
            "tanh fails Mercer's condition for some kappa and theta",
            "for every kappa > 0, whatever theta: its power series has a negative coefficient, though a small sample "
            "may not show it ([map](004.md#mercer-map))",
            tanh_fails_everywhere,
        ),
        Slip(
            "004:404, 412",
            "w'x_2 = 4.331, and w = (0.833, 0.334) in the hyperplane",
            "4.332; and the table of biases does not follow from the w that is printed",
            printed_products,
        ),
        Slip(
            "004:747-782",
            "W with L = 0, and 2W with the same loss",
            "true of such a W; the W of the slides has L = 5.27, and doubling it raises the loss",
            doubled_scores,
        ),
        Slip(
            "004:816",
            "fewer support vectors are simpler, so better",
            "often, not always ([counted](004.md#ockham))",
            fewest_is_not_best,
        ),
        Slip("004:811", "n is a share of the data", "n is the number of examples everywhere else", None),
        Slip("004:268, 322", "d is the degree, then the number of features", "two letters", None),
        Slip(
            "004:309-313",
            "x_i'x_j and phi'phi of rows [x_1 x_2]",
            "outer products as printed; inner ones of columns",
            rows_make_a_matrix,
        ),
        Slip("004:438-439", "the update of alpha_k has no number", "it stands between lines 11 and 12", None),
        Slip("004:442-444", "alpha_{t+1} = alpha twice, before and after t <- t + 1", "once", None),
        Slip("004:699, 726", "questions Q, Q2, Q6", "Q3 to Q5 are missing", None),
        Slip("004:841-843", "morning and dawn, then dusk and dawn", "two kinds of light, whichever", None),
        Slip("004:852", "principle component analysis", "principal", None),
    )


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
    gap = certify(soft_margin(Gram(Linear(), rows), y, C, SquaredHinge(), bias=Bias.NONE), read_literally).relative_gap
    return (
        f"with K(x_i, x_k) both losses have the multipliers of the hinge; for the quadratic one a gap of {gap:.0%}",
        gap > 0.01,
    )


def clipped_quadratic() -> Finding:
    X, y = data.cancer()
    problem = soft_margin(Gram(Linear(), dual_ascent.append_one(X)), y, 1.0, SquaredHinge(), bias=Bias.NONE)
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
