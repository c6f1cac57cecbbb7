"""The innermost loops: one or two multipliers at a time, on a block of the problem that is held in memory.

Maximise p'beta - 1/2 beta'(K + diag(ridge)) beta - sum_i kink_i |beta_i| over the box, with v = p - (K + diag(ridge))
beta the gradient of its smooth part. Bounds and kinks are offsets that are added to v, not branches: v + growth is the
slope where a multiplier grows, minus infinity at its upper bound; v + shrinkage the slope where it shrinks. A step ends
at the kink of a multiplier that would change its sign; the next one may go on from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.certificates.kkt import downward, upward
from maxmargin.core.jit import jit, larger, smaller
from maxmargin.core.rows import Array

# Curvature below this fraction of K_ii + K_jj is rounding (equal rows, indefinite kernels): the step runs to the box.
CURVATURE_FLOOR = 1e-15
CURVATURE_FLOOR32 = 1e-7
TINY = 1e-300
TINY32 = 1e-30
FAR = 1e300
FAR32 = 1e30
LANE = 64  # a maximum is found lane by lane in vector code; its index then by a scan of one lane


class Quarters(NamedTuple):
    """K = [[first, between], [between', second]], whose rows are put together when they are needed, one by one.

    Row i then is at ``places_i``, which is -1 before, and ``filled`` holds how many there are: at least one, before the
    first step. There are no places, and all parts are empty, where K is whole.
    """

    first: Array
    between: Array
    second: Array
    places: Array
    filled: Array


NO_VALUES, NO_PLACES = np.empty((0, 0), np.float32), np.empty(0, np.int64)
WHOLE = Quarters(NO_VALUES, NO_VALUES, NO_VALUES, NO_PLACES, NO_PLACES)


class Block(NamedTuple):
    """The part of a box QP that concerns some rows. ``curvature`` is K_ii + ridge_i."""

    K: Array
    curvature: Array
    ridge: Array
    lower: Array
    upper: Array
    kink: Array
    parts: Quarters = WHOLE


@jit(reductions=True)
def pair_steps(block, groups, v, beta, tol, max_steps):
    """Sequential minimal optimisation that keeps the sum of every group: steps done, violation left, and who is stuck.

    A step is in the group that violates most (of those that are not left out); the pair by second order (Fan, Chen and
    Lin, JMLR 6, 2005): i has the largest slope upwards, j the largest gain (difference of the slopes)^2 /
    (K_ii + K_jj - 2 K_ij). The loops run in the precision of v: two vectorised passes, the first over all rows, which
    also applies the step before, the second over the group. They stand here and not in functions of their own, because
    references to arrays that are handed on are counted: 0.27 instead of 0.31 us a step on 200 rows, 0.83 instead of
    0.90 us on 1,150. Returned last is the group whose best pair does not move, or -1. Writes: v, beta.
    """
    real, K, lower, upper, kink, parts = v.dtype.type, block.K, block.lower, block.upper, block.kink, block.parts
    edges, (far, flat, tiny, zero, two), (growth, shrinkage) = groups.edges, constants(v), offsets_of(block, v, beta)
    curvature, gains, here, there, move, step = block.curvature.astype(v.dtype), np.empty_like(v), 0, 0, zero, 0
    while True:
        row, other, worst, high, lane, g = K[here], K[there], zero, zero, 0, 0
        for h in range(len(edges) - 1):
            top, bottom, at, last = -far, far, edges[h], edges[h + 1]
            for begin in range(edges[h], last, LANE):
                most, least = -far, far
                for t in range(np.uint64(begin), np.uint64(min(begin + LANE, last))):
                    v[t] -= move * (row[t] - other[t])
                    most, least = larger(most, v[t] + growth[t]), smaller(least, v[t] + shrinkage[t])
                top, bottom, at = larger(top, most), smaller(bottom, least), begin if most > top else at
            if top - bottom > worst and not groups.left_out[h]:
                worst, high, lane, g = top - bottom, top, at, h
        if worst <= tol or step == max_steps:
            return step, worst, -1
        i, last = peak(v, growth, lane, edges[g + 1]), edges[g + 1]
        here = place_of(parts, i, K) if len(parts.places) else i
        shrinkage[i] = far if kink[i] > 0.0 else shrinkage[i]  # or rounding could make i its own partner
        row, own, best, lane = K[here], curvature[i], -two, edges[g]
        for begin in range(edges[g], last, LANE):
            most = -two
            for t in range(np.uint64(begin), np.uint64(min(begin + LANE, last))):
                bend = larger(own + curvature[t] - two * row[t], flat * abs(own + curvature[t]) + tiny)
                rise = larger(high - v[t] - shrinkage[t], zero)
                gains[t] = rise * rise / bend
                most = larger(most, gains[t])
            best, lane = larger(best, most), begin if most > best else lane
        j = peak_of(gains, lane, last)
        there = place_of(parts, j, K) if len(parts.places) else j
        rising = Side(np.float64(v[i]) + growth[i], beta[i], upper[i], kink[i], block.curvature[i])
        falling = Side(np.float64(v[j]) + shrinkage[j], beta[j], lower[j], kink[j], block.curvature[j])
        delta, new_i, new_j = pair_step(rising, falling, row[j], flat)
        if new_i == beta[i] and new_j == beta[j]:
            return step, worst, g
        beta[i], beta[j], move, step = new_i, new_j, real(delta), step + 1
        v[i], v[j] = v[i] - delta * block.ridge[i], v[j] + delta * block.ridge[j]
        growth[i], shrinkage[i] = offsets_at(new_i, lower[i], upper[i], kink[i], far)
        growth[j], shrinkage[j] = offsets_at(new_j, lower[j], upper[j], kink[j], far)


@jit()
def place_of(parts, i, K):
    """The place of row i in K, which is put together if it is not there. Writes: parts.places, parts.filled, K."""
    if parts.places[i] >= 0:
        return parts.places[i]
    place, middle = parts.filled[0], len(parts.first)
    parts.places[i], parts.filled[0], row = place, place + 1, K[place]
    right = parts.between[i] if i < middle else parts.second[i - middle]
    for t in range(middle):
        row[t] = parts.first[i, t] if i < middle else parts.between[t, i - middle]
    for t in range(len(right)):
        row[middle + t] = right[t]
    return place


@jit()
def whole():
    """``WHOLE`` for compiled loops."""
    nothing, none = np.empty((0, 0), np.float32), np.empty(0, np.int64)
    return Quarters(nothing, nothing, nothing, none, none)


class Groups(NamedTuple):
    """Rows that come one group after the other: group g from edges_g to edges_g+1, and whether it is left out."""

    edges: Array
    left_out: Array


class Side(NamedTuple):
    """One multiplier of a pair: its slope, itself, the bound it moves to, its kink and K_ii + ridge_i.

    Numbers, because arrays that are handed on have their references counted in every step.
    """

    slope: float
    beta: float
    bound: float
    kink: float
    curvature: float


@jit()
def pair_step(rising, falling, K_ij, flat):
    """By how much beta_i grows and beta_j shrinks to their maximum or to a bound or kink, and both after that.

    One may be set to a bound that rounding kept it from, while the other stays.
    """
    total = rising.curvature + falling.curvature
    bend = max(total - 2.0 * K_ij, flat * abs(total) + TINY)
    top = min(0.0, rising.bound) if rising.beta < 0.0 < rising.kink else rising.bound
    bottom = max(0.0, falling.bound) if falling.beta > 0.0 and falling.kink > 0.0 else falling.bound
    delta = min((rising.slope - falling.slope) / bend, top - rising.beta, falling.beta - bottom)
    above = top if delta == top - rising.beta else rising.beta + delta
    below = bottom if delta == falling.beta - bottom else falling.beta - delta
    return delta, above, below


@jit()
def constants(v):
    """Far, the least share of curvature, the least curvature, 0 and 2, in the precision of v."""
    real, single = v.dtype.type, v.itemsize == 4
    flat = CURVATURE_FLOOR32 if single else CURVATURE_FLOOR
    return real(FAR32 if single else FAR), real(flat), real(TINY32 if single else TINY), real(0.0), real(2.0)


@jit()
def offsets_at(beta, lower, upper, kink, far):
    """What is added to v where a multiplier grows, and where it shrinks."""
    growth = upward(0.0, beta, kink) if beta < upper else -far
    shrinkage = downward(0.0, beta, kink) if beta > lower else far
    return growth, shrinkage


@jit()
def offsets_of(block, v, beta):
    """``offsets_at`` of all multipliers, in the precision of v."""
    growth, shrinkage, far = np.empty_like(v), np.empty_like(v), constants(v)[0]
    lower, upper, kink = block.lower, block.upper, block.kink
    for t in range(len(v)):
        growth[t], shrinkage[t] = offsets_at(beta[t], lower[t], upper[t], kink[t], far)
    return growth, shrinkage


@jit(reductions=True, inline=True)
def peak(values, offsets, lane, last):
    """The index of the largest value plus offset in a lane that ends before ``last``."""
    at, best = lane, values[lane] + offsets[lane]
    for t in range(lane + 1, min(lane + LANE, last)):
        if values[t] + offsets[t] > best:
            at, best = t, values[t] + offsets[t]
    return at


@jit(reductions=True, inline=True)
def peak_of(values, lane, last):
    """The index of the largest value in a lane that ends before ``last``."""
    at, best = lane, values[lane]
    for t in range(lane + 1, min(lane + LANE, last)):
        if values[t] > best:
            at, best = t, values[t]
    return at


@jit(reductions=True)
def single_steps(block, v, beta, tol, max_steps):
    """Greedy coordinate ascent without an equality constraint; returns as ``pair_steps``. Writes: v, beta.

    The coordinate with the largest gain of its one-dimensional step within the box.
    """
    n, gains, (growth, shrinkage) = len(v), np.empty(len(v)), offsets_of(block, v, beta)
    lower, upper, kink, curvature = block.lower, block.upper, block.kink, block.curvature
    row, delta, step, far = block.K[0], 0.0, 0, constants(v)[0]
    while True:
        worst, best, lane = 0.0, 0.0, 0
        for begin in range(0, n, LANE):
            most = 0.0
            for t in range(np.uint64(begin), np.uint64(min(begin + LANE, n))):
                v[t] -= delta * row[t]
                slope = larger(v[t] + growth[t], 0.0) + smaller(v[t] + shrinkage[t], 0.0)
                bend = larger(curvature[t], TINY)
                move = smaller(larger(slope / bend, lower[t] - beta[t]), upper[t] - beta[t])
                gains[t] = move * (slope - 0.5 * bend * move)  # less where the step passes zero and meets its kink
                most = larger(most, gains[t])
                worst = larger(worst, abs(slope))
            best, lane = larger(best, most), begin if most > best else lane
        if worst <= tol or step == max_steps:
            return step, worst, True
        i = peak_of(gains, lane, n)
        new = best_single(Side(v[i], beta[i], upper[i], kink[i], curvature[i]), lower[i])
        delta = new - beta[i]
        if delta == 0.0 or best <= 0.0:
            return step, worst, False
        beta[i], row = new, block.K[i]
        v[i] -= delta * block.ridge[i]
        growth[i], shrinkage[i] = offsets_at(new, lower[i], upper[i], kink[i], far)
        step += 1


@jit()
def best_single(side, lower):
    """The maximum in one multiplier: (v + curvature beta) / curvature, drawn to its kink and between its bounds."""
    bend = max(side.curvature, TINY)
    slope = side.slope + bend * side.beta  # at zero
    aim = (slope - min(max(slope, -side.kink), side.kink)) / bend
    return min(max(aim, lower), side.bound)


@jit(reductions=True)
def apply_change(K, change, v):
    """v -= K change in float64, for the multipliers that changed. Writes: v."""
    for a in range(len(change)):
        if change[a] != 0.0:
            weight, row = change[a], K[a]
            for t in range(len(v)):
                v[t] -= weight * row[t]
