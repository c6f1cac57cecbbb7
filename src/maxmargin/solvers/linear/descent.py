"""Newton steps on 1/2 v'Rv + sum_i h_i(z_i) with z = Av: the common core of ``newton`` and ``alm``.

h_i is known by its multipliers beta_i(z) = -h_i'(z) and its curvatures kappa_i(z) = h_i''(z). The gradient is
g = Rv - A'beta and the Hessian R + A' diag(kappa) A, over the rows with curvature only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.core import limits
from maxmargin.core.buffers import scratch
from maxmargin.core.rows import Array
from maxmargin.core.vectors import nonzeros
from maxmargin.losses.base import multipliers
from maxmargin.problems.linear import LinearProblem
from maxmargin.solvers.cholesky import factor, solution
from maxmargin.solvers.contract import OVERFLOW, Overflow
from maxmargin.solvers.descent import Descent

DENSE_WIDTH = 2000  # up to this many weights the Hessian is formed and factored; beyond, conjugate gradients
CG_STEPS = 300
MANY_PASSES = 15.0  # that a Hessian costs: then one of a sample of rows preconditions conjugate gradients
SAMPLED_ROWS = 6  # rows of that sample for each weight
MANY_PRODUCTS = 12
FEW_CHANGES = 0.5  # of the rows that curve: up to here the last Hessian is brought up to date

Multipliers = Callable[[Array, Array, Array], None]


class LinearDescent(Descent):
    """A point v with its scores z, multipliers beta, curvatures kappa and q = A'beta.

    ``fill(z, beta, kappa)`` writes multipliers and curvatures at scores z.
    """

    problem: LinearProblem

    def __init__(self, problem: LinearProblem, v: Array, fill: Multipliers) -> None:
        self.problem, self.fill = problem, fill
        super().__init__(v, problem.design.scores(v) if v.any() else np.zeros(problem.n))
        self.ridge = np.ones(problem.d)
        if problem.free_bias:
            self.ridge[-1] = 0.0
        self.kappa = np.zeros(problem.n)
        self._squares: Array | None = None
        self._kept: tuple[Array, Array] | None = None
        self._room: Array | None = None  # for factors: new memory for each took a tenth of the time
        self._curved = np.zeros(problem.n)  # the curvatures of ``_sum``
        self._sum: Array | None = None  # A' diag(kappa) A of all rows, when it was last needed
        self.refresh()

    @property
    def curved(self) -> int:
        return int(np.count_nonzero(self.kappa))

    def _scores(self, v: Array) -> Array:
        return self.problem.design.scores(v)

    def _combined(self, beta: Array) -> Array:
        return self.problem.design.combine(beta)

    def _fill(self, z: Array) -> None:
        """Sets: beta, kappa."""
        self.fill(z, self.beta, self.kappa)

    def restart(self) -> None:
        """Scores and sums anew, without the rounding of many updates. Sets: z, beta, kappa, q."""
        self._sum = None
        super().restart()

    def stationarity(self, q: Array) -> float:
        """1/2 ||v - q||^2: the part of the gap that multipliers with q = A'beta leave; a free bias needs q_0 = 0."""
        off = (self.v - q)[self.problem.penalized]
        unbalanced = abs(float(q[-1])) * (1.0 + abs(float(self.v[-1]))) if self.problem.free_bias else 0.0
        return 0.5 * float(off @ off) + unbalanced

    def direction(self, sample: int | None = None, *, accuracy: float = 0.1) -> Array:
        """-H^-1 g, with H of at most ``sample`` of the rows that curve; by conjugate gradients where d is large."""
        index = nonzeros(self.kappa)
        # Where no row curves, the free bias would have no curvature at all: it gets a thousandth of a row's.
        least = 1e-3 * float(self.kappa.max(initial=0.0)) or 1e-3 * float(self.problem.costs.mean())
        ridge = np.where(self.ridge > 0, self.ridge, least)
        if not len(index):  # no row curves at all: the step is one of scaled gradient descent
            self.damping = max(self.damping, 1.0)
        if self.damping:
            ridge = ridge + self.damping * self._bound()
        if self.problem.d > DENSE_WIDTH:
            diagonal = ridge + self.problem.design.column_squares(index, self.kappa)
            return self._by_gradients(index, ridge, lambda r: r / diagonal, accuracy)[0]
        few = SAMPLED_ROWS * self.problem.d
        if self.problem.design.gram_passes() < MANY_PASSES or len(index) < 2 * few or (sample and sample <= few):
            return self._solve(self._factor(self._hessian(index, sample), ridge), -self.gradient)
        return self._by_sample(index, ridge, few, accuracy)

    def _by_sample(self, index: Array, ridge: Array, few: int, accuracy: float) -> Array:
        """Conjugate gradients, preconditioned by the factor of a Hessian of some of the rows.

        That factor serves for several steps: another one is made where it took too many products.
        """
        if self._kept is None:
            self._kept = self._factor(self._hessian(index, few), ridge)
        kept = self._kept
        x, steps = self._by_gradients(index, ridge, lambda r: self._solve(kept, r), accuracy)
        if steps > MANY_PRODUCTS:
            self._kept = None
        return x

    def _bound(self) -> Array:
        """The diagonal that the Hessian would have if every row curved as much, for its cost, as any does."""
        costs = self.problem.costs
        if self._squares is None:
            self._squares = self.problem.design.column_squares(np.arange(self.problem.n), costs)
        most = float((self.kappa / costs).max(initial=0.0)) or 1.0
        return most * self._squares

    def _hessian(self, index: Array, sample: int | None) -> Array:
        """A' diag(kappa) A, its upper triangle, from evenly spaced rows where there are many more than ``sample``.

        Not to be written to: it may be the sum that is kept.
        A sample misses rare features, and the step would throw their weights far off: its diagonal is that of all rows.
        """
        design, stride = self.problem.design, len(index) // sample if sample else 1
        if stride < 2:
            return self._whole_hessian(index)
        some = np.ascontiguousarray(index[stride // 2 :: stride])  # or loops would be compiled once more for it
        H = design.gram(some, self.kappa)
        H *= stride
        diagonal = np.diag_indices_from(H)
        H[diagonal] = np.maximum(H[diagonal], design.column_squares(index, self.kappa))
        return H

    def _whole_hessian(self, index: Array) -> Array:
        """A' diag(kappa) A, from that of the last step where few rows curve otherwise. Sets: the sum that is kept.

        A hinge's row curves by a constant or not at all, and near the solution hardly any row changes sides.
        """
        design = self.problem.design
        change = self.kappa - self._curved
        changed = nonzeros(change)
        if self._sum is None or len(changed) > FEW_CHANGES * len(index):
            self._sum = np.empty((self.problem.d, self.problem.d)) if self._sum is None else self._sum
            self._sum[:] = 0.0
            design.gram(index, self.kappa, self._sum)
        else:
            design.gram(changed, change, self._sum)
        self._curved[:] = self.kappa
        return self._sum

    def _factor(self, H: Array, ridge: Array) -> tuple[Array, Array]:
        """The scale of its columns and the Cholesky factor of H + diag(ridge), which replaces the one before.

        Sets: the factor that is kept, to none.
        """
        self._kept = None
        # Columns of very different size (unscaled data) are brought to one before factoring.
        size = 1.0 / np.sqrt(np.diagonal(H) + ridge)
        scaled = scratch("scaled Hessian", H.shape, np.float64)
        np.multiply(H, size, out=scaled)
        scaled *= size[:, None]
        self._room = np.empty(H.shape) if self._room is None else self._room
        L = factor(scaled, np.ones(len(H)), self._room)
        if L is None:
            raise Overflow(OVERFLOW)
        return size, L

    def _solve(self, factored: tuple[Array, Array], r: Array) -> Array:
        size, L = factored
        return size * solution(L, size * r)

    def _by_gradients(
        self, index: Array, ridge: Array, precondition: Callable[[Array], Array], accuracy: float
    ) -> tuple[Array, int]:
        """Preconditioned conjugate gradients on H x = -g; also the number of products with H."""
        design = self.problem.design
        x, r = np.zeros(len(ridge)), -self.gradient
        s = precondition(r)
        p, rs = s.copy(), float(r @ s)
        goal = accuracy**2 * rs
        for done in range(CG_STEPS):
            if rs <= goal:
                return x, done
            limits.checkpoint()
            Hp = ridge * p + design.weighted_product(index, self.kappa, p)
            step = rs / float(p @ Hp)
            x += step * p
            r -= step * Hp
            s = precondition(r)
            rs, before = float(r @ s), rs
            p = s + (rs / before) * p
        return x, CG_STEPS


def descent_on_losses(problem: LinearProblem, v: Array) -> LinearDescent:
    """The problem itself: h_i = c_i l(y_i, .)."""

    def fill(z: Array, beta: Array, kappa: Array) -> None:
        multipliers(problem.loss, problem.y, problem.costs, z, beta, kappa)

    return LinearDescent(problem, v.copy(), fill)
