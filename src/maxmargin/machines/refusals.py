"""Errors that only the kernel matrix, or a solution on it, can tell of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.certificates import hull_distance
from maxmargin.core.rows import NO_ROWS
from maxmargin.kernels.base import Kernel
from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import Solution, Status


def refuse_asymmetric(gram: Any, kernel: Kernel) -> None:
    """An error where K(x, z) is not K(z, x)."""
    if not gram.definiteness(NO_ROWS).symmetric:
        raise ValueError(
            f"The kernel matrix of {kernel!r} is not symmetric, so it is no kernel: K(x, z) must equal "
            "K(z, x). Average it with its transpose, or mend the function."
        )


def refuse_indefinite_hard_margin(gram: Any, kernel: Kernel) -> None:
    """The hard margin has no dual without Mercer's condition."""
    if not gram.definiteness(NO_ROWS).definite:
        raise ValueError(
            f"The hard margin (C = infinity) needs a positive semidefinite kernel, and the Gram matrix of "
            f"{kernel!r} on these rows is not. Use a finite C or another kernel; see maxmargin.mercer."
        )


def refuse_indefinite_joint(gram: Any, kernel: Kernel) -> None:
    """Joint machines are solved on positive semidefinite matrices only."""
    found = gram.definiteness(NO_ROWS)
    if not found.definite:
        raise ValueError(
            f"A joint machine needs a positive semidefinite kernel, and of {kernel!r} {found.note}. Use "
            "another kernel, or multi_class='ovo' or 'ovr'."
        )


def refuse_inseparable(problem: BoxQP, solution: Solution, sides: str, kernel: Kernel) -> Solution:
    """The solution of a hard margin; an error with its proof where there is none, or where rounding hides one."""
    plane = "hyperplane" if problem.n_groups else "hyperplane through the origin"
    where = f"{sides} in the feature space of {kernel!r}"
    if solution.status is Status.INFEASIBLE:
        raise ValueError(
            f"The hard margin (C = infinity) has no solution: no {plane} separates {where}. Proof, to working "
            f"precision: {_proof(problem, solution)}. Use a finite C, or another kernel."
        )
    if solution.status is Status.STALLED and math.isinf(solution.certificate.primal):
        raise ValueError(
            f"The hard margin (C = infinity) was not reached: rounding hides whether a {plane} separates {where}. "
            "Scale the features, or use a finite C."
        )
    return solution


def _proof(problem: BoxQP, solution: Solution) -> str:
    """Why nothing separates, in words."""
    distance = hull_distance(problem, solution.beta, problem.gram.scores(solution.beta, exact=True)[0])
    rows = np.count_nonzero(solution.beta)
    if problem.n_groups:
        return (
            f"{rows} rows carry weights alpha >= 0 with alpha'y = 0 whose two class means lie {distance:.1g} of "
            "the data's size apart, so the convex hulls of the classes meet"
        )
    return (
        f"{rows} rows carry weights alpha >= 0 with |sum alpha y phi(x)| {0.5 * distance:.1g} of what "
        "it could be, so no w has y w'phi(x) > 0 for all of them"
    )
