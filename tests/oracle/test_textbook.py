"""The textbook algorithms against certified optima, on a linear and on a kernel problem."""

import ast
import pathlib
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, Bias, LinearSVC, certify, soft_margin, textbook
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.textbook import (
    decomposition,
    dual_ascent,
    gradient_descent,
    hard_margin,
    hinge_regularized_gd,
    interior_point,
    kernels,
    margins,
    multiclass,
    naive_bayes,
    newton,
    perceptron,
    reductions,
    sgd,
    smo,
)
from maxmargin.textbook import soft_margin as textbook_soft
from tests.helpers import NOTES_X, NOTES_Y, dual_by_clarabel

FOLDER = pathlib.Path(textbook.__file__).parent
ROWS, LABELS = load_breast_cancer(return_X_y=True)
X, y = np.asarray(StandardScaler().fit_transform(ROWS)), 2.0 * np.asarray(LABELS) - 1
SIGMA = 4.0


def certified(loss="hinge", C=1.0, fit_intercept=True):
    """The optimum of the linear machine, its relative gap proved."""
    machine = LinearSVC(loss=loss, C=C, fit_intercept=fit_intercept, tol=1e-9).fit(X, y)
    assert machine.certificate_.relative_gap < 1e-8
    return machine.certificate_.primal


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_files_are_short_and_stand_alone(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    documented = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef))
    prose = {line for node in documented if ast.get_docstring(node) is not None
             for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}  # fmt: skip
    code = [k for k, line in enumerate(text.splitlines(), 1) if k not in prose and line.strip() not in ("",)
            and not line.strip().startswith("#")]  # fmt: skip
    assert len(code) <= 80
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        assert all(name in ("numpy", "itertools") or f"{name}.".startswith("maxmargin.textbook.") for name in names)


def test_all_files_are_reachable():
    tree = ast.parse((FOLDER / "__init__.py").read_text(encoding="utf-8"))
    names = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names == {path.stem for path in FOLDER.rglob("[a-z]*.py")} == set(textbook.__all__)


class TestGradientDescent:
    def test_gradient_by_differences(self):
        rng = np.random.default_rng(0)
        w, h = rng.normal(size=30), 1e-6
        steps = [
            gradient_descent.F(w + h * e, X, y, 0.1) - gradient_descent.F(w - h * e, X, y, 0.1) for e in np.eye(30)
        ]
        np.testing.assert_allclose(gradient_descent.gradient_of_F(w, X, y, 0.1), np.array(steps) / (2 * h), rtol=1e-5)
        by_rows = w + 0.1 * sum(gradient_descent.gradient_of_H(w, X[i], y[i]) for i in range(len(y)))
        np.testing.assert_allclose(gradient_descent.gradient_of_F(w, X, y, 0.1), by_rows)

    def test_line_search_restarts_at_a_half_and_accepts_equality(self):
        assert gradient_descent.line_search(lambda w: 1.0, np.ones(1), np.zeros(1)) == 0.5
        assert gradient_descent.line_search(lambda w: w[0] ** 2, np.array([8.0]), np.array([1.0])) == 0.25
        assert gradient_descent.line_search(lambda w: abs(w[0]), np.array([1.0]), np.zeros(1)) == 0.0

    def test_the_printed_algorithm_stalls_and_the_corrected_one_does_not(self):
        best = certified(fit_intercept=False)
        w, history = gradient_descent.soft_margin(X, y, C=1.0)
        assert history[-1]["F"] / best - 1 == pytest.approx(0.22, abs=0.01)
        assert history[-1]["r"] < 1e-9  # no step leads down
        values = [row["F"] for row in history]
        assert values == sorted(values, reverse=True)
        w, history = gradient_descent.subgradient_descent(
            lambda w: gradient_descent.F(w, X, y, 1.0), lambda w: gradient_descent.gradient_of_F(w, X, y, 1.0), 0 * w
        )
        assert 0 <= history[-1]["F"] / best - 1 < 1e-3

    def test_shrink_and_add_is_the_gradient_step(self):
        one, _ = gradient_descent.soft_margin(X, y, C=0.01, max_iter=5)
        two, _ = gradient_descent.gradient_descent(
            lambda w: gradient_descent.F(w, X, y, 0.01), lambda w: gradient_descent.gradient_of_F(w, X, y, 0.01),
            np.zeros(30), max_iter=5,
        )  # fmt: skip
        np.testing.assert_allclose(one, two, atol=1e-12)
        start, _ = gradient_descent.soft_margin(X, y, start=np.random.default_rng(1), max_iter=0)
        assert np.linalg.norm(start) > 1

    @pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
    def test_smooth_losses(self, loss):
        lam, n = 0.1, len(y)
        best = certified(loss, C=1 / (n * lam)) * lam
        (a, b), history = newton.newton(X, y, lam, loss)
        assert abs(history[-1]["S"] / best - 1) < 1e-9

        def S(u):
            return newton.value_gradient_hessian(u, X, y, lam, loss)[0]

        def slope(u):
            return newton.value_gradient_hessian(u, X, y, lam, loss)[1]

        u, history = gradient_descent.gradient_descent(S, slope, np.zeros(31))
        assert abs(history[-1]["F"] / best - 1) < 1e-6
        np.testing.assert_allclose(u, [*a, b], atol=1e-4)
        rough, _ = gradient_descent.gradient_descent(S, slope, np.zeros(31), r=0.01, max_iter=50)
        assert best < S(rough) < S(np.zeros(31))


def test_newton_derivatives_by_differences():
    rng, h = np.random.default_rng(0), 1e-6
    u = 0.1 * rng.normal(size=31)
    for loss in ("squared_hinge", "logistic"):
        _, gradient, hessian = newton.value_gradient_hessian(u, X, y, 0.1, loss)
        for e in np.eye(31)[::10]:
            up, down = (newton.value_gradient_hessian(u + s * h * e, X, y, 0.1, loss) for s in (1, -1))
            assert (up[0] - down[0]) / (2 * h) == pytest.approx(gradient @ e, rel=1e-5)
            np.testing.assert_allclose((up[1] - down[1]) / (2 * h), hessian @ e, rtol=1e-3, atol=1e-4)


def test_algorithm_24():
    lam = 10.0
    best = certified(C=1 / lam) * lam
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=30), 0.3
    one, two = (f(w, b, X, y, lam) for f in (
        hinge_regularized_gd.ascent_direction, hinge_regularized_gd.ascent_direction_vectorized))  # fmt: skip
    np.testing.assert_allclose(one[0], two[0])
    assert one[1] == two[1]
    _, printed = hinge_regularized_gd.hinge_regularized_gd(X, y, lam, 2000)
    assert 1e-3 < printed[-1]["objective"] / best - 1 < 1e-2  # one step size: near, and no nearer
    _, corrected = hinge_regularized_gd.diminishing(X, y, lam, 5000, eta=0.1)
    assert 0 <= corrected[-1]["objective"] / best - 1 < 1e-3


class TestStochasticGradientDescent:
    @pytest.mark.parametrize("loss", ["hinge", "logistic"])
    def test_expected_cost_is_the_cost(self, loss):
        rng = np.random.default_rng(0)
        a, b = 0.1 * rng.normal(size=30), 0.1
        drawn = np.array([sgd.C_k(a, b, X, y, 10, rng, loss) for _ in range(4000)])
        data_term = sgd.S(a, b, X, y, 0.0, loss)
        assert abs(drawn.mean() - data_term) < 4 * drawn.std() / np.sqrt(len(drawn))
        singles = [sgd.gradient(a, b, X[i : i + 1], y[i : i + 1], 0.1, loss) for i in range(len(y))]
        g_a, g_b = sgd.gradient(a, b, X, y, 0.1, loss)
        np.testing.assert_allclose(np.mean([g for g, _ in singles], axis=0), g_a, atol=1e-12)
        assert np.mean([g for _, g in singles]) == pytest.approx(g_b)

    @pytest.mark.parametrize(("loss", "average"), [("hinge", True), ("logistic", True), ("hinge", False)])
    def test_diminishing_seasons_reach_the_optimum(self, loss, average):
        lam = 0.1
        best = certified(loss, C=1 / (len(y) * lam)) * lam
        seasons = sgd.diminishing_seasons(lam, 30)
        _, history = sgd.stochastic_gradient_descent(
            X, y, lam, seasons, np.random.default_rng(0), k=4, loss=loss, average=average
        )
        assert 0 <= history[-1]["S"] / best - 1 < 1e-3

    def test_the_recipe_for_other_costs(self):
        """The same two methods as a loss of SGDSVC has; the hinge as such an object takes the very same steps."""

        class Own:
            def value(self, y, gamma):
                return np.maximum(1 - gamma * y, 0.0)

            def slope(self, y, gamma):
                return np.where(gamma * y > 1, 0.0, -y)

        runs = [
            sgd.stochastic_gradient_descent(X, y, 0.1, [(200, 1e-2)], 0, k=3, loss=loss) for loss in (Own(), "hinge")
        ]
        np.testing.assert_array_equal(runs[0][0][0], runs[1][0][0])
        assert runs[0][1] == runs[1][1]

        class Quadratic(Own):
            def value(self, y, gamma):
                return np.maximum(1 - gamma * y, 0.0) ** 2

            def slope(self, y, gamma):
                return -2 * y * np.maximum(1 - gamma * y, 0.0)

        lam, seasons = 0.1, sgd.diminishing_seasons(0.1, 30)
        _, history = sgd.stochastic_gradient_descent(X, y, lam, seasons, 0, k=4, loss=Quadratic(), average=True)
        best = certified("squared_hinge", C=1 / (len(y) * lam)) * lam
        assert 0 <= history[-1]["S"] / best - 1 < 1e-3
        with pytest.raises(ValueError, match="loss must be 'hinge' or 'logistic'"):
            sgd.S(np.ones(X.shape[1]), 0.0, X, y, 0.1, object())

    def test_the_notes_schedule(self):
        assert sgd.seasons_of_the_note() == [(1000, 1e-3), (1000, pytest.approx(1e-4))]
        held_out = X[400:], y[400:]
        (a, b), history = sgd.stochastic_gradient_descent(
            X[:400], y[:400], 0.01, sgd.seasons_of_the_note(), np.random.default_rng(0), held_out=held_out
        )
        assert [row["eta"] for row in history] == [1e-3, pytest.approx(1e-4)]
        assert history[-1]["accuracy"] == np.mean(np.sign(X[400:] @ a + b) == y[400:]) > 0.9

    def test_a_score_of_zero_is_class_plus_one(self):
        assert sgd.predict(np.ones(1), 0.0, np.array([[-1.0], [0.0], [1.0]])).tolist() == [-1.0, 1.0, 1.0]
        rows, signs = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
        watched = np.array([[2.0], [0.0], [0.0], [-3.0]]), np.array([1.0, 1.0, -1.0, -1.0])
        _, history = sgd.stochastic_gradient_descent(rows, signs, 0.1, [(0, 0.1)], 0, held_out=watched)
        assert history[0]["accuracy"] == 0.5  # before any step a = 0 and b = 0: every score is zero, every row +1


class TestQuadraticPrograms:
    @pytest.mark.parametrize(("C", "p"), [(1.0, 1), (10.0, 2)])
    def test_against_clarabel_at_500_rows(self, C, p):
        rows, signs = X[:500], y[:500]
        (w, b, xi), (alpha, beta), _ = textbook_soft.primal(rows, signs, C, p)
        ours = textbook_soft.objective(w, b, rows, signs, C, p)
        ridge, bound = (0.0, C) if p == 1 else (np.eye(500) / (2 * C), 1e4)  # no multiplier of p = 2 comes near 1e4
        assert ours == pytest.approx(dual_by_clarabel(rows @ rows.T + ridge, signs, bound), rel=1e-8)
        K = kernels.gaussian(SIGMA)(rows, rows)
        gaussian, _ = textbook_soft.dual(K, signs, C, p)
        theirs = dual_by_clarabel(K + ridge, signs, bound)
        assert textbook_soft.W(gaussian, K, signs, C, p) == pytest.approx(theirs, rel=1e-8)
        assert max(textbook_soft.kkt(w, b, xi, alpha, beta, rows, signs, C, p).values()) < 1e-6 * (1 + C)
        np.testing.assert_allclose(xi, margins.slack(w, b, rows, signs), atol=1e-4)
        L = textbook_soft.lagrangian(w, b, xi, alpha, beta, rows, signs, C, p)
        np.testing.assert_allclose(L, ours, rtol=1e-7)

    @pytest.mark.parametrize(("loss", "p"), [(Hinge(), 1), (SquaredHinge(), 2)])
    @pytest.mark.parametrize("kernel", ["linear", "gaussian"])
    def test_duals_certify(self, kernel, loss, p):
        rows, signs = X[:200], y[:200]
        ours, K = (
            (Linear(), rows @ rows.T) if kernel == "linear" else (RBF(sigma=SIGMA), kernels.gaussian(SIGMA)(rows, rows))
        )
        problem = soft_margin(Gram(ours, rows), signs, 1.0, loss)
        alpha, _ = textbook_soft.dual(K, signs, 1.0, p)
        proof = certify(problem, alpha)
        assert proof.relative_gap < 1e-6
        machine = SVC(kernel="precomputed", C=1.0, loss=loss, tol=1e-8).fit(K, signs)
        assert textbook_soft.bias(alpha, K, signs, 1.0, p) == pytest.approx(machine.intercept_[0], abs=1e-5)

    def test_hard_margin_of_example_23_3(self):
        w, b, alpha, history = hard_margin.primal(NOTES_X, NOTES_Y)
        np.testing.assert_allclose([*w, b], [5 / 6, 1 / 3, -10 / 3], atol=1e-8)
        assert history[0]["violation"] > 0.5  # the start violates the constraints
        dual, _ = hard_margin.dual(NOTES_X @ NOTES_X.T, NOTES_Y)
        assert hard_margin.W(dual, NOTES_X @ NOTES_X.T, NOTES_Y) == pytest.approx(0.5 * w @ w, rel=1e-8)
        assert hard_margin.bias(dual, NOTES_X @ NOTES_X.T, NOTES_Y) == pytest.approx(b, abs=1e-6)
        assert hard_margin.lagrangian(w, b, alpha, NOTES_X, NOTES_Y) == pytest.approx(0.5 * w @ w, rel=1e-8)
        assert max(hard_margin.kkt(w, b, alpha, NOTES_X, NOTES_Y).values()) < 1e-7
        plus, minus = NOTES_X[0], NOTES_X[13]  # both on the margin
        assert margins.margin_by_algebra(plus, minus, w, b) == pytest.approx(margins.margin(w), rel=1e-8)
        assert margins.distance(plus, w, b) == pytest.approx(margins.margin(w), rel=1e-8)
        back, b_back = margins.canonical(3 * w, 3 * b, NOTES_X)
        np.testing.assert_allclose([*back, b_back], [*w, b], atol=1e-7)

    @pytest.mark.parametrize("offset", [0.0, 2.0, 1000.0])
    def test_a_degenerate_margin_point(self, offset):
        X, y = np.array([[0.0, 0], [1, 1], [3, 3], [4, 2]]) + offset, np.array([-1.0, -1, 1, 1])
        w, _, _, _ = hard_margin.primal(X, y)
        alpha, _ = hard_margin.dual(X @ X.T, y)
        np.testing.assert_allclose(w, [0.5, 0.5], atol=1e-4)
        assert abs(alpha @ y) < 1e-12
        assert hard_margin.W(alpha, X @ X.T, y) <= 0.25 + 1e-12
        assert hard_margin.W(alpha, X @ X.T, y) == pytest.approx(0.5 * w @ w, rel=1e-6)

    @pytest.mark.parametrize("C", [1.0, 1e5])
    def test_random_labels(self, C):
        rng = np.random.default_rng(2)
        X, y = rng.normal(size=(80, 3)), np.where(rng.random(80) < 0.5, -1.0, 1.0)
        (w, b, _), _, history = textbook_soft.primal(X, y, C)
        alpha, _ = textbook_soft.dual(X @ X.T, y, C)
        value = textbook_soft.objective(w, b, X, y, C)
        assert textbook_soft.W(alpha, X @ X.T, y, C) == pytest.approx(value, rel=1e-7)
        assert len(history) < 40

    def test_no_hyperplane_separates(self):
        X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1.0, 1, -1, -1])
        with pytest.raises(ValueError, match="no solution: no hyperplane separates the classes"):
            hard_margin.primal(X, y)
        with pytest.raises(ValueError, match="no solution: no hyperplane separates the classes"):
            hard_margin.dual(X @ X.T, y)
        with pytest.raises(ValueError, match=r"after 2 iterations \(iteration 1, objective 0\.\d+, violation"):
            interior_point.solve_qp(np.eye(1), np.ones(1), *interior_point.box(1, 1.0), max_iter=2)

    @pytest.mark.parametrize("rows", [np.zeros((2, 1)), np.array([[1.0, 0.0]] * 2), np.array([[1.0, 2.0]] * 4)])
    @pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 1e4])
    @pytest.mark.parametrize("p", [1, 2])
    def test_equal_rows_of_both_classes(self, rows, C, p):
        signs = np.tile([1.0, -1.0], len(rows) // 2)
        (w, b, _), _, _ = textbook_soft.primal(rows, signs, C, p)
        alpha, _ = textbook_soft.dual(rows @ rows.T, signs, C, p)
        best = C * len(rows)  # w = 0, b = 0: every slack is 1
        assert textbook_soft.objective(w, b, rows, signs, C, p) == pytest.approx(best, rel=1e-7)
        assert textbook_soft.W(alpha, rows @ rows.T, signs, C, p) == pytest.approx(best, rel=1e-7)

    @pytest.mark.parametrize("C", [1e-6, 1e-4])
    def test_small_objectives_are_as_exact(self, C):
        (w, b, _), _, _ = textbook_soft.primal(X[:50], y[:50], C)
        alpha, _ = textbook_soft.dual(X[:50] @ X[:50].T, y[:50], C)
        value = textbook_soft.objective(w, b, X[:50], y[:50], C)
        assert textbook_soft.W(alpha, X[:50] @ X[:50].T, y[:50], C) == pytest.approx(value, rel=1e-8, abs=0)

    def test_no_free_support_vector(self):
        rows, signs = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([1.0, -1.0, -1.0, 1.0])
        alpha, _ = textbook_soft.dual(rows @ rows.T, signs, 1.0)
        b = textbook_soft.bias(np.ones(4), rows @ rows.T, signs, 1.0)
        assert -1 <= b <= 1
        np.testing.assert_allclose(textbook_soft.W(alpha, rows @ rows.T, signs, 1.0), 4.0)


@pytest.mark.parametrize("q", [2, 4])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4, np.inf])
def test_decomposition_where_a_margin_point_has_no_multiplier(q, C):
    rows, signs = np.array([[0.0, 0], [1, 1], [3, 3], [4, 2]]), np.array([-1.0, -1, 1, 1])
    alpha, b, history = decomposition.decompose(rows @ rows.T, signs, C, q=q)
    assert history[-1]["violation"] <= 1e-6
    np.testing.assert_allclose([*(alpha * signs) @ rows, b], [0.5, 0.5, -2.0], atol=1e-5)


@pytest.mark.parametrize("q", [0, 1, 3])
def test_working_sets_have_pairs(q):
    with pytest.raises(ValueError, match="q must be even and at least 2"):
        decomposition.decompose(X[:10] @ X[:10].T, y[:10], 1.0, q=q)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_smo_and_decomposition_certify(kernel, C):
    rows, signs = X[:300], y[:300]
    ours, K = (
        (Linear(), rows @ rows.T) if kernel == "linear" else (RBF(sigma=SIGMA), kernels.gaussian(SIGMA)(rows, rows))
    )
    problem = soft_margin(Gram(ours, rows), signs, C)
    for alpha, b, history in (smo.smo(K, signs, C), decomposition.decompose(K, signs, C, q=20)):
        assert history[-1]["violation"] <= 1e-6
        assert certify(problem, alpha).relative_gap < 1e-6
        assert 0 <= alpha.min() <= alpha.max() <= C
        assert abs(alpha @ signs) < 1e-8
        assert b == pytest.approx(textbook_soft.bias(alpha, K, signs, C), abs=1e-5)
        duals = [row["dual"] for row in history]
        assert np.all(np.diff(duals) > -1e-9)


@pytest.mark.parametrize(("scale", "offset"), [(1, 0), (1, 1000), (1000, 0), (0.001, 0)])
def test_an_infinite_C_is_the_hard_margin(scale, offset):
    w = np.array([5 / 6, 1 / 3]) / scale
    K = kernels.linear(scale * NOTES_X + offset, scale * NOTES_X + offset)
    for algorithm in (smo.smo, decomposition.decompose):
        alpha, b, history = algorithm(K, NOTES_Y, np.inf, epsilon=1e-8)
        assert history[-1]["violation"] <= 1e-8
        assert hard_margin.W(alpha, K, NOTES_Y) == pytest.approx(0.5 * w @ w, rel=1e-6)
        assert b == pytest.approx(-10 / 3 - offset * w.sum(), rel=1e-6)


def test_an_infinite_C_without_a_hard_margin_does_not_converge():
    _, _, history = smo.smo(np.zeros((2, 2)), [1, -1], np.inf, max_iter=50)
    assert history[-1] == {"iteration": 50, "dual": pytest.approx(2e14), "violation": 2}


class TestDualAscent:
    @pytest.mark.parametrize("kernel", ["linear", "gaussian"])
    def test_hinge_certifies(self, kernel):
        rows, signs = X[:200], y[:200]
        ours, K = (Linear(), kernels.linear) if kernel == "linear" else (RBF(sigma=SIGMA), kernels.gaussian(SIGMA))
        alpha, history = dual_ascent.svm_dual(rows, signs, K, C=0.1, epsilon=1e-9)
        problem = soft_margin(Gram(ours, dual_ascent.append_one(rows)), signs, 0.1, bias=Bias.NONE)
        assert certify(problem, alpha).relative_gap < 1e-6
        f = dual_ascent.decide(rows, rows, signs, alpha, K)
        assert np.mean(np.where(f >= 0, 1, -1) == signs) > 0.9
        duals = [row["dual"] for row in history]
        assert np.all(np.diff(duals) > -1e-12)

    def test_the_printed_clip_of_the_quadratic_loss(self):
        gram = Gram(Linear(), dual_ascent.append_one(X))
        problem = soft_margin(gram, y, 1.0, SquaredHinge(), bias=Bias.NONE)
        printed, _ = dual_ascent.svm_dual(X, y, kernels.linear, 1.0, loss="quadratic", max_iter=300)
        assert certify(problem, printed).relative_gap == pytest.approx(0.48, abs=0.01)
        C = 0.01
        problem = soft_margin(gram, y, C, SquaredHinge(), bias=Bias.NONE)
        corrected, _ = dual_ascent.svm_dual(X, y, kernels.linear, C, loss="quadratic", epsilon=1e-9, literal=False)
        assert certify(problem, corrected).relative_gap < 1e-6
        assert corrected.max() > C


def test_perceptron_separates_without_the_large_margin():
    (w, b), history = perceptron.perceptron(NOTES_X, NOTES_Y)
    assert history[-1]["mistakes"] == 0
    assert np.all(NOTES_Y * (NOTES_X @ w + b) > 0)
    reached = margins.distance(NOTES_X, w, b).min()
    assert reached < 0.9 / np.hypot(5 / 6, 1 / 3)
    radius = np.sqrt((NOTES_X**2).sum(axis=1) + 1).max()
    w_best = np.array([5 / 6, 1 / 3, -10 / 3])
    assert sum(row["mistakes"] for row in history) <= (radius * np.linalg.norm(w_best)) ** 2
    other, _ = perceptron.perceptron(NOTES_X, NOTES_Y, rng=np.random.default_rng(3))
    assert not np.allclose(other[0], w)


class TestManyClasses:
    def test_the_slides_example(self):
        W, scores = np.eye(3), np.array([[3.2, 5.1, -1.7], [1.3, 4.9, 2.0], [2.2, 2.5, -3.1]])
        losses = [multiclass.L_i_vectorized(scores[i], i, W) for i in range(3)]
        np.testing.assert_allclose(losses, [2.9, 0.0, 12.9])
        np.testing.assert_allclose(multiclass.losses(W, scores, np.arange(3)), losses)
        np.testing.assert_allclose(multiclass.losses(W, scores, np.arange(3), "max"), [2.9, 0.0, 6.6])
        np.testing.assert_allclose(
            multiclass.losses(W, scores, np.arange(3), "squared"), [2.9**2, 0.0, 6.3**2 + 6.6**2]
        )

    @pytest.mark.parametrize(("kind", "way"), [("max", "crammer_singer"), ("sum", "weston_watkins")])
    def test_descent_reaches_the_certified_optimum(self, kind, way):
        rows, labels = load_iris(return_X_y=True)
        rows = StandardScaler().fit_transform(rows)
        machine = LinearSVC(multi_class=way, loss="hinge", C=0.1, fit_intercept=False, tol=1e-8).fit(rows, labels)
        best = machine.certificate_.primal
        W, history = multiclass.descend(rows, labels, 0.1, kind, max_iter=4000)
        assert -1e-7 < history[-1]["F"] / best - 1 < 1e-3
        assert np.mean(multiclass.classify(W, rows) == machine.predict(rows)) > 0.98
        _, printed = multiclass.descend(rows, labels, 0.1, kind, literal=True, max_iter=500)
        assert printed[-1]["F"] >= best * (1 - 1e-7)

    @pytest.mark.parametrize("kind", ["max", "sum", "squared"])
    def test_gradients_by_differences(self, kind):
        rng, h = np.random.default_rng(0), 1e-6
        rows, labels, W = rng.normal(size=(20, 3)), rng.integers(4, size=20), rng.normal(size=(4, 3))
        slopes = multiclass.gradient_of_F(W, rows, labels, 0.5, kind)
        for j, k in np.ndindex(4, 3):
            e = np.zeros((4, 3))
            e[j, k] = h
            change = multiclass.F(W + e, rows, labels, 0.5, kind) - multiclass.F(W - e, rows, labels, 0.5, kind)
            assert change / (2 * h) == pytest.approx(slopes[j, k], rel=1e-5, abs=1e-6)

    def test_reductions(self):
        rows, labels = load_iris(return_X_y=True)
        names = np.array([3, 5, 8])[labels]

        def train(rows, signs):
            (a, b), _ = newton.newton(rows, signs, 0.01)
            return lambda Z: Z @ a + b

        for reduction, least in ((reductions.one_vs_one, 0.95), (reductions.one_vs_all, 0.9), (reductions.bits, 0.6)):
            assert np.mean(reduction(rows, names, train)(rows) == names) > least
        one_bit = reductions.bits(np.array([[0.0], [1.0]]), np.array([4, 7]), lambda X, s: lambda Z: Z[:, 0] - 0.5)
        np.testing.assert_array_equal(one_bit(np.array([[-1.0], [2.0]])), [4, 7])
        four = np.arange(len(rows)) % 4
        assert reductions.bits(rows, four, train)(rows).dtype == four.dtype
        no_class = reductions.bits(rows, names, lambda X, s: lambda Z: np.ones(len(Z)))
        assert set(no_class(rows)) == {-1}


class TestKernels:
    def test_feature_map_is_the_quadratic_kernel(self):
        rng = np.random.default_rng(0)
        A, B = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
        np.testing.assert_allclose(kernels.phi(A) @ kernels.phi(B).T, kernels.polynomial(2)(A, B))
        np.testing.assert_allclose(kernels.gaussian(0.7)(A, B), RBF(sigma=0.7)(A, B), atol=1e-12)

    def test_distance_and_angle(self):
        A = np.array([[1.0, 2.0], [-0.5, 0.3]])
        K, P = kernels.polynomial(2)(A, A), kernels.phi(A)
        assert kernels.distance(K[0, 0], K[0, 1], K[1, 1]) == pytest.approx(np.linalg.norm(P[0] - P[1]))
        assert kernels.cosine(K[0, 0], K[0, 1], K[1, 1]) == pytest.approx(
            P[0] @ P[1] / np.linalg.norm(P[0]) / np.linalg.norm(P[1])
        )

    def test_lifted_data_are_separable(self):
        xor, signs = np.array([[-1.0, -1], [1, 1], [-1, 1], [1, -1]]), np.array([1.0, 1, -1, -1])
        w, b, _, _ = hard_margin.primal(kernels.lift_xor(xor), signs)
        np.testing.assert_allclose([*w, b], [0, 0, 1, 0], atol=1e-7)
        line, sides = np.array([-3.0, -2.0, -0.5, 0.5, 2.0, 3.0]), np.array([1.0, 1, -1, -1, 1, 1])
        w, b, _, _ = hard_margin.primal(kernels.lift_line(line), sides)
        assert np.all(sides * (kernels.lift_line(line) @ w + b) > 1 - 1e-6)

    def test_tanh_is_not_always_a_kernel(self):
        rows = np.random.default_rng(0).normal(size=(30, 2))
        assert kernels.smallest_eigenvalue(kernels.tanh(1.0, -1.0)(rows, rows)) < -0.1
        assert kernels.smallest_eigenvalue(kernels.gaussian(1.0)(rows, rows)) > -1e-12


def test_naive_bayes_by_counting():
    rows, labels = np.array([[0, 1], [0, 0], [1, 1], [1, 2], [1, 2]]), np.array([0, 0, 1, 1, 1])
    pi, eta = naive_bayes.estimate(rows, labels, m=3, c=2)
    np.testing.assert_allclose(pi, [0.4, 0.6])
    np.testing.assert_allclose(eta[0], [[1, 0, 0], [0.5, 0.5, 0]])
    np.testing.assert_allclose(eta[1], [[0, 1, 0], [0, 1 / 3, 2 / 3]])
    np.testing.assert_allclose(naive_bayes.posterior(np.array([[0, 1], [1, 2]]), pi, eta), [[1, 0], [0, 1]])
    np.testing.assert_allclose(naive_bayes.posterior(np.array([[0, 2]]), pi, eta), [pi])  # impossible in both
    best = naive_bayes.log_likelihood(rows, labels, pi, eta)
    assert best == pytest.approx(np.log(0.4**2 * 0.6**3 * 0.5**2 * (1 / 3) * (2 / 3) ** 2))
    assert naive_bayes.log_likelihood(rows, labels, np.array([0.5, 0.5]), eta) < best
    pi, mu, sigma = naive_bayes.gaussian_estimate(np.array([[0.0], [2.0], [10.0]]), np.array([0, 0, 1]))
    np.testing.assert_allclose(mu, [[1.0], [10.0]])
    np.testing.assert_allclose(sigma, [2 / 3])


def test_interior_point_without_and_with_equality():
    x, z, _, _ = interior_point.solve_qp(np.eye(2), np.array([-2.0, 0.0]), np.array([[1.0, 0.0]]), np.array([1.0]))
    np.testing.assert_allclose([*x, *z], [1, 0, 1], atol=1e-8)
    A, d = np.ones((1, 2)), np.array([1.0])
    x, _, v, _ = interior_point.solve_qp(np.eye(2), np.zeros(2), *interior_point.box(2, 0.7), A, d)
    np.testing.assert_allclose([*x, *v], [0.5, 0.5, -0.5], atol=1e-8)


def gram(X):
    return (np.asarray(X) @ np.asarray(X).T).tolist()


FEW, SIGNS, DIGITS = NOTES_X[4:12], NOTES_Y[4:12], np.arange(8) % 3
WITH_C = {  # algorithms of two classes as functions of X, y and C
    gradient_descent.soft_margin: lambda X, y, C: gradient_descent.soft_margin(X, y, C),
    dual_ascent.svm_dual: lambda X, y, C: dual_ascent.svm_dual(X, y, kernels.linear, C),
    textbook_soft.primal: lambda X, y, C: textbook_soft.primal(X, y, C),
    textbook_soft.dual: lambda X, y, C: textbook_soft.dual(gram(X), y, C),
    smo.smo: lambda X, y, C: smo.smo(gram(X), y, C),
    decomposition.decompose: lambda X, y, C: decomposition.decompose(gram(X), y, C),
}
WITH_LAM = {
    hinge_regularized_gd.hinge_regularized_gd: lambda X, y, lam: hinge_regularized_gd.hinge_regularized_gd(
        X, y, lam, 5
    ),
    hinge_regularized_gd.diminishing: lambda X, y, lam: hinge_regularized_gd.diminishing(X, y, lam, 5),
    sgd.stochastic_gradient_descent: lambda X, y, lam: sgd.stochastic_gradient_descent(X, y, lam, [(5, 0.1)], 0),
    newton.newton: lambda X, y, lam: newton.newton(X, y, lam),
}
WITH_NEITHER = {
    perceptron.perceptron: lambda X, y, _: perceptron.perceptron(X, y),
    hard_margin.primal: lambda X, y, _: hard_margin.primal(X, y),
    hard_margin.dual: lambda X, y, _: hard_margin.dual(gram(X), y),
}


def named(algorithm):
    return f"{algorithm.__module__.rpartition('.')[2]}.{algorithm.__name__}"


class TestInputs:
    @pytest.mark.parametrize(
        ("algorithm", "run"), (WITH_C | WITH_LAM | WITH_NEITHER).items(), ids=lambda f: named(f) if f.__doc__ else ""
    )
    def test_two_classes(self, algorithm, run):
        assert run(FEW.tolist(), SIGNS.tolist(), 1.0)[-1][-1] == run(FEW, SIGNS.astype(float), 1.0)[-1][-1]
        assert re.search("labels -1 or .1|as in hinge_regularized_gd", algorithm.__doc__)
        assert "history" in algorithm.__doc__
        for y in ((SIGNS + 1) / 2, SIGNS > 0, np.where(SIGNS > 0, "yes", "no"), SIGNS * np.nan):
            with pytest.raises(ValueError, match=r"labels must be -1 or \+1: 2"):
                run(FEW, y, 1.0)
        with pytest.raises(ValueError, match="one label for each of the 8 rows"):
            run(FEW, SIGNS[:, None], 1.0)
        with pytest.raises(ValueError, match=r"one label for each of the 8 rows|n is 7"):
            run(FEW, SIGNS[:7], 1.0)
        with pytest.raises(ValueError, match="must be finite"):
            run(np.where(FEW > 5, np.nan, FEW), SIGNS, 1.0)

    @pytest.mark.parametrize(
        ("algorithm", "run"), (WITH_C | WITH_LAM).items(), ids=lambda f: named(f) if f.__doc__ else ""
    )
    def test_weights(self, algorithm, run):
        name = "C" if algorithm in WITH_C else "lam"
        for wrong in (-1.0, np.nan, 0.0)[: 3 if name == "C" else 2]:
            with pytest.raises(ValueError, match=f"{name} must be .*; got {wrong}"):
                run(FEW, SIGNS, wrong)
        if algorithm in (gradient_descent.soft_margin, textbook_soft.primal, textbook_soft.dual):
            with pytest.raises(ValueError, match="C must be finite; without slack: hard_margin"):
                run(FEW, SIGNS, np.inf)

    @pytest.mark.parametrize("K", [kernels.linear, FEW, FEW.T, gram(FEW)[:7], 1.0])
    def test_kernel_matrices(self, K):
        for run in (lambda: hard_margin.dual(K, SIGNS), lambda: textbook_soft.dual(K, SIGNS, 1.0),
                    lambda: smo.smo(K, SIGNS, 1.0), lambda: decomposition.decompose(K, SIGNS, 1.0)):  # fmt: skip
            with pytest.raises(ValueError, match=r"n x n kernel matrix: kernels\.linear\(X, X\)"):
                run()
        if K is not kernels.linear:
            with pytest.raises(ValueError, match="K must be a function"):
                dual_ascent.svm_dual(FEW, SIGNS, K, 1.0)

    @pytest.mark.parametrize(("run", "valid"), [
        (lambda: newton.newton(FEW, SIGNS, 1.0, "hinge"), "loss must be 'squared_hinge' or 'logistic'; got 'hinge'"),
        (lambda: newton.cost(1.0, "hinge"), "loss must be 'squared_hinge' or 'logistic'"),
        (lambda: sgd.stochastic_gradient_descent(FEW, SIGNS, 1.0, [(1, 0.1)], 0, loss="squared_hinge"),
         "loss must be 'hinge' or 'logistic'; got 'squared_hinge'"),
        (lambda: sgd.S(np.ones(2), 0.0, FEW, SIGNS, 1.0, "banana"), "loss must be 'hinge' or 'logistic'"),
        (lambda: sgd.gradient(np.ones(2), 0.0, FEW, SIGNS, 1.0, "banana"), "loss must be 'hinge' or 'logistic'"),
        (lambda: dual_ascent.svm_dual(FEW, SIGNS, kernels.linear, 1.0, loss="squared_hinge"),
         "loss must be 'hinge' or 'quadratic'"),
        (lambda: textbook_soft.primal(FEW, SIGNS, 1.0, p=3), "p must be 1 or 2; got 3"),
        (lambda: textbook_soft.dual(gram(FEW), SIGNS, 1.0, p=3), "p must be 1 or 2"),
        (lambda: multiclass.descend(FEW, DIGITS, 1.0, "crammer"), "kind must be 'sum' or 'squared' or 'max'"),
        (lambda: multiclass.gradient_of_F(np.ones((3, 2)), FEW, DIGITS, 1.0, "crammer"), "kind must be 'sum'"),
    ])  # fmt: skip
    def test_choices(self, run, valid):
        with pytest.raises(ValueError, match=valid):
            run()

    @pytest.mark.parametrize("labels", [DIGITS + 1, DIGITS - 1, DIGITS / 2, 2 * DIGITS, DIGITS.astype(str)])
    def test_labels_of_many_classes(self, labels):
        for run in (lambda: multiclass.descend(FEW, labels, 1.0, "max"),
                    lambda: naive_bayes.estimate(np.ones((8, 2)), labels, m=2, c=3)):  # fmt: skip
            with pytest.raises(ValueError, match=r"labels must be the integers 0 to 2, all of them: np\.unique"):
                run()

    def test_many_classes(self):
        W, _ = multiclass.descend(FEW.tolist(), DIGITS.tolist(), 1.0, "sum", max_iter=5)
        np.testing.assert_array_equal(W, multiclass.descend(FEW, DIGITS, 1.0, "sum", max_iter=5)[0])
        with pytest.raises(ValueError, match="labels must be the integers 0 to 3, all of them"):
            naive_bayes.estimate(np.ones((8, 2)), DIGITS, m=2, c=4)
        for C, wrong in ((0.0, "positive"), (np.inf, "finite")):
            with pytest.raises(ValueError, match=f"C must be {wrong}"):
                multiclass.descend(FEW, DIGITS, C, "sum")

    @pytest.mark.parametrize("value", [-1, 3, 0.5, np.nan])
    def test_values_of_naive_bayes(self, value):
        pi, eta = naive_bayes.estimate([[0, 1], [2, 0], [1, 1]], [0, 1, 1], m=3, c=2)
        np.testing.assert_allclose(naive_bayes.posterior([[0, 1.0]], pi, eta), [[1, 0]])
        with pytest.raises(ValueError, match="integers 0 to 2"):
            naive_bayes.estimate([[0, 1], [2, value]], [0, 1], m=3, c=2)
        with pytest.raises(ValueError, match="integers 0 to 2"):
            naive_bayes.posterior([[0, value]], pi, eta)

    def test_maps_of_the_plane(self):
        np.testing.assert_allclose(kernels.lift_xor([[2, 3]]), [[2, 3, 6]])
        for lift in (kernels.phi, kernels.lift_xor):
            with pytest.raises(ValueError, match="X has 3 columns"):
                lift(np.ones((4, 3)))

    @pytest.mark.parametrize("run", [
        lambda rng: sgd.stochastic_gradient_descent(FEW, SIGNS, 0.1, [(20, 0.1)], rng)[0],
        lambda rng: perceptron.perceptron(FEW, SIGNS, rng=rng)[0],
        lambda rng: [gradient_descent.soft_margin(FEW, SIGNS, start=rng, max_iter=0)[0]],
    ])  # fmt: skip
    def test_seeds(self, run):
        np.testing.assert_array_equal(run(3)[0], run(np.random.default_rng(3))[0])
        assert not np.array_equal(run(3)[0], run(4)[0])

    def test_held_out_labels(self):
        with pytest.raises(ValueError, match="labels must be -1"):
            sgd.stochastic_gradient_descent(FEW, SIGNS, 0.1, [(1, 0.1)], 0, held_out=(FEW, SIGNS > 0))
