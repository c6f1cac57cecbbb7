"""Carries out a plan of machines without kernels: all of them read the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.certificates.screening import proved_zeros
from maxmargin.core import limits
from maxmargin.core.equal_rows import WIDE, find_equal, find_equal_among_many, groups, many_are_equal
from maxmargin.core.rows import Array
from maxmargin.machines.plan import Crossed, Fitted, Job, LinearPlan, Machine
from maxmargin.machines.running import CUT_SHORT, Solved, solve_jobs
from maxmargin.machines.scoring import linear_decisions
from maxmargin.machines.warm import KeptPoints
from maxmargin.machines.watching import Observer, TimeShares, fold_watcher, observed, watcher
from maxmargin.problems.design import design_of
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Solution
from maxmargin.solvers import solve

LONG_ROW = 2**16 - 1  # entries: longer rows need not be told apart, and 16 bits are sorted fast


def few_merged(X: Any, targets: Array, weights: Array) -> tuple[Any, Array, Array]:
    """Few rows: equal ones with equal targets become one, in an order that depends on their values alone.

    Small problems are compared digit by digit: a weight of 2 and two rows are then the same problem, in any order.
    Wide rows stay in the order given, because a copy of them may take longer than the fit (400 MB: 2.9 s in memory that
    was not touched before). ``targets`` has one row (or number) for each row of X.
    """
    if X.shape[0] > SMALL_ROWS:
        return X, targets, weights
    equal = (find_equal_among_many if X.shape[1] > WIDE else find_equal)(X, _ids(targets), weights)
    if np.array_equal(equal.first, np.arange(X.shape[0])):
        return X, targets, weights
    return X[equal.first], targets[equal.first], np.bincount(equal.group, weights=weights)


def merged(X: Any, targets: Array, weights: Array) -> tuple[Any, Array, Array]:
    """``few_merged``; of more rows equal ones become one too, where a sample has many of them.

    Each pass over the rows is then shorter: of skin_nonskin (245,057 rows) 51,444 are left, of w8a 70 %. Sparse rows
    are copied in the order of their length: a processor that guesses right where a row ends takes half of the time.
    """
    if X.shape[0] <= SMALL_ROWS:
        return few_merged(X, targets, weights)
    if not many_are_equal(X, targets):
        return X, targets, weights
    first, group, _ = groups(X, _ids(targets))
    weights = np.bincount(group, weights=weights)
    if sparse.issparse(X):
        order = np.argsort(np.minimum(np.diff(X.indptr)[first], LONG_ROW).astype(np.uint16), kind="stable")
        first, weights = first[order], weights[order]
    return X[first], targets[first], weights


def _ids(targets: Array) -> Array:
    """An integer for each target: classes are such already."""
    if targets.ndim == 1 and targets.dtype.kind == "i":
        return targets
    return np.unique(targets, axis=0 if targets.ndim > 1 else None, return_inverse=True)[1].ravel()


def solve_linear_plan(plan: LinearPlan, observers: Sequence[Observer]) -> Fitted:
    """A machine and a solution for each job."""
    work = _Work(plan, observers)
    # Small problems end before a thread wakes up.
    workers = plan.effort.n_jobs if work.several and plan.X.shape[0] > SMALL_ROWS else 1
    with limits.limits():
        solved = solve_jobs(plan.jobs, plan.effort, workers, work.one, work.zero)
    solutions, crossed = (list(parts) for parts in zip(*solved.values(), strict=True))
    pairs = list(zip(plan.jobs, solutions, strict=True))
    machines = [work.machine(job, solution.point) for job, solution in pairs]
    zeros = [proved_zeros(work.problem(job), s.point, s.certificate.gap) for job, s in pairs] if plan.screen else None
    return Fitted(
        machines,
        solutions,
        crossed,
        kept=KeptPoints([s.point for s in solutions], plan.costs, plan.warm_key) if plan.keep else None,
        zero_features=None if zeros is None else np.all(zeros, axis=0),
    )


class _Work:
    """One plan being carried out."""

    def __init__(self, plan: LinearPlan, observers: Sequence[Observer]) -> None:
        self.plan, self.observers = plan, observers
        self.several = len(plan.jobs) > 1
        self.design = design_of(plan.X, plan.scale)
        if self.several:
            self.design.squared_norms()  # before the machines share it

    def one(self, number: int, shares: TimeShares) -> Solved:
        """The solution of a job, and what its folds became."""
        job, effort = self.plan.jobs[number], self.plan.effort
        problem = self.problem(job)
        watch = watcher(self.observers, number, lambda point: self.machine(job, point))
        options = effort.options(job.start, shares.take(job.sizes[0]), watch)
        with observed(self.observers, number):
            solution = job.finish(problem, solve(problem, options, effort.solver))
            return solution, [self._cross(number, k, solution, shares) for k in range(len(job.folds))]

    def _cross(self, number: int, k: int, whole: Solution, shares: TimeShares) -> Crossed:
        """What becomes of fold k of a job; ``whole`` is the solution on all rows."""
        job, effort, found = self.plan.jobs[number], self.plan.effort, whole
        fold, X, seconds = job.folds[k], self.plan.X, shares.take(job.sizes[1 + k])
        rows = np.arange(X.shape[0]) if job.rows is None else job.rows
        if len(fold.left_out) and whole.status not in CUT_SHORT:
            design = design_of(X[rows[fold.kept(len(rows))]], self.plan.scale)
            watch = fold_watcher(self.observers, number, k)
            found = solve(fold.state(design), effort.options(Point(whole.point.v), seconds, watch), effort.solver)
        machine = self.machine(job, found.point)
        return Crossed(machine, found, linear_decisions(X[rows[fold.left_out]], machine.weights, machine.biases))

    def problem(self, job: Job) -> Any:
        """What a job is to solve."""
        if job.rows is None:
            return job.state(self.design.shared(1 if self.several else self.plan.effort.n_jobs))
        return job.state(design_of(self.plan.X[job.rows], self.plan.scale))

    def machine(self, job: Job, point: Point) -> Machine:
        """The decision functions of weights v = (w, v_0): b = scale v_0."""
        V, scale = np.atleast_2d(point.v), self.plan.scale
        biases = scale * V[:, -1] if scale else np.zeros(len(V))
        weights, biases = job.to_machine(V[:, : self.design.features].copy(), biases)
        return Machine(None, biases, weights)

    def zero(self, job: Job) -> Point:
        """No weights: a vector for each class of a joint machine."""
        return Point(np.zeros((*job.shape[1:], self.design.d)))
