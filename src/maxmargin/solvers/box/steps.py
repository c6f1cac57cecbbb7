"""The innermost loops: one or two multipliers at a time, on a block of the problem that is held in memory.

Maximise p'beta - 1/2 beta'(K + diag(ridge)) beta over the box, with v = p - (K + diag(ridge)) beta its gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.jit import jit, larger, smaller
from maxmargin.core.rows import Array

# Curvature below this fraction of K_ii + K_jj is rounding (twins, indefinite kernels): the step then runs to the box.
CURVATURE_FLOOR = 1e-15
CURVATURE_FLOOR32 = 1e-7
TINY = 1e-300
TINY32 = 1e-30
FAR = 1e300
FAR32 = 1e30
LANE = 64  # a maximum is found lane by lane in vector code; its index then by a scan of one lane


class Block(NamedTuple):
    """The part of a box QP that concerns some rows. ``curvature`` is K_ii + ridge_i."""

    K: Array
    curvature: Array
    ridge: Array
    lower: Array
    upper: Array


@jit(reductions=True)
def pair_steps(block, v, beta, tol, max_steps):
    """Sequential minimal optimisation that keeps sum(beta): steps done, violation left, whether it still moves.

    Second-order choice of the pair (Fan, Chen and Lin, JMLR 6, 2005): i has the largest v that may grow, j the largest
    gain (v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij) among those that may shrink. The loops run in the precision of v.
    Bounds are penalties that are added, not branches: two vectorised passes a step, the first of which also applies
    the step before. Writes: v, beta.
    """
    n = len(v)
    real = v.dtype.type
    single = v.itemsize == 4
    far, zero, two = real(FAR32 if single else FAR), real(0.0), real(2.0)
    share = CURVATURE_FLOOR32 if single else CURVATURE_FLOOR
    tiny, floor = real(TINY32 if single else TINY), real(share)
    curvature = block.curvature.astype(v.dtype)
    growth, shrinkage, gains = np.empty_like(v), np.empty_like(v), np.empty_like(v)
    for t in range(n):
        growth[t] = zero if beta[t] < block.upper[t] else -far
        shrinkage[t] = zero if beta[t] > block.lower[t] else far
    i, j, move = 0, 0, zero
    high, low = far, -far
    for step in range(max_steps + 1):
        row, other = block.K[i], block.K[j]
        high, low, lane = -far, far, 0
        for begin in range(0, n, LANE):
            most, least = -far, far
            for t in range(np.uint64(begin), np.uint64(min(begin + LANE, n))):
                v[t] -= move * (row[t] - other[t])
                most = larger(most, v[t] + growth[t])
                least = smaller(least, v[t] + shrinkage[t])
            low = min(low, least)
            if most > high:
                high, lane = most, begin
        if high - low <= tol or step == max_steps:
            return step, max(high - low, zero), True
        i, high = lane, -far
        for t in range(lane, min(lane + LANE, n)):
            if v[t] + growth[t] > high:
                i, high = t, v[t] + growth[t]
        row, own = block.K[i], curvature[i]
        best, lane = -far, 0
        for begin in range(0, n, LANE):
            most = -far
            for t in range(np.uint64(begin), np.uint64(min(begin + LANE, n))):
                total = own + curvature[t]
                bend = larger(total - two * row[t], floor * abs(total) + tiny)
                rise = larger(high - v[t] - shrinkage[t], zero)
                gains[t] = rise * rise / bend
                most = larger(most, gains[t])
            if most > best:
                best, lane = most, begin
        j, best = lane, -far
        for t in range(lane, min(lane + LANE, n)):
            if gains[t] > best:
                j, best = t, gains[t]
        total = block.curvature[i] + block.curvature[j]
        bend = max(total - 2.0 * row[j], share * abs(total) + TINY)
        before_i, before_j = beta[i], beta[j]
        room_i, room_j = block.upper[i] - beta[i], beta[j] - block.lower[j]
        delta = min((np.float64(v[i]) - v[j]) / bend, room_i, room_j)
        move = real(delta)
        beta[i] = block.upper[i] if delta == room_i else beta[i] + delta
        beta[j] = block.lower[j] if delta == room_j else beta[j] - delta
        if beta[i] == before_i and beta[j] == before_j:  # one alone may snap to a bound that was a rounding away
            return step, high - low, False
        v[i] -= delta * block.ridge[i]
        v[j] += delta * block.ridge[j]
        growth[i], shrinkage[i] = zero if beta[i] < block.upper[i] else -far, zero
        growth[j], shrinkage[j] = zero, zero if beta[j] > block.lower[j] else far
    return max_steps, high - low, True


@jit(reductions=True)
def single_steps(block, v, beta, tol, max_steps):
    """Greedy coordinate ascent without an equality constraint; returns as ``pair_steps``. Writes: v, beta.

    The coordinate with the largest gain of its exact one-dimensional step, clipped to the box.
    """
    n = len(v)
    gains = np.empty(n)
    row, delta = block.K[0], 0.0
    worst = 0.0
    for step in range(max_steps + 1):
        worst, best, lane = 0.0, 0.0, 0
        for begin in range(0, n, LANE):
            most = 0.0
            for t in range(np.uint64(begin), np.uint64(min(begin + LANE, n))):
                v[t] -= delta * row[t]
                bend = larger(block.curvature[t], TINY)
                move = smaller(larger(beta[t] + v[t] / bend, block.lower[t]), block.upper[t]) - beta[t]
                gains[t] = move * (v[t] - 0.5 * bend * move)
                most = larger(most, gains[t])
                worst = larger(worst, v[t] if beta[t] < block.upper[t] else 0.0)
                worst = larger(worst, -v[t] if beta[t] > block.lower[t] else 0.0)
            if most > best:
                best, lane = most, begin
        if worst <= tol or step == max_steps:
            return step, worst, True
        i, best = lane, 0.0
        for t in range(lane, min(lane + LANE, n)):
            if gains[t] > best:
                i, best = t, gains[t]
        bend = max(block.curvature[i], TINY)
        new = min(max(beta[i] + v[i] / bend, block.lower[i]), block.upper[i])
        delta = new - beta[i]
        if delta == 0.0 or best <= 0.0:
            return step, worst, False
        beta[i] = new
        row = block.K[i]
        v[i] -= delta * block.ridge[i]
    return max_steps, worst, True


@jit(reductions=True)
def apply_change(K, change, v):
    """v -= K change in float64, for the multipliers that changed. Writes: v."""
    for a in range(len(change)):
        if change[a] != 0.0:
            weight, row = change[a], K[a]
            for t in range(len(v)):
                v[t] -= weight * row[t]
