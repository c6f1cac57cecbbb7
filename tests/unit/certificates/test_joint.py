"""The duality gap of joint machines: a bound for any point, tight at the optimum."""

import numpy as np
import pytest

from maxmargin.certificates import certify
from maxmargin.certificates.joint import inside, terms
from maxmargin.kernels import RBF
from maxmargin.problems.solution import Point
from maxmargin.solvers import Options, solve
from tests.joint_helpers import (
    JOINT_LOSSES,
    blobs,
    features_of,
    joint_optimum_by_clarabel,
    kernel_problem,
    linear_problem,
    name_of,
)
from tests.reliability.long_double import joint_loss_of


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
@pytest.mark.parametrize("seed", [0, 1])
def test_any_point_brackets_the_optimum_of_a_conic_solver(loss, seed):
    X, labels = blobs(n=20, seed=seed)
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.2, 2.0, len(labels))
    task = linear_problem(X, labels, loss, costs)
    optimum = joint_optimum_by_clarabel(np.column_stack([X, np.ones(20)]), labels, costs, loss)
    for size in (0.1, 1.0, 3.0):  # also multipliers that violate their bounds
        V = rng.normal(size=(4, task.design.d))
        proof = certify(task, Point(V, size * rng.normal(size=(20, 4))))
        assert proof.dual <= optimum + 1e-6 <= proof.primal + 2e-6
        losses = joint_loss_of(loss.maximum, loss.squared, np.column_stack([X, np.ones(20)]) @ V.T, labels)
        assert proof.primal == pytest.approx(0.5 * np.sum(V**2) + costs @ losses, rel=1e-12)
        assert proof.gap >= proof.primal - optimum - 1e-6
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
        scores = 3.0 * rng.normal(size=(30, 4))
        losses, conjugates, gaps, worst = terms(task, scores, B)
        assert losses == pytest.approx(joint_loss_of(loss.maximum, loss.squared, scores, labels).sum())
        a = np.where(np.arange(4) == labels[:, None], 0.0, -B)
        paid = (a.sum(axis=1) ** 2 if loss.maximum else (a**2).sum(axis=1)) / 4.0 if loss.squared else np.zeros(30)
        assert conjugates == pytest.approx(paid.sum() - a.sum())
        assert gaps == pytest.approx(losses + conjugates + np.sum(B * scores))
        assert gaps >= 0
        assert worst > 0  # no random point is optimal
