"""Conjugate gradients on a face of the joint dual: it rises, stays feasible, and is solved where no bound is met."""

import numpy as np
import pytest

from maxmargin.losses.multiclass import all_inside
from maxmargin.solvers.joint.face import ENOUGH, TO_THE_END, FaceProblem, climb
from tests.joint_helpers import JOINT_LOSSES, name_of

N, CLASSES = 8, 4


def as_multipliers(a, labels):
    """B of the nonnegative a: minus for the other classes, their sum for the row's own."""
    B = -a
    B[np.arange(len(a)), labels] = 0.0
    B[np.arange(len(a)), labels] = -B.sum(axis=1)
    return B


def dual(loss, labels, costs, K, B):
    """sum(a) - 1/2 tr(B'K B), minus the conjugate's square: (sum_j a_ij)^2 / 4c_i or sum_j a_ij^2 / 4c_i."""
    a = -B
    a[np.arange(len(B)), labels] = 0.0
    total = a.sum(axis=1)
    paid = (total**2 if loss.maximum else (a**2).sum(axis=1)) / (4.0 * costs) if loss.squared else 0.0 * total
    return total.sum() - 0.5 * np.sum(B * (K @ B)) - paid.sum()


def assert_feasible(loss, labels, costs, B):
    a = -B
    a[np.arange(len(B)), labels] = 0.0
    assert np.all(a >= 0.0)
    np.testing.assert_allclose(B.sum(axis=1), 0.0, atol=1e-12)
    if not loss.squared:
        assert np.all((a.sum(axis=1) if loss.maximum else a.max(axis=1)) <= costs * (1.0 + 1e-9))


def problem(loss, seed, cost):
    """FaceProblem of random rows, their K, and multipliers within their sets, some of them at bounds."""
    rng = np.random.default_rng(seed)
    X, labels, costs = rng.normal(size=(N, 3)), rng.integers(0, CLASSES, N), np.full(N, cost)
    K = X @ X.T + 1.0
    B = as_multipliers(cost * rng.random((N, CLASSES)) * (rng.random((N, CLASSES)) < 0.7), labels)
    all_inside(loss, labels, costs, B)
    return FaceProblem(loss, labels, costs, lambda D: K @ D), K, B


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
@pytest.mark.parametrize("enough", [ENOUGH, TO_THE_END])
@pytest.mark.parametrize("cost", [0.05, 5.0])
def test_the_dual_rises_and_multipliers_stay_in_their_sets(loss, enough, cost):
    rises = 0
    for seed in range(10):
        face, K, B = problem(loss, seed, cost)
        before, start = dual(loss, face.labels, face.costs, K, B), B.copy()
        made, scores = climb(face, K @ B, B, enough)
        after = dual(loss, face.labels, face.costs, K, made)
        np.testing.assert_array_equal(B, start)
        assert after >= before - 1e-12 * max(1.0, abs(before))
        rises += after > before + 1e-6 * abs(before)
        assert_feasible(loss, face.labels, face.costs, made)
        np.testing.assert_allclose(scores, K @ made, atol=1e-10)
        others = np.arange(CLASSES) != face.labels[:, None]
        assert not made[others & (start == 0.0)].any()  # a face keeps what is at zero there
    assert rises >= 8


def unconstrained(loss, labels, costs, K):
    """The a where the dual's gradient vanishes, by one dense solve."""
    n = len(labels)
    places = [(i, j) for i in range(n) for j in range(CLASSES) if j != labels[i]]
    M = np.zeros((n, CLASSES, len(places)))  # from a to B
    paid = np.zeros((len(places), len(places)))
    for column, (i, j) in enumerate(places):
        M[i, j, column], M[i, labels[i], column] = -1.0, 1.0
        for row, (other, other_j) in enumerate(places):
            if loss.squared and i == other and (loss.maximum or j == other_j):
                paid[row, column] = 1.0 / (2.0 * costs[i])
    H = np.einsum("ijp,ik,kjq->pq", M, K, M) + paid
    a = np.zeros((n, CLASSES))
    a[tuple(np.array(places).T)] = np.linalg.solve(H, np.ones(len(places)))
    return a


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_the_dense_solution_where_no_bound_is_met(loss):
    rng = np.random.default_rng(0)
    labels, costs = np.arange(N) % CLASSES, rng.uniform(5.0, 10.0, N)
    X = rng.normal(size=(N, 3))
    K = np.eye(N) + 0.02 * X @ X.T
    best = unconstrained(loss, labels, costs, K)
    others = np.arange(CLASSES) != labels[:, None]
    assert best[others].min() > 0.0
    assert best.sum(axis=1).max() < 5.0
    B = as_multipliers(best * rng.uniform(0.5, 1.5, best.shape), labels)
    made, scores = climb(FaceProblem(loss, labels, costs, lambda D: K @ D), K @ B, B, TO_THE_END)
    np.testing.assert_allclose(made, as_multipliers(best, labels), atol=1e-8)
    np.testing.assert_allclose(scores, K @ made, atol=1e-10)


@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_a_point_without_free_multipliers_stays(loss):
    labels, K = np.arange(N) % CLASSES, np.eye(N)
    B = np.zeros((N, CLASSES))
    made, scores = climb(FaceProblem(loss, labels, np.ones(N), lambda D: K @ D), K @ B, B)
    assert made is B
    assert not scores.any()
