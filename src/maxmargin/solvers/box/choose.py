"""Which solvers for the box QP, and for machines that are solved by a sequence of them, and why."""

from __future__ import annotations

from maxmargin.problems.box import BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.solvers.box.interior import InteriorPoint
from maxmargin.solvers.box.sequential import Sequential
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.contract import Solver, Stage

# Pair steps, for few rows at least and for each of many, in which the violation must halve, or interior points take
# over. Of 177 problems of 300 to 20,000 rows those that pairs end within a second or two seldom take 25 for a row, and
# those that take 40 mostly take hundreds; on few rows 40,000 are as long as interior points need for all.
HURRY, ROW_HURRY = 40_000, 40
WHOLE_ROWS = 2000  # of a matrix without low rank that interior points take over: 3 seconds

# Solvers that may be asked for by name.
NAMED: dict[str, type[Solver]] = {cls.name: cls for cls in (SMO, InteriorPoint)}


def curved_stages(problem: KernelProblem) -> list[Stage]:
    """Sequential quadratic programming."""
    return [Stage(Sequential, f"a curved conjugate, by quadratic models in chunks ({problem.n} rows)")]


def named(problem: BoxQP) -> dict[str, Stage]:
    """What each of them does alone."""
    return {name: Stage(cls) for name, cls in NAMED.items()}


def stages(problem: BoxQP) -> list[Stage]:
    """Sequential minimal optimisation; where that crawls, interior points; then pairs for the last digits.

    Interior points may find a matrix to be too large for them, and pairs then go on with all their patience. Small
    problems are theirs for sure, unless the kernel is indefinite.
    """
    pairs = Stage(SMO, f"kernel values in chunks ({problem.n} rows)")
    small = problem.n <= SMALL_ROWS
    if small and InteriorPoint.refuses(problem):
        return [pairs]
    hurried = pairs._replace(settings={"patience": max(HURRY, ROW_HURRY * problem.n)})
    interior = Stage(InteriorPoint, f"{SMO.name} made too little progress", settings={"whole_rows": WHOLE_ROWS})
    return [hurried, interior, (hurried if small else pairs)._replace(reason="the last digits")]
