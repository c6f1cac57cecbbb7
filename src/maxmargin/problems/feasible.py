"""Multipliers brought within the constraints of the box QP, so that any point has a certificate."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array

BALANCE_SLACK = 1e-12  # a relative error of a group's sum that is rounding, not infeasibility


class Constraints(Protocol):
    """Of a box QP: bounds, and what the multipliers of each group add up to."""

    @property
    def lower(self) -> Array: ...

    @property
    def upper(self) -> Array: ...

    @property
    def totals(self) -> Array: ...

    def members(self, g: int) -> Any:
        """What picks the rows of a group."""
        ...


def feasible_point(problem: Constraints, beta: Array) -> Array:
    """``beta`` clipped to the box, and every group moved to its total: first towards zero, then towards the bounds.

    Moving towards zero scales one side of a group down, so that multipliers which are zero stay so.
    """
    beta = clipped(np.asarray(beta, np.float64), problem.lower, problem.upper)
    for g, total in enumerate(problem.totals):
        members = problem.members(g)
        some = beta[members]
        held, size = sums(some)
        excess = held - float(total)
        if abs(excess) <= BALANCE_SLACK * (size + abs(float(total))):
            continue
        bound = (problem.lower if excess > 0 else problem.upper)[members]
        for aim in (_between_zero_and(bound, some, excess), bound):
            some, excess = _towards(aim, some, excess)
        beta[members] = some
    return beta


@jit(brief=True)
def clipped(beta, lower, upper):
    """Each multiplier within its bounds, in new memory."""
    out = np.empty(len(beta))
    for i in range(len(beta)):
        out[i] = min(max(beta[i], lower[i]), upper[i])
    return out


@jit(reductions=True, brief=True)
def sums(beta):
    """sum beta and sum |beta|."""
    total, size = 0.0, 0.0
    for value in beta:
        total += value
        size += abs(value)
    return total, size


def _between_zero_and(bound: Array, beta: Array, excess: float) -> Array:
    """Where multipliers of the heavier side end that go no further than to zero; the others stay where they are."""
    return np.minimum(np.maximum(bound, 0.0), beta) if excess > 0 else np.maximum(np.minimum(bound, 0.0), beta)


def _towards(aim: Array, beta: Array, excess: float) -> tuple[Array, float]:
    """All multipliers moved by the same share of their way to ``aim``, and what is left of the excess."""
    if excess == 0.0:
        return beta, 0.0
    way = beta - aim
    loose = np.isinf(way)
    if loose.any():  # no bound: they move together
        return beta - np.where(loose, excess / np.count_nonzero(loose), 0.0), 0.0
    total = float(way.sum())
    if total == 0.0:
        return beta, excess
    share = min(1.0, excess / total)
    return aim + way * (1.0 - share), 0.0 if share < 1.0 else excess - total
