"""Every kernel model as an adapter of the one canonical problem, against an independent solver."""

import numpy as np
import pytest

from maxmargin import Status
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, PairFunction, Polynomial, Precomputed
from maxmargin.losses import EpsilonInsensitive, HuberHinge, SquaredEpsilonInsensitive, SquaredHinge
from maxmargin.models import (
    Bias,
    ball,
    class_margin,
    largest_nu,
    nu_classifier,
    nu_regression,
    one_class,
    regression,
    soft_margin,
    svdd,
    tube,
)
from maxmargin.problems.solution import Point
from maxmargin.solvers import Options, solve
from tests.box_oracle import optimum

KERNELS = {"rbf": RBF(0.5), "linear": Linear(), "poly": Polynomial(2, gamma=0.5, coef0=1.0)}


MODELS = {
    "C-SVC, p = 1": lambda gram, y, t, w: soft_margin(gram, y, w),
    "C-SVC, p = 2": lambda gram, y, t, w: soft_margin(gram, y, w, SquaredHinge()),
    "C-SVC, Huber": lambda gram, y, t, w: soft_margin(gram, y, w, HuberHinge(0.5)),
    "C-SVC without bias": lambda gram, y, t, w: soft_margin(gram, y, w, bias=Bias.NONE),
    "eps-SVR": lambda gram, y, t, w: regression(gram, t, w, EpsilonInsensitive(0.1)),
    "eps-SVR, squared": lambda gram, y, t, w: regression(gram, t, w, SquaredEpsilonInsensitive(0.1)),
    "eps-SVR without bias": lambda gram, y, t, w: regression(gram, t, w, EpsilonInsensitive(0.1), Bias.NONE),
    "nu-SVC": lambda gram, y, t, w: nu_classifier(gram, y, 0.6 * largest_nu(y, w), w),
    "nu-SVR": lambda gram, y, t, w: nu_regression(gram, t, 0.4, w),
    "one-class": lambda gram, y, t, w: one_class(gram, 0.3, w),
    "SVDD": lambda gram, y, t, w: svdd(gram, 5.0 * w / w.sum()),
}


def rows(seed, weighted, n=45):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    weights = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    return X, y, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n), weights


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("model", MODELS)
def test_every_model_reaches_the_optimum_of_another_solver(model, kernel, weighted):
    X, y, t, weights = rows(len(model) + 7 * weighted, weighted)
    problem = MODELS[model](Gram(KERNELS[kernel], X), y, t, weights)
    found = solve(problem, Options(tol=1e-6))
    index = np.tile(np.arange(len(X)), problem.n // len(X))
    best = optimum(problem, KERNELS[kernel](X)[np.ix_(index, index)])
    assert found.status is Status.CONVERGED
    assert found.certificate.gap < 1e-8
    assert found.certificate.dual == pytest.approx(best, rel=1e-6, abs=1e-6)
    for g, total in enumerate(problem.totals):
        assert found.beta[problem.group == g].sum() == pytest.approx(total, rel=1e-9, abs=1e-12)
    assert np.all((found.beta >= problem.lower) & (found.beta <= problem.upper))


@pytest.mark.parametrize("model", MODELS)
def test_weights_equal_repetition(model):
    X, y, t, _ = rows(3, False)
    counts = np.arange(len(X)) % 3 + 1
    twice = np.repeat(np.arange(len(X)), counts)
    weighted = solve(MODELS[model](Gram(RBF(0.5), X), y, t, counts.astype(float)), Options(tol=1e-6))
    repeated = solve(
        MODELS[model](Gram(RBF(0.5), X[twice]), y[twice], t[twice], np.ones(len(twice))), Options(tol=1e-6)
    )
    assert weighted.certificate.dual == pytest.approx(repeated.certificate.dual, rel=1e-8, abs=1e-8)


def test_nu_models_and_the_ball_read_their_numbers_off_the_solution():
    """A nu-SVC divided by rho is a C-SVC with C = 1 / rho; nu-SVR's tube is that of eps-SVR with its epsilon; R^2."""
    X, y, t, _ = rows(5, False)
    gram = Gram(RBF(0.5), X)
    K = RBF(0.5)(X)
    machine = class_margin(solve(nu_classifier(gram, y, 0.3), Options(tol=1e-6)).point)
    same = solve(soft_margin(gram, y, 1.0 / machine.width), Options(tol=1e-6))
    assert K @ machine.coef + machine.bias == pytest.approx(K @ same.beta + same.certificate.bias, abs=1e-6)
    line = tube(solve(nu_regression(gram, t, 0.4), Options(tol=1e-6)).point)
    other = solve(regression(gram, t, 1.0, EpsilonInsensitive(line.width)), Options(tol=1e-6))
    assert K @ line.coef + line.bias == pytest.approx(K @ other.beta + other.certificate.bias, abs=1e-6)
    found = solve(svdd(gram, np.full(len(X), 0.1)), Options(tol=1e-6))
    sphere = ball(found)
    distances = np.diag(K) - 2.0 * K @ sphere.coef + sphere.coef @ K @ sphere.coef
    on_the_surface = (found.beta > 1e-9) & (found.beta < 0.1 - 1e-9)
    assert distances[on_the_surface] == pytest.approx(sphere.squared_radius, abs=1e-8)
    assert np.all(distances[found.beta == 0.0] <= sphere.squared_radius + 1e-8)


def test_infeasible_totals_are_errors_before_any_kernel_value_is_computed():
    X, y, t, weights = rows(6, True)
    calls = []

    def counted(a, b):
        calls.append(1)
        return float(a @ b)

    gram = Gram(PairFunction(counted), X, budget=1 << 12)
    before = len(calls)
    lighter = np.where(y > 0, weights, 0.1 * weights)
    with pytest.raises(ValueError, match=f"at most {largest_nu(y, lighter):.15g}"):
        nu_classifier(gram, y, 0.999, lighter)
    with pytest.raises(ValueError, match="add up to 1"):
        svdd(gram, 0.5 / len(X))
    with pytest.raises(ValueError, match="infeasible"):
        one_class(gram, 1.5)
    with pytest.raises(ValueError, match="infeasible"):
        nu_regression(gram, t, 0.0)
    assert len(calls) == before


def test_nu_at_its_largest_value_is_feasible_whatever_rounding_makes_of_it():
    X, y, _, weights = rows(7, True)
    gram, largest = Gram(RBF(0.5), X), largest_nu(y, weights)
    for nu in (largest, np.nextafter(largest, 2.0)):
        assert solve(nu_classifier(gram, y, nu, weights), Options(tol=1e-6)).status is Status.CONVERGED


@pytest.mark.parametrize("constant", [True, False], ids=["a constant kernel", "hulls that meet"])
def test_classes_that_nu_cannot_tell_apart_have_no_machine(constant):
    """rho is zero: nothing is divided by its rounding, and no fit claims to have converged."""
    X, y, _, _ = rows(8, False)
    y = np.where(np.arange(len(X)) % 2, 1.0, -1.0)  # of no relation to X
    kernel = RBF(0.0) if constant else Linear()
    found = solve(nu_classifier(Gram(kernel, X), y, 0.05), Options(tol=1e-3))
    assert found.status is not Status.CONVERGED
    machine = class_margin(found.point)
    assert np.abs(kernel(X) @ machine.coef + machine.bias).max() < 1e6
    stopped = class_margin(nu_classifier(Gram(kernel, X), y, 0.05).start())
    assert (machine.width >= 0.0, stopped.width, stopped.bias) == (True, 0.0, 0.0)
    assert not stopped.coef.any()


@pytest.mark.large
def test_a_nu_that_leaves_hardly_any_margin_ends():
    """Beyond 1,000 rows too: rho and with it the objective tend to zero, and the violation in its unit never falls.

    (Of pairs. Interior points, which take over, come to it.)
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1200))
    problem = nu_classifier(Gram(RBF(0.5), X, 1e-3), y, 0.2)
    found = solve(problem, Options(tol=1e-3), "smo")
    assert found.status is Status.STALLED
    assert class_margin(found.point).width > 0.0
    further = solve(problem, Options(tol=1e-3, start=found.point), "interior_point")
    assert further.status is Status.CONVERGED
    assert further.certificate.gap < 1e-3 * found.certificate.gap


def test_a_start_with_another_nu_keeps_its_zeros():
    X, *_ = rows(11, False, n=400)
    gram = Gram(RBF(0.5), X)
    first = solve(one_class(gram, 0.3), Options(tol=1e-6))
    start = one_class(gram, 0.303).start(first.point)
    assert np.count_nonzero(start.beta) <= np.count_nonzero(first.beta) + 3
    assert start.beta.sum() == pytest.approx(0.303 * 400)


@pytest.mark.parametrize("model", ["C-SVC, p = 2", "eps-SVR, squared"])
def test_squares_on_an_indefinite_matrix_have_a_solution(model):
    """Where K + R were only semidefinite, the objective could rise without end along its null space."""
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = MODELS[model](Gram(Precomputed(), swap), np.array([1.0, -1.0]), np.array([1.0, -1.0]), np.ones(2))
    assert "was added" in problem.note
    found = solve(problem, Options(tol=1e-6))
    assert found.status is Status.CONVERGED
    assert np.abs(found.beta).max() < 10.0
    assert found.certificate.violation < 1e-6


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
def test_rows_without_curvature_step_to_their_bounds(bias):
    """Zero rows with huge targets and a huge tube: infinity minus infinity would be taken for overflow."""
    y = np.array([2e9, -2e9, 1e8])
    found = solve(regression(Gram(Linear(), np.zeros((3, 2))), y, 1.0, EpsilonInsensitive(2e8), bias))
    assert found.status is Status.CONVERGED
    np.testing.assert_array_equal(found.beta, [1.0, -1.0, 0.0])


def test_a_start_outside_the_constraints_and_no_time_is_not_called_converged():
    X, *_ = rows(9, False, n=1200)
    problem = one_class(Gram(RBF(0.5), X), 0.3)
    found = solve(problem, Options(start=Point(beta=np.zeros(1200)), max_iter=0))
    assert found.status is Status.ITERATION_LIMIT
    assert found.beta.sum() == pytest.approx(0.3 * 1200)
