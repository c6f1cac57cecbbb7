"""One way to solve all families of problems."""

from __future__ import annotations

from typing import Any

from maxmargin import solvers
from maxmargin.certificates import bias_and_violation, feasible_point
from maxmargin.problems.box import BoxQP
from maxmargin.problems.joint import JointProblem, KernelJoint
from maxmargin.problems.solution import Point, Progress, Solution
from maxmargin.solvers.box.smo import CHUNK, SMO, State
from maxmargin.solvers.contract import Options
from maxmargin.solvers.joint.solve import solve_joint
from maxmargin.solvers.linear.solve import solve_linear
from maxmargin.solvers.pursuit import LinearOptions


def solve(problem: Any, options: Options, solver: str = "auto") -> Solution:
    """Solve ``problem``: the point, how the solve ended, its certificate and its history."""
    if isinstance(problem, BoxQP):
        return _solve_box(problem, options)
    wrapped = LinearOptions(
        tol=options.tol,
        start=options.start,
        max_iter=options.max_iter,
        time_limit=options.time_limit,
        watch=lambda seen, weights: _watched(problem, options, seen, weights),
        interrupt=options.interrupt,
        seed=options.seed,
    )
    if isinstance(problem, JointProblem):
        return solve_joint(problem, wrapped, solver)
    return solve_linear(problem, solver, wrapped)


def _watched(problem: Any, options: Options, seen: Progress, weights: Any) -> bool:
    def point() -> Point:
        return Point(beta=weights()) if isinstance(problem, KernelJoint) else Point(v=weights())

    return bool(options.watch(seen, point)) if options.watch else False


def _solve_box(problem: BoxQP, options: Options) -> Solution:
    def watch(seen: Progress, state: State) -> bool:
        def point() -> Point:
            return Point(beta=state.beta, biases=[bias_and_violation(problem, state.beta, state.v)[0]])

        return bool(options.watch(seen, point)) if options.watch else False

    driven = solvers.Options(
        guess=None if options.start is None else feasible_point(problem, options.start.beta),
        max_iter=options.max_iter,
        time_limit=options.time_limit,
        watch=watch,
        interrupt=options.interrupt,
    )
    chunk = options.working_rows or CHUNK
    smo = SMO(options.tol, options.shrinking, options.order, chunk, precise=options.to_the_end)
    return solvers.solve(problem, smo, driven)
