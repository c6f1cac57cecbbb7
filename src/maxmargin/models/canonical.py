"""What all models share on their way from a box to the canonical problem."""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import jit
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.losses.box import Box
from maxmargin.problems.box import Bias, BoxQP, GramMatrix, no_group, one_group


def with_bias(gram: GramMatrix, box: Box, bias: Bias) -> BoxQP:
    """The problem of one machine: a free bias is one group with total 0, another bias no constraint at all.

    For a regularised bias ``gram`` is that of the kernel K + 1.
    """
    group, totals = one_group(gram.n) if bias is Bias.FREE else no_group(gram.n)
    return solvable(gram, box, group, totals, appended=bias is Bias.REGULARIZED)


def solvable(gram: GramMatrix, box: Box, group: Array, totals: Array, **how: bool) -> BoxQP:
    """The problem; where it has no maximum, with as much ridge as gives it one, and a note that says so.

    Losses that grow like a square put no bound on the multipliers. With an indefinite kernel the objective then rises
    without end, unless K + diag(ridge) is positive definite: minus the smallest eigenvalue is added to the diagonal,
    which makes K positive semidefinite and is the same machine with a smaller C. ``how``: see ``BoxQP``.
    """
    note = ""
    if box.ridge.any() and np.isinf(box.upper - box.lower).any() and not gram.definiteness(NO_ROWS).definite:
        needed = -gram.smallest_eigenvalue()
        if needed >= box.ridge[box.upper > box.lower].min(initial=np.inf):
            note = f"to be solvable, {needed:.3g} was added to 1/(2C), minus the smallest eigenvalue"
            box = box._replace(ridge=box.ridge + needed)
    return BoxQP(gram, box, group, totals, note=note, **how)


@jit(brief=True)
def extent(values):
    """The least and the largest of some numbers, NaN where there is one; and whether all of them are -1 or +1."""
    least, most, signs = values[0], values[0], True
    for value in values:
        least = value if value < least or np.isnan(value) else least
        most = value if value > most or np.isnan(value) else most
        signs = signs and abs(value) == 1.0
    return least, most, signs


def costs_of(gram: GramMatrix, C: Array | float, hard: bool = False) -> Array:
    """A cost for every row; infinite ones only where the model has a ``hard`` margin, and then no other but zero."""
    costs = np.asarray(C, np.float64)
    costs = costs if costs.shape == (gram.n,) else np.broadcast_to(costs, (gram.n,)).copy()
    least, most, _ = extent(costs)
    if not least >= 0:
        raise ValueError("C must be >= 0 for every row (infinity for the hard margin).")
    infinite = most == np.inf
    if infinite and not hard:
        raise ValueError("This model needs finite costs: only a classifier has a hard margin.")
    if infinite and np.any((costs > 0) & np.isfinite(costs)):
        raise ValueError("Infinite costs (the hard margin) go with zero ones only, not with finite ones.")
    return costs


def weights_of(gram: GramMatrix, weights: Array | float) -> Array:
    """A finite weight for every row, not all of them zero: the nu-machines take shares of their sum."""
    weights = costs_of(gram, weights)
    if not weights.any():
        raise ValueError("All weights are zero: there is no row left to learn from.")
    return weights


def targets_of(gram: GramMatrix, y: Array, labels: bool) -> Array:
    """A target for every row: -1 or +1 for ``labels``, else any finite number."""
    y = np.asarray(y, np.float64)
    if labels:
        if y.shape != (gram.n,) or not extent(y)[2]:
            raise ValueError(f"y must hold one label -1 or +1 for each of the {gram.n} rows.")
        return y
    if y.shape != (gram.n,) or not np.isfinite(y).all():
        raise ValueError(f"y must hold one finite number for each of the {gram.n} rows.")
    return y
