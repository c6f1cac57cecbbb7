"""The Huberised hinge: a hinge whose corner is a parabola (Chapelle 2007)."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.box import Box, one_sided, over


@on_arrays
class HuberHinge(NamedTuple):
    """With m = y z: 1 - m for m < 1 - h, (1 + h - m)^2 / (4h) for |1 - m| <= h, 0 for m > 1 + h.

    h > 0 is the half width of the parabola; h -> 0 is the hinge. With alpha = y beta its dual has 0 <= alpha <= c.
    """

    h: float = 0.5
    smooth = True
    bounded_rows = True
    one_sided = True

    def box(self, y: Array, c: Array) -> Box:
        """0 <= y beta <= c, p = (1 + h) y, ridge = 2h / c."""
        return one_sided(y, (1.0 + self.h) * y, c, over(2.0 * self.h, c))


@value.register(HuberHinge)
def _(loss, y, z):
    room = max(0.0, 1.0 + loss.h - y * z)
    return room * room / (4.0 * loss.h) if room < 2.0 * loss.h else 1.0 - y * z


@slope.register(HuberHinge)
def _(loss, y, z):
    return -y * min(max((1.0 + loss.h - y * z) / (2.0 * loss.h), 0.0), 1.0)


@curvature.register(HuberHinge)
def _(loss, y, z):
    return 0.5 / loss.h if abs(1.0 - y * z) < loss.h else 0.0


@conjugate.register(HuberHinge)
def _(loss, y, c, beta):
    """h alpha^2 / c - (1 + h) alpha."""
    alpha = y * beta
    return loss.h * alpha * alpha / c - (1.0 + loss.h) * alpha if 0.0 <= alpha <= c else INFINITE


@dual_step.register(HuberHinge)
def _(loss, y, c, z, old, sigma):
    """alpha = clip((old + sigma (1 + h - yz)) / (1 + 2 h sigma / c), 0, c)."""
    aim = (y * old + sigma * (1.0 + loss.h - y * z)) / (1.0 + 2.0 * loss.h * sigma / c)
    return y * min(max(aim, 0.0), c)


@step_slope.register(HuberHinge)
def _(loss, y, c, z, old, sigma):
    stiffness = 1.0 + 2.0 * loss.h * sigma / c
    aim = (y * old + sigma * (1.0 + loss.h - y * z)) / stiffness
    return sigma / stiffness if 0.0 < aim < c else 0.0
