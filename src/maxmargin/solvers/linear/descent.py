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

DENSE_WIDTH = 2000  # up to this many weights the Hessian is formed and factored; beyond, conjugate gradients
CG_STEPS = 300
MANY_PASSES = 15.0  # that a Hessian costs: then one of a sample of rows preconditions conjugate gradients
SAMPLED_ROWS = 6  # rows of that sample for each weight
MANY_PRODUCTS = 12
FEW_CHANGES = 0.5  # of the rows that curve: up to here the last Hessian is brought up to date
LINE_SEARCH_STEPS = 12

Multipliers = Callable[[Array, Array, Array], None]


class Descent:
    """A point v with its scores z, multipliers beta, curvatures kappa and q = A'beta.

    ``fill(z, beta, kappa)`` writes multipliers and curvatures at scores z.
    """

    def __init__(self, problem: LinearProblem, v: Array, fill: Multipliers) -> None:
        self.problem, self.v, self.fill = problem, v, fill
        self.ridge = np.ones(problem.d)
        if problem.free_bias:
            self.ridge[-1] = 0.0
        self.z = problem.design.scores(v) if v.any() else np.zeros(problem.n)
        self.beta, self.kappa = np.zeros(problem.n), np.zeros(problem.n)
        self.q, self._summed = np.zeros(problem.d), np.zeros(problem.n)
        self._trial = np.empty(problem.n)
        self.damping = 0.0
        self._squares: Array | None = None
        self._kept: tuple[Array, Array] | None = None
        self._room: Array | None = None  # for factors: new memory for each took a tenth of the time
        self._curved = np.zeros(problem.n)  # the curvatures of ``_sum``
        self._sum: Array | None = None  # A' diag(kappa) A of all rows, when it was last needed
        self.refresh()

    def restart(self) -> None:
        """Scores and sums anew, without the rounding of many updates. Sets: z, beta, kappa, q."""
        self.z = self.problem.design.scores(self.v)
        self.q[:], self._summed[:], self._sum = 0.0, 0.0, None
        self.refresh()

    def refresh(self) -> None:
        """Multipliers, curvatures and q at the present scores. Sets: beta, kappa, q."""
        self.fill(self.z, self.beta, self.kappa)
        self._add_up()

    def _add_up(self) -> None:
        """Only rows whose multiplier moved are read. Sets: q."""
        np.subtract(self.beta, self._summed, out=self._trial)
        self.q += self.problem.design.combine(self._trial)
        self._summed[:] = self.beta

    @property
    def gradient(self) -> Array:
        """Rv - A'beta."""
        return self.ridge * self.v - self.q

    def stationarity(self, q: Array) -> float:
        """1/2 ||v - q||^2: the part of the gap that multipliers with q = A'beta leave; a free bias needs q_0 = 0."""
        off = (self.v - q)[self.problem.penalized]
        unbalanced = abs(float(q[-1])) * (1.0 + abs(float(self.v[-1]))) if self.problem.free_bias else 0.0
        return 0.5 * float(off @ off) + unbalanced

    def direction(self, sample: int | None = None, accuracy: float = 0.1) -> Array:
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

    def damp(self, length: float) -> None:
        """Less damping after a full step, more after a short one (Levenberg and Marquardt).

        Rows beyond their kink do not curve, and a Newton step along features that only they have goes much too far.
        """
        if length > 0.1:
            self.damping *= 0.1 if length >= 0.9 else 0.5 if length >= 0.5 else 2.0
        else:
            self.damping = max(10.0 * self.damping, 1e-8)

    def move(self, dv: Array) -> float:
        """Go along dv to where the slope of the objective is nearly zero; the step length. Sets: v, z, beta, kappa, q.

        The slope s(t) = dv'R(v + t dv) - dz'beta(z + t dz) only grows, so its root is found by bracketing. Newton's
        step t = 1 is taken where it removes half of the slope.
        """
        dz = self.problem.design.scores(dv)
        linear, quadratic = float(dv @ (self.ridge * self.v)), float(dv @ (self.ridge * dv))
        seen = 0.0

        def slope(t: float) -> float:
            nonlocal seen
            seen = t
            np.multiply(dz, t, out=self._trial)
            self._trial += self.z
            self.fill(self._trial, self.beta, self.kappa)
            return linear + t * quadratic - float(dz @ self.beta)

        begin = linear - float(dz @ self.beta)
        if begin >= 0.0:
            return 0.0  # rounding: no descent left
        t = root_of_slope(slope, begin)
        if seen != t:
            slope(t)
        # Scores, multipliers and curvatures of t are there from its slope.
        self.v, self.z, self._trial = self.v + t * dv, self._trial, self.z
        self._add_up()
        return t


def descent_on_losses(problem: LinearProblem, v: Array) -> Descent:
    """The problem itself: h_i = c_i l(y_i, .)."""

    def fill(z: Array, beta: Array, kappa: Array) -> None:
        multipliers(problem.loss, problem.y, problem.costs, z, beta, kappa)

    return Descent(problem, v.copy(), fill)


def relative(gap: float, objective: float) -> float:
    """Gap over |objective|, 0 where both are; an error where they are not finite."""
    if not (np.isfinite(gap) and np.isfinite(objective)):
        raise Overflow(OVERFLOW)
    return gap / max(abs(objective), 1e-300) if gap > 0.0 else 0.0


def root_of_slope(slope: Callable[[float], float], begin: float) -> float:
    """t > 0 with slope(t) within [begin / 2, -begin / 10], for a growing function with slope(0) = begin < 0.

    Secants and bisections take turns: a few rows that enter far along can bend the slope sharply.
    """
    low, at_low, high, at_high = 0.0, begin, np.inf, np.inf
    t = 1.0
    for turn in range(LINE_SEARCH_STEPS):
        here = slope(t)
        if 0.5 * begin <= here <= -0.1 * begin:
            return t
        if here < 0.0:
            low, at_low = t, here
        else:
            high, at_high = t, here
        if np.isinf(high):
            t *= 4.0
        elif turn % 2:
            t = 0.5 * (low + high)
        else:
            t = low - at_low * (high - low) / (at_high - at_low)
    return low or t
