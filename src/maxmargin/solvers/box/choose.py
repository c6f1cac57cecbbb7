"""Which solver for the box QP: there is one."""

from __future__ import annotations

from maxmargin.problems.box import BoxQP
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.contract import Leg


def legs(problem: BoxQP) -> list[Leg]:
    """Sequential minimal optimisation."""
    return [Leg(SMO, f"kernel values in chunks ({problem.n} rows)")]


def named(problem: BoxQP) -> dict[str, Leg]:
    """Solvers that may be asked for, by their names."""
    return {SMO.name: Leg(SMO, "as asked for")}
