"""The box of a loss: what its conjugate looks like to the canonical problem of kernel machines.

The conjugate of a piecewise quadratic loss is a quadratic with a kink at zero on an interval,

    c l*(y, -beta / c) = -p beta + kink |beta| + ridge beta^2 / 2    for lower <= beta <= upper,

and infinite outside, so these five numbers per row say all that a kernel machine needs of the loss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.base import sound


class Box(NamedTuple):
    """See the module's formula; one entry per row."""

    p: Array
    lower: Array
    upper: Array
    kink: Array
    ridge: Array


def one_sided(y: Array, p: Array, bound: Array, ridge: Array) -> Box:
    """0 <= y beta <= bound, for labels y = -1 or +1."""
    return Box(p, np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0), np.zeros(len(y)), ridge)


def two_sided(y: Array, bound: Array, kink: float, ridge: Array) -> Box:
    """-bound <= beta <= bound, for numbers y."""
    return Box(y, -bound, bound, np.full(len(y), kink), ridge)


def unbounded(c: Array) -> Array:
    """The bound of losses that grow like a square: none, but rows without cost keep beta = 0."""
    return np.where(c > 0, np.inf, 0.0)


def over(numerator: float, c: Array) -> Array:
    """numerator / c, and 0 for rows without cost."""
    return np.divide(numerator, c, out=np.zeros(len(c)), where=c > 0)


def has_box(loss: Any, of_labels: bool) -> bool:
    """Whether a kernel machine takes ``loss``: piecewise quadratic, for labels or for numbers, no parameter below 0."""
    if isinstance(loss, type) or not hasattr(loss, "box"):
        return False
    if not isinstance(loss, tuple) or getattr(loss, "one_sided", None) is not of_labels:
        return False
    return sound(loss)


def box_of(loss: Any, y: Array, c: Array, of_labels: bool) -> Box:
    """The box of ``loss`` with targets ``y`` and costs ``c``; an error where it has none for such targets."""
    if not has_box(loss, of_labels):
        fitting = "a hinge, its square or a Huber hinge" if of_labels else "epsilon-insensitive, its square or Huber's"
        raise ValueError(
            f"A kernel machine on {'labels' if of_labels else 'numbers'} needs a piecewise quadratic loss "
            f"for them, with parameters >= 0: {fitting}; got {loss!r}."
        )
    return loss.box(y, c)
