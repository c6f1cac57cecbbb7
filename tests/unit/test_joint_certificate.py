"""The duality gap of joint machines: a bound for any point, tight at the optimum."""

import numpy as np
import pytest

from maxmargin.certificates import certify
from maxmargin.certificates.joint import inside, terms
from maxmargin.core import limits
from maxmargin.kernels import RBF
from maxmargin.losses.multiclass import row_violation
from maxmargin.problems.solution import Point
from maxmargin.solvers import Options, solve
from maxmargin.solvers.joint.blocks import JointBlocks, _worst
from tests.joint_helpers import (
    JOINT_LOSSES,
    blobs,
    features_of,
    joint_optimum_by_clarabel,
    kernel_problem,
    linear_problem,
    name_of,
)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
@pytest.mark.parametrize("seed", [0, 1])
def test_any_point_brackets_the_optimum_of_a_conic_solver(loss, seed):
    X, labels = blobs(n=20, seed=seed)
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.2, 2.0, len(labels))
    task = linear_problem(X, labels, loss, costs)
    optimum = joint_optimum_by_clarabel(np.column_stack([X, np.ones(20)]), labels, costs, loss)
    for size in (0.1, 1.0, 3.0):  # also multipliers that violate their bounds
        proof = certify(task, Point(rng.normal(size=(4, task.design.d)), size * rng.normal(size=(20, 4))))
        assert proof.dual <= optimum + 1e-6 <= proof.primal + 2e-6
        assert proof.gap == pytest.approx(proof.primal - proof.dual, rel=1e-9)
        assert proof.moved > 0
    found = solve(task, Options(tol=1e-8))
    assert found.certificate.primal == pytest.approx(optimum, rel=1e-6)
    assert found.certificate.dual == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_kernel_points_bracket_it_too(loss):
    X, labels = blobs(n=25, seed=3)
    rng = np.random.default_rng(0)
    costs = rng.uniform(0.5, 3.0, len(labels))
    kernel = RBF(0.3) + 1.0
    task = kernel_problem(X, labels, loss, kernel, costs)
    K = task.gram.whole()
    optimum = joint_optimum_by_clarabel(features_of(K), labels, costs, loss)
    for size in (0.1, 1.0):
        B = inside(task, size * rng.normal(size=(25, 4)))
        proof = certify(task, Point(B, B))
        assert proof.dual <= optimum + 1e-6 <= proof.primal + 2e-6
    found = solve(task, Options(tol=1e-5))
    assert found.certificate.primal == pytest.approx(optimum, rel=1e-6)
    assert found.certificate.violation <= 1e-5


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_gaps_are_sums_of_terms_that_are_never_negative(loss):
    rng = np.random.default_rng(0)
    X, labels = blobs(n=30)
    task = linear_problem(X, labels, loss)
    for _ in range(20):
        B = inside(task, rng.normal(size=(30, 4)))
        losses, conjugates, gaps, worst = terms(task, 3.0 * rng.normal(size=(30, 4)), B)
        assert losses >= 0
        assert gaps >= 0
        assert worst >= 0
        assert np.isfinite(conjugates)


def test_a_deadline_within_a_block_keeps_what_was_reached(monkeypatch):
    X, labels = blobs(n=60)
    task = kernel_problem(X, labels, JOINT_LOSSES[0], RBF(0.3) + 1.0)
    solver = JointBlocks(task, task.start(), Options(tol=1e-6))
    solver._choose()  # kernel values are there before the clock runs

    def over():
        if limits.current() is not None:
            raise limits.OutOfTime

    monkeypatch.setattr(limits, "checkpoint", over)
    with limits.limits(), pytest.raises(limits.OutOfTime):
        solver.step()
    assert solver.B.any()
    np.testing.assert_allclose(solver.F, task.gram.whole() @ solver.B, atol=1e-12)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_the_worst_row_of_a_block(loss):
    X, labels = blobs(n=30)
    task, rng = linear_problem(X, labels, loss), np.random.default_rng(0)
    B, scores = inside(task, rng.normal(size=(30, 4))), rng.normal(size=(4, 30))
    slow = max(row_violation(loss, 1.0, labels[i], scores[:, i].copy(), B[i]) for i in range(30))
    assert _worst(labels, task.costs, loss, scores, B) == slow > 0.0
