"""Which solver for the box QP: there is one."""

from __future__ import annotations

from maxmargin.problems.box import BoxQP
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.contract import Stage


def stages(problem: BoxQP) -> list[Stage]:
    """Sequential minimal optimisation."""
    return [Stage(SMO, f"kernel values in chunks ({problem.n} rows)")]


def named(problem: BoxQP) -> dict[str, Stage]:
    """Solvers that may be asked for, by their names."""
    return {SMO.name: Stage(SMO, "as asked for")}
