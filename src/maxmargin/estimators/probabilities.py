"""Probabilities of classes from decision values of the logistic loss."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from maxmargin.core.rows import Array


def probabilities(values: Array) -> Array:
    """P(class | x) of decision values under the logistic loss."""
    if values.ndim == 1:
        return np.column_stack([expit(-values), expit(values)])
    shares = expit(values)
    sums = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, sums, out=np.full_like(shares, 1.0 / shares.shape[1]), where=sums > 0)
