"""The augmented Lagrangian of joint machines: its Hessian, its steps, its optimum, and where it comes first."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core import limits
from maxmargin.losses.multiclass import JointLoss, Penalized, bend_rows, bends_of, shift_rows
from maxmargin.problems.design import FULL
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.joint import alm, descent
from maxmargin.solvers.joint.alm import JointALM
from maxmargin.solvers.joint.choose import linear_stages
from maxmargin.solvers.joint.coordinate import JointCD
from maxmargin.solvers.joint.descent import JointDescent
from maxmargin.solvers.sample import SPREAD
from tests.joint_helpers import JOINT_LOSSES, blobs, joint_optimum_by_clarabel, linear_problem, name_of

CLASSES = 4


def shifted(terms, scores, old):
    """Multipliers at these scores, and whether they change with them."""
    B, curved = np.empty(scores.shape), np.zeros(len(scores), bool)
    shift_rows(terms, scores, old, 0, len(scores), B, curved)
    return B, curved


@pytest.mark.parametrize("sigma", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_multipliers_change_with_scores_as_their_slopes_say(loss, sigma):
    rng = np.random.default_rng(0)
    n = 200
    terms = Penalized(loss, rng.integers(0, CLASSES, n), rng.uniform(0.2, 3.0, n), sigma)
    scores, changes = rng.normal(size=(2, n, CLASSES))
    old, _ = shifted(terms, rng.normal(size=(n, CLASSES)), np.zeros((n, CLASSES)))
    step = 1e-6
    B, curved = shifted(terms, scores, old)
    ahead, behind = (shifted(terms, scores + way * step * changes, old)[0] for way in (1.0, -1.0))
    active, (size, weight), expected = np.empty_like(B), np.empty((2, n)), changes.copy()
    bends_of(terms, B, np.arange(n), active, size, weight)
    bend_rows(terms.labels, active, size, weight, expected)
    smooth = np.all([(side == 0.0) == (B == 0.0) for side in (ahead, behind)], axis=(0, 2))
    assert smooth.mean() > 0.95  # the others cross a kink in that step
    np.testing.assert_allclose((behind - ahead)[smooth] / (2.0 * step), expected[smooth], atol=1e-6 * max(1.0, sigma))
    np.testing.assert_allclose(expected[~curved], 0.0, atol=1e-14 * sigma)
    assert curved.any()


@pytest.mark.parametrize("inverted", [0, 64], ids=["factors", "inverses"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_a_direction_solves_the_newton_system(loss, kind, inverted, monkeypatch):
    monkeypatch.setattr(descent, "INVERTED", inverted)
    monkeypatch.setattr(descent, "PIECE_ROWS", 30)
    X, labels = blobs(120, 5, CLASSES)
    problem = linear_problem(kind(X), labels, loss, np.random.default_rng(1).uniform(0.3, 2.0, 120))
    V = 0.1 * np.random.default_rng(2).normal(size=(CLASSES, 6))
    work = JointDescent(problem, V, lambda: (0.7, problem.zeros()), rough=False)
    work.damping = 1e-3
    A, step, H = np.column_stack([X, np.ones(120)]), 1e-6, []
    for unit in np.eye(V.size):
        sides = [
            shifted(work._terms(), work.z + way * step * A @ unit.reshape(V.shape).T, problem.zeros())[0]
            for way in (1.0, -1.0)
        ]
        H.append((A.T @ (sides[1] - sides[0])).T.ravel() / (2.0 * step))
    squares = np.tile((problem.costs[:, None] * A**2).sum(axis=0), CLASSES)
    H = np.array(H) + np.diag(1.0 + 1e-3 * 0.7 * squares)
    expected = np.linalg.solve(H, -work.gradient.ravel()).reshape(V.shape)
    np.testing.assert_allclose(work.direction(accuracy=1e-10), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_it_ends_at_the_optimum(loss, kind, dtype, scale):
    X, labels = blobs(90, 4, CLASSES, seed=3)
    X, costs = X.astype(dtype), np.random.default_rng(4).uniform(0.1, 20.0, 90)
    solution = solve(linear_problem(kind(X), labels, loss, costs, scale), Options(tol=1e-6), JointALM)
    assert solution.status is Status.CONVERGED
    assert solution.certificate.relative_gap <= 1e-6
    A = np.column_stack([X, np.full(90, scale)]).astype(np.float64)
    expected = joint_optimum_by_clarabel(A, labels, costs, loss)
    assert solution.certificate.primal == pytest.approx(expected, rel=1e-5)


@pytest.mark.large
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_float32_steps_end_at_a_float64_proof(loss, cost):
    X, labels = blobs(3000, 6, CLASSES, seed=5)
    problem = linear_problem(X.astype(np.float32), labels, loss, cost)
    solution = solve(problem, Options(tol=1e-5), JointALM)
    other = solve(
        linear_problem(X.astype(np.float32).astype(np.float64), labels, loss, cost), Options(tol=1e-7), JointALM
    )
    assert solution.certificate.relative_gap <= 1e-5
    assert other.certificate.relative_gap <= 1e-7
    assert solution.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-5)


@pytest.mark.large
@pytest.mark.parametrize("loss", JOINT_LOSSES, ids=name_of)
def test_a_sample_gives_a_start(loss, monkeypatch):
    X, labels = blobs(SPREAD * alm.LEAST_ROWS, 6, CLASSES, seed=6)
    with_sample = solve(linear_problem(X, labels, loss), Options(tol=1e-6), JointALM)
    monkeypatch.setattr(alm, "large_enough", lambda *told: False)
    without = solve(linear_problem(X, labels, loss), Options(tol=1e-6), JointALM)
    for solution in (with_sample, without):
        assert solution.certificate.relative_gap <= 1e-6
    assert with_sample.iterations < without.iterations


@pytest.mark.large
def test_the_number_of_threads_changes_no_bit(monkeypatch):
    monkeypatch.setattr(descent, "PIECE_ROWS", 500)
    X, labels = blobs(3000, 6, CLASSES)
    found = []
    for n_jobs in (1, 2):
        problem = linear_problem(X, labels, JOINT_LOSSES[0])
        problem.design.n_jobs = n_jobs
        found.append(solve(problem, Options(tol=1e-5), JointALM))
    np.testing.assert_array_equal(found[0].point.v, found[1].point.v)


def test_which_solvers_and_when():
    rng = np.random.default_rng(0)

    def names(n, d, classes=3):
        problem = linear_problem(rng.normal(size=(n, d)), np.arange(n) % classes, JointLoss(True, False))
        return [stage.solver for stage in linear_stages(problem)]

    assert names(20_000, 20, 26)[0] is JointALM  # many rows for each weight
    assert names(20_000, 20, 26)[-1] is JointCD
    assert names(3000, 200)[:2] == [JointCD, JointALM]
    assert names(1500, alm.DENSE_WIDTH + 1) == [JointCD]
    assert "not 3 x" in JointALM.refuses(
        linear_problem(np.ones((3, alm.DENSE_WIDTH)), np.arange(3), JointLoss(True, False))
    )
    many = np.arange(40)
    assert not JointALM.refuses(linear_problem(np.ones((40, 800)), many, JointLoss(True, False)))
    assert "not 40 x 1001^2" in JointALM.refuses(linear_problem(np.ones((40, 1000)), many, JointLoss(True, False)))


def work_of(rough=False, n=120):
    X, labels = blobs(n, 5, CLASSES)
    problem = linear_problem(X.astype(np.float32), labels, JOINT_LOSSES[0])
    V = 0.1 * np.random.default_rng(2).normal(size=(CLASSES, 6))
    return JointDescent(problem, V, lambda: (0.7, problem.zeros()), rough)


def test_a_line_search_that_is_stopped_leaves_multipliers_of_its_point(monkeypatch):
    work = work_of()
    before, dv, fill = work.beta.copy(), work.direction(accuracy=0.1), work._fill

    def stopped(z):
        fill(z)
        if z is not work.z:
            raise limits.OutOfTime

    monkeypatch.setattr(work, "_fill", stopped)
    with pytest.raises(limits.OutOfTime):
        work.move(dv)
    np.testing.assert_array_equal(work.beta, before)


@pytest.mark.parametrize("rough", [False, True])
def test_products_become_exact_where_rounded_ones_know_no_descent(rough):
    work = work_of(rough)
    assert work.move(work.gradient) == 0.0
    assert work._form is FULL
    np.testing.assert_allclose(work.q, work.beta.T @ np.column_stack([work.problem.design.rows.values, np.ones(120)]))


def test_matrices_that_cannot_be_inverted_are_factored(monkeypatch):
    def refuse(_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "inv", refuse)
    X, labels = blobs(90, 4, CLASSES, seed=3)
    solution = solve(linear_problem(X, labels, JOINT_LOSSES[0]), Options(tol=1e-6), JointALM)
    assert solution.status is Status.CONVERGED
    assert solution.certificate.relative_gap <= 1e-6
