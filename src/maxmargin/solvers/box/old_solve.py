"""The old loop on box QPs, by the options of the new one."""

from __future__ import annotations

from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import Point, Progress, Solution
from maxmargin.solvers import contract
from maxmargin.solvers.box.hard import solve_hard
from maxmargin.solvers.box.old_drive import Options, run
from maxmargin.solvers.box.smo import CHUNK, SMO, State


def solve(problem: BoxQP, solver: SMO, options: Options | None = None) -> Solution:
    """Solve ``problem``: the point, how the solve ended, its certificate and its history."""
    return (solve_hard if problem.hard else run)(problem, solver, options or Options())


def solve_box(problem: BoxQP, options: contract.Options) -> Solution:
    """The same with the options of all solvers."""
    solver = SMO(options.tol, options.shrinking, options.order, options.working_rows or CHUNK, options.to_the_end)
    watch = options.watch

    def told(seen: Progress, state: State) -> bool | None:
        return watch(seen, lambda: Point(beta=state.beta)) if watch else None

    guess = None if options.start is None else options.start.beta
    return solve(problem, solver, Options(guess, options.max_iter, options.time_limit, told, options.interrupt))
