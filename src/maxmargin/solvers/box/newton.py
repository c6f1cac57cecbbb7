"""Newton steps on the free multipliers: the last digits of a small problem.

With the bounded multipliers fixed, the free ones F solve one linear system. The step d maximises the objective over F:

    [K_FF + R   1] [d]   [v_F]
    [1'         0] [b] = [0  ]      (without the border where there is no free bias)

and is cut where the first multiplier meets its bound, which then leaves F. K_FF may be singular (twins, more free rows
than features): a little is added to its diagonal and the system is solved again for the rest, as in the proximal point
method, which converges to the exact step wherever that exists.
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


def polish(block: Block, v: Array, beta: Array, balanced: bool) -> None:
    """Newton steps until the free set no longer changes. Writes: v, beta."""
    for _ in range(MOST_CUTS):
        limits.checkpoint()
        free = np.flatnonzero((beta > block.lower) & (beta < block.upper))
        if len(free) < 1 + balanced:
            return
        direction = _direction(block, v, free, balanced)
        if direction is None:
            return
        if not _move(block, v, beta, free, direction, balanced):
            return


def _direction(block: Block, v: Array, free: Array, balanced: bool) -> Array | None:
    K = np.array(block.K[np.ix_(free, free)], np.float64)
    K[np.diag_indices_from(K)] += block.ridge[free]
    scale = float(np.max(np.diag(K), initial=0.0))
    factor = _factor(K, len(free) * scale)
    if factor is None:
        return None
    ones = _POTRS(factor, np.ones(len(free)), lower=1)[0]
    direction = np.zeros(len(free))
    for _ in range(CORRECTIONS):
        rest = v[free] - K @ direction
        step = _POTRS(factor, rest, lower=1)[0]
        if balanced:
            step -= (step.sum() / ones.sum()) * ones
        direction += step
    if balanced:
        direction -= direction.mean()
    return direction if np.isfinite(direction).all() else None


def _factor(K: Array, scale: float) -> Array | None:
    """Cholesky factor of K plus the least multiple of the identity that lets it exist."""
    for little in PROXIMAL:
        raised = K.copy()
        raised[np.diag_indices_from(K)] += little * scale
        factor, failed = _POTRF(raised, lower=1, overwrite_a=1)
        if not failed:
            return factor
    return None


def _move(block: Block, v: Array, beta: Array, free: Array, direction: Array, balanced: bool) -> bool:
    """Go along ``direction`` to its maximum or to the first bound; True where a bound was met. Writes: v, beta."""
    here = beta[free]
    image = block.K[:, free] @ direction
    image[free] += block.ridge[free] * direction
    slope, bend = float(v[free] @ direction), float(direction @ image[free])
    if not slope > 0.0:
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(direction > 0, block.upper[free], block.lower[free])
        room = np.where(direction != 0.0, (limit - here) / direction, np.inf)
    nearest = float(room.min())
    length = min(slope / bend if bend > 0.0 else np.inf, nearest)
    if np.isinf(length):  # flat and unbounded: the squared hinge's ridge excludes it, so this is rounding
        return False
    new = here + length * direction
    met = room <= length
    new[met] = limit[met]
    size = float(np.max(np.abs(beta)))
    for bound in (block.lower[free], block.upper[free]):
        near = np.abs(new - bound) <= SNAP * size
        new[near] = bound[near]
        met |= near
    if balanced:
        _rebalance(new, float(new.sum() - here.sum()), ~met)
    v -= block.K[:, free] @ (new - here)
    v[free] -= block.ridge[free] * (new - here)
    beta[free] = new
    return bool(met.any())


def _rebalance(new: Array, excess: float, inner: Array) -> None:
    """Take the rounding in the sum off the largest multiplier that is still free. Writes: new."""
    if inner.any():
        at = np.flatnonzero(inner)
        new[at[np.argmax(np.abs(new[at]))]] -= excess
