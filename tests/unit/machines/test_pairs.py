"""Pairs of small classes as bundles: which plans are such, and what becomes of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from maxmargin import SVC, machines
from maxmargin.certificates import certify
from maxmargin.core import limits
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Sigmoid
from maxmargin.losses import Hinge
from maxmargin.losses.box import box_of
from maxmargin.machines import Effort, Job, KernelPlan, LazyJobs, Observer, pairs
from maxmargin.machines.matrices import Matrices, bytes_for_values
from maxmargin.models import Bias, soft_margin
from maxmargin.multiclass import OneVsOne
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.solution import Point, Status
from maxmargin.solvers import Options
from maxmargin.solvers.small.pairs import Sides

RNG = np.random.default_rng(0)
LABELS = np.repeat(np.arange(5), [20, 15, 30, 4, 11])
X = RNG.normal(size=(80, 3)) + LABELS[:, None] * 0.8
GAUSSIAN = RBF(0.3)
EDGES = np.searchsorted(LABELS, np.arange(6))
SEGMENTS = tuple(slice(int(a), int(b)) for a, b in pairwise(EDGES))


def plan(kernel=GAUSSIAN, sides=True, **effort):
    tasks, ones = OneVsOne(5).tasks(LABELS), np.ones(80)

    def job(number):
        task = tasks[number]
        parts = tuple(SEGMENTS[c] for c in OneVsOne(5).pairs[number])
        return Job(task.rows, (len(task.rows),), lambda gram: soft_margin(gram, task.signs, 1.0), parts=parts)

    boxes = Sides(*(box_of(Hinge(), sign * ones, ones, True) for sign in (1.0, -1.0)))
    how = Effort(Options(1e-3, **effort))
    return KernelPlan(
        kernel, X, LazyJobs(10, job), Bias.FREE, how, 1.0, segments=SEGMENTS, sides=boxes if sides else None
    )


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()], ids=str)
@pytest.mark.parametrize("span", [5, 40])
def test_bundles_make_the_machines_that_jobs_make(kernel, span, monkeypatch):
    monkeypatch.setattr(pairs, "SPAN_ROWS", span)
    monkeypatch.setattr(pairs, "SMALL_ROWS", 10)  # many spans, and solved to tol only: values agree to that
    bundles, jobs = machines.solve(plan(kernel)), machines.solve(plan(kernel, sides=False))
    (one,) = bundles.machines
    assert one.coef.shape == (4, 80)
    for found, expected in zip(bundles.solutions, jobs.solutions, strict=True):
        assert found.status is Status.CONVERGED
        assert found.certificate.dual == pytest.approx(expected.certificate.dual, rel=1e-4)
        assert found.certificate.gap <= 1e-2
    if isinstance(kernel, Linear):  # decisions of rows as they are, whatever the solver moved
        betas = ovo.split(one.coef, EDGES)
        for task, beta, w in zip(OneVsOne(5).tasks(LABELS), betas, one.weights, strict=True):
            np.testing.assert_allclose(w, beta @ X[task.rows], atol=1e-9)
    assert bundles.kernel_values == pytest.approx(80**2, rel=0.5)


def test_a_pair_that_is_not_solved_becomes_a_job(monkeypatch):
    """Steps that end too soon: every machine comes from a job, in the layout of the bundles."""
    from maxmargin.solvers.small import box

    solved = machines.solve(plan())
    monkeypatch.setattr(pairs, "goal_of", lambda *_: box.Goal(1e-12, -1.0, -1.0, 1e-16))
    again = machines.solve(plan())
    np.testing.assert_allclose(again.machines[0].coef, solved.machines[0].coef, atol=1e-7)
    np.testing.assert_allclose(again.machines[0].biases, solved.machines[0].biases, atol=1e-7)
    assert [len(solution.beta) for solution in again.solutions] == [35, 50, 24, 31, 45, 19, 26, 34, 41, 15]


def solver_of(task, observers=()):
    matrices = Matrices(task, bytes_for_values(task))
    matrices.open()
    return pairs.solver_of_pairs(task, matrices.shared, observers)


def test_which_plans_are_bundles(monkeypatch):
    assert solver_of(plan()) is pairs.solve_bundles
    assert solver_of(plan(sides=False)) is None
    assert solver_of(plan(), [Observer()]) is None
    assert solver_of(plan(Sigmoid(0.1))) is None  # may be indefinite
    assert solver_of(plan(max_iter=5)) is None
    assert solver_of(replace(plan(), keep=True)) is None
    assert solver_of(replace(plan(), effort=Effort(Options(1e-3), deadline=1e9))) is None
    monkeypatch.setattr(pairs, "SMALL_ROWS", 10)
    assert solver_of(plan()) is pairs.solve_bundles
    monkeypatch.setattr(pairs, "SMALL_CLASS", 29)
    assert solver_of(plan()) is None  # float64 values


def larger_plan(tol=1e-3, kernel=GAUSSIAN, C=1.0):
    """Classes of 130 to 500 rows."""
    sizes = np.array([500, 130, 400, 170])
    labels, ones = np.repeat(np.arange(4), sizes), np.ones(sizes.sum())
    edges = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.random.default_rng(1).normal(size=(len(labels), 3)) + labels[:, None] * 0.5
    segments = tuple(slice(int(a), int(b)) for a, b in pairwise(edges))
    tasks = OneVsOne(4).tasks(labels)

    def job(number):
        task = tasks[number]
        parts = tuple(segments[c] for c in OneVsOne(4).pairs[number])
        return Job(task.rows, (len(task.rows),), lambda gram: soft_margin(gram, task.signs, C), parts=parts)

    sides = Sides(*(box_of(Hinge(), sign * ones, C * ones, True) for sign in (1.0, -1.0)))
    effort = Effort(Options(tol))
    return KernelPlan(kernel, rows, LazyJobs(6, job), Bias.FREE, effort, C, segments=segments, sides=sides)


@pytest.mark.large
def test_larger_classes_are_solved_pair_by_pair_with_float32_values():
    task = larger_plan()
    assert solver_of(task) is pairs.solve_roughly
    pairwise_, jobs = machines.solve(task), machines.solve(replace(task, sides=None))
    edges = pairs.edges_of(task)
    betas = ovo.split(pairwise_.machines[0].coef, edges)
    for number, (found, expected) in enumerate(zip(pairwise_.solutions, jobs.solutions, strict=True)):
        assert found.status is Status.CONVERGED
        assert found.certificate.violation <= 1e-3
        assert found.certificate.dual == pytest.approx(expected.certificate.dual, rel=1e-5)
        whole = task.jobs[number]
        problem = whole.state(Gram(GAUSSIAN, task.X[whole.rows], accuracy=0.0))
        again = certify(problem, Point(beta=betas[number], biases=-np.array([pairwise_.machines[0].biases[number]])))
        assert again.dual == pytest.approx(found.certificate.dual, rel=1e-7)
    assert pairwise_.kernel_values < 1.5 * task.n**2


def test_float32_values_are_asked_to_carry_tol():
    assert solver_of(larger_plan(tol=1e-9)) is None
    assert solver_of(larger_plan(C=1e5)) is None


@pytest.mark.large
def test_a_larger_pair_that_is_not_proved_becomes_a_job(monkeypatch):
    solved = machines.solve(larger_plan())
    monkeypatch.setattr(pairs, "proved", lambda *_: None)
    again = machines.solve(larger_plan())
    np.testing.assert_allclose(again.machines[0].biases, solved.machines[0].biases, atol=1e-2)
    assert again.machines[0].coef.shape == solved.machines[0].coef.shape
    assert again.machines[0].coef.any()


@pytest.mark.large
def test_memory_of_a_thread_does_not_grow_from_pair_to_pair(monkeypatch):
    task, seen = larger_plan(), set()
    rows = np.diff(pairs.edges_of(task))
    smallest_first = sorted(range(6), key=lambda number: np.prod(rows[list(OneVsOne(4).pairs[number])]))
    monkeypatch.setattr(pairs.ovo, "rounds", lambda _: smallest_first)

    def solve_one(within, between, memory, *rest):
        seen.add((between.ctypes.data, memory.ctypes.data))
        return solve_pair(within, between, memory, *rest)

    solve_pair = pairs.solve_pair
    monkeypatch.setattr(pairs, "solve_pair", solve_one)
    with ThreadPoolExecutor(1) as fresh:  # whose memory is as yet that of no earlier fit
        fresh.submit(lambda: machines.solve(replace(task, effort=replace(task.effort, n_jobs=1)))).result()
    assert len(seen) == 1


@pytest.mark.parametrize("keep", [True, False])
def test_ctrl_c_ends_bundles(keep, monkeypatch):
    monkeypatch.setattr(pairs, "keep_within", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    task = plan(interrupt="keep" if keep else "raise")
    if not keep:
        with pytest.raises(KeyboardInterrupt):
            machines.solve(task)
        return
    with limits.limits():
        fitted = machines.solve(task)
    assert {solution.status for solution in fitted.solutions} == {Status.INTERRUPTED}
    assert not fitted.machines[0].coef.any()


def test_jobs_are_made_when_they_are_asked_for():
    made = []
    jobs = LazyJobs(3, lambda number: made.append(number) or Job(None, (number,), lambda gram: None))
    assert len(jobs) == 3
    assert made == []
    assert jobs[-1].shape == (2,)
    assert [job.shape for job in jobs] == [(0,), (1,), (2,)]
    with pytest.raises(IndexError):
        jobs[3]


def test_n_jobs_changes_no_bit(monkeypatch):
    monkeypatch.setattr(pairs, "SPAN_ROWS", 20)
    monkeypatch.setattr(pairs, "SMALL_ROWS", 10)
    one, two = (SVC(n_jobs=jobs).fit(X, LABELS) for jobs in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
