"""Probabilities of classes from decision values of the logistic loss."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from maxmargin.core.rows import Array
from maxmargin.multiclass.reduction import normalised


def probabilities(decisions: Array, winners: Array) -> Array:
    """P(class | x) of the decision values (rows, machines) under the logistic loss, largest for the ``winners``.

    Of two classes 1 / (1 + exp(-f)); of more each class against the rest, scaled to sum to one. Where rounding makes
    two of them equal (beyond f = 37 all are 1), the one that wins has the next larger number.
    """
    shares = expit(decisions)
    P = np.column_stack([expit(-decisions), shares]) if shares.shape[1] == 1 else normalised(shares)
    wrong = np.flatnonzero(np.argmax(P, axis=1) != winners)
    P[wrong, winners[wrong]] = np.nextafter(P[wrong].max(axis=1), 2.0)
    return P
