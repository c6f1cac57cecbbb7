"""A start for second-order solvers: the solution of a sample of the rows.

Without weights to start from, the problem of every 17th row at 17 times its cost is solved first, and before it in the
same way that of every 289th row. Its weights are as near to those of all rows as a sample can be, and what remains is a
few steps over all rows: on covtype 2 to 5 instead of 6 to 10 of Newton's method, 10 to 12 instead of 13 to 19 of the
augmented Lagrangian. With few rows for each weight the sample's solution is no better a start than zero, and a sample
that is not solved (of one class, say, whose logistic loss has no best bias) is none at all.

These steps are not counted, and nobody watches them; where steps are limited to fewer than they may be, there is no
sample.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from maxmargin.core import limits
from maxmargin.solvers.contract import Options, Overflow, Solver

SPREAD = 17  # every 17th row is in the sample: an odd number, because classes often alternate
LEAST_ROWS = 1024  # of a sample: fewer are not worth the fixed cost of its steps
# Relative gap at which the sample is solved: that, or this share of what its solution is off by for its few rows, which
# is as much as it has weights for each row (w8a: 0.015).
CLOSE, OFF, FAR = 1e-3, 0.1, 0.1  # and at most the last of these
MOST_STEPS = 60  # that a start may take

AnySolver = TypeVar("AnySolver", bound=Solver)


def large_enough(problem: Any, rows_a_weight: float, least_rows: int | None = None) -> bool:
    """Whether a sample has this many rows for each weight, and is worth its steps."""
    return problem.n // SPREAD >= max(least_rows or LEAST_ROWS, rows_a_weight * problem.n_weights)


def solved_sample(solver: type[AnySolver], problem: Any, options: Options) -> AnySolver | None:
    """The solver at the end of its work on the sample, which has about the objective of all rows.

    None where that is not solved, or may not be tried.
    """
    if 0 <= options.max_iter < MOST_STEPS:
        return None
    rows, whole = np.arange(SPREAD // 2, problem.n, SPREAD), problem.design
    sample = problem.thinned(rows, SPREAD)
    close = min(max(CLOSE, OFF * sample.n_weights / len(rows)), FAR)
    try:
        work = solver(sample, sample.start(), replace(options, tol=close))
        while work.optimality_error > close and work.iterations < MOST_STEPS and not work.exhausted:
            limits.checkpoint()
            work.step(MOST_STEPS - work.iterations)
    except Overflow:
        return None
    finally:
        whole.passes += sample.design.passes * sample.n / whole.n
    return work if work.optimality_error <= close else None
