"""The hinge of the soft margin, p = 1 in the notes: l = max(0, 1 - yz)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.box import Box, one_sided


@on_arrays
class Hinge(NamedTuple):
    """max(0, 1 - y z) for y = -1 or +1. With alpha = y beta its dual has 0 <= alpha <= c."""

    smooth = False
    bounded_rows = True
    one_sided = True

    def box(self, y: Array, c: Array) -> Box:
        """0 <= y beta <= c, p = y."""
        return one_sided(y, y, c, np.zeros(len(y)))


@value.register(Hinge)
def _(loss, y, z):
    return max(0.0, 1.0 - y * z)


@slope.register(Hinge)
def _(loss, y, z):
    return -y if y * z < 1.0 else 0.0


@curvature.register(Hinge)
def _(loss, y, z):
    return 0.0


@conjugate.register(Hinge)
def _(loss, y, c, beta):
    alpha = y * beta
    return -alpha if 0.0 <= alpha <= c else INFINITE


@dual_step.register(Hinge)
def _(loss, y, c, z, old, sigma):
    """alpha = clip(old + sigma (1 - yz), 0, c)."""
    return y * min(max(y * old + sigma * (1.0 - y * z), 0.0), c)


@step_slope.register(Hinge)
def _(loss, y, c, z, old, sigma):
    return sigma if 0.0 < y * old + sigma * (1.0 - y * z) < c else 0.0
