"""Support vector regression: a tube around the targets within which errors cost nothing."""

from __future__ import annotations

from typing import Any

from maxmargin.core.rows import Array
from maxmargin.losses import EpsilonInsensitive
from maxmargin.losses.box import box_of
from maxmargin.models.canonical import costs_of, targets_of, with_bias
from maxmargin.problems.box import Bias, BoxQP, GramMatrix

TUBE = EpsilonInsensitive(0.1)


def regression(gram: GramMatrix, y: Array, C: Array | float, loss: Any = TUBE, bias: Bias = Bias.FREE) -> BoxQP:
    """Targets ``y``, a cost ``C`` for all rows or each, an epsilon-insensitive loss or its square.

        minimise  1/2 ||w||^2 + sum_i C_i l(y_i, w'phi(x_i) + b)

    One multiplier per row, -C_i <= beta_i <= C_i, with a kink epsilon |beta_i|: nothing is doubled.
    """
    y = targets_of(gram, y, labels=False)
    return with_bias(gram, box_of(loss, y, costs_of(gram, C), of_labels=False), bias)
