"""How fast a solver comes nearer to its goal, and when waiting for it is not worth the time any more."""

from __future__ import annotations

import math

SLIGHTLY, HALF, TENTH = 0.9, 0.5, 0.1  # what the optimality error came down to, of what it was at the mark before
PATIENT_STEPS = 12  # a small problem that has proved tol goes on until its error is not halved in this many steps


class Pace:
    """When an optimality error last came down by a tenth, to a half and to a tenth, counted in steps and in passes.

    ``idle_steps`` is how many steps may go by before it comes down slightly, ``patience`` how many passes before it is
    a tenth.
    """

    def __init__(self, passes: float, idle_steps: float = math.inf, patience: float = math.inf) -> None:
        self.steps, self.passes = 0, passes
        self.idle_steps, self.patience = idle_steps, patience
        self._lowest = dict.fromkeys((SLIGHTLY, HALF, TENTH), math.inf)
        self._at: dict[float, tuple[int, float]] = dict.fromkeys(self._lowest, (0, passes))

    def see(self, error: float, passes: float) -> None:
        """The error after ``steps`` steps and ``passes`` passes so far. Sets: passes, the marks."""
        self.passes = passes
        for factor, lowest in self._lowest.items():
            # An error that is zero already does not come down any more.
            if error < lowest and (error <= factor * lowest or lowest == math.inf):
                self._lowest[factor], self._at[factor] = error, (self.steps, passes)

    @property
    def too_slow(self) -> bool:
        """Whether further steps are not worth their time."""
        idle, _ = self._since(SLIGHTLY)
        _, passes = self._since(TENTH)
        return idle > self.idle_steps or passes > self.patience

    @property
    def settled(self) -> bool:
        """Whether what is left to gain beyond a proved tolerance is gained."""
        return self._since(HALF)[0] >= PATIENT_STEPS

    def _since(self, factor: float) -> tuple[int, float]:
        """Steps and passes since the error last came down to ``factor`` of what it was."""
        step, passes = self._at[factor]
        return self.steps - step, self.passes - passes
