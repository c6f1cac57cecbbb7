"""The augmented Lagrangian with semismooth Newton steps: exact for losses with kinks when there are many rows.

Splitting u = Av gives, for multipliers beta' and a penalty sigma in proportion to the costs, the smooth problem

    minimise over v  1/2 v'Rv + sum_i min_u c_i l(u) + beta'_i (u - z_i) + sigma c_i / 2 (u - z_i)^2,

whose multipliers at the minimum are the next beta' (Rockafellar 1976: the proximal point method in the dual). Its
Newton systems have the rows strictly between their bounds only. See Yan and Li (2020) for the hinge.
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses.base import dual_steps, fenchel_young, smoothed_multipliers
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.linear.descent import Descent, relative
from maxmargin.solvers.linear.refusals import needs_compiled_loss, needs_l2
from maxmargin.solvers.linear.sample import large_enough, solved_sample

INNER = 0.3  # the smooth problem is solved until its error is this share of the rows' part of the gap
GROWTH = 2.0  # of sigma, while many rows lie between their bounds or smooth problems take at most QUICK steps
QUICK = 6  # Newton steps: a large sigma makes the multipliers converge fast, a too large one makes the steps erratic
STUCK = 40  # Newton steps without an end: sigma is too large (C is far above the multipliers), so it shrinks
SOFTER = 0.01
KNOWN = 2.0  # factor of the first sigma where another solver has left multipliers
ROWS_A_WEIGHT = 64.0  # of the sample that gives a start (a9a has 16, and takes 50 instead of 28 steps with it)
DAMPING = 1e-3  # of the first step of a smooth problem, times the share of rows that curve


class ALM(Solver):
    """State and steps of one solve."""

    name = "alm"
    idle_steps = 100

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        self.sigma = self.first_sigma(problem, start)
        if not start.v.any() and start.beta is None and large_enough(problem, ROWS_A_WEIGHT):
            sample = solved_sample(ALM, problem, options)
            start = self._after(sample) if sample else start
        self.old = np.zeros(problem.n) if start.beta is None else start.beta.copy()

        def fill(z, beta, kappa):
            dual_steps(problem.loss, problem.y, problem.costs, z, self.old, self.sigma, beta, kappa)

        self.descent = Descent(problem, start.v.copy(), fill)
        self._damp()
        self._updated = 0
        self._judge()

    def _after(self, sample: ALM) -> Point:
        """Weights of a sample, and multipliers for all rows at their scores. Sets: sigma.

        The weights are good to about 1 / sigma in each score: rows within that of a kink get a multiplier between
        their bounds.
        """
        problem, self.sigma, v = self.problem, sample.sigma, sample.point.v
        z, beta = problem.design.scores(v), np.empty(problem.n)
        smoothed_multipliers(problem.loss, problem.y, problem.costs, z, 0.5 / self.sigma, beta)
        return Point(v, beta)

    @staticmethod
    def first_sigma(problem: LinearProblem, start: Point) -> float:
        """Half of one over the size of the targets: at v = 0 all rows then lie between their bounds."""
        known = 1.0 if start.beta is None else KNOWN
        return known * 0.5 / (float(np.abs(problem.y).mean()) or 1.0)

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_l2(problem) or needs_compiled_loss(problem)

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
        if np.count_nonzero(descent.kappa) > 3 * self.problem.d or steps <= QUICK:
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
        self.descent.damping = DAMPING * np.count_nonzero(self.descent.kappa) / self.problem.n

    def _judge(self) -> None:
        """Sets: objective (dual), optimality_error (relative gap) and its parts, of the smooth problem and the rows."""
        problem, descent = self.problem, self.descent
        v, q = descent.v[problem.penalized], descent.q[problem.penalized]
        losses, conjugates, self._rows, _ = fenchel_young(
            problem.loss, problem.y, problem.costs, descent.z, descent.beta
        )
        primal, self.objective = 0.5 * float(v @ v) + losses, -0.5 * float(q @ q) - conjugates
        self._inner = descent.stationarity(descent.q)
        self.optimality_error = relative(self._inner + self._rows, primal)
