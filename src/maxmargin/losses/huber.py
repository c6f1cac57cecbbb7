"""Huber's loss of regression (1964), with a tube: a parabola near the target and a line beyond, where outliers lie."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.box import Box, over, two_sided


@on_arrays
class Huber(NamedTuple):
    """With u = max(0, |y - z| - epsilon): u^2 / (2 delta) for u <= delta, u - delta / 2 beyond.

    delta > 0 is where the parabola ends; delta -> 0 is the epsilon-insensitive loss. Its dual has -c <= beta <= c and
    pays epsilon |beta| + delta beta^2 / (2c).
    """

    delta: float = 1.0
    epsilon: float = 0.0
    smooth = True
    bounded_rows = True
    one_sided = False

    def box(self, y: Array, c: Array) -> Box:
        """-c <= beta <= c, p = y, kink = epsilon, ridge = delta / c."""
        return two_sided(y, c, self.epsilon, over(self.delta, c))


@value.register(Huber)
def _(loss, y, z):
    u = max(0.0, abs(y - z) - loss.epsilon)
    return u * u / (2.0 * loss.delta) if u < loss.delta else u - 0.5 * loss.delta


@slope.register(Huber)
def _(loss, y, z):
    size = min(max(0.0, abs(y - z) - loss.epsilon) / loss.delta, 1.0)
    return -size if y > z else size


@curvature.register(Huber)
def _(loss, y, z):
    return 1.0 / loss.delta if 0.0 <= abs(y - z) - loss.epsilon < loss.delta else 0.0


@conjugate.register(Huber)
def _(loss, y, c, beta):
    """epsilon |beta| - beta y + delta beta^2 / (2c)."""
    return loss.epsilon * abs(beta) - beta * y + 0.5 * loss.delta * beta * beta / c if abs(beta) <= c else INFINITE


@dual_step.register(Huber)
def _(loss, y, c, z, old, sigma):
    """beta = clip(soft(old + sigma (y - z), sigma epsilon) / (1 + sigma delta / c), -c, c)."""
    aim = old + sigma * (y - z)
    size = min(max(abs(aim) - sigma * loss.epsilon, 0.0) / (1.0 + sigma * loss.delta / c), c)
    return size if aim > 0.0 else -size


@step_slope.register(Huber)
def _(loss, y, c, z, old, sigma):
    stiffness = 1.0 + sigma * loss.delta / c
    size = (abs(old + sigma * (y - z)) - sigma * loss.epsilon) / stiffness
    return sigma / stiffness if 0.0 < size < c else 0.0
