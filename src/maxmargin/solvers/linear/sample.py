"""A start for second-order solvers: the solution of a sample of the rows.

Without weights to start from, the problem of every 16th row at 16 times its cost is solved first, and before it in the
same way that of every 256th row. Its weights are as near to those of all rows as a sample can be, and what remains is a
few steps over all rows: on covtype 2 to 5 instead of 6 to 10 of Newton's method, 10 to 12 instead of 13 to 19 of the
augmented Lagrangian. With few rows for each weight the sample's solution is no better a start than zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from maxmargin.core import limits
from maxmargin.core.rows import take_rows
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point
from maxmargin.solvers.contract import Options, Solver

SPREAD = 16  # one row of so many is in the sample
LEAST_ROWS = 1024  # of a sample: fewer are not worth the fixed cost of its steps
CLOSE = 1e-3  # relative gap of the sample's solution: its distance to that of all rows is larger
MOST_STEPS = 60  # that a start may take

AnySolver = TypeVar("AnySolver", bound=Solver)


def large_enough(problem: LinearProblem, rows_a_weight: float) -> bool:
    """Whether a sample has so many rows for each weight, and is worth its steps."""
    return problem.n // SPREAD >= max(LEAST_ROWS, rows_a_weight * problem.d)


def solved_sample(solver: type[AnySolver], problem: LinearProblem, options: Options) -> AnySolver:
    """The solver at the end of its work on the sample, which has about the objective of all rows."""
    rows, whole = np.arange(SPREAD // 2, problem.n, SPREAD), problem.design
    design = Design(take_rows(whole.rows, rows), whole.scale, whole.n_jobs)
    sample = replace(problem, design=design, y=problem.y[rows], costs=SPREAD * problem.costs[rows])
    work = solver(sample, Point(np.zeros(sample.d)), options)
    while work.optimality_error > CLOSE and work.iterations < MOST_STEPS and not work.exhausted:
        limits.checkpoint()
        work.step(MOST_STEPS - work.iterations)
    whole.passes += design.passes * design.n / whole.n
    return work
