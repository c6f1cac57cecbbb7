"""The classes that labels may name: at least two, and in a stream those of its first call."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from maxmargin.core.rows import Array

DENSE_LABELS = 4  # integers that lie within this many times the number of rows are counted, not sorted


def distinct(y: Array) -> tuple[Array, Array]:
    """The labels that occur, in order, and the index of each row's: ``np.unique``, without sorting where it can."""
    if y.dtype.kind in "iu" and len(y):
        least, most = int(y.min()), int(y.max())
        if most - least <= DENSE_LABELS * len(y):
            places = (y - least).astype(np.intp)  # unsigned labels, too, are at least the least
            found = np.flatnonzero(np.bincount(places))
            order = np.zeros(most - least + 1, np.intp)
            order[found] = np.arange(len(found))
            return (found + least).astype(y.dtype), order[places]
    return np.unique(y, return_inverse=True)


def at_least_two(classes: Array, name: str) -> None:
    """A classifier needs two classes."""
    if len(classes) < 2:
        found = f"only class {classes[0]}" if len(classes) else "no class"
        raise ValueError(
            f"{name} needs rows of at least 2 classes; y holds {found} "
            "(rows with sample_weight 0 do not count). The number of classes has to be greater than one; "
            f"got {len(classes)} class."
        )


def known_labels(y: Any, classes: Array, n: int) -> Array:
    """The class index of each label; an error where one is not among ``classes``, or where there are not n of them."""
    y = column_or_1d(y)
    if len(y) != n:
        raise ValueError(f"y must hold one label for each of the {n} rows; got {len(y)}.")
    unknown = _not_among(classes, y)
    if len(unknown):
        raise ValueError(f"y holds labels that the fit did not see: {unknown!r}.")
    return np.searchsorted(classes, y)


def stream_classes(estimator: Any, y: Array, classes: Any) -> Array:
    """All labels of a stream: the first call of ``partial_fit`` names them, later ones must agree."""
    known = getattr(estimator, "classes_", None)
    if known is None:
        if classes is None:
            name = type(estimator).__name__
            raise ValueError(f"{name}.partial_fit: the first call needs classes, the list of all labels there will be.")
        known = np.unique(classes)
    elif classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(f"classes={classes!r} is not what the first call said: {known!r}.")
    unknown = _not_among(known, y)
    if len(unknown):
        raise ValueError(f"y holds labels that classes did not name: {unknown!r}.")
    return known


def _not_among(classes: Array, y: Array) -> Array:
    """The labels of y that are not among the classes, which are in order."""
    if y.dtype == classes.dtype and y.dtype.kind in "iub" and len(classes):  # looked up: nothing is sorted
        places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        return np.unique(y[classes[places] != y])
    return np.setdiff1d(y, classes)
