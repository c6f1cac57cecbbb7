"""Level 2: solvers know problems, never estimators. ``drive.run`` is the one loop that drives them."""

from __future__ import annotations

from typing import Literal

from maxmargin.core.problem import BoxQP
from maxmargin.core.rows import Array
from maxmargin.core.solution import Solution
from maxmargin.solvers.drive import Watch, run
from maxmargin.solvers.dual.smo import SMO
from maxmargin.solvers.hard import solve_hard


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
    method = solve_hard if problem.hard else run
    return method(
        problem, solver, guess=guess, max_iter=max_iter, time_limit=time_limit, watch=watch, interrupt=interrupt
    )


__all__ = ["SMO", "solve"]
