"""Coordinate descent in the dual (Hsieh et al. 2008) for every loss, with shrinking and a gap that costs nothing extra.

One row after another gets the exact multiplier for the present weights, ``dual_step`` with sigma = 1 / ||a_i||^2, and
v = A'beta follows. Each visit knows the row's score, so an epoch also sums the rows' shares of the duality gap.

A row is left out while its multiplier would stay the same even if its score moved by the largest violation of the last
epoch: at zero, of the multipliers that fell; at a bound, of those that grew. The end is always judged on all rows.
Rows are visited in short runs of neighbours, the runs in random order: a row alone has to be waited for, 60 to 190 ns
on a9a where its visit takes 30, and the rest of a run comes meanwhile. Longer runs need more passes.

A free bias is the multiplier of sum(beta) = 0. It is found by the augmented Lagrangian of that one constraint: rows see
z = x'w + b + rho sum(beta), and b moves by rho sum(beta) once the problem of the present b is solved well enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.linear import best_bias
from maxmargin.core import limits
from maxmargin.core.jit import jit, larger
from maxmargin.core.rows import Array, Rows, row_axpy, row_dot, row_fetch
from maxmargin.losses.base import conjugate, dual_step, has_curvature, slope, value
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import OVERFLOW, Options, Overflow, Solver
from maxmargin.solvers.linear.refusals import needs_compiled_loss, needs_l2
from maxmargin.solvers.linear.stretch import stretched

RUN_ENTRIES = 128  # stored entries of a run: a kilobyte
STEP_ENTRIES = 20_000_000  # stored entries that one step of the driver may visit: tens of milliseconds
STEP_EPOCHS = 20
INNER = 0.3  # "well enough": its gap is this share of rho sum(beta)^2 / 2, what the move is worth
CLOSE = 100.0  # times the goal: gaps up to here may be met by weights of another length
LATE = 10.0  # passes: before, one more costs less than finding the best length
WORTHWHILE = 0.5  # share of the gap that is left: beyond, weights of another length are not tried again
CALM = 0.1  # all rows are looked at again when the violation is down to this share of what it was the last time

# Places in the array of sums of an epoch.
TOTAL, LOSSES, CONJUGATES, GAPS, FELL, GREW = range(6)


class Terms(NamedTuple):
    """The terms of the objective, one a row: costs_i l(y_i, z_i); ``squares`` are the ||a_i||^2."""

    rows: Rows
    y: Array
    costs: Array
    squares: Array
    loss: Any


class Room(NamedTuple):
    """Beside x'w the score of a row is bias + bias_scale sum(beta); how far it may move until the next visit.

    ``at_zero`` is for rows whose multiplier is zero, ``elsewhere`` for others.
    """

    bias: float
    bias_scale: float
    at_zero: float
    elsewhere: float


class DualCD(Solver):
    """State and steps of one solve."""

    name = "dual_cd"
    idle_steps = 2000  # it sees its gap only now and then

    def __init__(self, problem: LinearProblem, start: Point, options: Options) -> None:
        self.problem, self.options, self.aim = problem, options, options.tol
        design = problem.design
        self.beta = np.zeros(problem.n) if start.beta is None else start.beta.copy()
        self.v = design.combine(self.beta) if self.beta.any() else np.zeros(problem.d)
        self.squares = design.squared_norms()
        self.bias = float(start.v[-1]) if problem.free_bias else 0.0
        self.rho = 0.0
        if problem.free_bias:  # squared_norms counts the constant 1 of the bias column
            self.rho = float(np.mean(self.squares)) - 1.0 or 1.0
            self.squares = self.squares + (self.rho - 1.0)
        self._terms = Terms(design.rows, problem.y, problem.costs, self.squares, problem.loss)
        self.random = np.array([options.seed * 2 + 88172645463325252], np.uint64)
        self._run = run_length(design)
        self._visits = 0  # of single rows
        self._best_bias_of: tuple[tuple[int, float], float] | None = None
        self._factor, self._left = 1.0, 1.0  # of the weights, and the share of the gap that it leaves
        self._stretches = not has_curvature(problem.loss)  # gaps of smooth losses fall with the square of the slopes
        self._look_at_all_rows()

    @classmethod
    def refuses(cls, problem: LinearProblem) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        return needs_l2(problem) or needs_compiled_loss(problem)

    @property
    def point(self) -> Point:
        """v = A'beta times the best factor, and where the bias is free the best one for these weights."""
        v = self._factor * self.v
        if self.problem.free_bias:
            v[-1] = self._best_bias(v)
        return Point(v, self.beta)

    def _best_bias(self, v: Array) -> float:
        """For weights v, without their bias: reads the rows once for each iterate. Writes: v. Sets: best_bias_of."""
        v[-1], iterate = 0.0, (self.iterations, self._factor)
        if self._best_bias_of is None or self._best_bias_of[0] != iterate:
            self._best_bias_of = iterate, best_bias(self.problem, self.problem.design.scores(v))
        return self._best_bias_of[1]

    def refine(self, goal: float, proof: Proof) -> None:
        """Aim lower, at all rows again, with weights recomputed from the multipliers."""
        self.aim = goal
        self.v, self._best_bias_of = self.problem.design.combine(self.beta), None
        self._look_at_all_rows()

    def step(self, most: float = np.inf) -> None:
        """At most ``most`` epochs, until some tens of milliseconds have gone by or the gap looks small enough."""
        design, visited = self.problem.design, 0.0
        for _ in range(int(min(STEP_EPOCHS, most))):
            share = len(self.order) / max(1, self.problem.n)
            self._epoch()
            visited += share * design.entries
            if visited > STEP_ENTRIES or self.optimality_error <= self.aim:
                return
            limits.checkpoint()

    def _epoch(self) -> None:
        """One visit to every row in ``order``. Sets: order, total, slack, and what ``_judge`` sets."""
        problem, design = self.problem, self.problem.design
        everyone = len(self.order) == problem.n
        room = Room(self.bias, self.rho if problem.free_bias else design.scale**2, *self.slack)
        kept, sums = _visit(self._terms, self.order, self._run, room, self.total, self.v, self.beta, self.random)
        self.total = float(sums[TOTAL])
        self.iterations += 1
        self._visits += len(self.order)
        design.passes += len(self.order) / max(1, problem.n)
        if design.scale:
            self.v[-1] = sums[TOTAL] * design.scale
        w = self.v[problem.penalized]
        primal = 0.5 * float(w @ w) + sums[LOSSES]
        if not np.isfinite(primal):
            raise Overflow(OVERFLOW)
        unbalanced = abs(float(sums[TOTAL])) * (1.0 + abs(self.bias)) if problem.free_bias else 0.0
        gap = float(sums[GAPS]) + unbalanced
        if problem.free_bias and everyone and sums[GAPS] <= INNER * 0.5 * self.rho * sums[TOTAL] ** 2:
            self.bias += self.rho * sums[TOTAL]
        self.order = kept
        fell, grew = float(sums[FELL]), float(sums[GREW])
        worst = max(fell, grew)
        self.slack = (fell, grew) if problem.loss.one_sided else (worst, worst)
        self._factor = 1.0
        if everyone:
            self._judge(primal, -0.5 * float(w @ w) - sums[CONJUGATES], gap, unbalanced)
            self._calm = CALM * worst
        elif worst <= self._calm or self._left * gap <= 0.5 * self.aim * self._primal:
            self._take_all_rows()

    def _judge(self, primal: float, dual: float, gap: float, unbalanced: float) -> None:
        """Of an epoch of all rows; weights of another length may do. Sets: optimality_error, objective, factor."""
        self.objective, self._primal = dual, primal
        self.optimality_error = gap / max(primal, 1e-300)
        late = self._visits >= LATE * self.problem.n
        if self._stretches and late and self.aim < self.optimality_error <= CLOSE * self.aim:
            factor, lower = stretched(self.problem, self.point)
            self._left = min(1.0, (lower + unbalanced) / gap)
            self._factor, self._stretches = factor if self._left < 1.0 else 1.0, self._left <= WORTHWHILE
            self.optimality_error *= self._left

    def _look_at_all_rows(self) -> None:
        """Look at all rows, and leave none out before violations are known. Sets: order, slack, total."""
        self.slack = np.inf, np.inf
        self._take_all_rows()

    def _take_all_rows(self) -> None:
        """Sets: order, total."""
        self.order = np.arange(self.problem.n)
        self.total = float(self.beta.sum())  # afresh: each visit rounds it


@jit(reductions=True)
def _visit(terms, order, run, room, total, v, beta, random):
    """Visit the rows in ``order``, an ascending one, by runs; returns those kept for the next epoch, again ascending.

    ``total`` is sum(beta). Also returns sums: the new sum(beta); over the visited rows the losses, conjugates and gaps;
    and the largest violations of multipliers that fell towards zero and that grew. Writes: v, beta, random.
    """
    rows, y, c, squares, loss = terms
    stays, sums = np.zeros(len(beta), np.bool_), np.zeros(6)
    fell, grew = 0.0, 0.0
    visits = shuffled(order, run, random)
    for at in range(len(visits)):
        i = visits[at]
        row_fetch(rows, visits[min(at + 1, len(visits) - 1)])
        z = row_dot(rows, i, v) + room.bias + room.bias_scale * total
        old = beta[i]
        loss_here, dual_here = c[i] * value(loss, y[i], z), conjugate(loss, y[i], c[i], old)
        sums[LOSSES] += loss_here
        sums[CONJUGATES] += dual_here
        sums[GAPS] += larger(loss_here + dual_here + old * z, 0.0)
        if squares[i] == 0.0:  # a row without entries and without a bias: its score is 0 whatever the weights
            beta[i] = -c[i] * slope(loss, y[i], z)
            continue
        sigma = 1.0 / squares[i]
        new = dual_step(loss, y[i], c[i], z, old, sigma)
        if new != old:
            row_axpy(rows, i, new - old, v)
            total += new - old
            beta[i] = new
            if abs(new) > abs(old):
                grew = larger(grew, abs(new - old) * squares[i])
            else:
                fell = larger(fell, abs(new - old) * squares[i])
        elif _rests(loss, y[i], c[i], z, old, sigma, room.at_zero if old == 0.0 else room.elsewhere):
            continue
        stays[i] = True
    sums[TOTAL], sums[FELL], sums[GREW] = total, fell, grew
    return chosen(order, stays), sums


@jit()
def chosen(order, stays):
    """The rows of ``order`` that stay, in that order."""
    kept, count = np.empty_like(order), 0
    for i in order:
        kept[count] = i
        count += stays[i]
    return kept[:count]


@jit(reductions=True)
def _rests(loss, y, c, z, old, sigma, slack):
    """Whether the multiplier stays as it is if the score moves by ``slack`` either way."""
    return (
        slack < np.inf
        and dual_step(loss, y, c, z + slack, old, sigma) == old
        and dual_step(loss, y, c, z - slack, old, sigma) == old
    )


def run_length(design: Design) -> int:
    """Rows of a run."""
    return max(1, RUN_ENTRIES * design.n // max(1, design.entries))


@jit()
def shuffled(order, run, random):
    """The rows in runs of ``run``, and the runs in random order. Writes: random."""
    runs = np.arange((len(order) + run - 1) // run)
    shuffle(runs, random)
    result, count = np.empty_like(order), 0
    for at in runs:
        for k in range(at * run, min((at + 1) * run, len(order))):
            result[count] = order[k]
            count += 1
    return result


@jit()
def shuffle(items, random):
    """Fisher and Yates, with a xorshift generator (Marsaglia 2003). Writes: items, random."""
    x = random[0]
    for k in range(len(items) - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = np.int64(((x >> np.uint64(32)) * np.uint64(k + 1)) >> np.uint64(32))
        items[k], items[j] = items[j], items[k]
    random[0] = x
