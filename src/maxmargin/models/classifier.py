"""The support vector classifier: the soft margin with any piecewise quadratic loss of labels."""

from __future__ import annotations

from typing import Any

from maxmargin.core.rows import Array
from maxmargin.losses import Hinge
from maxmargin.losses.box import box_of
from maxmargin.models.canonical import costs_of, targets_of, with_bias
from maxmargin.problems.box import Bias, BoxQP, GramMatrix

HINGE = Hinge()


def soft_margin(gram: GramMatrix, y: Array, C: Array | float, loss: Any = HINGE, bias: Bias = Bias.FREE) -> BoxQP:
    """Labels ``y`` in {-1, +1}, a cost ``C`` for all rows or each (infinity: hard margin), a loss of ``losses``.

        minimise  1/2 ||w||^2 + sum_i C_i l(y_i, w'phi(x_i) + b)

    For a regularised bias ``gram`` is that of the kernel K + 1.
    """
    y = targets_of(gram, y, labels=True)
    return with_bias(gram, box_of(loss, y, costs_of(gram, C, hard=True), of_labels=True), bias)
