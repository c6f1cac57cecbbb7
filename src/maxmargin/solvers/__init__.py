"""Level 2: solvers know problems, never estimators. ``drive.run`` is the one loop that drives them."""

from maxmargin.core.problem import BoxQP
from maxmargin.core.solution import Solution
from maxmargin.solvers.drive import Options, run
from maxmargin.solvers.dual.smo import SMO
from maxmargin.solvers.hard import solve_hard


def solve(problem: BoxQP, solver: SMO, options: Options | None = None) -> Solution:
    """Solve ``problem``: the point, how the solve ended, its certificate and its history."""
    return (solve_hard if problem.hard else run)(problem, solver, options or Options())


__all__ = ["SMO", "Options", "solve"]
