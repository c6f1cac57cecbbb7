"""Stochastic gradient descent with averaged iterates, in the form of the notes (002): average loss + lam/2 ||w||^2.

A step on a batch B of k rows with step length eta is

    w <- (1 - eta lam) w - eta/k sum_{i in B} g_i l'(y_i, z_i) x_i,

g_i the row's weight relative to the mean. Step lengths are constant within a season of the user's schedule, or

    eta_t = eta_0 (1 + lam eta_0 t)^(-3/4),

eta_0 found by trial on a sample of rows (Bottou 2012, "Stochastic gradient descent tricks"). The average over the last
half of a season is kept beside the last iterate. Both cost only the nonzero entries of a row: w = s u with the
shrinking in the number s, and the sum of the iterates is m + p u with a number p.

The steps are one compiled loop for every loss. The slopes of a user's loss are worked out batch by batch and handed to
it in the place of the targets (``Handed``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.linear import prove_linear
from maxmargin.core.jit import jit
from maxmargin.core.rows import (
    Array,
    CsrRows,
    Rows,
    count,
    row_axpy,
    row_dot,
    row_fetch,
    squared_norms,
    take_rows,
    width,
)
from maxmargin.losses.base import compiled, slope, total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import OVERFLOW, Options, Overflow, Solver
from maxmargin.solvers.linear.refusals import needs_l2

TRIAL_ROWS = 400
SMALLEST = 1e-6  # of s: then u takes it over, before the rounding of u in units of s matters
SPARSE_BIAS = 0.01  # the bias sees every row and a sparse feature few: its steps are shorter, as in scikit-learn
POWER = 0.75

# Places in the array of numbers that belong to the iterates.
S, P, BIAS, BIAS_SUM, STEPS, AVERAGED = range(6)


class Iterates:
    """w = s u and b, with the sums of their past."""

    def __init__(self, features: int, w: Array | None = None, b: float = 0.0) -> None:
        self.u = np.zeros(features) if w is None else np.array(w, np.float64)
        self.m = np.zeros(features)
        self.numbers = np.array([1.0, 0.0, b, 0.0, 0.0, 0.0])

    @property
    def last(self) -> tuple[Array, float]:
        """Weights and bias of the last step."""
        return self.numbers[S] * self.u, float(self.numbers[BIAS])

    @property
    def average(self) -> tuple[Array, float]:
        """Means over the second halves of the seasons since ``forget_average``."""
        steps = self.numbers[AVERAGED]
        if not steps:
            return self.last
        return (self.m + self.numbers[P] * self.u) / steps, float(self.numbers[BIAS_SUM] / steps)

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """What steps write into."""
        return self.u, self.m, self.numbers

    def forget_average(self) -> None:
        """Begin a new average."""
        self.m[:] = 0.0
        self.numbers[[P, BIAS_SUM, AVERAGED]] = 0.0


class Schedule(NamedTuple):
    """Steps on ``batch`` rows of lengths eta (1 + lam eta t)^-power; the bias moves by ``bias_rate`` of that.

    Iterates after the first ``quiet`` rows are averaged.
    """

    eta: float
    power: float
    batch: int
    bias_rate: float
    quiet: int


class Handed(NamedTuple):
    """A loss whose slopes are already known: they stand in the place of the targets."""


@slope.register(Handed)
def _(loss, y, z):
    return y


class Descent(NamedTuple):
    """What the steps minimise: sum_i factors_i l(y_i, z_i) / n + lam/2 ||w||^2."""

    rows: Rows
    y: Array
    factors: Array
    loss: Any
    lam: float
    bias_scale: float = 1.0  # 0: no bias
    bias_lam: float = 0.0  # lam where the norm counts the bias

    def run(self, order: Array, iterates: Iterates, eta: float, decays: bool, batch: int) -> None:
        """Steps over the rows in ``order``. Writes: iterates."""
        rate = SPARSE_BIAS if isinstance(self.rows, CsrRows) else 1.0
        quiet = len(order) // batch // 2 * batch  # the first half of a season is left out of its average
        schedule = Schedule(eta, POWER if decays else 0.0, batch, rate, quiet)
        if compiled(self.loss):
            _steps(self, order, schedule, *iterates.parts)
            return
        handed = self._replace(y=np.zeros(len(self.y)), loss=Handed())
        with np.errstate(over="ignore", invalid="ignore"):  # weights that are not finite are an error of the caller's
            for first in range(0, len(order), batch):
                some = order[first : first + batch]
                handed.y[some] = self.loss.slope(self.y[some], self._scores(some, iterates))
                _steps(handed, some, schedule._replace(quiet=0 if first >= quiet else batch), *iterates.parts)

    def _scores(self, index: Array, iterates: Iterates) -> Array:
        """Of some rows, at the last iterate."""
        z = np.empty(len(index))
        _scores_of(self.rows, index, iterates.u, 0.0, z)
        return iterates.numbers[S] * z + self.bias_scale * iterates.numbers[BIAS]

    def first_length(self, rng: np.random.Generator, batch: int) -> float:
        """eta_0: of lengths that differ by factors of two, the one after which a sample of rows costs least."""
        n = count(self.rows)
        sample = rng.permutation(n)[:TRIAL_ROWS]
        squares = float(np.mean(squared_norms(take_rows(self.rows, sample)))) + self.bias_scale**2
        eta = 1.0 / max(squares, 1e-300)
        best, factor = self._trial(sample, eta, batch), 2.0
        for factor in (2.0, 0.5):
            improved = False
            while (cost := self._trial(sample, eta * factor, batch)) < best:
                eta, best, improved = eta * factor, cost, True
            if improved:
                break
        return eta

    def _trial(self, sample: Array, eta: float, batch: int) -> float:
        iterates = Iterates(width(self.rows))
        self.run(sample, iterates, eta, True, batch)
        w, b = iterates.average
        z = np.empty(len(sample))
        _scores_of(self.rows, sample, w, self.bias_scale * b, z)
        with np.errstate(over="ignore", invalid="ignore"):
            losses = total(self.loss, self.y[sample], self.factors[sample], z)
        cost = losses / len(sample) + 0.5 * self.lam * float(w @ w)
        return cost if np.isfinite(cost) else np.inf


class AveragedSGD(Solver):
    """``solver="sgd"``: a season is a pass over the rows, and the average over it is the point."""

    name = "sgd"
    exact = False

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        weight = float(problem.costs.sum())
        factors = problem.costs * (problem.n / weight)
        scale, lam = problem.design.scale, 1.0 / weight
        bias_lam = 0.0 if problem.free_bias else lam
        self.descent = Descent(problem.design.rows, problem.y, factors, problem.loss, lam, scale, bias_lam)
        self.rng = np.random.default_rng(options.seed)
        self.eta = self.descent.first_length(self.rng, 1)
        w = start.v[: problem.design.features]
        self.iterates = Iterates(problem.design.features, w, float(start.v[-1]) if scale else 0.0)
        self._judge()

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_l2(problem)

    @property
    def point(self) -> Point:
        """The average of the last season."""
        w, b = self.iterates.average
        return Point(np.append(w, b) if self.problem.design.scale else w)

    def refine(self, goal: float, proof: Proof) -> None:
        """Nothing is rounded that a further season would not correct."""

    def step(self, most: float = np.inf) -> None:
        """One season."""
        self.iterates.forget_average()
        self.descent.run(self.rng.permutation(self.problem.n), self.iterates, self.eta, True, 1)
        self.problem.design.passes += 1
        self.iterations += 1
        self._judge()

    def _judge(self) -> None:
        """Sets: objective (primal) and optimality_error (the relative gap)."""
        certificate = prove_linear(self.problem, self.point).certificate
        if not np.isfinite(certificate.primal):
            raise Overflow(OVERFLOW)
        self.objective, self.optimality_error = certificate.primal, certificate.relative_gap


@jit(reductions=True)
def _scores_of(rows, index, w, shift, out):
    """The scores of some rows. Writes: out."""
    for k in range(len(index)):
        out[k] = row_dot(rows, index[k], w) + shift


@jit(reductions=True)
def _steps(descent, order, schedule, u, m, numbers):
    """One step for every ``batch`` rows of ``order``. Writes: u, m, numbers."""
    rows, y, factors, loss, lam, bias_scale, bias_lam = descent
    eta0, power, batch, bias_rate, quiet = schedule
    g = np.empty(batch)
    s, p, b, b_sum, t, averaged = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]
    for first in range(0, len(order), batch):
        last = min(first + batch, len(order))
        eta = eta0 * (1.0 + lam * eta0 * t) ** -power if power > 0.0 else eta0
        pull = 0.0
        for k in range(first, last):
            i = order[k]
            row_fetch(rows, order[min(k + 1, len(order) - 1)])
            z = s * row_dot(rows, i, u) + bias_scale * b
            g[k - first] = -eta * factors[i] * slope(loss, y[i], z) / (last - first)
            pull += g[k - first]
        s *= max(0.0, 1.0 - eta * lam)
        if s < SMALLEST:
            for j in range(len(u)):
                m[j] += p * u[j]
                u[j] *= s
            s, p = 1.0, 0.0
        for k in range(first, last):
            if g[k - first] != 0.0:
                row_axpy(rows, order[k], g[k - first] / s, u)
                if p != 0.0:
                    row_axpy(rows, order[k], -p * g[k - first] / s, m)
        b += bias_rate * (bias_scale * pull - eta * bias_lam * b)
        t += 1.0
        if first >= quiet:
            p += s
            b_sum += b
            averaged += 1.0
    numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5] = s, p, b, b_sum, t, averaged
