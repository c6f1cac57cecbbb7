"""Drives the solvers of linear problems within limits, from one to the next, and ends with a proof.

A solver is an object with ``step``, ``point``, ``gap`` (relative, its own estimate), ``objective``, ``iterations`` and
``exhausted``. It is believed only when the certificate, recomputed from its point alone, agrees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from maxmargin.certificates.linear import certify_linear
from maxmargin.core import limits
from maxmargin.core.linear import LinearProblem, LinearSolution, Point
from maxmargin.core.rows import Array
from maxmargin.core.solution import Certificate, Progress, Status, Trace
from maxmargin.core.threads import blas_held
from maxmargin.losses.base import total
from maxmargin.solvers.choose import SMALL_ROWS, Leg, choose
from maxmargin.solvers.dual.coordinate import DualCD
from maxmargin.solvers.primal.alm import ALM
from maxmargin.solvers.primal.gd import GradientDescent
from maxmargin.solvers.primal.l1 import ProximalNewton
from maxmargin.solvers.primal.newton import Newton
from maxmargin.solvers.primal.sgd import AveragedSGD

TIGHTENED = 0.3  # of the solver's own tolerance, each time the certificate does not agree
ATTEMPTS = 8
PATIENT_STEPS = 12  # a small problem that has proved tol goes on until its gap is not halved in so many steps
AIM = 1e-18
ROUNDING = 1e-15  # of the objective at zero weights: a perfect fit has the optimum 0, and no gap is small beside it
IDLE_STEPS = 100  # without a smaller gap: no progress is left
UNPROMISING = 1000  # steps of gd, epochs of sgd: without a limit they would not end

_MADE: dict[str, Callable[..., Any]] = {
    "newton": Newton,
    "alm": ALM,
    "dual_cd": DualCD,
    "gd": GradientDescent,
    "sgd": AveragedSGD,
}


@dataclass(frozen=True)
class LinearOptions:
    """How far a solve may go, where it starts and who watches (see ``drive.Options``)."""

    tol: float = 1e-4
    start: Point | None = None
    max_iter: int = -1
    time_limit: float | None = None
    watch: Callable[[Progress, Callable[[], Array]], bool | None] | None = None
    interrupt: Literal["raise", "keep"] = "raise"
    seed: int = 0


def solve_linear(problem: LinearProblem, solver: str = "auto", options: LinearOptions | None = None) -> LinearSolution:
    """Solve ``problem`` to a certified relative gap of ``tol``, or say how far it got."""
    work = _Solve(problem, choose(problem, solver), options or LinearOptions())
    with limits.limits() as active, blas_held():
        try:
            work.to_the_end(active)
        except limits.OutOfTime:
            work.status = Status.TIME_LIMIT
        except (KeyboardInterrupt, limits.Cancelled):
            if work.options.interrupt == "raise":
                raise
            work.status = Status.INTERRUPTED
            active.cancel.set()
        return work.solution()


class _Solve:
    """One solve in progress."""

    def __init__(self, problem: LinearProblem, legs: list[Leg], options: LinearOptions) -> None:
        self.problem, self.legs, self.options = problem, legs, options
        self.point = options.start or Point(np.zeros(problem.d))
        self.begun = limits.now()
        self.status = Status.STALLED
        self.history: list[Progress] = []
        self.done = 0  # iterations of the legs before
        self.leg = legs[0]
        self.solver: Any = None
        self.certificate: Certificate | None = None
        self.negligible = ROUNDING * total(problem.loss, problem.y, problem.costs, np.zeros(problem.n))

    def to_the_end(self, active: limits.Limits) -> None:
        """Sets: status, point, history and, unless stopped first, certificate."""
        for number, leg in enumerate(self.legs):
            self.leg = leg if number == 0 else leg._replace(reason=f"took over: {leg.reason}")
            active.deadline = self._deadline()
            self.solver = self._make(leg)
            self.status = self._run(active, leg)
            if self.status is Status.STALLED and self._good_enough():
                self.status = Status.CONVERGED
            if self.status is not Status.STALLED:
                return
            self.point = self.solver.point
            self.done += self.solver.iterations

    def _good_enough(self) -> bool:
        """Whether tol holds at the best point of a solver that stalled. Sets: certificate."""
        if self.certificate is None:
            self.point = self.solver.point
        self.certificate = certify_linear(self.problem, self.point)
        return self._proves()

    def _proves(self) -> bool:
        proof = self.certificate
        return proof is not None and (proof.relative_gap <= self.options.tol or proof.gap <= self.negligible)

    def _make(self, leg: Leg) -> Any:
        make = ProximalNewton if self.problem.penalty == "l1" else _MADE[leg.solver]
        extra = {"seed": self.options.seed} if leg.solver in ("dual_cd", "sgd") else {}
        return make(self.problem, self.point, self.options.tol, **extra)

    def _run(self, active: limits.Limits, leg: Leg) -> Status:
        """Steps of one solver until it is done or something stops it. Sets: certificate."""
        solver, goal = self.solver, self.options.tol
        attempts, most = 0, self._most_iterations(leg)
        best, since = np.inf, 0
        lowest, lowered = np.inf, 0
        mark, marked, steps = np.inf, self.problem.design.passes, 0
        while True:
            if solver.gap <= goal or solver.gap * abs(solver.objective) <= self.negligible:
                self.point, active.deadline = solver.point, float("inf")  # time for the certificate was set aside
                self.certificate = certify_linear(self.problem, self.point)
                if self._proves():
                    goal = self._further(leg)
                    if solver.gap <= goal or self.certificate.gap <= self.negligible:
                        return Status.CONVERGED
                    best, since = solver.gap, solver.iterations
                else:
                    attempts += 1
                    goal *= TIGHTENED
                    if attempts > ATTEMPTS:
                        return Status.STALLED
                    solver.refine(goal)
            if solver.gap <= 0.5 * best < np.inf:
                best, since, self.point = solver.gap, solver.iterations, solver.point.copied()
            if solver.gap < 0.9 * lowest:
                lowest, lowered = solver.gap, steps
            idle = steps - lowered > IDLE_STEPS and leg.solver != "gd"
            if idle or solver.exhausted or (best < np.inf and solver.iterations >= since + PATIENT_STEPS):
                return Status.STALLED
            if solver.gap <= 0.1 * mark:
                mark, marked = solver.gap, self.problem.design.passes
            elif self.problem.design.passes > marked + leg.patience:
                return Status.STALLED
            if self.done + solver.iterations >= most:
                return Status.ITERATION_LIMIT
            active.deadline = self._deadline()
            limits.checkpoint()
            solver.step()
            steps += 1
            if self._watch():
                return Status.STOPPED

    def _further(self, leg: Leg) -> float:
        """The gap to go on to once tol is proved: small problems are cheap to solve to the end."""
        small = self.problem.n <= SMALL_ROWS and leg.solver not in ("gd", "sgd")
        return AIM if small else np.inf

    def _most_iterations(self, leg: Leg) -> float:
        if self.options.max_iter >= 0:
            return self.options.max_iter
        return UNPROMISING if leg.solver in ("gd", "sgd") else float("inf")

    def _deadline(self) -> float:
        """When to stop so that the certificate, two passes over the rows and as much again, fits the time limit."""
        if self.options.time_limit is None:
            return float("inf")
        elapsed = limits.now() - self.begun
        reserve = 4.0 * elapsed / max(self.problem.design.passes, 4.0)
        return self.begun + self.options.time_limit - min(reserve, 0.5 * self.options.time_limit)

    def _watch(self) -> bool:
        """Record progress and tell the watcher; True where it asks to stop."""
        solver = self.solver
        elapsed = limits.now() - self.begun
        seen = Progress(self.done + solver.iterations, elapsed, solver.gap, solver.objective)
        self.history.append(seen)
        return bool(self.options.watch(seen, lambda: solver.point.v)) if self.options.watch else False

    def solution(self) -> LinearSolution:
        """The last point with its proof, worked out without limits where that was still to be done."""
        certificate, status = self.certificate, self.status
        if status is not Status.CONVERGED:
            with limits.unlimited():
                self.point = self.solver.point if self.solver is not None else self.point
                certificate = self.certificate = certify_linear(self.problem, self.point)
            if self._proves() and status is not Status.STOPPED:
                status = Status.CONVERGED
        assert certificate is not None
        return LinearSolution(
            point=self.point,
            status=status,
            certificate=certificate,
            trace=Trace(self.history),
            iterations=self.done + (self.solver.iterations if self.solver is not None else 0),
            solver=self.leg.solver,
            reason=self.leg.reason,
            passes=self.problem.design.passes,
        )
