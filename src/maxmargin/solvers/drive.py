"""The one loop: it drives solvers within limits, from one to the next, records their history, and ends with a proof.

    start -> (step -> watch)* -> prove

A solver that thinks it is done is believed only when the certificate, recomputed from the point alone, agrees; if it
does not, the solver aims lower, or goes on from what the certificate worked out afresh.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.certificates.proof import prove
from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import (
    STOPS,
    Certificate,
    Point,
    Progress,
    Proof,
    Solution,
    Status,
    Trace,
    ended_by,
    unproved,
)
from maxmargin.solvers.contract import OVERFLOW, Options, Overflow, Problem, Refused, Solver, Stage
from maxmargin.solvers.pace import Pace

NEXT_AIM = 0.05  # of the optimality error: where a small problem, which goes on beyond tol, is proved next
ROUNDED = 2.0  # a gap of at most this many times what it holds of rounding cannot be lowered
TIGHTENED = 0.3  # of the goal, each time the certificate does not agree that it is met
ATTEMPTS = 8  # most of them
REFINEMENTS = 5  # the same for solvers that keep their goal and go on from scores worked out afresh
UNPROMISING = 1000  # steps of a solver that cannot promise tol: without a limit it would not end
MOST_RESERVE = 0.5  # of a time limit, set aside for the proof
NO_TIME = "time_limit left no time for the proof"


def run(problem: Problem, stages: list[Stage], options: Options) -> Solution:
    """Run the solvers of ``stages`` one after the other until ``tol`` is proved, or say how far they got."""
    # A solver whose numbers overflow raises Overflow, and the best point before that stays.
    with limits.limits() as active, blas_held(), np.errstate(over="ignore", invalid="ignore"):
        work = _Solve(problem, stages, options, _Clock(options.time_limit, active))
        try:
            work.run_stages()
        except STOPS as stop:
            work.status = ended_by(stop, options.keeps)
        return work.solution()


class _Clock:
    """The time that a solve has taken and may take. Proofs may go on until ``last_moment``."""

    def __init__(self, time_limit: float | None, active: limits.Limits) -> None:
        self.begun, self.active = limits.now(), active
        self.time_limit = math.inf if time_limit is None else time_limit
        self.end = self.begun + self.time_limit
        self.last_moment = limits.last_moment(self.end, time_limit)

    @property
    def elapsed(self) -> float:
        return limits.now() - self.begun

    @property
    def left(self) -> float:
        return self.end - limits.now()

    def reserve(self, seconds: float) -> None:
        """Work stops early enough for a proof of this many seconds. Sets: the deadline."""
        self.active.deadline = self.end - min(seconds, MOST_RESERVE * self.time_limit)

    def spend(self) -> None:
        """Time for the proof was set aside. Sets: the deadline."""
        self.active.deadline = self.last_moment


class _Best:
    """The proof that says most: first one within tol, then the smaller gap, then (gaps may not exist) violation."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.proof: Proof | None = None

    @property
    def proved(self) -> bool:
        """Whether it is within ``tol``."""
        return self.proof is not None and self._within(self.proof.certificate)

    def keep(self, proof: Proof) -> None:
        """Sets: proof, where this one says more. It is copied: solvers go on writing into their points and scores."""
        if self.proof is None or self._rank(proof.certificate) < self._rank(self.proof.certificate):
            scores = None if proof.scores is None else proof.scores.copy()
            self.proof = Proof(proof.point.copied(), proof.certificate, scores)

    def _within(self, certificate: Certificate) -> bool:
        return self.problem.optimality_error(certificate) <= self.tol

    def _rank(self, certificate: Certificate) -> tuple[bool, float, float]:
        return not self._within(certificate), *certificate.rank


class _Solve:
    """One solve in progress. The attributes from ``stage`` to ``unseen`` belong to the solver at work."""

    def __init__(self, problem: Problem, stages: list[Stage], options: Options, clock: _Clock) -> None:
        self.problem, self.stages, self.options, self.clock = problem, stages, options, clock
        self.status = Status.STALLED
        self.history: list[Progress] = []
        self.best = _Best(problem, options.tol)
        self.done = 0  # iterations of the stages before
        self.overflowed = False
        self._at_zero: float | None = None
        self.start = problem.start(options.start)
        self._begin(stages[0])

    def _begin(self, stage: Stage) -> None:
        """Sets: what belongs to the solver at work."""
        self.stage = stage
        self.solver: Solver | None = None
        self.aim = math.inf  # a goal below that of the solver itself
        self.attempts, self.refined_at = 0, -1
        self.unseen = True  # whether the point has changed since it was last proved

    def run_stages(self) -> None:
        """One solver after the other, until one ends the solve. Sets: status, history and best."""
        for number, stage in enumerate(self.stages):
            self._begin(stage if number == 0 else stage._replace(reason=f"took over: {stage.reason}"))
            self._set_time_aside()
            try:
                self.solver = stage.solver(self.problem, self.start, self.options, **stage.settings)
                self.status = self._run(self.solver)
            except Refused:
                if number + 1 == len(self.stages):
                    raise
                continue
            except Overflow:
                self.status, self.overflowed = Status.STALLED, True
            if self.status is not Status.STALLED or self._ends_stalled():
                return
            if number + 1 < len(self.stages):
                self.start = self._start_of_next()
                self.done += self.solver.iterations if self.solver else 0

    def _ends_stalled(self) -> bool:
        """Whether a solver that came no further leaves nothing to do for the next. Sets: best, status."""
        if self.unseen:
            self._prove()
        if self.best.proved:
            self.status = Status.CONVERGED
        elif self.clock.left < 0.0:
            self.status = Status.TIME_LIMIT
        return self.status is not Status.STALLED

    def _start_of_next(self) -> Point:
        """The best point so far, unless it is worse than zero weights: a solver that diverged is no help."""
        assert self.best.proof is not None
        point, certificate, _ = self.best.proof
        return point if certificate.primal < self._primal_at_zero() else self.problem.start()

    def _primal_at_zero(self) -> float:
        if self._at_zero is None:
            self._at_zero = prove(self.problem, self.problem.start()).certificate.primal
        return self._at_zero

    def _run(self, solver: Solver) -> Status:
        """Steps of one solver until it is done or something stops it. Sets: best, history."""
        if not self.history and self._watch(solver):
            return Status.STOPPED
        pace = Pace(self.problem.passes, solver.idle_steps, self.stage.patience)
        while True:
            if solver.optimality_error <= self._goal(solver) or solver.exhausted:
                ended = self._judge(solver)
                if ended:
                    return ended
            pace.see(solver.optimality_error, self.problem.passes)
            if pace.too_slow or (self.best.proved and pace.settled):
                return Status.STALLED
            left = self._most_iterations(solver) - self.done - solver.iterations
            if left <= 0:
                return Status.ITERATION_LIMIT
            self._set_time_aside()
            limits.checkpoint()
            self.unseen = True
            solver.step(left)
            pace.steps += 1
            if self._watch(solver):
                return Status.STOPPED

    def _judge(self, solver: Solver) -> Status | None:
        """How a solver that thinks it is done ends; None where it is to go on. Sets: best, aim."""
        met = solver.optimality_error <= self._goal(solver)
        proof = self._prove()
        if self.best.proved:
            if not self._goes_on(solver) or self._is_rounding(proof.certificate):
                return Status.CONVERGED
            self.aim = NEXT_AIM * solver.optimality_error
            return None
        if met or solver.refinable:
            return self._refine(solver, proof)
        return Status.STALLED

    def _refine(self, solver: Solver, proof: Proof) -> Status | None:
        """The certificate did not agree. Sets: aim, attempts, refined_at."""
        if self.attempts == (REFINEMENTS if solver.refinable else ATTEMPTS):
            return Status.STALLED
        if solver.refinable and solver.iterations == self.refined_at:
            return Status.STALLED  # the same point again: further rounds would only repeat its proof
        self.attempts, self.refined_at, self.unseen = self.attempts + 1, solver.iterations, True
        if solver.refinable:
            solver.refine(self._goal(solver), proof)
            ended = solver.exhausted or solver.optimality_error <= self._goal(solver)
            return Status.STALLED if ended else None
        self.aim = TIGHTENED * self._goal(solver)
        solver.refine(self.aim, proof)
        return Status.STALLED if solver.exhausted else None

    def _goal(self, solver: Solver) -> float:
        return min(self.aim, solver.goal)

    def _goes_on(self, solver: Solver) -> bool:
        """Small problems are cheap to solve to the end."""
        asked = self.options.to_the_end
        small = self.problem.n <= SMALL_ROWS if asked is None else asked
        able = solver.exact and not solver.finishes and not solver.exhausted
        return small and able and solver.optimality_error > 0.0

    def _is_rounding(self, certificate: Certificate) -> bool:
        """Whether what is held against tol is the gap, and that cannot be lowered."""
        judged_by_gap = self.problem.optimality_error(certificate) == certificate.relative_gap
        return judged_by_gap and certificate.gap <= ROUNDED * certificate.rounding

    def _most_iterations(self, solver: Solver) -> float:
        if self.options.max_iter >= 0:
            return self.options.max_iter
        return math.inf if solver.exact else UNPROMISING

    def _point(self) -> Point:
        return self.start if self.solver is None else self.solver.point

    def _prove(self) -> Proof:
        """The proof of the present point. Sets: best, unseen."""
        self.clock.spend()
        proof = prove(self.problem, self._point(), seconds=self.clock.left)
        self.best.keep(proof)
        self.unseen = False
        return proof

    def _prove_late(self) -> None:
        """Of a solve that was stopped: the cancel flag no longer counts, and the deadline is the last moment.

        Sets: best.
        """
        with limits.unlimited():
            point = self._point()  # may read the rows; needed in any case
            try:
                with limits.limits(self.clock.last_moment):
                    self.best.keep(prove(self.problem, point, seconds=0.0))
            except limits.OutOfTime:
                if self.best.proof is None:
                    self.best.keep(Proof(point, unproved(NO_TIME, bias=self.problem.bias_of(point))))

    def _set_time_aside(self) -> None:
        """Stop early enough for the proof."""
        if self.clock.end < math.inf:
            self.clock.reserve(self.problem.proof_seconds(self._point, self.clock.elapsed))

    def _watch(self, solver: Solver) -> bool:
        """Record progress and tell the watcher; True where it asks to stop."""
        iterations = self.done + solver.iterations
        seen = Progress(iterations, self.clock.elapsed, solver.optimality_error, solver.objective)
        self.history.append(seen)
        watch = self.options.watch
        return bool(watch(seen, lambda: solver.point)) if watch else False

    def solution(self) -> Solution:
        """The point that proves most, worked out now where that was still to be done."""
        status = self.status
        if self.unseen:
            self._prove_late()
        if self.best.proved and status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED):
            status = Status.CONVERGED  # small problems go on beyond tol; what was asked for is there
        assert self.best.proof is not None
        point, certificate, scores = self.best.proof
        if self._is_useless(certificate):
            raise ValueError(OVERFLOW)
        return Solution(
            point=point,
            status=status,
            certificate=certificate,
            trace=Trace(self.history),
            iterations=self.done + (self.solver.iterations if self.solver else 0),
            solver=self.stage.solver.name,
            reason=self.stage.reason,
            passes=self.problem.passes,
            scores=scores,
        )

    def _is_useless(self, certificate: Certificate) -> bool:
        """Whether numbers that overflowed left nothing better than zero weights."""
        if not math.isfinite(certificate.primal) and not certificate.reason:
            return True
        if not self.overflowed or self.best.proved:
            return False
        with limits.unlimited():
            return certificate.primal >= self._primal_at_zero()
