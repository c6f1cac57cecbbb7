"""Level 3: solvers know problems, never estimators. ``drive.run`` is the one loop that drives them."""

from __future__ import annotations

from typing import Any

from maxmargin.problems.box import BoxQP
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Solution
from maxmargin.solvers import choose, drive
from maxmargin.solvers.box.hard import solve_hard
from maxmargin.solvers.contract import Options, Stage
from maxmargin.solvers.linear.flat import flat_solution


def solve(problem: Any, options: Options | None = None, solver: str = "auto") -> Solution:
    """Solve ``problem`` to a proved ``tol``, or say how far it got.

    "auto" chooses solvers by the problem and hands over when one comes no further; a solver that is asked for by its
    name runs alone, or raises where it does not apply.
    """
    options = options or Options()
    stages = choose.choose(problem, solver)
    if isinstance(problem, BoxQP) and problem.hard:
        return solve_hard(problem, stages, options)
    flat = flat_solution(problem, options) if isinstance(problem, LinearProblem) else None
    return flat or drive.run(problem, stages, options)


__all__ = ["Options", "Stage", "solve"]
