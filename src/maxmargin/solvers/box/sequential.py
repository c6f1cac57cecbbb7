"""Kernel machines with curved conjugates by a sequence of box QPs (sequential quadratic programming).

At the present multipliers each conjugate is replaced by a quadratic that has its slope there,

    conjugate_i(beta_i) + conjugate_i'(beta_i) d + 1/2 ridge_i d^2,    within bounds that keep it a model,

SMO takes a step on that problem (one working set), and a search along what it changed ends where the true objective,
which is concave and rises at first because the model does, no longer rises. The ridge is that of a secant over the way
that the row is about to go (``losses.curved``); where rows go no further it is the second derivative, and the last
steps are Newton's. With second derivatives alone logistic losses at C = 100 were not solved in 60 models, with secants
in 7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING
from maxmargin.certificates.kernel import gradient
from maxmargin.certificates.kkt import standing
from maxmargin.certificates.linear import best_bias
from maxmargin.core.rows import Array
from maxmargin.losses.base import fenchel_young
from maxmargin.losses.curved import quadratics, slope_along, usual_multiplier
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.box.smo import MANY, PATIENCE, RISE, SMALL_GOAL, SMO
from maxmargin.solvers.contract import Options, Solver

INNER = 0.1  # of the violation: how far a model is solved
BIAS = 1e-4  # of the violation: how precisely the bias is known that models are made for
WIDER = 2.0  # times the largest of a multiplier, its own best step and the usual one: there a model ends
CLOSER = 0.1  # of the way to an end of the domain where the slope is infinite: a model comes no nearer
SLOPE = 0.1  # of the first slope along a step: below that a search ends
HALVINGS = 40
# Models of all rows in which the violation must halve. Rows around 4e8 and a linear kernel went on for minutes without.
MODELS = 50


class Sequential(Solver):
    """State and steps of one solve: multipliers, their scores f = K beta, the slopes v, and SMO for the models."""

    name: ClassVar[str] = "sqp"
    refinable: ClassVar[bool] = True
    finishes: ClassVar[bool] = True

    def __init__(self, problem: KernelProblem, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        self._largest = problem.constraints.largest
        self._usual = usual_multiplier(problem.loss, problem.costs)
        self._inner = SMO(problem.constraints, start, options)
        self.beta = start.beta.copy()
        self._begin(-self._inner.v - self.beta)  # v = p - f - ridge beta, with p = 0 and ridge = 1

    @property
    def point(self) -> Point:
        """The multipliers, and the bias that is best for their scores."""
        return Point(beta=self.beta, biases=np.full(self.problem.constraints.n_groups, self._bias))

    @property
    def goal(self) -> float:
        """The violation to reach: tol, or as near to zero as rounding allows where the problem is small."""
        tol = self.options.tol
        return min(tol, max(SMALL_GOAL, self._rounding)) if self._inner.finish else tol

    def refine(self, goal: float, proof: Proof) -> None:
        """Go on from scores worked out afresh."""
        self.beta = proof.point.beta
        self._begin(proof.scores)

    def step(self, most: float = np.inf) -> None:
        """One model, one step of SMO on it, one search. Only the search changes the multipliers."""
        model, inner = self._model(), self._inner
        inner.turn_to(model, self.beta.copy(), self.f, max(INNER * self.optimality_error, 0.5 * self.goal))
        v = inner.v.copy()
        inner.step(most)
        self.iterations = inner.iterations
        direction = inner.beta - self.beta
        moved, before = self._search(direction, v - inner.v - model.ridge * direction), self.objective
        self._look()
        self._judge(moved, self.objective - before)

    def _begin(self, f: Array) -> None:
        """Sets: the scores, and all that is judged by them."""
        self.f, self._idle, self._flat = f, 0, 0
        self._best = self.optimality_error = np.inf
        self._look()
        self.exhausted = self.optimality_error <= self.goal

    def _look(self) -> None:
        """Sets: the bias, the slopes v, optimality_error, objective, and what a score is uncertain by."""
        problem, rows = self.problem, self.problem.paid
        precision = BIAS * min(self.optimality_error, 1.0)
        self._bias = best_bias(problem, self.f, precision) if problem.bias is Bias.FREE else 0.0
        self.v = gradient(problem, self.f, self._bias, self.beta)
        self.optimality_error = standing(problem.constraints, self.beta, self.v).violation
        conjugates = fenchel_young(problem.loss, problem.terms.y, problem.terms.c, self.f[rows], self.beta[rows])[1]
        self.objective = -0.5 * float(self.beta @ self.f) - conjugates
        self._rounding = FLOAT64_ROUNDING * self._largest * float(np.abs(self.beta).sum())

    def _model(self) -> BoxQP:
        """The box QP at the present multipliers."""
        problem, rows = self.problem, self.problem.paid
        ridge, reach = np.ones(problem.n), np.zeros(problem.n)
        ridges, aims = np.empty((2, len(problem.terms.y)))
        quadratics(problem.loss, problem.terms, self.f[rows] + self._bias, self.beta[rows], ridges, aims)
        ridge[rows], reach[rows] = ridges, aims
        return problem.model(self.v + self.f + ridge * self.beta, *self._bounds(reach), ridge)

    def _bounds(self, reach: Array) -> tuple[Array, Array]:
        """Where the model ends; ``reach`` is where the rows' own best steps would end."""
        domain, beta = self.problem.constraints, self.beta
        if self.problem.loss.bounded_rows:
            most = WIDER * np.maximum(np.maximum(np.abs(beta), np.abs(reach)), self._usual)
            return np.maximum(domain.lower, -most), np.minimum(domain.upper, most)
        below, above = np.minimum(beta, reach) - domain.lower, domain.upper - np.maximum(beta, reach)
        return domain.lower + CLOSER * below, domain.upper - CLOSER * above

    def _search(self, direction: Array, change: Array) -> bool:
        """Go along ``direction``, whose image K direction is ``change``; whether it went anywhere. Sets: beta, f."""
        problem, rows = self.problem, self.problem.paid
        beta, way, linear, bend = self.beta[rows], direction[rows], direction @ self.f, direction @ change

        def slope(t: float) -> float:
            return float(-slope_along(problem.loss, problem.terms, beta, way, t) - linear - t * bend)

        begin = float(direction @ self.v)
        # What is worth less than the rounding of the objective cannot be searched for: such a step is taken whole.
        length = length_of(slope, begin) if begin > RISE * abs(self.objective) else float(begin > 0.0)
        domain = problem.constraints
        ahead = self._inner.beta if length == 1.0 else self.beta + length * direction
        self.beta = np.clip(ahead, domain.lower, domain.upper)
        self.f = self.f + length * change
        return length > 0.0

    def _judge(self, moved: bool, rise: float) -> None:
        """Sets: exhausted, where further steps bring nothing but rounding."""
        self._idle = 0 if self.optimality_error < 0.5 * self._best else self._idle + 1
        self._flat = 0 if rise > RISE * abs(self.objective) else self._flat + 1
        self._best = min(self._best, self.optimality_error)
        enough = PATIENCE if self.optimality_error <= self.options.tol else MANY
        sets = max(1.0, self.problem.n / len(self._inner.working))  # that all rows are made of
        stuck = not moved or min(self._idle, self._flat) >= enough or self._idle >= MODELS * sets
        self.exhausted = self.optimality_error <= self.goal or stuck


def length_of(slope: Callable[[float], float], begin: float) -> float:
    """The t in [0, 1] at which a slope that falls from ``begin`` is next to nothing; 1 where it still rises there."""
    if not begin > 0.0:
        return 0.0
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(HALVINGS):
        here = slope(t)
        if abs(here) <= SLOPE * begin or (t == 1.0 and here > 0.0):
            return t
        low, high = (t, high) if here > 0.0 else (low, t)
        t = 0.5 * (low + high)
    return low
