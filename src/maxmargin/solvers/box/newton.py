"""Newton steps on the free multipliers: the last digits of a small problem.

With the others fixed, the free multipliers F (between their bounds, and not on a kink) solve one linear system. The
step d maximises the objective over F, with E_ig = 1 where row i is in group g:

    [K_FF + R   E] [d]   [v_F - kink sign(beta_F)]
    [E'         0] [b] = [0                      ]      (no border for rows without a group)

and is cut where the first multiplier meets its bound or its kink, and then leaves F. K_FF may be singular (equal rows,
more free rows than features): a little is added to its diagonal and the system is solved again for the rest, as in the
proximal point method, which converges to the exact step wherever that exists.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.solvers.box.steps import Block

PROXIMAL = (1e-16, 1e-14, 1e-12, 1e-10)  # of the sum of the diagonal: rounding in K is of that size
CORRECTIONS = 3
MOST_CUTS = 10  # bounds met before the sequential steps take over again
SNAP = 1e-13  # multipliers this near a bound, relative to the largest one, are at the bound

# Without the checks of cho_factor and cho_solve, which take longer than the work on a hundred rows.
_POTRF, _POTRS = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)


def polish(block: Block, v: Array, beta: Array, group: Array) -> None:
    """Newton steps until the free set no longer changes. Writes: v, beta."""
    for _ in range(MOST_CUTS):
        limits.checkpoint()
        inside = (beta > block.lower) & (beta < block.upper)
        free = np.flatnonzero(inside & ((beta != 0.0) | (block.kink == 0.0)))
        border = _border(group[free])
        if len(free) < 1 + border.shape[1]:
            return
        slope = v[free] - block.kink[free] * np.sign(beta[free])
        direction = _direction(block, slope, free, border)
        if direction is None or not _move(block, v, beta, free, direction, border):
            return


def _border(group: Array) -> Array:
    """E, one column for every group that occurs."""
    return (group[:, None] == np.unique(group[group >= 0])).astype(np.float64)


def _direction(block: Block, slope: Array, free: Array, border: Array) -> Array | None:
    K = np.array(block.K[np.ix_(free, free)], np.float64)
    K[np.diag_indices_from(K)] += block.ridge[free]
    scale = float(np.max(np.diag(K), initial=0.0))
    factor = _factor(K, len(free) * scale)
    if factor is None:
        return None
    direction = np.zeros(len(free))
    columns = _POTRS(factor, border, lower=1)[0] if border.shape[1] else border
    for _ in range(CORRECTIONS):
        step = _POTRS(factor, slope - K @ direction, lower=1)[0]
        direction += _keeping_sums(step, border, columns)
    direction = _keeping_sums(direction, border, border)
    return direction if np.isfinite(direction).all() else None


def _keeping_sums(step: Array, border: Array, columns: Array) -> Array:
    """step - columns x with the x that makes the sum of every group zero."""
    if not border.shape[1]:
        return step
    sums, system = border.T @ step, border.T @ columns
    if len(sums) == 1:
        return step - (sums[0] / system[0, 0]) * columns[:, 0]
    return step - columns @ np.linalg.lstsq(system, sums, rcond=None)[0]


def _factor(K: Array, scale: float) -> Array | None:
    """Cholesky factor of K plus the least multiple of the identity that lets it exist."""
    for little in PROXIMAL:
        raised = K.copy()
        raised[np.diag_indices_from(K)] += little * scale
        factor, failed = _POTRF(raised, lower=1, overwrite_a=1)
        if not failed:
            return factor
    return None


def _move(block: Block, v: Array, beta: Array, free: Array, direction: Array, border: Array) -> bool:
    """Go along ``direction`` to its maximum or to the first bound; True where a bound was met. Writes: v, beta."""
    here, kink = beta[free], block.kink[free]
    image = block.K[:, free] @ direction
    image[free] += block.ridge[free] * direction
    slope = float((v[free] - kink * np.sign(here)) @ direction)
    bend = float(direction @ image[free])
    if not slope > 0.0:
        return False
    bottom = np.where((kink > 0.0) & (here > 0.0), np.maximum(0.0, block.lower[free]), block.lower[free])
    top = np.where((kink > 0.0) & (here < 0.0), np.minimum(0.0, block.upper[free]), block.upper[free])
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(direction > 0, top, bottom)
        room = np.where(direction != 0.0, (limit - here) / direction, np.inf)
    length = min(slope / bend if bend > 0.0 else np.inf, float(room.min()))
    if np.isinf(length):  # flat and unbounded: the squared hinge's ridge excludes it, so this is rounding
        return False
    new = here + length * direction
    met = room <= length
    new[met] = limit[met]
    size = float(np.max(np.abs(beta)))
    for bound in (bottom, top):
        near = np.abs(new - bound) <= SNAP * size
        new[near] = bound[near]
        met |= near
    _rebalance(new, here, ~met, border)
    v -= block.K[:, free] @ (new - here)
    v[free] -= block.ridge[free] * (new - here)
    beta[free] = new
    return bool(met.any())


def _rebalance(new: Array, before: Array, inner: Array, border: Array) -> None:
    """Take the rounding in the sum of each group off its largest multiplier that is still free. Writes: new."""
    for members in border.T:
        mine = members > 0.0
        at = np.flatnonzero(mine & inner)
        if len(at):
            new[at[np.argmax(np.abs(new[at]))]] -= float(new[mine].sum() - before[mine].sum())
