"""Multipliers brought within the constraints of the box QP, so that any point has a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

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


class Feasible(NamedTuple):
    """Multipliers within the constraints: their sum and that of their sizes, the largest, and how far one moved."""

    beta: Array
    total: float
    size: float
    largest: float
    moved: float


def feasible_point(problem: Constraints, beta: Array) -> Array:
    """``beta`` brought within the constraints; see ``feasible``."""
    return feasible(problem, beta).beta


def feasible(problem: Constraints, beta: Array) -> Feasible:
    """``beta`` clipped to the box, and every group moved to its total, with as many zeros left as that allows.

    First towards zero, which scales one side of a group down; then multipliers that are not zero move towards their
    bounds; then others, one after the other.
    """
    given = np.asarray(beta, np.float64)
    found = clipped(given, problem.lower, problem.upper)
    if _balanced(problem, found):
        return found
    beta = found.beta
    for g, total in enumerate(problem.totals):
        members = problem.members(g)
        some = beta[members]
        excess = float(some.sum()) - float(total)
        if abs(excess) <= BALANCE_SLACK * (float(np.abs(some).sum()) + abs(float(total))):
            continue
        bound = (problem.lower if excess > 0 else problem.upper)[members]
        some, excess = _towards(_between_zero_and(bound, some, excess), some, excess)
        some, excess = _towards(np.where(some != 0.0, bound, some), some, excess)
        if excess:
            fill(some, bound, spread(np.arange(len(some))), -excess)
        beta[members] = np.clip(some, problem.lower[members], problem.upper[members])  # a rounding beyond them
    sizes = np.abs(beta)
    return Feasible(beta, float(beta.sum()), float(sizes.sum()), float(sizes.max()), float(np.abs(beta - given).max()))


def _balanced(problem: Constraints, found: Feasible) -> bool:
    """Whether there is no group, or one for all rows, which has its total up to rounding."""
    if len(problem.totals) != 1 or not isinstance(problem.members(0), slice):
        return not len(problem.totals)
    total = float(problem.totals[0])
    return abs(found.total - total) <= BALANCE_SLACK * (found.size + abs(total))


@jit(brief=True)
def clipped(beta, lower, upper):
    """``Feasible``: each multiplier within its bounds, in new memory."""
    out, total, size, largest, moved = np.empty(len(beta)), 0.0, 0.0, 0.0, 0.0
    for i in range(len(beta)):
        out[i] = min(max(beta[i], lower[i]), upper[i])
        total += out[i]
        size += abs(out[i])
        largest, moved = max(largest, abs(out[i])), max(moved, abs(out[i] - beta[i]))
    return Feasible(out, total, size, largest, moved)


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
    share = excess / total
    # Wide bounds: aim + way (1 - share) would round by the size of the bound.
    return (beta - way * share, 0.0) if share < 1.0 else (aim, excess - total)


def spread(rows: Array) -> Array:
    """The same rows in an order whose beginnings are spread over all of them: by the reversed bits of their places."""
    bits = max(1, int(len(rows) - 1).bit_length())
    places = np.arange(1 << bits)
    turned = np.zeros_like(places)
    for bit in range(bits):
        turned |= ((places >> bit) & 1) << (bits - 1 - bit)
    return rows[turned[turned < len(rows)]]


def fill(beta: Array, bound: Array, order: Array, missing: float) -> None:
    """Move multipliers to their bounds, in order, until their sum has changed by ``missing``. Writes: beta."""
    room = (bound - beta)[order]
    loose = order[np.isinf(room)]
    if len(loose):  # no bound: these rows share what is missing
        beta[loose] += missing / len(loose)
        return
    reached = np.cumsum(room)
    full = np.abs(reached) <= abs(missing)
    beta[order[full]] = bound[order[full]]
    if not full.all():
        first = int(np.argmin(full))
        beta[order[first]] += missing - (float(reached[first - 1]) if first else 0.0)
