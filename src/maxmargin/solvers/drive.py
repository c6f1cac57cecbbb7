"""The one loop: it drives a solver within limits, records its history, and ends with a proof.

    start -> (step -> watch)* -> certify

A solver that thinks it is done is believed only when the certificate, recomputed from the point alone, agrees; if it
does not, the solver goes on from the recomputed scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from maxmargin.certificates.gap import evaluate
from maxmargin.certificates.separation import separates
from maxmargin.core import limits
from maxmargin.core.problem import BoxQP
from maxmargin.core.rows import Array
from maxmargin.core.solution import Certificate, Progress, Solution, Status, Trace
from maxmargin.solvers.dual.smo import SMO, State

REFINEMENTS = 5
TOLERATED = 1.0 + 1e-6  # the certificate's violation may exceed tol by its own rounding

Watch = Callable[[Progress, State], bool | None]


def solve(
    problem: BoxQP,
    solver: SMO,
    *,
    guess: Array | None = None,
    max_iter: int = -1,
    time_limit: float | None = None,
    watch: Watch | None = None,
    interrupt: Literal["raise", "keep"] = "raise",
) -> Solution:
    """Solve ``problem``: the point, how the solve ended, its certificate and its history.

    ``watch(progress, state)`` is called after every step and stops the solve by returning True. The time limit covers
    the certificate too: the solver is stopped early enough for it. With ``interrupt="keep"`` Ctrl-C ends the solve
    with its best point instead of raising.
    """
    run = _Run(problem, solver, max_iter, time_limit, watch)
    with limits.limits() as active:
        try:
            run.to_the_end(guess, active)
        except limits.OutOfTime:
            run.status = Status.TIME_LIMIT
        except (KeyboardInterrupt, limits.Cancelled):
            if interrupt == "raise":
                raise
            run.status = Status.INTERRUPTED
            active.cancel.set()  # the other problems of the same fit end too
    return run.solution()


class _Run:
    """One solve in progress."""

    def __init__(
        self, problem: BoxQP, solver: SMO, max_iter: int, time_limit: float | None, watch: Watch | None
    ) -> None:
        self.problem, self.solver, self.watch = problem, solver, watch
        self.max_iter = float("inf") if max_iter < 0 else max_iter
        self.begun = time.monotonic()
        self.end = self.begun + time_limit if time_limit is not None else float("inf")
        self.status = Status.CONVERGED
        self.history: list[Progress] = []
        self.state: State | None = None
        self.certificate: Certificate | None = None

    def to_the_end(self, guess: Array | None, active: limits.Limits) -> None:
        """Sets: status, state, history and, unless stopped first, certificate."""
        self.state = state = self.solver.start(self.problem, guess)
        self._watch()
        for _ in range(1 + REFINEMENTS):
            self._run_steps(state, active)
            if self.status is not Status.CONVERGED:
                return
            active.deadline = float("inf")  # time for the certificate was set aside
            certificate, scores = evaluate(self.problem, state.beta)
            if certificate.violation <= self.solver.tol * TOLERATED:
                self.certificate = certificate
                return
            state = self.solver.restart(self.problem, state, scores)
        self.status = Status.STALLED

    def _run_steps(self, state: State, active: limits.Limits) -> None:
        """Steps until the solver is done or something stops it. Sets: status."""
        while state.violation > self.solver.goal(self.problem, state) and not state.exhausted:
            if state.iterations >= self.max_iter:
                self.status = Status.ITERATION_LIMIT
                return
            active.deadline = self.end - self._certificate_seconds(state)
            limits.checkpoint()
            self.solver.step(self.problem, state, self.max_iter - state.iterations)
            if self._watch():
                self.status = Status.STOPPED
                return
            if self.problem.hard and self._inseparable(state):
                self.status = Status.INFEASIBLE
                return

    def _certificate_seconds(self, state: State) -> float:
        if self.end == float("inf"):
            return 0.0
        return self.problem.gram.certificate_seconds(int((state.beta != 0).sum()))

    def _inseparable(self, state: State) -> bool:
        scores = self.problem.p - state.v - self.problem.ridge * state.beta
        if separates(self.problem, state.beta, scores):
            return False
        exact, _ = self.problem.gram.scores(state.beta, exact=True)
        return not separates(self.problem, state.beta, exact)

    def _watch(self) -> bool:
        """Record progress and tell the watcher; True where it asks to stop."""
        state, problem = self.state, self.problem
        assert state is not None
        # D = p'beta - 1/2 beta'(K + R) beta = 1/2 (p + v)'beta
        objective = 0.5 * float((problem.p + state.v) @ state.beta)
        seen = Progress(state.iterations, time.monotonic() - self.begun, state.violation, objective)
        self.history.append(seen)
        return bool(self.watch(seen, state)) if self.watch else False

    def solution(self) -> Solution:
        """The best point with its proof, worked out without limits where that was still to be done."""
        if self.state is None:  # stopped while the start was being worked out
            self.state = self.solver.start(self.problem)
        if self.certificate is None:
            with limits.unlimited():
                self.certificate, _ = evaluate(self.problem, self.state.beta)
        return Solution(self.state.beta, self.status, self.certificate, Trace(self.history), self.state.iterations)
