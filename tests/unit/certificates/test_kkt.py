"""The optimality conditions, with kinks and several groups, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import soft_margin
from maxmargin.certificates.kkt import standing
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP
from maxmargin.solvers import Options, solve


def test_bias_is_the_midpoint_where_no_multiplier_is_free():
    x = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    problem = soft_margin(Gram(Linear(), x), y, 0.01)
    solution = solve(problem, Options(tol=1e-3))
    assert set(np.abs(solution.beta)) <= {0.0, 0.01}
    assert solution.certificate.bias == pytest.approx(0.0, abs=1e-12)


def random_problem(rng, n=9):
    """Boxes around or beside zero, kinks and ridges, in two groups and none; and multipliers at all kinds of places."""
    lower = np.where(rng.random(n) < 0.6, -rng.random(n) - 0.2, 0.0)
    upper = np.where(rng.random(n) < 0.8, rng.random(n) + 0.2, 0.0)
    kink, ridge = rng.random(n) * (rng.random(n) < 0.5), rng.random(n) * (rng.random(n) < 0.5)
    group = rng.integers(-1, 2, n)
    places = rng.integers(0, 4, n)
    beta = np.choose(places, [lower, upper, np.zeros(n), lower + rng.random(n) * (upper - lower)])
    totals = np.array([beta[group == g].sum() for g in range(2)])
    gram = Gram(Linear(), rng.normal(size=(n, 3)))
    return BoxQP(gram, Box(rng.normal(size=n), lower, upper, kink, ridge), group, totals), beta


def objective(problem, beta):
    K = problem.gram.whole()
    quadratic = beta @ K @ beta + problem.ridge @ beta**2
    return problem.p @ beta - 0.5 * quadratic - problem.kink @ np.abs(beta)


def rise(problem, beta, step):
    """The slope of the objective along a step, by a difference; none where the step leaves the box."""
    h = 1e-6
    moved = beta + h * step
    if np.any(moved < problem.lower) or np.any(moved > problem.upper):
        return -np.inf
    return (objective(problem, moved) - objective(problem, beta)) / h


@given(st.integers(0, 10_000))
def test_the_violation_is_the_steepest_step_that_keeps_the_totals(seed):
    """Steps e_i - e_j within a group, and e_i or -e_i of rows without one."""
    problem, beta = random_problem(np.random.default_rng(seed))
    unit = np.eye(problem.n)
    steps = [sign * unit[i] for i in np.flatnonzero(problem.group == -1) for sign in (1.0, -1.0)]
    for g in range(2):
        members = np.flatnonzero(problem.group == g)
        steps += [unit[i] - unit[j] for i in members for j in members if i != j]
    steepest = max((rise(problem, beta, step) for step in steps), default=0.0)
    v = problem.p - problem.gram.whole() @ beta - problem.ridge * beta
    here = standing(problem, beta, v)
    assert here.violation == pytest.approx(max(steepest, 0.0), abs=1e-4)


@given(st.integers(0, 10_000))
def test_no_row_alone_gains_once_its_bias_is_paid(seed):
    """At an optimum p_i - f_i - b_g points every multiplier to where it is: beta_i maximises its own share."""
    problem, beta = random_problem(np.random.default_rng(seed))
    solution = solve(problem, Options(tol=1e-9))
    beta, biases = solution.beta, np.append(solution.point.biases, 0.0)[problem.group]
    t = problem.p - problem.gram.whole() @ beta - biases
    for i in range(problem.n):
        places = np.linspace(problem.lower[i], problem.upper[i], 201)
        shares = places * t[i] - problem.kink[i] * np.abs(places) - 0.5 * problem.ridge[i] * places**2
        mine = beta[i] * t[i] - problem.kink[i] * abs(beta[i]) - 0.5 * problem.ridge[i] * beta[i] ** 2
        assert mine >= shares.max() - 1e-7
