"""The augmented Lagrangian (``solvers.lagrangian``) of machines with one weight vector."""

from __future__ import annotations

import numpy as np

from maxmargin.losses.base import dual_steps, fenchel_young, smoothed_multipliers
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point
from maxmargin.solvers.contract import Options
from maxmargin.solvers.lagrangian import FIRST, KNOWN, AugmentedLagrangian
from maxmargin.solvers.linear.descent import LinearDescent
from maxmargin.solvers.linear.refusals import needs_compiled_loss, needs_l2
from maxmargin.solvers.sample import large_enough, solved_sample

ROWS_A_WEIGHT = 64.0  # of the sample that gives a start (a9a has 16, and takes 50 instead of 28 steps with it)


class ALM(AugmentedLagrangian):
    """State and steps of one solve."""

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.sigma = self.first_sigma(problem, start)
        if not start.v.any() and start.beta is None and large_enough(problem, ROWS_A_WEIGHT):
            sample = solved_sample(ALM, problem, options)
            start = self._after(problem, sample) if sample else start
        self.old = np.zeros(problem.n) if start.beta is None else start.beta.copy()

        def fill(z, beta, kappa):
            dual_steps(problem.loss, problem.y, problem.costs, z, self.old, self.sigma, beta, kappa)

        self._begin(problem, options, LinearDescent(problem, start.v.copy(), fill))

    def _after(self, problem: LinearProblem, sample: ALM) -> Point:
        """Weights of a sample, and multipliers for all rows at their scores. Sets: sigma.

        The weights are good to about 1 / sigma in each score: rows within that of a kink get a multiplier between
        their bounds.
        """
        self.sigma, v = sample.sigma, sample.point.v
        z, beta = problem.design.scores(v), np.empty(problem.n)
        smoothed_multipliers(problem.loss, problem.y, problem.costs, z, 0.5 / self.sigma, beta)
        return Point(v, beta)

    @staticmethod
    def first_sigma(problem: LinearProblem, start: Point) -> float:
        """Half of one over the size of the targets: at v = 0 all rows then lie between their bounds."""
        known = 1.0 if start.beta is None else KNOWN
        return known * FIRST / (float(np.abs(problem.y).mean()) or 1.0)

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_l2(problem) or needs_compiled_loss(problem)

    def _terms(self) -> tuple[float, float, float]:
        problem, descent = self.problem, self.descent
        return fenchel_young(problem.loss, problem.y, problem.costs, descent.z, descent.beta)[:3]
