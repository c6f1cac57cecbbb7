"""Level 2: solvers know problems, never estimators. ``drive.run`` is the one loop that drives them."""

from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import Solution
from maxmargin.solvers.box.hard import solve_hard
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.drive import Options, run


def solve(problem: BoxQP, solver: SMO, options: Options | None = None) -> Solution:
    """Solve ``problem``: the point, how the solve ended, its certificate and its history."""
    return (solve_hard if problem.hard else run)(problem, solver, options or Options())


__all__ = ["SMO", "Options", "solve"]
