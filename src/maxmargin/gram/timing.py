"""What a value costs, learned from what was computed: certificates are planned with it."""

from __future__ import annotations

from maxmargin.core import limits

LONG = 0.02  # seconds of a measurement that says what values cost, however few they were
MANY = 1_000_000  # values of a measurement that says so, however short it was


class Rate:
    """Seconds per value: a running mean, and a first guess until there is something to measure.

    The guess is far off where the user's functions are called, so for those (``unknown``) a higher price replaces what
    was believed: a mean would not tell what they cost.
    """

    def __init__(self, guess: float, unknown: bool) -> None:
        self.seconds, self._unknown = guess, unknown

    def learn(self, begun: float, values: int) -> None:
        """Sets: the mean, from a measurement of many values or of a long time that began at ``begun``."""
        passed = limits.now() - begun
        if values >= MANY or (values and passed >= LONG):
            seen = passed / values
            higher = self._unknown and seen > self.seconds
            self.seconds = seen if higher else 0.5 * (self.seconds + seen)
