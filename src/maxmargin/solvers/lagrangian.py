"""The augmented Lagrangian with semismooth Newton steps: exact for losses with kinks when there are many rows.

Splitting u = Av gives, for multipliers beta' and a penalty sigma in proportion to the costs, the smooth problem

    minimise over v  1/2 v'Rv + sum_i min_u c_i l(u) + beta'_i (u - z_i) + sigma c_i / 2 (u - z_i)^2,

whose multipliers at the minimum are the next beta' (Rockafellar 1976: the proximal point method in the dual). Its
Newton systems have the rows strictly between their bounds only. See Yan and Li (2020) for the hinge.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.descent import Descent, relative

INNER = 0.3  # the smooth problem is solved until its error is this share of the rows' part of the gap
GROWTH = 2.0  # of sigma, while many rows lie between their bounds or smooth problems take at most QUICK steps
QUICK = 6  # Newton steps: a large sigma makes the multipliers converge fast, a too large one makes the steps erratic
STUCK = 40  # Newton steps without an end: sigma is too large (C is far above the multipliers), so it shrinks
SOFTER = 0.01
FIRST, KNOWN = 0.5, 2.0  # of the first sigma, in one over the size of the targets; of it where there are multipliers
DAMPING = 1e-3  # of the first step of a smooth problem, times the share of rows that curve


class AugmentedLagrangian(Solver):
    """State and steps of one solve. ``old`` are the multipliers that the smooth problem is built on."""

    name = "alm"
    idle_steps = 100
    problem: Any
    descent: Descent
    old: Array
    sigma: float

    def _begin(self, problem: Any, options: Options, descent: Descent) -> None:
        """Sets: everything but sigma and the multipliers that the smooth problem is built on."""
        self.problem, self.options, self.descent = problem, options, descent
        self._updated = 0
        self._damp()
        self._judge()

    @abstractmethod
    def _terms(self) -> tuple[float, float, float]:
        """Sums of the losses, of the conjugates, and of the rows' shares of the gap."""

    @property
    def point(self) -> Point:
        """Weights and multipliers."""
        return Point(self.descent.v, self.descent.beta)

    def refine(self, goal: float, proof: Proof) -> None:
        """Recompute what updates have rounded."""
        self.descent.restart()
        self._judge()

    def step(self, most: float = np.inf) -> None:
        """One Newton step, after a multiplier update where the smooth problem is solved well enough."""
        descent = self.descent
        if self._inner <= INNER * self._rows:
            self._update()
        elif self.iterations - self._updated >= STUCK:
            self._soften()
        length = descent.move(descent.direction(accuracy=0.1))
        descent.damp(length)
        self.iterations += 1
        self._judge()

    def _update(self) -> None:
        """The multipliers of the smooth problem become those it is built on; sigma grows while that is cheap."""
        descent = self.descent
        self.old[:] = descent.beta
        steps = self.iterations - self._updated
        self._updated = self.iterations
        if descent.curved > 3 * descent.v.size or steps <= QUICK:
            self.sigma *= GROWTH
        descent.refresh()
        self._damp()

    def _soften(self) -> None:
        """A smooth problem that is too stiff: its penalty is taken back."""
        self.sigma *= SOFTER
        self._updated = self.iterations
        self.descent.refresh()
        self._damp()

    def _damp(self) -> None:
        """Damping for a new smooth problem: the fewer rows curve, the less of it."""
        self.descent.damping = DAMPING * self.descent.curved / self.problem.n

    def _judge(self) -> None:
        """Sets: objective (dual), optimality_error (relative gap) and its parts, of the smooth problem and the rows."""
        descent, counted = self.descent, self.descent.ridge > 0.0
        losses, conjugates, self._rows = self._terms()
        square, dual_square = (float(np.vdot(one[counted], one[counted])) for one in (descent.v, descent.q))
        self.objective = -0.5 * dual_square - conjugates
        self._inner = descent.stationarity(descent.q)
        self.optimality_error = relative(self._inner + self._rows, 0.5 * square + losses)
