"""The loss of logistic regression: l = log(1 + exp(-yz))."""

from __future__ import annotations

import math
from typing import NamedTuple

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.curved import dual_curvature, dual_slope

STEPS = 100  # safeguarded Newton steps for one multiplier; a few suffice
LEAST, MOST = 1e-300, 1.0 - 2.0**-53  # shares alpha / c strictly between 0 and 1, where the entropy has finite slopes


@on_arrays
class Logistic(NamedTuple):
    """log(1 + exp(-y z)) for y = -1 or +1. With alpha = y beta its dual has 0 <= alpha <= c and their entropy."""

    smooth = True
    bounded_rows = False  # no multiplier ever rests at a bound: coordinate descent has nothing to leave out
    one_sided = True

    def bound(self, c: Array) -> Array:
        """0 <= alpha <= c."""
        return c


@value.register(Logistic)
def _(loss, y, z):
    return max(0.0, -y * z) + math.log1p(math.exp(-abs(z)))


@slope.register(Logistic)
def _(loss, y, z):
    small = math.exp(-abs(z))  # no overflow on either side
    return -y * (small if y * z > 0.0 else 1.0) / (1.0 + small)


@curvature.register(Logistic)
def _(loss, y, z):
    small = math.exp(-abs(z))
    return small / (1.0 + small) ** 2


@conjugate.register(Logistic)
def _(loss, y, c, beta):
    """alpha log(alpha / c) + (c - alpha) log(1 - alpha / c)."""
    share = y * beta / c
    entropy = INFINITE
    if 0.0 <= share <= 1.0:
        entropy = share * math.log(share) if share > 0.0 else 0.0
        entropy += (1.0 - share) * math.log1p(-share) if share < 1.0 else 0.0
    return c * entropy


@dual_step.register(Logistic)
def _(loss, y, c, z, old, sigma):
    return y * c * _share(c, y * z, y * old, sigma)


@step_slope.register(Logistic)
def _(loss, y, c, z, old, sigma):
    share = _share(c, y * z, y * old, sigma)
    inner = c * share * (1.0 - share)
    return sigma * inner / (sigma + inner)


@dual_slope.register(Logistic)
def _(loss, y, c, beta):
    """y log(alpha / (c - alpha)), finite at the ends of the domain."""
    share = y * beta / c
    if not 0.0 <= share <= 1.0:
        return y * INFINITE if share > 1.0 else -y * INFINITE
    share = min(max(share, LEAST), MOST)
    return y * (math.log(share) - math.log1p(-share))


@dual_curvature.register(Logistic)
def _(loss, y, c, beta):
    share = min(max(y * beta / c, LEAST), MOST)
    return 1.0 / (c * share * (1.0 - share))


@jit()
def _share(c, margin, old, sigma):
    """alpha / c = s(theta), s the logistic function, for the root of theta + (c s(theta) - old) / sigma + margin = 0.

    The left side grows with slope >= 1, so its root lies between -margin - (c - old) / sigma and -margin + old / sigma.
    """
    low, high = -margin - (c - old) / sigma, -margin + old / sigma
    theta, last = 0.5 * (low + high), high - low
    for _ in range(STEPS):
        share = 1.0 / (1.0 + math.exp(-min(max(theta, -700.0), 700.0)))
        excess = theta + (c * share - old) / sigma + margin
        if excess > 0.0:
            high = theta
        else:
            low = theta
        step = excess / (1.0 + c * share * (1.0 - share) / sigma)
        if abs(step) <= 1e-15 * (1.0 + abs(theta)):
            break
        # Newton's steps can creep in turns from both sides of the root: one that is not half of the last is not taken.
        newton = low < theta - step < high and abs(step) <= 0.5 * last
        last = abs(step) if newton else 0.5 * (high - low)
        theta = theta - step if newton else 0.5 * (low + high)
    return 1.0 / (1.0 + math.exp(-min(max(theta, -700.0), 700.0)))
