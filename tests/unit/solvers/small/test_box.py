"""Small box QPs in one compiled call: the certificate is that of the loop, and what is not solved is left to it."""

import numpy as np
import pytest

from maxmargin.certificates import certify
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.losses import EpsilonInsensitive, HuberHinge, SquaredHinge
from maxmargin.models import Bias, one_class, regression, soft_margin, svdd
from maxmargin.problems.solution import Point, Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.small import box
from maxmargin.solvers.small.box import small_solution, solve_whole
from tests import helpers

X, Y = helpers.overlapping(90, 3)
GRAM = Gram(RBF(0.3), X)
RNG = np.random.default_rng(0)
WEIGHTS = RNG.uniform(0.0, 3.0, len(Y)) * (np.arange(len(Y)) % 7 > 0)
PROBLEMS = {
    "hinge": lambda gram: soft_margin(gram, Y, 1.0),
    "weights": lambda gram: soft_margin(gram, Y, WEIGHTS),
    "squared hinge": lambda gram: soft_margin(gram, Y, 2.0, SquaredHinge()),
    "huber hinge": lambda gram: soft_margin(gram, Y, 2.0, HuberHinge(0.5)),
    "regression": lambda gram: regression(gram, X @ [1.0, -2.0, 0.5], 1.0, EpsilonInsensitive(0.1)),
    "one class": lambda gram: one_class(gram, 0.3),
    "SVDD": lambda gram: svdd(gram, 0.1),
}


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear(), Polynomial(2, 1.0, 1.0)], ids=str)
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_certificate_is_what_certify_finds(name, kernel):
    gram = Gram(kernel, X)
    problem = PROBLEMS[name](gram)
    found = small_solution(problem, Options(1e-3))
    if found is None:  # flat directions of low rank, which pairs crawl along
        assert not isinstance(kernel, RBF)
        return
    again = certify(problem, found.point)
    assert found.status is Status.CONVERGED
    assert found.certificate.violation < 1e-7
    np.testing.assert_allclose(found.certificate[:6], again[:6], rtol=1e-9, atol=1e-7)
    assert found.trace[0].iteration == 0
    assert found.trace[-1].iteration == found.iterations > 0
    assert found.trace[-1].violation <= found.trace[0].violation


@pytest.mark.large
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_ends_where_the_loop_ends(name):
    problem = PROBLEMS[name](GRAM)
    found = small_solution(problem, Options(1e-3))
    loop = solve(problem, Options(1e-3), "smo")
    assert found.certificate.dual == pytest.approx(loop.certificate.dual, rel=1e-9)
    np.testing.assert_allclose(GRAM.scores(found.beta)[0], GRAM.scores(loop.beta)[0], atol=1e-6)


def test_it_goes_on_from_a_start():
    problem = PROBLEMS["hinge"](GRAM)
    first = small_solution(problem, Options(1e-3))
    again = small_solution(problem, Options(1e-3, start=first.point))
    assert again.iterations <= 2
    np.testing.assert_allclose(again.beta, first.beta, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        Options(1e-3, watch=lambda seen, point: False),
        Options(1e-3, max_iter=10_000),
        Options(1e-3, time_limit=100.0),
        Options(1e-3, to_the_end=False),
    ],
)
def test_who_watches_or_limits_a_solve_gets_the_loop(options):
    assert small_solution(PROBLEMS["hinge"](GRAM), options) is None


def test_problems_of_another_form_are_left_to_the_loop():
    for bias in (Bias.NONE, Bias.REGULARIZED):
        assert small_solution(soft_margin(GRAM, Y, 1.0, bias=bias), Options(1e-3)) is None
    assert small_solution(soft_margin(GRAM, Y, np.inf), Options(1e-3)) is None


@pytest.mark.large
def test_what_pairs_do_not_end_is_left_to_the_loop():
    """Random labels and a huge C ask for millions of pairs."""
    labels = np.where(RNG.random(len(Y)) < 0.5, 1.0, -1.0)
    problem = soft_margin(Gram(RBF(0.01), X), labels, 1e8)
    assert small_solution(problem, Options(1e-3)) is None
    assert solve(problem, Options(1e-3)).reason != box.REASON


def test_the_loop_equals_its_python_text():
    problem = PROBLEMS["regression"](GRAM)
    K, goal = GRAM.whole(), box.goal_of(1e-3, 0.0, to_the_end=False)
    outcomes = []
    for loop in (solve_whole, getattr(solve_whole, "py_func", solve_whole)):
        beta = np.zeros(len(Y))
        outcomes.append((beta, loop(K, GRAM.diagonal, problem.box, 0.0, beta, goal)))
    (one, first), (other, second) = outcomes
    np.testing.assert_allclose(one, other, atol=1e-9)
    assert first.solved == second.solved
    np.testing.assert_allclose(first.values, second.values, rtol=1e-9, atol=1e-12)


def test_an_infeasible_start_is_made_feasible():
    problem = PROBLEMS["one class"](GRAM)
    found = small_solution(problem, Options(1e-3, start=Point(beta=np.full(len(Y), 5.0))))
    assert found.beta.sum() == pytest.approx(problem.totals[0])
    assert found.certificate.violation < 1e-7
