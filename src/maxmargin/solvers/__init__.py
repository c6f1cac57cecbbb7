"""Level 3: solvers know problems, never estimators. ``drive.run`` is the one loop that drives them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from maxmargin.problems.box import BoxQP
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Solution
from maxmargin.solvers import choose, drive
from maxmargin.solvers.box.hard import solve_hard
from maxmargin.solvers.contract import Options, Solver, SolverChoice, Stage
from maxmargin.solvers.linear.flat import flat_solution
from maxmargin.solvers.small.box import small_solution
from maxmargin.solvers.small.linear import narrow_solution
from maxmargin.solvers.small.rough import rough_solution

if TYPE_CHECKING:
    from maxmargin.solvers.external.clarabel import Clarabel as Clarabel
    from maxmargin.solvers.external.osqp import OSQP as OSQP

_EXTERNAL = {"Clarabel": "maxmargin.solvers.external.clarabel", "OSQP": "maxmargin.solvers.external.osqp"}


def solve(problem: Any, options: Options | None = None, solver: SolverChoice = "auto") -> Solution:
    """Solve ``problem`` to a proved ``tol``, or say how far it got.

    "auto" chooses solvers by the problem and hands over when one comes no further. A solver that is asked for runs
    alone, or raises where it does not apply: by its name, as a class that follows ``Solver``, yours or one of other
    packages (``Clarabel``, ``OSQP``), or as a ``Stage`` of such a class with settings.
    """
    options = options or Options()
    stages = choose.choose(problem, solver)
    if isinstance(problem, BoxQP) and problem.hard:
        return solve_hard(problem, stages, options)
    return _at_once(problem, options, solver == "auto") or drive.run(problem, stages, options)


def _at_once(problem: Any, options: Options, chosen: bool) -> Solution | None:
    """The solution of a problem that needs no loop; small ones only where the solver may be ``chosen``."""
    if isinstance(problem, LinearProblem):
        return flat_solution(problem, options) or (narrow_solution(problem, options) if chosen else None)
    if not (chosen and isinstance(problem, BoxQP)):
        return None
    return small_solution(problem, options) or rough_solution(problem, options)


def __getattr__(name: str) -> Any:
    if name not in _EXTERNAL:
        raise AttributeError(f"module 'maxmargin.solvers' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXTERNAL[name]), name)


__all__ = ["OSQP", "Clarabel", "Options", "Solver", "Stage", "solve"]
