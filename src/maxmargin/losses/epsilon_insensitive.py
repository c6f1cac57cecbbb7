"""The losses of support vector regression: a tube of half width epsilon, and its square."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.box import Box, over, two_sided, unbounded


@on_arrays
class EpsilonInsensitive(NamedTuple):
    """max(0, |y - z| - epsilon). Its dual has -c <= beta <= c and pays epsilon |beta|."""

    epsilon: float = 0.0
    smooth = False
    bounded_rows = True
    one_sided = False

    def box(self, y: Array, c: Array) -> Box:
        """-c <= beta <= c, p = y, kink = epsilon."""
        return two_sided(y, c, self.epsilon, np.zeros(len(y)))


@value.register(EpsilonInsensitive)
def _(loss, y, z):
    return max(0.0, abs(y - z) - loss.epsilon)


@slope.register(EpsilonInsensitive)
def _(loss, y, z):
    outside = 1.0 if abs(y - z) > loss.epsilon else 0.0
    return -outside if y > z else outside


@curvature.register(EpsilonInsensitive)
def _(loss, y, z):
    return 0.0


@conjugate.register(EpsilonInsensitive)
def _(loss, y, c, beta):
    return loss.epsilon * abs(beta) - beta * y if abs(beta) <= c else INFINITE


@dual_step.register(EpsilonInsensitive)
def _(loss, y, c, z, old, sigma):
    """beta = clip(soft(old + sigma (y - z), sigma epsilon), -c, c)."""
    aim = old + sigma * (y - z)
    size = min(max(abs(aim) - sigma * loss.epsilon, 0.0), c)
    return size if aim > 0.0 else -size


@step_slope.register(EpsilonInsensitive)
def _(loss, y, c, z, old, sigma):
    return sigma if 0.0 < abs(old + sigma * (y - z)) - sigma * loss.epsilon < c else 0.0


@on_arrays
class SquaredEpsilonInsensitive(NamedTuple):
    """max(0, |y - z| - epsilon)^2. Its dual has any beta and pays epsilon |beta| + beta^2 / (4c)."""

    epsilon: float = 0.0
    smooth = True
    bounded_rows = True
    one_sided = False

    def box(self, y: Array, c: Array) -> Box:
        """Any beta, p = y, kink = epsilon, ridge = 1 / (2c)."""
        return two_sided(y, unbounded(c), self.epsilon, over(0.5, c))


@value.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    return max(0.0, abs(y - z) - loss.epsilon) ** 2


@slope.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    size = 2.0 * max(0.0, abs(y - z) - loss.epsilon)
    return -size if y > z else size


@curvature.register(SquaredEpsilonInsensitive)
def _(loss, y, z):
    return 2.0 if abs(y - z) > loss.epsilon else 0.0


@conjugate.register(SquaredEpsilonInsensitive)
def _(loss, y, c, beta):
    return loss.epsilon * abs(beta) - beta * y + beta * beta / (4.0 * c)


@dual_step.register(SquaredEpsilonInsensitive)
def _(loss, y, c, z, old, sigma):
    """beta = soft(old + sigma (y - z), sigma epsilon) / (1 + sigma / (2c))."""
    aim = old + sigma * (y - z)
    size = max(abs(aim) - sigma * loss.epsilon, 0.0) / (1.0 + sigma / (2.0 * c))
    return size if aim > 0.0 else -size


@step_slope.register(SquaredEpsilonInsensitive)
def _(loss, y, c, z, old, sigma):
    outside = abs(old + sigma * (y - z)) > sigma * loss.epsilon
    return sigma / (1.0 + sigma / (2.0 * c)) if outside else 0.0
