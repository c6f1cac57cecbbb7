"""Categories as integers: what a table with a column for each can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.checks import first_entry, non_negative, warn_user
from maxmargin.core.rows import Array

MOST_CATEGORIES = 2**24  # of a feature; their table has a column each


def category_codes(estimator: Any, X: Array, negative: bool = False) -> Array:
    """X as integers 0, 1, 2, ..., those above ``MOST_CATEGORIES`` as that number; so are those below 0 if allowed.

    Fractions are rounded down, as scikit-learn does, but not in silence.
    """
    if not negative:
        non_negative(estimator, X)
    if X.dtype.kind == "f":
        X = X.astype(np.float64, copy=False)  # half precision cannot be compared with MOST_CATEGORIES
    if X.min(initial=0) >= 0 and X.max(initial=0) < MOST_CATEGORIES:
        codes = X.astype(np.int64, copy=False)
    else:  # not by a cast, in which huge numbers would wrap around
        strange = (X < 0) | (X >= MOST_CATEGORIES)
        codes = np.where(strange, MOST_CATEGORIES, np.where(strange, 0, X).astype(np.int64))
    if X.dtype.kind == "f":
        _warn_of_fractions(estimator, X, (codes != X) & (codes < MOST_CATEGORIES))
    return codes


def _warn_of_fractions(estimator: Any, X: Array, fractions: Array) -> None:
    if fractions.any():
        warn_user(
            f"{type(estimator).__name__}: {first_entry(estimator, X, fractions)}, and categories are 0, 1, 2, ...: "
            "it is rounded down. sklearn.preprocessing.OrdinalEncoder makes such numbers of anything."
        )


def learnable_codes(estimator: Any, X: Array) -> Array:
    """``category_codes`` to learn from: every category below the largest has a place in a table, so none is huge."""
    codes = category_codes(estimator, X)
    if codes.max(initial=0) == MOST_CATEGORIES:
        entry = first_entry(estimator, X, codes == MOST_CATEGORIES)
        raise ValueError(
            f"{type(estimator).__name__}: {entry}, and categories are 0, 1, 2, ... below "
            f"{MOST_CATEGORIES}. sklearn.preprocessing.OrdinalEncoder makes such numbers of anything."
        )
    return codes
