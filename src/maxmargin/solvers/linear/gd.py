"""Gradient descent with a line search: any loss with a slope, no promise of a gap.

The step starts from the length of the last one and is carried to where the slope along the gradient is nearly zero. On
losses with kinks the gradient need not point downhill: the solve then ends where it can go no further, and says so.
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses.base import fenchel_young, total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point
from maxmargin.solvers.linear.descent import descent_on_losses, relative


class GradientDescent:
    """State and steps of one solve."""

    def __init__(self, problem: LinearProblem, start: Point, tol: float) -> None:
        self.problem = problem
        self.descent = descent_on_losses(problem, start.v)
        norms = problem.design.squared_norms()
        self.length = 1.0 / (1.0 + float(problem.costs @ norms))
        self.iterations = 0
        self.exhausted = False
        self._judge()

    @property
    def point(self) -> Point:
        """The present weights; their multipliers are -c l'(z)."""
        return Point(self.descent.v)

    def refine(self, tol: float) -> None:
        """Recompute what updates have rounded."""
        self.descent.restart()

    def step(self, most: float = np.inf) -> None:
        """One descent step."""
        moved = self.descent.move(-self.length * self.descent.gradient)
        before = self.objective
        self.iterations += 1
        self._judge()
        self.length *= moved or 0.25
        self.exhausted = self.objective >= before and self.length < 1e-18

    def _judge(self) -> None:
        """Sets: objective (primal) and gap (relative, estimated)."""
        problem, descent = self.problem, self.descent
        v = descent.v[problem.penalized]
        self.objective = 0.5 * float(v @ v) + total(problem.loss, problem.y, problem.costs, descent.z)
        rows = fenchel_young(problem.loss, problem.y, problem.costs, descent.z, descent.beta)[2]
        self.gap = relative(min(rows, 1e300) + descent.stationarity(descent.q), self.objective)
