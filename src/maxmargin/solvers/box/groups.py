"""Steps inside a block whose rows belong to several groups: multipliers move within one group at a time."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.kkt import standing_of, violations
from maxmargin.core.rows import Array
from maxmargin.solvers.box.steps import Block, pair_steps, single_steps

BURST = 64  # steps within one group before the others are looked at again
EASED = 0.5  # a group that leads is left when its violation is down to this share


def take_steps(
    block: Block, group: Array, n_groups: int, v: Array, beta: Array, tol: float, most: int
) -> tuple[int, float, bool]:
    """Pairs where there is one group, single multipliers where there is none, and groups in turn where there are more.

    Returns the steps done, the violation left and whether it still moves. Writes: v, beta.
    """
    if n_groups == 0:
        return single_steps(block, v, beta, tol, most)
    if n_groups == 1 and not group.any():
        return pair_steps(block, v, beta, tol, most)
    done, stuck = 0, np.zeros(n_groups + 1, bool)
    while done < most:
        at = standing_of(beta, v, block, group, n_groups)
        here = violations(at.highest, at.lowest)
        if here.max() <= tol or stuck[here > tol].all():
            return done, float(here.max()), bool(here.max() <= tol)
        leader = int(np.argmax(np.where(stuck, -np.inf, here)))
        steps = single_steps if leader == n_groups else pair_steps
        alone = _only(block, beta, group, -1 if leader == n_groups else leader)
        more, _, moves = steps(alone, v, beta, max(tol, EASED * here[leader]), min(BURST, most - done))
        done += more
        stuck[leader] = more == 0 or not moves  # v may be float32, and round what is left down to tol
        if more:
            stuck[np.arange(n_groups + 1) != leader] = False  # its gradient has changed
    return done, standing_of(beta, v, block, group, n_groups).violation, True


def _only(block: Block, beta: Array, group: Array, chosen: int) -> Block:
    """The same block in which the multipliers of the other groups cannot move."""
    mine = group == chosen
    return block._replace(lower=np.where(mine, block.lower, beta), upper=np.where(mine, block.upper, beta))
