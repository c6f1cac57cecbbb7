"""A point between all bounds brought to those that it tends to: no multiplier of an interior point is ever at one.

Optimality conditions would take each of them for a free one, and machines would have every row as a support vector.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.box import Box


def snapped(box: Box, group: Array, totals: Array, beta: Array, t: Array, unit: float) -> Array:
    """``beta`` with the multipliers at a bound or kink that are nearer to it than their slope is to zero.

    The objective has the slope t - kink sign(beta), t = p - (K + R) beta - b, which pulls a multiplier to the bound or
    kink on its side. Near is meant in shares of the room that multipliers use, and of the ``unit`` of slopes. What that
    changes of a group's sum is taken from its multipliers that are still free.
    """
    slope = t - box.kink * np.sign(beta)
    bottom = np.where((box.kink > 0.0) & (beta > 0.0), np.maximum(box.lower, 0.0), box.lower)
    top = np.where((box.kink > 0.0) & (beta < 0.0), np.minimum(box.upper, 0.0), box.upper)
    aim = np.where(slope < 0.0, bottom, top)
    width = box.upper - box.lower
    width = np.where(np.isinf(width), np.max(np.abs(beta), initial=0.0), width)
    used = np.max(np.abs(beta) / np.where(width > 0.0, width, np.inf), initial=0.0)
    there = np.abs(beta - aim) * unit < np.abs(slope) * used * width
    beta = np.where(there, aim, beta)
    for g, total in enumerate(totals):
        free = np.flatnonzero((group == g) & ~there)
        room = _room(box, beta, free)
        if room.any():
            excess = float(beta[group == g].sum()) - float(total)
            beta[free] -= excess * room / room.sum()
    return beta


def unit_of(box: Box, curvature: Array) -> float:
    """The size of slopes: that of targets and kinks, else what a usual multiplier changes of its own score, else 1."""
    if not len(box.p):
        return 1.0
    width = box.upper - box.lower
    usual = float(np.mean(curvature * np.where(np.isfinite(width), width, 0.0)))
    return float(np.mean(np.abs(box.p) + box.kink)) or usual or 1.0


def _room(box: Box, beta: Array, free: Array) -> Array:
    """How far these multipliers may move either way; their size where they have no bound."""
    here = beta[free]
    room = np.minimum(here - box.lower[free], box.upper[free] - here)
    room = np.where(box.kink[free] > 0.0, np.minimum(room, np.abs(here)), room)
    return np.where(np.isinf(room), np.abs(here), np.maximum(room, 0.0))
