"""Weights of rows and classes: finite, >= 0, and not all of them zero."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from maxmargin.core.rows import Array


def sample_weights(sample_weight: Any, n: int, all_zero: bool = False) -> Array:
    """One finite weight >= 0 per row; all of them zero only if ``all_zero`` says that this may be."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, float(sample_weight))
    layout: dict[str, Any] = {"ensure_2d": False, "dtype": np.float64, "input_name": "sample_weight"}
    weights = check_array(sample_weight, **layout)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one weight per row of X.")
    if (weights < 0).any():
        at = int(np.argmax(weights < 0))
        raise ValueError(f"Negative values in sample_weight: {weights[at]} at row {at}; weights must be >= 0.")
    if not (all_zero or weights.any()):
        raise ValueError("All values in sample_weight are zero: there is no row left to learn from.")
    return weights


def finite_total(estimator: Any, weights: Array) -> None:
    """Weights of many rows, each finite, may have an infinite sum."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(weights.sum())
    if not finite:
        raise ValueError(f"{type(estimator).__name__}: the sample weights are too large: their sum overflows.")


def weighted(sample_weight: Any, X: Any, *others: Any, all_zero: bool = False) -> tuple[Any, ...]:
    """The weights above zero, and the rows of X and of the others that have them: a row of weight 0 is no row."""
    weights = sample_weights(sample_weight, X.shape[0], all_zero)
    if weights.all():
        return weights, X, *others
    used = np.flatnonzero(weights)
    return tuple(part[used] for part in (weights, X, *others))


def class_costs(class_weight: Any, classes: Array, y: Array, weights: Array) -> Array:
    """One factor of C per class; "balanced" counts the weights, so that a weight of 2 equals two rows."""
    if class_weight is None:
        return np.ones(len(classes))
    factors = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weights)
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise ValueError(f"class_weight must give a finite weight >= 0 to every class; got {class_weight!r}.")
    return factors
