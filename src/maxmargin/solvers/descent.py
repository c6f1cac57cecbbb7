"""Steps on a smooth objective 1/2 v'Rv + sum_i h_i(z_i) with scores z = Av, whatever the shapes of v and z.

h_i is known by its multipliers beta_i(z) = -h_i'(z), so the gradient is Rv - A'beta. Where a step goes is said by those
who know the curvature: one weight vector (``linear.descent``), or one for each class (``joint.descent``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.problems.solution import STOPS
from maxmargin.solvers.contract import OVERFLOW, Overflow

LINE_SEARCH_STEPS = 12


class Descent(ABC):
    """A point v with its scores z, multipliers beta and q = A'beta; ``ridge`` is the diagonal of R."""

    problem: Any
    ridge: Array

    def __init__(self, v: Array, scores: Array) -> None:
        """From these weights and their scores. What else there is to know of them comes with ``refresh``."""
        self.v, self.z = v, scores
        self.beta, self._trial = np.zeros(scores.shape), np.empty(scores.shape)
        self.q, self._summed = np.zeros(v.shape), np.zeros(scores.shape)
        self.damping = 0.0

    @property
    @abstractmethod
    def curved(self) -> int:
        """How many rows curve at the present scores."""

    @abstractmethod
    def _scores(self, v: Array) -> Array:
        """A v."""

    @abstractmethod
    def _combined(self, beta: Array) -> Array:
        """A' beta."""

    @abstractmethod
    def _fill(self, z: Array) -> None:
        """Sets: beta, and what is known of the curvature, at scores z."""

    @abstractmethod
    def direction(self, *, accuracy: float) -> Array:
        """-H^-1 g, so far that an iterative method leaves this share of the residual."""

    @abstractmethod
    def stationarity(self, q: Array) -> float:
        """1/2 ||v - q||^2: the part of the gap that multipliers with q = A'beta leave."""

    def restart(self) -> None:
        """Scores and sums anew, without the rounding of many updates. Sets: z, beta, q."""
        self.z = self._scores(self.v)
        self.q[:], self._summed[:] = 0.0, 0.0
        self.refresh()

    def refresh(self) -> None:
        """Multipliers and q at the present scores. Sets: beta, q."""
        self._fill(self.z)
        self._add_up()

    def _add_up(self) -> None:
        """What changes of multipliers change, which may be few. Sets: q."""
        np.subtract(self.beta, self._summed, out=self._trial)
        self.q += self._combined(self._trial)
        self._summed[:] = self.beta

    @property
    def gradient(self) -> Array:
        """Rv - A'beta."""
        return self.ridge * self.v - self.q

    def damp(self, length: float) -> None:
        """Less damping after a full step, more after a short one (Levenberg and Marquardt).

        Rows beyond their kink do not curve, and a Newton step along features that only they have goes much too far.
        """
        if length > 0.1:
            self.damping *= 0.1 if length >= 0.9 else 0.5 if length >= 0.5 else 2.0
        else:
            self.damping = max(10.0 * self.damping, 1e-8)

    def move(self, dv: Array) -> float:
        """Go along dv to where the slope of the objective is nearly zero; the step length. Sets: v, z, beta, q.

        The slope s(t) = dv'R(v + t dv) - dz'beta(z + t dz) only grows, so its root is found by bracketing. Newton's
        step t = 1 is taken where it removes half of the slope.
        """
        dz = self._scores(dv)
        linear, quadratic = float(np.vdot(dv, self.ridge * self.v)), float(np.vdot(dv, self.ridge * dv))
        seen = 0.0

        def slope(t: float) -> float:
            nonlocal seen
            seen = t
            np.multiply(dz, t, out=self._trial)
            self._trial += self.z
            self._fill(self._trial)
            return linear + t * quadratic - float(np.vdot(dz, self.beta))

        begin = linear - float(np.vdot(dz, self.beta))
        if begin >= 0.0:
            return 0.0  # rounding: no descent left
        try:
            t = root_of_slope(slope, begin)
            if seen != t:
                slope(t)
        except STOPS:
            with limits.unlimited():
                self._fill(self.z)  # the multipliers of the point that stays, instead of those of a trial
            raise
        # Scores and multipliers of t are there from its slope.
        self.v, self.z, self._trial = self.v + t * dv, self._trial, self.z
        self._add_up()
        return t


def relative(gap: float, objective: float) -> float:
    """Gap over |objective|, 0 where both are; an error where they are not finite."""
    if not (np.isfinite(gap) and np.isfinite(objective)):
        raise Overflow(OVERFLOW)
    return gap / max(abs(objective), 1e-300) if gap > 0.0 else 0.0


def root_of_slope(slope: Callable[[float], float], begin: float) -> float:
    """t > 0 with slope(t) within [begin / 2, -begin / 10], for a growing function with slope(0) = begin < 0.

    Secants and bisections take turns: a few rows that enter far along can bend the slope sharply.
    """
    low, at_low, high, at_high = 0.0, begin, np.inf, np.inf
    t = 1.0
    for turn in range(LINE_SEARCH_STEPS):
        here = slope(t)
        if 0.5 * begin <= here <= -0.1 * begin:
            return t
        if here < 0.0:
            low, at_low = t, here
        else:
            high, at_high = t, here
        if np.isinf(high):
            t *= 4.0
        elif turn % 2:
            t = 0.5 * (low + high)
        else:
            t = low - at_low * (high - low) / (at_high - at_low)
    return low or t
