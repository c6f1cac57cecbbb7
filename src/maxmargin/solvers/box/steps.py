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


class Block(NamedTuple):
    """The part of a box QP that concerns some rows. ``curvature`` is K_ii + ridge_i."""

    K: Array
    curvature: Array
    ridge: Array
    lower: Array
    upper: Array
    kink: Array


class Offsets(NamedTuple):
    """What is added to v, in its precision: see the module's text."""

    growth: Array
    shrinkage: Array


@jit(reductions=True)
def pair_steps(block, v, beta, tol, max_steps):
    """Sequential minimal optimisation that keeps sum(beta): steps done, violation left, whether it still moves.

    Second-order choice of the pair (Fan, Chen and Lin, JMLR 6, 2005): i has the largest slope upwards, j the largest
    gain (difference of the slopes)^2 / (K_ii + K_jj - 2 K_ij). The loops run in the precision of v: two vectorised
    passes a step, the first of which also applies the step before. Writes: v, beta.
    """
    real, far = v.dtype.type, FAR32 if v.itemsize == 4 else FAR
    curvature, gains = block.curvature.astype(v.dtype), np.empty_like(v)
    offsets = Offsets(np.empty_like(v), np.empty_like(v))
    for t in range(len(v)):
        set_offsets(block, beta, t, offsets)
    i, j, move, left = 0, 0, real(0.0), real(0.0)
    for step in range(max_steps + 1):
        high, low, lane = apply_pair(block.K, i, j, move, v, offsets)
        left = high - low
        if left <= tol or step == max_steps:
            return step, max(left, real(0.0)), True
        i = peak(v, offsets.growth, lane)
        own = offsets.shrinkage[i]
        if block.kink[i] > 0.0:  # where rounding could make i its own partner
            offsets.shrinkage[i] = far
        j = best_partner(block.K, i, high, v, offsets.shrinkage, curvature, gains)
        offsets.shrinkage[i] = own
        delta = pair_step(block, v, beta, offsets, i, j)
        if delta == 0.0:
            return step, left, False
        move = real(delta)
        v[i] -= delta * block.ridge[i]
        v[j] += delta * block.ridge[j]
        set_offsets(block, beta, i, offsets)
        set_offsets(block, beta, j, offsets)
    return max_steps, left, True


@jit(reductions=True, inline=True)
def set_offsets(block, beta, t, offsets):
    """Offsets of multiplier t. Writes: offsets."""
    far = FAR32 if offsets.growth.itemsize == 4 else FAR
    offsets.growth[t] = upward(0.0, beta[t], block.kink[t]) if beta[t] < block.upper[t] else -far
    offsets.shrinkage[t] = downward(0.0, beta[t], block.kink[t]) if beta[t] > block.lower[t] else far


@jit(reductions=True)
def apply_pair(K, i, j, move, v, offsets):
    """v -= move (K_i - K_j); the largest slope upwards, the smallest downwards, and the lane of the first.

    Writes: v.
    """
    n, row, other, growth, shrinkage = len(v), K[i], K[j], offsets.growth, offsets.shrinkage
    far = v.dtype.type(FAR32 if v.itemsize == 4 else FAR)
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
    return high, low, lane


@jit(reductions=True, inline=True)
def peak(values, offsets, lane):
    """The index of the largest value plus offset in a lane."""
    at, best = lane, values[lane] + offsets[lane]
    for t in range(lane + 1, min(lane + LANE, len(values))):
        if values[t] + offsets[t] > best:
            at, best = t, values[t] + offsets[t]
    return at


@jit(reductions=True, inline=True)
def peak_of(values, lane):
    """The index of the largest value in a lane."""
    at, best = lane, values[lane]
    for t in range(lane + 1, min(lane + LANE, len(values))):
        if values[t] > best:
            at, best = t, values[t]
    return at


@jit(reductions=True)
def best_partner(K, i, high, v, shrinkage, curvature, gains):
    """The j with the largest gain beside multiplier i, which grows with slope ``high``. Writes: gains."""
    n, real, single = len(v), v.dtype.type, v.itemsize == 4
    floor, tiny = real(CURVATURE_FLOOR32 if single else CURVATURE_FLOOR), real(TINY32 if single else TINY)
    row, own, zero, two, best, lane = K[i], curvature[i], real(0.0), real(2.0), real(-1.0), 0
    for begin in range(0, n, LANE):
        most = real(-1.0)
        for t in range(np.uint64(begin), np.uint64(min(begin + LANE, n))):
            total = own + curvature[t]
            bend = larger(total - two * row[t], floor * abs(total) + tiny)
            rise = larger(high - v[t] - shrinkage[t], zero)
            gains[t] = rise * rise / bend
            most = larger(most, gains[t])
        if most > best:
            best, lane = most, begin
    return peak_of(gains, lane)


@jit(reductions=True, inline=True)
def pair_step(block, v, beta, offsets, i, j):
    """beta_i grows and beta_j shrinks to their maximum or to a bound or kink; by how much, 0 if neither moves.

    A multiplier may be set to a bound that rounding kept it from, while the other stays. Writes: beta.
    """
    share = CURVATURE_FLOOR32 if v.itemsize == 4 else CURVATURE_FLOOR
    total = block.curvature[i] + block.curvature[j]
    bend = max(total - 2.0 * block.K[i, j], share * abs(total) + TINY)
    before_i, before_j = beta[i], beta[j]
    top = min(0.0, block.upper[i]) if before_i < 0.0 < block.kink[i] else block.upper[i]
    bottom = max(0.0, block.lower[j]) if before_j > 0.0 and block.kink[j] > 0.0 else block.lower[j]
    slope = np.float64(v[i]) + offsets.growth[i] - v[j] - offsets.shrinkage[j]
    delta = min(slope / bend, top - before_i, before_j - bottom)
    beta[i] = top if delta == top - before_i else before_i + delta
    beta[j] = bottom if delta == before_j - bottom else before_j - delta
    return delta if beta[i] != before_i or beta[j] != before_j else 0.0


@jit(reductions=True)
def single_steps(block, v, beta, tol, max_steps):
    """Greedy coordinate ascent without an equality constraint; returns as ``pair_steps``. Writes: v, beta.

    The coordinate with the largest gain of its one-dimensional step within the box.
    """
    gains, row, delta, worst = np.empty(len(v)), block.K[0], 0.0, 0.0
    offsets = Offsets(np.empty(len(v)), np.empty(len(v)))
    for t in range(len(v)):
        set_offsets(block, beta, t, offsets)
    for step in range(max_steps + 1):
        worst, best, lane = apply_single(block, row, delta, v, beta, offsets, gains)
        if worst <= tol or step == max_steps:
            return step, worst, True
        i = peak_of(gains, lane)
        new = best_single(block, v[i], beta[i], i)
        delta = new - beta[i]
        if delta == 0.0 or best <= 0.0:
            return step, worst, False
        beta[i] = new
        row = block.K[i]
        v[i] -= delta * block.ridge[i]
        set_offsets(block, beta, i, offsets)
    return max_steps, worst, True


@jit(reductions=True, inline=True)
def best_single(block, v, beta, i):
    """The maximum in one multiplier: (v_i + curvature_i beta_i) / curvature_i, drawn to its kink and into the box."""
    bend, kink = max(block.curvature[i], TINY), block.kink[i]
    slope = v + bend * beta  # at zero
    aim = (slope - min(max(slope, -kink), kink)) / bend
    return min(max(aim, block.lower[i]), block.upper[i])


@jit(reductions=True)
def apply_single(block, row, delta, v, beta, offsets, gains):
    """v -= delta row; the largest violation, the largest gain of a single step and its lane. Writes: v, gains.

    A step that passes zero meets its kink there, and gains less than this says: it is a choice, not a promise.
    """
    n, worst, best, lane = len(v), 0.0, 0.0, 0
    for begin in range(0, n, LANE):
        most = 0.0
        for t in range(np.uint64(begin), np.uint64(min(begin + LANE, n))):
            v[t] -= delta * row[t]
            slope = larger(v[t] + offsets.growth[t], 0.0) + smaller(v[t] + offsets.shrinkage[t], 0.0)
            bend = larger(block.curvature[t], TINY)
            move = smaller(larger(slope / bend, block.lower[t] - beta[t]), block.upper[t] - beta[t])
            gains[t] = move * (slope - 0.5 * bend * move)
            most = larger(most, gains[t])
            worst = larger(worst, abs(slope))
        if most > best:
            best, lane = most, begin
    return worst, best, lane


@jit(reductions=True)
def apply_change(K, change, v):
    """v -= K change in float64, for the multipliers that changed. Writes: v."""
    for a in range(len(change)):
        if change[a] != 0.0:
            weight, row = change[a], K[a]
            for t in range(len(v)):
                v[t] -= weight * row[t]


@jit(reductions=True)
def objective_and_size(p, kink, v, beta):
    """p'beta - 1/2 beta'(K + R) beta - kink'|beta| = 1/2 (p + v)'beta - kink'|beta|, and sum |beta|."""
    objective, size = 0.0, 0.0
    for i in range(len(v)):
        objective += 0.5 * (p[i] + v[i]) * beta[i] - kink[i] * abs(beta[i])
        size += abs(beta[i])
    return objective, size
