"""The one loop: it drives a solver within limits, records its history, and ends with a proof.

    start -> (step -> watch)* -> certify

A solver that thinks it is done is believed only when the certificate, recomputed from the point alone, agrees; if it
does not, the solver goes on from the recomputed scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from maxmargin.certificates.box import evaluate, feasible_point, split_bias
from maxmargin.certificates.kkt import bias_and_violation
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import Certificate, Point, Progress, Solution, Status, Trace, unproved
from maxmargin.solvers.box.smo import SMO, State

REFINEMENTS = 5
REFRESHED_ROWS = 4096  # rows that the certificate of a solve which was stopped recomputes in float64
TOLERATED = 1.0 + 1e-6  # the certificate's violation may exceed tol by its own rounding

Watch = Callable[[Progress, State], bool | None]


@dataclass(frozen=True)
class Options:
    """How far a solve may go and who watches.

    ``watch(progress, state)`` is called after every step and stops the solve by returning True. The time limit covers
    the certificate too: the solver is stopped early enough for it. With ``interrupt="keep"`` Ctrl-C ends the solve
    with its best point instead of raising.
    """

    guess: Array | None = None
    max_iter: int = -1
    time_limit: float | None = None
    watch: Watch | None = None
    interrupt: Literal["raise", "keep"] = "raise"


def run(problem: BoxQP, solver: SMO, options: Options) -> Solution:
    """Drive ``solver`` on ``problem`` to its end or to a limit."""
    work = _Run(problem, solver, options)
    with limits.limits() as active:
        try:
            work.to_the_end(active)
        except limits.OutOfTime:
            work.status = Status.TIME_LIMIT
        except (KeyboardInterrupt, limits.Cancelled):
            if options.interrupt == "raise":
                raise
            work.status = Status.INTERRUPTED
            active.cancel.set()  # the other problems of the same fit end too
    return work.solution()


class _Run:
    """One solve in progress."""

    def __init__(self, problem: BoxQP, solver: SMO, options: Options) -> None:
        self.problem, self.solver, self.watch = problem, solver, options.watch
        # Until the solver has a state of its own:
        self.beta = np.zeros(problem.n) if options.guess is None else options.guess
        self.max_iter = float("inf") if options.max_iter < 0 else options.max_iter
        self.begun = limits.now()
        self.end = float("inf") if options.time_limit is None else self.begun + options.time_limit
        self.last_moment = limits.last_moment(self.end, options.time_limit)
        self.state: State | None = None
        self.status = Status.CONVERGED
        self.history: list[Progress] = []
        self.iterations = 0
        self.certificate: Certificate | None = None

    def to_the_end(self, active: limits.Limits) -> None:
        """Sets: status, beta, history and, unless stopped first, certificate."""
        active.deadline = self._deadline()
        self.state = state = self.solver.start(self.problem, self.beta)
        self.beta = state.beta
        if self._watch(state):
            self.status = Status.STOPPED
            return
        for _ in range(1 + REFINEMENTS):
            before = state.iterations
            self._run_steps(state, active)
            if self.status is not Status.CONVERGED:
                return
            active.deadline = self.last_moment  # time for the certificate was set aside
            state.beta = self.beta = feasible_point(self.problem, state.beta)
            certificate, scores = evaluate(self.problem, state.beta, refreshed=self._affordable_rows())
            if certificate.violation <= self.solver.tol * TOLERATED:
                self.certificate = certificate
                return
            if state.iterations == before and self.history[-1].iteration:
                break  # the same point again: further rounds would only repeat its certificate
            state = self.solver.restart(self.problem, state, scores)
        self.status = Status.TIME_LIMIT if limits.now() > self.end else Status.STALLED

    def _run_steps(self, state: State, active: limits.Limits) -> None:
        """Steps until the solver is done or something stops it. Sets: status."""
        while state.violation > self.solver.goal(self.problem, state) and not state.exhausted:
            if state.iterations >= self.max_iter:
                self.status = Status.ITERATION_LIMIT
                return
            active.deadline = self._deadline()
            limits.checkpoint()
            self.solver.step(self.problem, state, self.max_iter - state.iterations)
            if self._watch(state):
                self.status = Status.STOPPED
                return

    def _deadline(self) -> float:
        """When to stop so that the certificate still fits the time limit."""
        if self.end == float("inf"):
            return self.end
        support = int(np.count_nonzero(self.beta))
        gram = self.problem.gram
        return self.end - gram.certificate_seconds(support, min(REFRESHED_ROWS, self.problem.n))

    def _affordable_rows(self) -> float:
        """How many rows the time that is left lets the certificate recompute, but always some."""
        if self.end == float("inf"):
            return self.end
        support, gram = int(np.count_nonzero(self.beta)), self.problem.gram
        least = gram.certificate_seconds(support, 0)
        each = gram.certificate_seconds(support, 1) - least
        return max(float(REFRESHED_ROWS), (self.end - limits.now() - least) / each if each > 0 else float("inf"))

    def _watch(self, state: State) -> bool:
        """Record progress and tell the watcher; True where it asks to stop. Sets: iterations."""
        self.iterations = state.iterations
        seen = Progress(state.iterations, limits.now() - self.begun, state.violation, state.objective)
        self.history.append(seen)
        return bool(self.watch(seen, state)) if self.watch else False

    def solution(self) -> Solution:
        """The best point with its proof, worked out now where that was still to be done."""
        certificate, status = self.certificate, self.status
        if certificate is None:
            self.beta = feasible_point(self.problem, self.beta)
            certificate = self._late_proof()
        within = certificate.violation <= self.solver.tol * TOLERATED
        if within and status in (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED):
            status = Status.CONVERGED  # small problems go on beyond tol; what was asked for is there
        return Solution(
            Point(beta=self.beta), status, certificate, Trace(self.history), self.iterations, "smo", "", 0.0
        )

    def _late_proof(self) -> Certificate:
        """Of a solve that was stopped: the cancel flag no longer counts, and the deadline is the last moment."""
        with limits.unlimited(), limits.limits(self.last_moment):
            try:
                return evaluate(self.problem, self.beta, refreshed=REFRESHED_ROWS)[0]
            except limits.OutOfTime:
                return unproved("time_limit left no time for the proof", self._bias_of_solver())

    def _bias_of_solver(self) -> float:
        """The bias that belongs to the gradient as the solver has it, not recomputed."""
        bias = 0.0 if self.state is None else bias_and_violation(self.problem, self.beta, self.state.v)[0]
        return split_bias(self.problem, self.beta, bias, 0.0)[0]
