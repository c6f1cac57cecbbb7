"""Drives solvers that end by a proof, from one to the next and within limits: linear machines and joint ones.

A solver is an object with ``step``, ``point``, ``gap`` (its own estimate of what is still to do), ``objective``,
``iterations``, ``exhausted`` and ``refine``. It is believed only when the certificate, recomputed from its point alone,
agrees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.core.rows import Array
from maxmargin.problems.solution import Certificate, Point, Progress, Solution, Status, Trace, unproved
from maxmargin.solvers.choose import SMALL_ROWS, Leg
from maxmargin.solvers.linear.descent import OVERFLOW

TIGHTENED = 0.3  # of the solver's own tolerance, each time the certificate does not agree
ATTEMPTS = 8
SLIGHTLY, HALF, TENTH = 0.9, 0.5, 0.1
PATIENT_STEPS = 12  # a small problem that has proved tol goes on until its gap is not halved in so many steps
# Steps without a smaller gap after which no progress is left; coordinate descent sees its gap only now and then.
IDLE_STEPS = {"newton": 100, "alm": 100, "dual_cd": 2000}
UNPROMISING = 1000  # steps of gd, epochs of sgd: without a limit they would not end


class Aim(NamedTuple):
    """What the driver must know of a problem.

    ``at_zero`` is the objective of zero weights, ``passes`` how often all rows were read so far, ``short`` what of a
    certificate is held against ``tol`` (the relative gap, or the violation), ``proof_seconds`` about how long a
    certificate takes when so many seconds have gone by.
    """

    n: int
    zero: Point
    at_zero: float
    make: Callable[[Leg, Point], Any]
    certify: Callable[[Point], Certificate]
    passes: Callable[[], float]
    short: Callable[[Certificate], float]
    proof_seconds: Callable[[float], float]


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


def pursue(aim: Aim, legs: list[Leg], options: LinearOptions) -> Solution:
    """Run the solvers of ``legs`` one after the other until ``tol`` is proved, or say how far they got."""
    work = _Solve(aim, legs, options)
    # A solver whose numbers overflow raises FloatingPointError, and the best point before that stays.
    with limits.limits() as active, blas_held(), np.errstate(over="ignore", invalid="ignore"):
        try:
            work.to_the_end(active)
        except limits.OutOfTime:
            work.status = Status.TIME_LIMIT
        except (KeyboardInterrupt, limits.Cancelled):
            if options.interrupt == "raise":
                raise
            work.status = Status.INTERRUPTED
            active.cancel.set()
        return work.solution()


class _Pace:
    """How fast a solver's gap falls: when it last came down by a tenth, to a half and to a tenth."""

    def __init__(self, passes: float) -> None:
        self.steps = 0
        self._lowest = dict.fromkeys((SLIGHTLY, HALF, TENTH), np.inf)
        self._at: dict[float, tuple[int, float]] = dict.fromkeys(self._lowest, (0, passes))

    def see(self, gap: float, passes: float) -> None:
        """After a step. Sets: the marks."""
        for factor, lowest in self._lowest.items():
            # A gap that is zero already does not come down any more.
            if gap < lowest and (gap <= factor * lowest or lowest == np.inf):
                self._lowest[factor], self._at[factor] = gap, (self.steps, passes)

    def steps_since(self, factor: float) -> int:
        """Steps since the gap last came down by that factor."""
        return self.steps - self._at[factor][0]

    def passes_since(self, factor: float, passes: float) -> float:
        """Passes since the gap last came down by that factor."""
        return passes - self._at[factor][1]


def _worth(certificate: Certificate) -> float:
    """The gap; infinite where numbers overflowed."""
    return certificate.gap if np.isfinite(certificate.gap) else np.inf


class _Solve:
    """One solve in progress. ``best`` is the point with the smallest gap that was certified."""

    def __init__(self, aim: Aim, legs: list[Leg], options: LinearOptions) -> None:
        self.aim, self.legs, self.options = aim, legs, options
        self.point = options.start or aim.zero
        self.begun = limits.now()
        end = float("inf") if options.time_limit is None else self.begun + options.time_limit
        self.last_moment = limits.last_moment(end, options.time_limit)
        self.status = Status.STALLED
        self.history: list[Progress] = []
        self.done = 0  # iterations of the legs before
        self.leg = legs[0]
        self.solver: Any = None
        self.best: tuple[Point, Certificate] | None = None
        self.overflowed = False

    def to_the_end(self, active: limits.Limits) -> None:
        """Sets: status, point, history and best."""
        for number, leg in enumerate(self.legs):
            active.deadline = self._deadline()
            self.leg = leg if number == 0 else leg._replace(reason=f"took over: {leg.reason}")
            try:
                self.solver = self.aim.make(leg, self.point)
                self.status = self._run(active, leg)
            except FloatingPointError:
                self.status, self.overflowed = Status.STALLED, True
            if self.status is not Status.STALLED:
                return
            self._certify(self.solver.point if self.solver is not None else self.point)
            if self._proved():
                self.status = Status.CONVERGED
                return
            self.point = self._start_of_next()
            if leg is not self.legs[-1] and self.solver is not None:
                self.done += self.solver.iterations
                self.solver = None

    def _start_of_next(self) -> Point:
        """The best point so far, unless it is worse than zero weights: a solver that diverged is no help."""
        assert self.best is not None
        point, proof = self.best
        return point if proof.primal < self.aim.at_zero else self.aim.zero

    def _run(self, active: limits.Limits, leg: Leg) -> Status:
        """Steps of one solver until it is done or something stops it. Sets: best."""
        solver, goal, attempts = self.solver, self.options.tol, 0
        most, pace = self._most_iterations(leg), _Pace(self.aim.passes())
        while True:
            if solver.gap <= goal:
                active.deadline = self.last_moment  # time for the certificate was set aside
                self._certify(solver.point)
                if self._proved() and (solver.gap == 0.0 or not self._goes_on(leg)):
                    return Status.CONVERGED
                if self._proved():
                    goal = 0.5 * solver.gap
                else:
                    attempts, goal = attempts + 1, TIGHTENED * goal
                    solver.refine(goal)
            pace.see(solver.gap, self.aim.passes())
            if solver.exhausted or attempts > ATTEMPTS or self._stalls(leg, pace):
                return Status.STALLED
            left = most - self.done - solver.iterations
            if left <= 0:
                return Status.ITERATION_LIMIT
            active.deadline = self._deadline()
            limits.checkpoint()
            solver.step(left)
            pace.steps += 1
            if self._watch():
                return Status.STOPPED

    def _stalls(self, leg: Leg, pace: _Pace) -> bool:
        """Whether further steps are not worth their time."""
        if self._proved() and pace.steps_since(HALF) >= PATIENT_STEPS:
            return True
        if pace.steps_since(SLIGHTLY) > IDLE_STEPS.get(leg.solver, np.inf):
            return True
        return pace.passes_since(TENTH, self.aim.passes()) > leg.patience

    def _certify(self, point: Point) -> None:
        """Sets: best, where this point proves more."""
        certificate = self.aim.certify(point)
        proves = not self._proved() and self.aim.short(certificate) <= self.options.tol
        if self.best is None or proves or _worth(certificate) < _worth(self.best[1]):
            self.best = point.copied(), certificate

    def _certify_late(self) -> None:
        """Of a solve that was stopped: the cancel flag no longer counts, and the deadline is the last moment.

        Sets: best.
        """
        with limits.unlimited():
            point = (
                self.solver.point if self.solver is not None else self.point
            )  # may read the rows; needed in any case
            try:
                with limits.limits(self.last_moment):
                    self._certify(point)
            except limits.OutOfTime:
                self.best = self.best or (point.copied(), unproved("time_limit left no time for the proof"))

    def _proved(self) -> bool:
        """Whether the best point has the gap that was asked for."""
        return self.best is not None and self.aim.short(self.best[1]) <= self.options.tol

    def _goes_on(self, leg: Leg) -> bool:
        """Small problems are cheap to solve to the end."""
        return self.aim.n <= SMALL_ROWS and leg.solver not in ("gd", "sgd")

    def _most_iterations(self, leg: Leg) -> float:
        if self.options.max_iter >= 0:
            return self.options.max_iter
        return UNPROMISING if leg.solver in ("gd", "sgd") else float("inf")

    def _deadline(self) -> float:
        """When to stop so that the certificate fits the time limit."""
        if self.options.time_limit is None:
            return float("inf")
        elapsed = limits.now() - self.begun
        reserve = self.aim.proof_seconds(elapsed)
        return self.begun + self.options.time_limit - min(reserve, 0.5 * self.options.time_limit)

    def _watch(self) -> bool:
        """Record progress and tell the watcher; True where it asks to stop."""
        solver = self.solver
        elapsed = limits.now() - self.begun
        seen = Progress(self.done + solver.iterations, elapsed, solver.gap, solver.objective)
        self.history.append(seen)
        return bool(self.options.watch(seen, lambda: solver.point.v)) if self.options.watch else False

    def solution(self) -> Solution:
        """The point that proves most, worked out now where that was still to be done."""
        status = self.status
        if status is not Status.CONVERGED:
            self._certify_late()
            if self._proved() and status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED):
                status = Status.CONVERGED
        assert self.best is not None
        point, certificate = self.best
        unbounded = not np.isfinite(certificate.primal) and not certificate.reason
        useless = self.overflowed and not self._proved() and certificate.primal >= self.aim.at_zero
        if unbounded or useless:
            raise ValueError(OVERFLOW)
        return Solution(
            point=point,
            status=status,
            certificate=certificate,
            trace=Trace(self.history),
            iterations=self.done + (self.solver.iterations if self.solver is not None else 0),
            solver=self.leg.solver,
            reason=self.leg.reason,
            passes=self.aim.passes(),
        )
