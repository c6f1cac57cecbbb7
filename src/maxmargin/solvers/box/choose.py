"""Which solver for the box QP, and for machines that are solved by a sequence of them: there is one for each."""

from __future__ import annotations

from maxmargin.problems.box import BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.solvers.box.sequential import Sequential
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.contract import Stage


def stages(problem: BoxQP) -> list[Stage]:
    """Sequential minimal optimisation."""
    return [Stage(SMO, f"kernel values in chunks ({problem.n} rows)")]


def curved_stages(problem: KernelProblem) -> list[Stage]:
    """Sequential quadratic programming."""
    return [Stage(Sequential, f"a curved conjugate, by quadratic models in chunks ({problem.n} rows)")]


def named(problem: BoxQP) -> dict[str, Stage]:
    """Solvers that may be asked for, by their names."""
    return {SMO.name: Stage(SMO, "as asked for")}
