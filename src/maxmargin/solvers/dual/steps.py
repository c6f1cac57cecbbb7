"""The innermost loops: one or two multipliers at a time, on a block of the problem that is held in memory.

Maximise p'beta - 1/2 beta'(K + diag(ridge)) beta over the box, with v = p - (K + diag(ridge)) beta its gradient.
"""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.jit import kernel
from maxmargin.core.rows import Array

# Curvature below this fraction of K_ii + K_jj is rounding (twins, indefinite kernels): the step then runs to the box.
CURVATURE_FLOOR = 1e-15
TINY = 1e-300
FAR = 1e300


class Block(NamedTuple):
    """The part of a box QP that concerns some rows. ``curvature`` is K_ii + ridge_i."""

    K: Array
    curvature: Array
    ridge: Array
    lower: Array
    upper: Array


@kernel(reductions=True)
def pair_steps(block, v, beta, gains, tol, max_steps):
    """Sequential minimal optimisation that keeps sum(beta): steps done, violation left, whether it still moves.

    Second-order choice of the pair (Fan, Chen and Lin, JMLR 6, 2005): i has the largest v that may grow, j the largest
    gain (v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij) among those that may shrink. Writes: v, beta, gains.
    """
    n = len(v)
    high, low = FAR, -FAR
    for step in range(max_steps):
        high, low = -FAR, FAR
        for t in range(n):
            up = v[t] if beta[t] < block.upper[t] else -FAR
            down = v[t] if beta[t] > block.lower[t] else FAR
            high = up if up > high else high
            low = down if down < low else low
        if high - low <= tol:
            return step, max(high - low, 0.0), True
        i = 0
        while not (v[i] == high and beta[i] < block.upper[i]):
            i += 1
        best, row = -1.0, block.K[i]
        for t in range(n):
            total = block.curvature[i] + block.curvature[t]
            bend = total - 2.0 * row[t]
            floor = CURVATURE_FLOOR * abs(total) + TINY
            bend = bend if bend > floor else floor
            rise = high - v[t] if beta[t] > block.lower[t] else 0.0
            rise = rise if rise > 0.0 else 0.0
            gains[t] = rise * rise / bend
            best = gains[t] if gains[t] > best else best
        j = 0
        while gains[j] != best:
            j += 1
        total = block.curvature[i] + block.curvature[j]
        bend = max(total - 2.0 * row[j], CURVATURE_FLOOR * abs(total) + TINY)
        before_i, before_j = beta[i], beta[j]
        room_i, room_j = block.upper[i] - beta[i], beta[j] - block.lower[j]
        delta = min((high - v[j]) / bend, room_i, room_j)
        beta[i] = block.upper[i] if delta == room_i else beta[i] + delta
        beta[j] = block.lower[j] if delta == room_j else beta[j] - delta
        if beta[i] == before_i or beta[j] == before_j:
            beta[i], beta[j] = before_i, before_j
            return step, high - low, False
        other = block.K[j]
        for t in range(n):
            v[t] -= delta * (row[t] - other[t])
        v[i] -= delta * block.ridge[i]
        v[j] += delta * block.ridge[j]
    return max_steps, high - low, True


@kernel(reductions=True)
def single_steps(block, v, beta, gains, tol, max_steps):
    """Greedy coordinate ascent without an equality constraint; returns as ``pair_steps``. Writes: v, beta, gains.

    The coordinate with the largest gain of its exact one-dimensional step, clipped to the box.
    """
    n = len(v)
    worst = 0.0
    for step in range(max_steps):
        worst, best = 0.0, 0.0
        for t in range(n):
            up = v[t] if beta[t] < block.upper[t] else 0.0
            down = -v[t] if beta[t] > block.lower[t] else 0.0
            worst = up if up > worst else worst
            worst = down if down > worst else worst
            bend = block.curvature[t] if block.curvature[t] > TINY else TINY
            move = min(max(beta[t] + v[t] / bend, block.lower[t]), block.upper[t]) - beta[t]
            gains[t] = move * (v[t] - 0.5 * bend * move)
            best = gains[t] if gains[t] > best else best
        if worst <= tol:
            return step, worst, True
        i = 0
        while gains[i] != best:
            i += 1
        bend = max(block.curvature[i], TINY)
        new = min(max(beta[i] + v[i] / bend, block.lower[i]), block.upper[i])
        delta = new - beta[i]
        if delta == 0.0 or best <= 0.0:
            return step, worst, False
        beta[i] = new
        row = block.K[i]
        for t in range(n):
            v[t] -= delta * row[t]
        v[i] -= delta * block.ridge[i]
    return max_steps, worst, True
