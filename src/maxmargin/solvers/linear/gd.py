"""Gradient descent with a line search: any loss with a slope, no promise of a gap.

The step starts from the length of the last one and is carried to where the slope along the gradient is nearly zero. On
losses with kinks the gradient need not point downhill: the solve then ends where it can go no further, and says so.
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses.base import total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.descent import relative
from maxmargin.solvers.linear.descent import descent_on_losses
from maxmargin.solvers.linear.refusals import needs_l2


class GradientDescent(Solver):
    """State and steps of one solve."""

    name = "gd"
    exact = False

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        self.descent = descent_on_losses(problem, start.v)
        norms = problem.design.squared_norms()
        self.length = 1.0 / (1.0 + float(problem.costs @ norms))
        self._judge()

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_l2(problem)

    @property
    def point(self) -> Point:
        """The present weights; their multipliers are -c l'(z)."""
        return Point(self.descent.v)

    def refine(self, goal: float, proof: Proof) -> None:
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
        """Sets: objective (primal) and optimality_error (the relative gap, estimated)."""
        problem, descent = self.problem, self.descent
        v = descent.v[problem.penalized]
        self.objective = 0.5 * float(v @ v) + total(problem.loss, problem.y, problem.costs, descent.z)
        self.optimality_error = relative(descent.stationarity(descent.q), self.objective)
