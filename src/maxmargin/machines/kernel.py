"""Carries out a plan of machines with kernels: solves on the pool, float64 where float32 values come no further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from maxmargin.core import limits, memory
from maxmargin.core.blas import blas_held
from maxmargin.core.rows import Array
from maxmargin.core.threads import available_cores
from maxmargin.gram import Outline
from maxmargin.kernels import Linear
from maxmargin.machines.matrices import Matrices, bytes_for_values
from maxmargin.machines.pairs import edges_of, nothing_found, solutions_of, solver_of_pairs
from maxmargin.machines.plan import LEAST_SECONDS, Crossed, Fitted, Fold, Job, KernelPlan, Machine, order_within
from maxmargin.machines.refusals import refuse_asymmetric
from maxmargin.machines.running import CUT_SHORT, Solved, solve_jobs, unsolved
from maxmargin.machines.watching import Observer, TimeShares, fold_watcher, observed, watcher
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.box import Bias
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import STOPS, Point, Solution, Status, ended_by
from maxmargin.solvers import solve
from maxmargin.solvers.contract import Options, continued
from maxmargin.solvers.small.pairs import Found

STORED_ROWS = 1024  # of a working set where all values are stored: updates are cheap (letter: 0.70 instead of 0.84 s)


def solve_kernel_plan(plan: KernelPlan, observers: Sequence[Observer]) -> Fitted:
    """A machine and a solution for each job."""
    budget = bytes_for_values(plan)
    with memory.explained(budget), blas_held(), limits.limits():
        work = _Work(plan, observers, budget)
        solved = work.solved()
        machines = work.machines(solved)
    matrices = work.matrices
    solutions, crossed = (list(parts) for parts in zip(*solved, strict=True))
    return Fitted(machines, solutions, crossed, matrices.kept, matrices.computed, matrices.float32)


class _Work:
    """One plan being carried out, with ``budget`` bytes for kernel values."""

    def __init__(self, plan: KernelPlan, observers: Sequence[Observer], budget: int) -> None:
        self.plan, self.observers = plan, observers
        self.matrices = Matrices(plan, budget)
        self.small = plan.n <= SMALL_ROWS
        self._pairs: Found | None = None

    def solved(self) -> list[Solved]:
        """A solution for each job, and what its folds became."""
        self._rehearse()
        ended = self._open()
        if ended:
            return [(unsolved(_zero(job), ended), ()) for job in self.plan.jobs]
        try:
            ended = self._prepare() if self.matrices.several_on_all_rows else None
            if ended:
                return [(unsolved(_zero(job), ended), ()) for job in self.plan.jobs]
            found = self._pairs_at_once()
            # Pairs of classes in turns in which threads rarely wait for the same class.
            turns = ovo.rounds(len(self.plan.segments)) if self.plan.segments else range(len(self.plan.jobs))
            turns = [number for number in turns if number not in found] if found else turns
            found |= solve_jobs(self.plan.jobs, self.plan.effort, self._workers(), self._one, _zero, turns)
            return [found[number] for number in range(len(self.plan.jobs))]
        finally:
            self.matrices.close()

    def _pairs_at_once(self) -> dict[int, Solved]:
        """Those pairs of classes that compiled calls solve; all of them where Ctrl-C ended those, solved or not."""
        plan, begun, ended = self.plan, limits.now(), None
        solver = solver_of_pairs(plan, self.matrices.shared, self.observers)
        if solver is None:
            return {}
        found = nothing_found(plan)
        try:
            solver(plan, self.matrices.shared, self.matrices.n_jobs, found)
        except STOPS as stop:
            ended = ended_by(stop, plan.effort.keeps)
        self._pairs = found
        self.matrices.float32 &= self.matrices.shared.dtype == np.float32  # predictions are then good enough in it, too
        solutions = solutions_of(found, limits.now() - begun)
        if ended:
            solutions = {k: unsolved(_zero(job), ended) for k, job in enumerate(plan.jobs)} | solutions
        return {number: (solution, ()) for number, solution in solutions.items()}

    def _open(self) -> Status | None:
        """Set the matrix up; how the fit ended, where that was stopped."""
        try:
            self.matrices.open()
        except STOPS as stop:
            return ended_by(stop, self.plan.effort.keeps)
        return None

    def _prepare(self) -> Status | None:
        """Before jobs share a matrix; how the fit ended, where that was stopped."""
        try:
            self.matrices.prepare()
        except limits.OutOfTime:
            return None  # the jobs end at their own limits
        except STOPS as stop:
            return ended_by(stop, self.plan.effort.keeps)
        return None

    def _workers(self) -> int:
        """Small problems end before a thread wakes up; others have as many budgets as there are cores."""
        if self.small or not self.matrices.side_by_side:
            return 1
        return min(self.matrices.n_jobs, len(self.plan.jobs), available_cores())

    def _one(self, number: int, shares: TimeShares) -> Solved:
        job, effort = self.plan.jobs[number], self.plan.effort
        gram = self.matrices.of(job)
        with limits.limits(effort.deadline):
            problem = self._problem(job, gram)
        begun = limits.now()
        with observed(self.observers, number):
            options = effort.options(
                start=job.start,
                seconds=shares.take(job.sizes[0]),
                watch=watcher(self.observers, number, lambda point: self.machine(job, point)),
                to_the_end=self.small,
                order=order_within(effort.each.order, job.rows),
                working_rows=STORED_ROWS if gram is not self.matrices.shared and not job.parts else None,
            )
            try:
                solution = solve(problem, options, effort.solver)
                crossed = [
                    self._cross(number, k, gram, solution, replace(options, time_limit=shares.take(size)))
                    for k, size in enumerate(job.sizes[1:])
                ]
            finally:
                self.matrices.done_with(gram)
            if solution.status is Status.STALLED and gram.dtype == np.float32:
                solution = self._in_float64(job, solution, options, limits.now() - begun)
        return job.finish(problem, solution), crossed

    def _cross(self, number: int, k: int, gram: Any, whole: Solution, options: Options) -> Crossed:
        """What becomes of fold k of a job, on the matrix of the job; ``whole`` is the solution on all rows."""
        job, found = self.plan.jobs[number], whole
        left_out = job.folds[k].left_out
        if len(left_out) and whole.status not in CUT_SHORT:
            watch = fold_watcher(self.observers, number, k)
            found = self._without(job.folds[k], gram, replace(options, start=whole.point, watch=watch))
        coef, biases = self._coefficients(job, found.point)
        with limits.unlimited():  # little work beside the solve
            scores = np.stack([gram.scores(row)[0][left_out] for row in coef], axis=1)
        # The kernel K + 1 of a regularised bias has it in the scores already.
        decisions = scores if self.plan.bias is Bias.REGULARIZED else scores + biases
        return Crossed(self._machine(job, coef, biases), found, decisions)

    def _without(self, fold: Fold, gram: Any, options: Options) -> Solution:
        """The solution without the rows of a fold, with multipliers for all rows of the job."""
        if not fold.alone:
            return solve(fold.state(gram), options, self.plan.effort.solver)
        kept = fold.kept(gram.n)
        some = self.matrices.some(kept)
        try:
            found = solve(fold.state(some), replace(options, start=None, order=None), self.plan.effort.solver)
        finally:
            self.matrices.done_with(some)
        return found._replace(point=_spread(found.point, kept, gram.n))

    def _problem(self, job: Job, gram: Any) -> Any:
        refuse_asymmetric(gram, self.plan.kernel)
        return job.state(gram)

    def _rehearse(self) -> None:
        """State all problems on a matrix without values: what is infeasible is an error before any is computed.

        Other kernels need no rehearsal: theirs are computed only after a problem is stated.
        """
        if not self.plan.kernel.definite:
            for job in self.plan.jobs:
                job.state(Outline(self.plan.n if job.rows is None else len(job.rows)))

    def _in_float64(self, job: Job, found: Solution, options: Options, passed: float) -> Solution:
        """Go on where float32 kernel values let the solver come no further; where that proves less, keep the point."""
        again = replace(
            options,
            start=found.point,
            watch=continued(options.watch, found.trace),
            max_iter=options.max_iter if options.max_iter < 0 else max(0, options.max_iter - found.iterations),
            time_limit=None if options.time_limit is None else max(LEAST_SECONDS, options.time_limit - passed),
        )
        try:
            solution = self._again(job, again)
        except STOPS as stop:
            return found._replace(status=ended_by(stop, self.plan.effort.keeps))
        if solution.status is not Status.CONVERGED and solution.certificate.rank > found.certificate.rank:
            solution = solution._replace(point=found.point, certificate=found.certificate)
        return solution._replace(
            trace=found.trace.then(solution.trace), iterations=found.iterations + solution.iterations
        )

    def _again(self, job: Job, options: Options) -> Solution:
        gram = self.matrices.in_float64(job)
        try:
            return solve(self._problem(job, gram), options, self.plan.effort.solver)
        finally:
            self.matrices.done_with(gram)

    def machines(self, solved: list[Solved]) -> list[Machine]:
        """Of every job. Where pairs of classes were solved at once, all pairs are one machine."""
        plan, found = self.plan, self._pairs
        if found is None:
            return [self.machine(job, solution.point) for job, (solution, _) in zip(plan.jobs, solved, strict=True)]
        edges, pairs = edges_of(plan), list(combinations(range(len(plan.segments)), 2))
        coef, biases = found.coef, found.outcomes.bias.copy()
        for number in np.flatnonzero(found.outcomes.solved == 0.0):
            point = solved[number][0].point
            ovo.put(point.beta, pairs[number], edges, coef)
            biases[number] = point.biases[0]
        weights = ovo.pair_weights(coef, self.matrices.X, edges) if isinstance(plan.kernel, Linear) else None
        return [Machine(coef, biases if weights is None else self.matrices.unmoved(biases, weights), weights)]

    def machine(self, job: Job, point: Point) -> Machine:
        """The decision functions of multipliers."""
        return self._machine(job, *self._coefficients(job, point))

    def _coefficients(self, job: Job, point: Point) -> tuple[Array, Array]:
        """Of the machines of a job, over its rows as the matrix has them, and their biases."""
        coef = np.atleast_2d(point.beta.T)
        return job.to_machine(coef, self._biases(job, coef, point))

    def _machine(self, job: Job, coef: Array, biases: Array) -> Machine:
        """Rows may have been moved: the decision functions of rows as they are."""
        weights = self.matrices.weights(job, coef)
        return Machine(coef, biases if weights is None else self.matrices.unmoved(biases, weights), weights)

    def _biases(self, job: Job, coef: Array, point: Point) -> Array:
        """Those of the problem's groups where they are free. A regularised one is the weight of the appended 1."""
        if self.plan.bias is Bias.REGULARIZED:
            return coef.sum(axis=1)
        if self.plan.bias is Bias.NONE:
            return np.zeros(len(coef))
        return np.asarray(point.edges if job.to_edges and point.edges is not None else point.biases)


def _spread(point: Point, rows: Array, n: int) -> Point:
    """Multipliers of some rows as those of all n, of which the others have none."""
    beta = np.zeros((n, *point.beta.shape[1:]))
    beta[rows] = point.beta
    return point._replace(beta=beta)


def _zero(job: Job) -> Point:
    return Point(beta=np.zeros(job.shape), biases=np.zeros(job.groups))
