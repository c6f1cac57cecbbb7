"""What interior points move: the multipliers that have room, as sums of parts that are at least zero.

A multiplier is lower + x with 0 <= x <= upper - lower, or upper - x where it has no lower bound. One with a kink
between its bounds is x+ - x-, with x+ <= upper and x- <= -lower, because kink |beta| = kink (x+ + x-) where one of them
is zero. One without bounds and kink has no part: nothing holds it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.certificates.kkt import gradient, objective_and_size
from maxmargin.core.rows import Array
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP


class Movable(NamedTuple):
    """The box QP of the ``rows`` whose bounds differ. The others keep their multipliers, ``held``.

    What these contribute is part of p and of the totals, and ``value`` is the objective of them alone.
    """

    rows: Array
    box: Box
    group: Array
    totals: Array
    held: Array
    value: float


def movable(problem: BoxQP) -> Movable:
    """The rows of ``problem`` that can move."""
    moves = problem.lower < problem.upper
    held, v, value = np.where(moves, 0.0, problem.lower), problem.p, 0.0
    if held.any():
        v = gradient(problem.box, problem.gram.scores(held, exact=True)[0], held)
        value = objective_and_size(problem.p, problem.kink, v, held)[0]
    sums = [float(held[problem.members(g)].sum()) for g in range(problem.n_groups)]
    rows = np.flatnonzero(moves)
    box = Box(*(part[rows] for part in problem.box._replace(p=v)))
    return Movable(rows, box, problem.group[rows], problem.totals - sums, held, value)


class Parts(NamedTuple):
    """beta = offset + sum of sign x over the parts of each ``row``, with 0 <= x <= width and a price ``cost`` of x."""

    row: Array
    sign: Array
    width: Array
    cost: Array
    offset: Array

    @property
    def bounded(self) -> Array:
        """Which parts have a largest value."""
        return np.isfinite(self.width)

    def joined(self, values: Array) -> Array:
        """Sum of sign times value over the parts of each row."""
        return self.added(self.sign * values)

    def added(self, values: Array) -> Array:
        """Sum of the values of the parts of each row."""
        return np.bincount(self.row, values, len(self.offset))


def parts_of(box: Box) -> Parts:
    """The parts of multipliers whose bounds differ."""
    _, lower, upper, kink, _ = box
    split = (kink > 0.0) & (lower < 0.0) & (upper > 0.0)
    above = ~split & np.isfinite(lower)
    below = ~split & ~above & np.isfinite(upper)
    price = np.where(upper <= 0.0, -kink, kink)  # of beta, where it has one sign
    kinds = (
        (above, 1.0, upper - lower, price),
        (below, -1.0, upper - lower, -price),
        (split, 1.0, upper, kink),
        (split, -1.0, -lower, kink),
    )
    rows = [np.flatnonzero(chosen) for chosen, *_ in kinds]
    return Parts(
        row=np.concatenate(rows),
        sign=np.concatenate([np.full(len(at), sign) for at, (_, sign, _, _) in zip(rows, kinds, strict=True)]),
        width=np.concatenate([width[at] for at, (_, _, width, _) in zip(rows, kinds, strict=True)]),
        cost=np.concatenate([cost[at] for at, (_, _, _, cost) in zip(rows, kinds, strict=True)]),
        offset=np.where(above, lower, np.where(below, upper, 0.0)),
    )
