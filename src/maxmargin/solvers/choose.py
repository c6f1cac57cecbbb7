"""Which solvers for which problem: each family knows its own (``box.choose``, ``linear.choose``, ``joint.choose``)."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from maxmargin.problems.box import BoxQP
from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.linear import LinearProblem
from maxmargin.solvers.box import choose as box
from maxmargin.solvers.contract import Solver, SolverChoice, Stage, refused
from maxmargin.solvers.joint import choose as joint
from maxmargin.solvers.linear import choose as linear


@singledispatch
def stages(problem: Any) -> list[Stage]:
    """The solvers to run one after the other, as the problem's family thinks best."""
    raise TypeError(f"There is no solver for a problem of type {type(problem).__name__}.")


@singledispatch
def named(problem: Any) -> dict[str, Stage]:
    """Solvers of the problem's family that may be asked for, by their names."""
    return {}


stages.register(BoxQP, box.stages)
stages.register(KernelProblem, box.curved_stages)
stages.register(LinearProblem, linear.stages)
stages.register(LinearJoint, joint.linear_stages)
stages.register(KernelJoint, joint.kernel_stages)
named.register(BoxQP, box.named)
named.register(LinearProblem, linear.named)
named.register(LinearJoint, joint.named)


def choose(problem: Any, solver: SolverChoice = "auto") -> list[Stage]:
    """The solvers to run one after the other. A solver that was asked for runs alone, or raises."""
    if solver == "auto":
        return stages(problem)
    stage = _stage(problem, solver)
    refusal = stage.solver.refuses(problem)
    if refusal:
        raise refused(stage.solver.name, refusal)
    return [stage]


def _stage(problem: Any, solver: SolverChoice) -> Stage:
    if isinstance(solver, Stage):
        return solver
    if isinstance(solver, type) and issubclass(solver, Solver):
        return Stage(solver)
    known = named(problem)
    if isinstance(solver, str) and solver in known:
        return known[solver]
    listed = " or ".join(map(repr, ["auto", *known]))
    what = solver if isinstance(solver, str) else f"{type(solver).__name__} object"
    raise refused(what, f"this problem is solved by {listed}, or by a class of yours that follows solvers.Solver.")
