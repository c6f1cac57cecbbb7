"""Newton's method for smooth losses: Hessians by BLAS, exact to quadratic convergence.

Keerthi and DeCoste (2005) and Chapelle (2007) in the primal. Many rows start from the solution of a sample of them
(``sample``). Where Hessians cost many passes, early steps see those of a sample of the rows, too: they give as good a
direction. Cheap ones are those of all rows: a sample costs one step more on ijcnn1 and skin_nonskin, and up to two on
w8a.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.base import total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.descent import relative
from maxmargin.solvers.linear.coordinate import DualCD
from maxmargin.solvers.linear.descent import MANY_PASSES, descent_on_losses
from maxmargin.solvers.linear.refusals import needs_curvature, needs_l2
from maxmargin.solvers.sample import large_enough, solved_sample

SAMPLE = 16  # rows per weight in the Hessian of the first step, where it is a sample
GROWTH = 8  # of that sample from step to step
ROWS_A_WEIGHT = 12.0  # of the sample that gives a start
# Of hardness, C times the mean of ||x||^2: up to the first the norm holds down the weights of a sample of any size, up
# to the second coordinate descent solves that of sparse rows sooner (w8a, C = 0.01: 0.8 instead of 3.2 ms, of which six
# Cholesky factors of 301 weights take more than half).
EASY, VERY_EASY = 0.5, 0.25
IDLE = 3  # steps in a row that improve nothing: only rounding is left


class Newton(Solver):
    """State and steps of one solve."""

    name = "newton"
    idle_steps = 100

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        self.descent = descent_on_losses(problem, start.v if start.v.any() else self._first(problem, options))
        self._idle = 0
        many = problem.design.gram_passes() >= MANY_PASSES
        self._sample = max(2048, SAMPLE * problem.d) if many else problem.n
        self._judge()

    @staticmethod
    def _first(problem: LinearProblem, options: Options) -> Array:
        """Weights to start from where there are none: those of a sample, or zero."""
        hardness = problem.hardness
        if not (large_enough(problem, ROWS_A_WEIGHT) or (large_enough(problem, 0.0) and hardness <= EASY)):
            return np.zeros(problem.d)
        quick = problem.design.sparse and hardness <= VERY_EASY and not DualCD.refuses(problem)
        sample = solved_sample(DualCD if quick else Newton, problem, options)
        return sample.point.v if sample else np.zeros(problem.d)

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_l2(problem) or needs_curvature(problem)

    @property
    def point(self) -> Point:
        """The present weights; their multipliers are -c l'(z)."""
        return Point(self.descent.v)

    def refine(self, goal: float, proof: Proof) -> None:
        """Recompute what updates have rounded."""
        self.descent.restart()

    def step(self, most: float = np.inf) -> None:
        """One Newton step."""
        descent, before = self.descent, (self.objective, self.optimality_error)
        whole = np.count_nonzero(descent.kappa) < 2 * self._sample
        length = descent.move(descent.direction(self._sample, accuracy=min(0.1, np.sqrt(self.optimality_error))))
        descent.damp(length)
        self.iterations += 1
        self._sample *= GROWTH
        self._judge()
        better = self.objective < before[0] or self.optimality_error < before[1]
        self._idle = 0 if better or not whole else self._idle + 1
        self.exhausted = length == 0.0 or self._idle == IDLE

    def _judge(self) -> None:
        """Sets: objective (primal) and optimality_error (the relative gap, estimated)."""
        problem, descent = self.problem, self.descent
        v = descent.v[problem.penalized]
        self.objective = 0.5 * float(v @ v) + total(problem.loss, problem.y, problem.costs, descent.z)
        self.optimality_error = relative(descent.stationarity(descent.q), self.objective)
