"""The slack to the power p (note 003): l = max(0, 1 - yz)^p for 1 <= p <= 2, between the hinge and its square."""

from __future__ import annotations

from typing import Any, NamedTuple

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.losses.base import INFINITE, conjugate, curvature, dual_step, on_arrays, slope, step_slope, value
from maxmargin.losses.box import unbounded
from maxmargin.losses.curved import dual_curvature, dual_slope
from maxmargin.losses.hinge import Hinge
from maxmargin.losses.squared_hinge import SquaredHinge

# From here on Newton's method is the fastest (20,000 x 40: 0.04 instead of 0.3 s); below 1.3 it stalls, because the
# curvature is large near the kink and next to nothing elsewhere. The augmented Lagrangian solves all, in 6 to 40 steps.
NEWTON_POWER = 1.5
STEPS = 100  # Newton steps for one multiplier; a few suffice
SAME = 1e-15  # of the root: a step below this is rounding


@on_arrays
class PowerHinge(NamedTuple):
    """max(0, 1 - y z)^p for y = -1 or +1.

    With alpha = y beta and t = alpha / (p c), the slack to the power p - 1, its dual has alpha >= 0 and pays
    (p - 1) c t^q, q = p / (p - 1). Its curvature p (p - 1) xi^(p - 2) is unbounded where the slack xi tends to zero.
    """

    p: float = 1.5
    within = (1.0, 2.0)
    bounded_rows = True
    one_sided = True

    @property
    def smooth(self) -> bool:
        """Whether the curvature is a help."""
        return self.p >= NEWTON_POWER

    def bound(self, c: Array) -> Array:
        """alpha >= 0 without a bound."""
        return unbounded(c)


def simplest(loss: Any) -> Any:
    """The hinge for p = 1 and its square for p = 2, which have formulas of their own; other losses as they are."""
    if not isinstance(loss, PowerHinge):
        return loss
    return Hinge() if loss.p == 1 else SquaredHinge() if loss.p == 2 else loss


@value.register(PowerHinge)
def _(loss, y, z):
    return max(0.0, 1.0 - y * z) ** loss.p


@slope.register(PowerHinge)
def _(loss, y, z):
    slack = 1.0 - y * z
    return -y * loss.p * slack ** (loss.p - 1.0) if slack > 0.0 else 0.0


@curvature.register(PowerHinge)
def _(loss, y, z):
    slack = 1.0 - y * z
    return loss.p * (loss.p - 1.0) * slack ** (loss.p - 2.0) if slack > 0.0 else 0.0


@conjugate.register(PowerHinge)
def _(loss, y, c, beta):
    """-alpha + (p - 1) c t^q."""
    alpha, q = y * beta, loss.p / (loss.p - 1.0)
    return (loss.p - 1.0) * c * (alpha / (loss.p * c)) ** q - alpha if alpha >= 0.0 else INFINITE


@dual_step.register(PowerHinge)
def _(loss, y, c, z, old, sigma):
    return y * loss.p * c * _root(loss.p, loss.p * c / sigma, 1.0 - y * z + y * old / sigma)


@step_slope.register(PowerHinge)
def _(loss, y, c, z, old, sigma):
    """1 / (1 / sigma + conjugate''), conjugate'' = t^(1 / (p - 1) - 1) / ((p - 1) p c)."""
    room, power = 1.0 - y * z + y * old / sigma, 1.0 / (loss.p - 1.0)
    t = _root(loss.p, loss.p * c / sigma, room)
    return sigma / (1.0 + sigma * power * t ** (power - 1.0) / (loss.p * c)) if room > 0.0 else 0.0


@dual_slope.register(PowerHinge)
def _(loss, y, c, beta):
    """y (t^(1 / (p - 1)) - 1): the slack minus one."""
    t = y * beta / (loss.p * c)
    return y * (t ** (1.0 / (loss.p - 1.0)) - 1.0) if t >= 0.0 else -y * INFINITE


@dual_curvature.register(PowerHinge)
def _(loss, y, c, beta):
    power = 1.0 / (loss.p - 1.0)
    return power * max(y * beta / (loss.p * c), 0.0) ** (power - 1.0) / (loss.p * c)


@jit()
def _root(p, stiffness, room):
    """The t >= 0 with t^(1 / (p - 1)) + stiffness t = room, and 0 where room <= 0: xi + (alpha - old) / sigma = 1 - yz.

    The left side is convex and grows, so Newton's steps fall to the root from any point above it: such is the smaller
    of the t that either term alone would have.
    """
    if room <= 0.0:
        return 0.0
    power = 1.0 / (p - 1.0)
    t = min(room ** (p - 1.0), room / stiffness)
    for _ in range(STEPS):
        slack = t**power
        step = t * (slack + stiffness * t - room) / (power * slack + stiffness * t)
        t -= step
        if step <= SAME * t:
            break
    return t
