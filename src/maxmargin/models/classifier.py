"""The support vector classifier: the soft margin with any loss of labels, piecewise quadratic or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses import Hinge
from maxmargin.losses.box import box_of
from maxmargin.losses.curved import is_curved
from maxmargin.losses.power_hinge import simplest
from maxmargin.models.canonical import costs_of, targets_of, with_bias
from maxmargin.problems.box import Bias, BoxQP, GramMatrix
from maxmargin.problems.kernel import KernelProblem

HINGE = Hinge()


def soft_margin(
    gram: GramMatrix, y: Array, C: Array | float, loss: Any = HINGE, bias: Bias = Bias.FREE
) -> BoxQP | KernelProblem:
    """Labels ``y`` in {-1, +1}, a cost ``C`` for all rows or each (infinity: hard margin), a loss of ``losses``.

        minimise  1/2 ||w||^2 + sum_i C_i l(y_i, w'phi(x_i) + b)

    For a regularised bias ``gram`` is that of the kernel K + 1.
    """
    y, costs, loss = targets_of(gram, y, labels=True), costs_of(gram, C, hard=True), simplest(loss)
    if is_curved(loss, of_labels=True):
        if not np.isinf(costs).any():
            return KernelProblem(gram, y, costs, loss, bias)
        if not loss.bounded_rows:
            raise ValueError(f"{loss!r} has no hard margin: it needs a finite C.")
        loss = HINGE  # slack that must be zero has no power
    return with_bias(gram, box_of(loss, y, costs, of_labels=True), bias)
