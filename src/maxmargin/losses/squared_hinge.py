"""The squared hinge, p = 2 in the notes: l = max(0, 1 - yz)^2."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.box import Box, one_sided, over, unbounded


@on_arrays
class SquaredHinge(NamedTuple):
    """max(0, 1 - y z)^2 for y = -1 or +1. With alpha = y beta its dual has alpha >= 0 and pays alpha^2 / (4c)."""

    smooth = True
    bounded_rows = True
    one_sided = True

    def box(self, y: Array, c: Array) -> Box:
        """0 <= y beta, p = y, ridge = 1 / (2c)."""
        return one_sided(y, y, unbounded(c), over(0.5, c))


@value.register(SquaredHinge)
def _(loss, y, z):
    return max(0.0, 1.0 - y * z) ** 2


@slope.register(SquaredHinge)
def _(loss, y, z):
    return -2.0 * y * max(0.0, 1.0 - y * z)


@curvature.register(SquaredHinge)
def _(loss, y, z):
    return 2.0 if y * z < 1.0 else 0.0


@conjugate.register(SquaredHinge)
def _(loss, y, c, beta):
    alpha = y * beta
    return alpha * alpha / (4.0 * c) - alpha if alpha >= 0.0 else INFINITE


@dual_step.register(SquaredHinge)
def _(loss, y, c, z, old, sigma):
    """alpha = max(0, (old + sigma (1 - yz)) / (1 + sigma / (2c)))."""
    return y * max(y * old + sigma * (1.0 - y * z), 0.0) / (1.0 + sigma / (2.0 * c))


@step_slope.register(SquaredHinge)
def _(loss, y, c, z, old, sigma):
    return sigma / (1.0 + sigma / (2.0 * c)) if y * old + sigma * (1.0 - y * z) > 0.0 else 0.0
