"""Carries out a plan of machines with kernels: solves on the pool, float64 where float32 values come no further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core import limits, memory
from maxmargin.core.blas import blas_held
from maxmargin.core.rows import Array
from maxmargin.core.threads import available_cores
from maxmargin.gram import Outline
from maxmargin.machines.matrices import Matrices, bytes_for_values
from maxmargin.machines.plan import LEAST_SECONDS, Fitted, Job, KernelPlan, Machine, order_within
from maxmargin.machines.refusals import refuse_asymmetric
from maxmargin.machines.running import solve_jobs, unsolved
from maxmargin.machines.watching import Observer, TimeShares, observed, watcher
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.box import Bias
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import STOPS, Point, Solution, Status, ended_by
from maxmargin.solvers import solve
from maxmargin.solvers.contract import Options, continued

STORED_ROWS = 1024  # of a working set where all values are stored: updates are cheap (letter: 0.70 instead of 0.84 s)


def solve_kernel_plan(plan: KernelPlan, observers: Sequence[Observer]) -> Fitted:
    """A machine and a solution for each job."""
    with memory.explained(bytes_for_values(plan)), blas_held(), limits.limits():
        work = _Work(plan, observers)
        solutions = work.solutions()
        machines = [work.machine(job, solution.point) for job, solution in zip(plan.jobs, solutions, strict=True)]
    matrices = work.matrices
    return Fitted(machines, solutions, matrices.kept, matrices.computed, matrices.float32)


class _Work:
    """One plan being carried out."""

    def __init__(self, plan: KernelPlan, observers: Sequence[Observer]) -> None:
        self.plan, self.observers = plan, observers
        self.matrices = Matrices(plan)
        self.small = plan.n <= SMALL_ROWS

    def solutions(self) -> list[Solution]:
        """One for each job."""
        self._rehearse()
        ended = self._open()
        if ended:
            return [unsolved(_zero(job), ended) for job in self.plan.jobs]
        try:
            ended = self._prepare() if self.matrices.several_on_all_rows else None
            if ended:
                return [unsolved(_zero(job), ended) for job in self.plan.jobs]
            # Pairs of classes in turns in which threads rarely wait for the same class.
            turns = ovo.rounds(len(self.plan.segments)) if self.plan.segments else None
            return solve_jobs(self.plan.jobs, self.plan.effort, self._workers(), self._one, _zero, turns)
        finally:
            self.matrices.close()

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

    def _one(self, number: int, shares: TimeShares) -> Solution:
        job, effort = self.plan.jobs[number], self.plan.effort
        gram = self.matrices.of(job)
        with limits.limits(effort.deadline):
            problem = self._problem(job, gram)
        begun = limits.now()
        with observed(self.observers, number):
            options = effort.options(
                start=job.start,
                seconds=shares.take(job.size),
                watch=watcher(self.observers, number, lambda point: self.machine(job, point)),
                to_the_end=self.small,
                order=order_within(effort.each.order, job.rows),
                working_rows=STORED_ROWS if gram is not self.matrices.shared and not job.parts else None,
            )
            try:
                solution = solve(problem, options, effort.solver)
            finally:
                self.matrices.done_with(gram)
            if solution.status is Status.STALLED and gram.dtype == np.float32:
                solution = self._in_float64(job, solution, options, limits.now() - begun)
        return job.finish(problem, solution)

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

    def machine(self, job: Job, point: Point) -> Machine:
        """The decision functions of multipliers."""
        coef = np.atleast_2d(point.beta.T)
        coef, biases = job.to_machine(coef, self._biases(coef, point))
        weights, shift = self.matrices.weights(job, coef), self.matrices.shift
        if shift is not None:  # f(x) = w'(x - shift) + b; with the very w that predicts, or rounding is doubled
            assert weights is not None
            biases = np.array([b - float(w @ shift) for w, b in zip(weights, biases, strict=True)])
        return Machine(coef, biases, weights)

    def _biases(self, coef: Array, point: Point) -> Array:
        """Those of the problem's groups where they are free. A regularised one is the weight of the appended 1."""
        if self.plan.bias is Bias.REGULARIZED:
            return coef.sum(axis=1)
        return np.asarray(point.biases) if self.plan.bias is Bias.FREE else np.zeros(len(coef))


def _zero(job: Job) -> Point:
    return Point(beta=np.zeros(job.shape), biases=np.zeros(job.groups))
