"""Problems of some thousand rows with float32 values in compiled calls: proved in float64, or left to the loop."""

import numpy as np
import pytest

from maxmargin.certificates import certify
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.losses import EpsilonInsensitive, Hinge, SquaredHinge
from maxmargin.losses.box import box_of
from maxmargin.models import Bias, one_class, regression, soft_margin
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.small import rough
from maxmargin.solvers.small.pairs import Classes, Sides
from tests import helpers

X, Y = helpers.overlapping(1300, 3)
GAUSSIAN = RBF(0.3)
WEIGHTS = np.random.default_rng(0).uniform(0.0, 3.0, len(Y))
PROBLEMS = {
    "hinge": lambda gram: soft_margin(gram, Y, 1.0),
    "weights": lambda gram: soft_margin(gram, Y, WEIGHTS),
    "squared hinge": lambda gram: soft_margin(gram, Y, 2.0, SquaredHinge()),
    "regression": lambda gram: regression(gram, X @ [1.0, -2.0, 0.5], 1.0, EpsilonInsensitive(0.1)),
    "one class": lambda gram: one_class(gram, 0.3),
}


def single_precision(kernel=GAUSSIAN):
    gram = Gram(kernel, X, accuracy=1e-3)
    assert gram.dtype == np.float32
    return gram


@pytest.mark.large
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_certificate_holds_in_float64(name):
    found = rough.rough_solution(PROBLEMS[name](single_precision()), Options(1e-3))
    exact = PROBLEMS[name](Gram(RBF(0.3), X))
    again, loop = certify(exact, found.point), solve(exact, Options(1e-3), "smo")
    assert found.status is Status.CONVERGED
    assert found.certificate.violation <= 1e-3
    assert found.certificate.gap >= again.gap - 1e-6 * abs(again.dual)
    assert found.certificate.dual == pytest.approx(again.dual, rel=1e-6)
    assert found.certificate.dual == pytest.approx(loop.certificate.dual, rel=1e-4)
    assert found.trace[0].iteration == 0
    assert found.trace[-1].violation < found.trace[0].violation


@pytest.mark.large
def test_it_goes_on_from_a_start():
    problem = PROBLEMS["hinge"](single_precision())
    first = rough.rough_solution(problem, Options(1e-3))
    again = rough.rough_solution(problem, Options(1e-3, start=first.point))
    assert again.iterations <= first.iterations // 20


@pytest.mark.parametrize(
    "options",
    [
        Options(1e-3, watch=lambda seen, point: False),
        Options(1e-3, max_iter=10_000),
        Options(1e-3, time_limit=100.0),
        Options(1e-3, to_the_end=True),
        Options(1e-9),
    ],
)
def test_who_watches_limits_or_asks_for_more_gets_the_loop(options):
    assert rough.rough_solution(PROBLEMS["hinge"](single_precision()), options) is None


def test_problems_of_another_form_are_left_to_the_loop():
    assert rough.rough_solution(soft_margin(Gram(RBF(0.3), X), Y, 1.0), Options(1e-3)) is None  # float64
    assert rough.rough_solution(soft_margin(single_precision(), Y, 1.0, bias=Bias.NONE), Options(1e-3)) is None
    assert rough.rough_solution(soft_margin(single_precision(), Y, 1e6), Options(1e-3)) is None  # steps too rough


@pytest.mark.large
def test_a_wrong_bound_of_the_error_is_seen(monkeypatch):
    """Kernel values that float32 spoils more than their bound says: nothing is proved from them."""
    gram = single_precision()
    problem, values = PROBLEMS["hinge"](gram), gram.whole() * np.float32(1.01)
    monkeypatch.setattr(gram, "whole", lambda: values)
    assert rough.rough_solution(problem, Options(1e-3)) is None
    assert solve(problem, Options(1e-3)).status is Status.CONVERGED


@pytest.mark.large
def test_steps_that_end_too_soon_are_not_proved(monkeypatch):
    monkeypatch.setattr(rough, "AIM", 1000.0)
    assert rough.rough_solution(PROBLEMS["hinge"](single_precision()), Options(1e-3)) is None


@pytest.mark.large
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 1.0, 1.0)], ids=str)
def test_other_kernels_are_proved_too_or_left_to_the_loop(kernel):
    gram = Gram(kernel, X, accuracy=1e-3)
    found = solve(soft_margin(gram, Y, 1.0), Options(1e-3))
    assert certify(soft_margin(Gram(kernel, X), Y, 1.0), found.point).violation <= 2e-3


def pair(n, m, run=rough.solve_pair):
    """Two classes, whose rows are put together when they are needed."""
    ones, rows = np.ones(n + m), np.r_[X[Y > 0][:n], X[Y < 0][:m]]
    K = RBF(0.3)(rows).astype(np.float32)
    sides = Sides(*(box_of(Hinge(), sign * ones, ones, True) for sign in (1.0, -1.0)))
    classes = Classes(np.array([0, n, n + m]), ones, sides, np.empty(0), np.empty(0, np.int64))
    memory = np.full((n + m) ** 2, np.nan, np.float32)
    within = K[:n, :n].copy(), K[n:, n:].copy()
    return K, run(within, K[:n, n:].copy(), memory, (0, 1), classes, 1e-4)


@pytest.mark.parametrize("sizes", [(40, 30), (1, 65), (33, 1)])
def test_a_pair_of_classes_is_the_problem_of_its_rows(sizes):
    n, m = sizes
    K, found = pair(n, m)
    y = np.repeat([1.0, -1.0], sizes)
    alone = rough.solve_all(K, np.ones(n + m), box_of(Hinge(), y, np.ones(n + m), True), np.zeros(n + m), 1e-4)
    np.testing.assert_array_equal(found.beta, alone.beta)
    np.testing.assert_array_equal(found.f, alone.f)
    np.testing.assert_allclose(found.f, K.astype(np.float64) @ found.beta, atol=1e-12)
    np.testing.assert_allclose(found.sizes, K.astype(np.float64) @ abs(found.beta), atol=1e-12)
    assert found.steps == alone.steps > 0


def test_the_loops_equal_their_python_text():
    _, found = pair(20, 15)
    _, plain = pair(20, 15, getattr(rough.solve_pair, "py_func", rough.solve_pair))
    np.testing.assert_allclose(found.beta, plain.beta, atol=1e-5)
    assert plain.steps == pytest.approx(found.steps, rel=0.2)
