"""Steps inside a block whose rows belong to groups: the multipliers of each keep their sum."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.kkt import standing_of, violations
from maxmargin.core.rows import Array
from maxmargin.solvers.box.steps import Block, Groups, pair_steps, single_steps

BURST = 64  # steps within one group before the others are looked at again, where groups are mixed
EASED = 0.5  # a group that leads is left when its violation is down to this share


def take_steps(
    block: Block, group: Array, n_groups: int, v: Array, beta: Array, tol: float, most: int
) -> tuple[int, float, bool]:
    """Pairs within groups where they come one after the other, single multipliers where there is none.

    Returns the steps done, the violation left and whether it still moves. Writes: v, beta.
    """
    if n_groups == 0:
        return single_steps(block, v, beta, tol, most)
    if not in_order(group):
        return _in_turns(block, group, n_groups, v, beta, tol, most)
    groups = Groups(np.searchsorted(group, np.arange(n_groups + 1)), np.zeros(n_groups, bool))
    done, violation, stuck = pair_steps(block, groups, v, beta, tol, most)
    if stuck < 0 or n_groups == 1:
        return done, violation, stuck < 0
    while stuck >= 0:  # rounding is all that moves in one group; others may still have something to do
        groups.left_out[stuck] = True
        more, _, stuck = pair_steps(block, groups, v, beta, tol, most - done)
        done += more
        if more and stuck >= 0:
            groups.left_out[:] = False  # the gradient has changed
    violation = standing_of(beta, v, block, group, n_groups).violation
    return done, violation, done == most or violation <= tol


def in_order(group: Array) -> bool:
    """Whether every row has a group, and the rows of a group come one after the other, as ``pair_steps`` needs them."""
    return bool(group[0] >= 0 and (group[1:] >= group[:-1]).all())


def _in_turns(
    block: Block, group: Array, n_groups: int, v: Array, beta: Array, tol: float, most: int
) -> tuple[int, float, bool]:
    """Groups in any order, and rows without one: multipliers move within one of them at a time, the worst first."""
    done, stuck, alone = 0, np.zeros(n_groups + 1, bool), Groups(np.array([0, len(group)]), np.zeros(1, bool))
    while done < most:
        at = standing_of(beta, v, block, group, n_groups)
        here = violations(at.highest, at.lowest)
        if here.max() <= tol or stuck[here > tol].all():
            return done, float(here.max()), bool(here.max() <= tol)
        leader = int(np.argmax(np.where(stuck, -np.inf, here)))
        part = _only(block, beta, group, -1 if leader == n_groups else leader)
        aim, share = max(tol, EASED * here[leader]), min(BURST, most - done)
        if leader == n_groups:
            more, _, moves = single_steps(part, v, beta, aim, share)
        else:
            more, _, held = pair_steps(part, alone, v, beta, aim, share)
            moves = held < 0
        done += more
        stuck[leader] = more == 0 or not moves  # v may be float32, and round what is left down to tol
        if more:
            stuck[np.arange(n_groups + 1) != leader] = False  # its gradient has changed
    return done, standing_of(beta, v, block, group, n_groups).violation, True


def _only(block: Block, beta: Array, group: Array, chosen: int) -> Block:
    """The same block in which the multipliers of the other groups cannot move."""
    mine = group == chosen
    return block._replace(lower=np.where(mine, block.lower, beta), upper=np.where(mine, block.upper, beta))
