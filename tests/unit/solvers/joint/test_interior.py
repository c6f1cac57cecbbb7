"""Interior points of joint machines: their Newton systems, and what they end at."""

import numpy as np
import pytest

from maxmargin.certificates import certify
from maxmargin.kernels import RBF
from maxmargin.solvers import Options
from maxmargin.solvers.joint.interior import JointInterior, Program, State, _System, affordable, eigenrows
from tests.joint_helpers import (
    JOINT_LOSSES,
    blobs,
    features_of,
    joint_optimum_by_clarabel,
    kernel_problem,
    linear_problem,
    name_of,
)


def ended(problem):
    solver = JointInterior(problem, problem.start(), Options())
    while not solver.exhausted:
        solver.step(np.inf)
    return solver


def inner_state(program, seed=0):
    """A state with random positive entries, but for the weights, which add up to zero over the classes."""
    rng = np.random.default_rng(seed)
    W, *others = (rng.uniform(0.5, 2.0, part.shape) for part in program.start())
    return State(W - W.mean(axis=1, keepdims=True), *others)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_a_full_step_satisfies_the_linearised_conditions(loss):
    X, labels = blobs(n=12, k=4)
    costs = np.random.default_rng(1).uniform(0.5, 2.0, 12)
    program = Program(linear_problem(X, labels, loss, costs, scale=0.0), X)
    state = inner_state(program)
    if loss.squared:
        state = state._replace(z=np.zeros_like(state.z))
    a_target, z_target = -0.5 * state.a * state.s, -0.5 * state.z * state.xi
    by = program._direction(_System(program, state), program._residuals(state), a_target, z_target)
    left = program._residuals(state.moved(by, 1.0))
    for residual in (left.W, left.xi, left.s):
        np.testing.assert_allclose(residual, 0.0, atol=1e-10)
    np.testing.assert_allclose(state.a * by.s + state.s * by.a, a_target, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.z * by.xi + state.xi * by.z, z_target, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
@pytest.mark.parametrize("k", [2, 5])
def test_linear_machines_reach_the_optimum_of_a_conic_solver(loss, k):
    X, labels = blobs(n=40, k=k, seed=3)
    costs = np.random.default_rng(0).uniform(0.2, 20.0, 40)
    problem = linear_problem(X, labels, loss, costs)
    solver = ended(problem)
    proof = certify(problem, solver.point)
    assert proof.relative_gap <= 1e-11
    assert proof.violation <= 1e-6
    assert solver.optimality_error == pytest.approx(proof.relative_gap, abs=1e-12)  # the proof counts rounding
    optimum = joint_optimum_by_clarabel(np.column_stack([X, np.ones(40)]), labels, costs, loss)
    assert proof.primal == pytest.approx(optimum, rel=1e-6)
    assert solver.objective == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_kernel_machines_reach_it_too(loss):
    X, labels = blobs(n=40, seed=3)
    problem = kernel_problem(X, labels, loss, RBF(0.3) + 1.0, 5.0)
    proof = certify(problem, ended(problem).point)
    assert proof.violation <= 1e-5
    optimum = joint_optimum_by_clarabel(features_of(problem.gram.whole()), labels, problem.costs, loss)
    assert proof.primal == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_every_point_on_the_way_is_feasible(loss):
    X, labels = blobs(n=30)
    problem = linear_problem(1e3 * X + 1e4, labels, loss, 1e5)
    solver = JointInterior(problem, problem.start(), Options())
    gaps = []
    while not solver.exhausted:
        solver.step(np.inf)
        proof = certify(problem, solver.point)
        assert proof.moved == 0.0
        assert proof.dual <= proof.primal * (1 + 1e-12)
        gaps.append(solver.optimality_error)
    assert gaps == sorted(gaps, reverse=True)  # the best so far


def test_eigenrows_leave_rounding_out():
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows = eigenrows(X @ X.T)
    assert rows.shape[1] < 20
    np.testing.assert_allclose(rows @ rows.T, X @ X.T, atol=1e-12)
    assert eigenrows(np.zeros((4, 4))).shape == (4, 0)


def test_what_is_affordable():
    X, labels = blobs(n=60, d=3, k=4)
    loss = JOINT_LOSSES[0]
    assert affordable(linear_problem(X, labels, loss))
    assert affordable(linear_problem(np.tile(X, 4000), labels, loss))  # 12,000 columns, but 60 rows
    assert not affordable(linear_problem(np.full((60, 3), 1e200), labels, loss))
    many = np.arange(600) % 200
    assert not affordable(linear_problem(np.random.default_rng(0).normal(size=(600, 50)), many, loss))
    assert affordable(kernel_problem(X, labels, loss, RBF(1.0)))
    X, labels = blobs(n=800, k=4)
    assert not affordable(kernel_problem(X, labels, loss, RBF(1.0)))
