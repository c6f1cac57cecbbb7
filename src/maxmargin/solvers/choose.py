"""Which solvers for which problem: each family knows its own (``box.choose``, ``linear.choose``, ``joint.choose``)."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from maxmargin.problems.box import BoxQP
from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.linear import LinearProblem
from maxmargin.solvers.box import choose as box
from maxmargin.solvers.contract import Stage
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


def choose(problem: Any, solver: str = "auto") -> list[Stage]:
    """The solvers to run one after the other. A solver that was asked for runs alone, or raises."""
    if solver == "auto":
        return stages(problem)
    stage = named(problem).get(solver)
    refusal = stage.solver.refuses(problem) if stage else f"this problem is solved by {_listed(list(named(problem)))}."
    if refusal or stage is None:
        raise ValueError(f"solver={solver!r} cannot be used here: {refusal}")
    return [stage]


def _listed(names: list[str]) -> str:
    return " or ".join(map(repr, ["auto", *names]))
