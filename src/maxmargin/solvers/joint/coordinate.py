"""Coordinate descent for linear joint machines: one row after another gets its best multipliers, exactly.

A visit reads the row's scores, sets its multipliers to the maximum of the dual (``best_row``) and moves the weights of
the classes whose multiplier changed. As in ``coordinate``, rows that rest at a corner by a margin are left out until
all are looked at again, and so are, row by row, the classes that are far from getting a multiplier: of 20 or 26
classes a row soon has four or five. The rows' shares of the duality gap are summed on the way.

Weights are kept so that a visit reads runs of memory: class by class for dense rows (a dot product per class), feature
by feature for sparse ones (an entry finds the weights of all classes in one or two cache lines; 20news: 1.8 instead of
2.8 s).

Tried and dropped: conjugate gradients on the free multipliers in between (``face``: usps, letter and 20news the same or
slower), extrapolation from the last epochs, averages of the weights, starts from nested samples of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.certificates.joint import inside
from maxmargin.core import limits
from maxmargin.core.jit import fetch, generic, jit, larger
from maxmargin.core.rows import CACHE_LINE, Array, CsrRows, DenseRows, Rows, row_fetch
from maxmargin.losses.multiclass import JointLoss, best_row, row_terms
from maxmargin.problems.joint import LinearJoint
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.linear.coordinate import CALM, STEP_EPOCHS, run_length, shuffled

FETCHED = 64  # multipliers and classes of the next row: of more classes few have multipliers
STEP_WORK = 100_000_000  # stored entries times classes that one step of the driver may visit: tens of milliseconds
ROUGH_TOL = 1e-5  # from here on weights are float32 where the rows are

# Places in the array of sums of an epoch.
LOSSES, CONJUGATES, GAPS, WORST = range(4)


class Terms(NamedTuple):
    """The terms of the objective, one a row: costs_i L(scores of (x_i, scale), labels_i).

    ``squares`` are the ||(x_i, scale)||^2.
    """

    rows: Rows
    scale: float
    labels: Array
    costs: Array
    squares: Array
    loss: JointLoss


class Candidates(NamedTuple):
    """The classes that rows look at: row i its first counts_i in ``classes`` (row, place)."""

    classes: Array
    counts: Array


class Visited(NamedTuple):
    """A row after its visit: cost, ||(x, scale)||^2, the place y of its label, its threshold tau (``best_row``).

    ``slack`` is how far scores may move before the next visit.
    """

    c: float
    q: float
    y: int
    tau: float
    slack: float


class JointCD(Solver):
    """State and steps of one solve."""

    name = "dual_cd"
    idle_steps = 2000  # it sees its gap only now and then

    def __init__(self, problem: LinearJoint, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        design, k = problem.design, problem.n_classes
        assert start.beta is not None
        self.B = inside(problem, start.beta)
        # What a visit costs is reading weights, and tol leaves room for their rounding; the certificate is in float64.
        rough = design.dtype == np.float32 and options.tol >= ROUGH_TOL and problem.n > SMALL_ROWS
        self.W = np.zeros((design.d, k) if design.sparse else (k, design.d), np.float32 if rough else np.float64)
        self.squares = design.squared_norms()
        self._terms = Terms(design.rows, design.scale, problem.labels, problem.costs, self.squares, problem.loss)
        self.random = np.array([options.seed * 2 + 88172645463325252], np.uint64)
        self._run = run_length(design)
        self._go_on(options.tol)

    @property
    def point(self) -> Point:
        """The weights, a row per class, and the multipliers."""
        return Point((self.W.T if self.problem.design.sparse else self.W).astype(np.float64, order="C"), self.B)

    def refine(self, goal: float, proof: Proof) -> None:
        """Aim lower, at all rows again, with weights recomputed from the multipliers."""
        self._go_on(goal)

    def _go_on(self, goal: float) -> None:
        """Aim at ``goal``, with the weights of the present multipliers."""
        self.aim = goal
        if self.B.any():
            self._weights_of(self.B)
        self._look_at_all_rows()

    def step(self, most: float = np.inf) -> None:
        """At most ``most`` epochs, until some tens of milliseconds have gone by or the gap looks small enough."""
        problem, work = self.problem, 0.0
        for _ in range(int(min(STEP_EPOCHS, most))):
            work += len(self.order) / problem.n * problem.design.entries * problem.n_classes
            self._epoch()
            if work > STEP_WORK or self.optimality_error <= self.aim:
                break
            limits.checkpoint()

    def _epoch(self) -> None:
        """One visit to every row in ``order``. Sets: order, slack, optimality_error, objective."""
        problem, design = self.problem, self.problem.design
        everyone = len(self.order) == problem.n and int(self.candidates.counts.min()) == problem.n_classes
        kept, sums = _visit(
            self._terms, self.order, self._run, self.slack, self.candidates, self.W, self.B, self.random
        )
        self.iterations += 1
        design.passes += len(self.order) / problem.n
        square = float(np.sum(self.W * self.W, dtype=np.float64))
        primal = 0.5 * square + sums[LOSSES]
        self.order, self.slack = np.sort(kept), sums[WORST]
        if everyone:
            self.optimality_error, self._primal = sums[GAPS] / max(primal, 1e-300), primal
            self.objective = -0.5 * square - sums[CONJUGATES]
            self._calm = CALM * self.slack
        elif self.slack <= self._calm or sums[GAPS] <= 0.5 * self.aim * self._primal:
            self._look_at_all_rows()

    def _weights_of(self, B: Array) -> None:
        """Sets: W = A'B."""
        made = self.problem.design.combine_several(B)
        self.W = (made.T if self.problem.design.sparse else made).astype(self.W.dtype, order="C")

    def _look_at_all_rows(self) -> None:
        """Look at all rows and classes again, and leave none out before violations are known.

        Sets: order, slack, candidates.
        """
        n, k = self.problem.n, self.problem.n_classes
        self.order, self.slack = np.arange(n), np.inf
        self.candidates = Candidates(np.tile(np.arange(k, dtype=np.int32), (n, 1)), np.full(n, k, np.int32))


@generic
def row_scores(rows, i, scale, W, chosen, out):
    """out_r = w_m'(x_i, s) for the classes m = chosen_r, in the type of W and out."""


@row_scores.register(DenseRows)
def _(rows, i, scale, W, chosen, out):
    x = rows.values[i]
    d = len(x)
    whole = len(chosen) // 4 * 4
    out[:] = 0.0
    for r in range(0, whole, 4):
        w0, w1, w2, w3 = W[chosen[r]], W[chosen[r + 1]], W[chosen[r + 2]], W[chosen[r + 3]]
        s0, s1, s2, s3 = out[r], out[r], out[r], out[r]
        for j in range(d):
            s0 += w0[j] * x[j]
            s1 += w1[j] * x[j]
            s2 += w2[j] * x[j]
            s3 += w3[j] * x[j]
        out[r], out[r + 1], out[r + 2], out[r + 3] = s0, s1, s2, s3
    for r in range(whole, len(chosen)):
        w0, s0 = W[chosen[r]], out[r]
        for j in range(d):
            s0 += w0[j] * x[j]
        out[r] = s0
    if scale != 0.0:
        for r in range(len(chosen)):
            out[r] += scale * W[chosen[r], d]


@row_scores.register(CsrRows)
def _(rows, i, scale, W, chosen, out):
    first, last = rows.indptr[i], rows.indptr[i + 1]
    out[:] = 0.0
    if len(chosen) == W.shape[1]:  # all classes: their order is that of the weights
        for p in range(first, last):
            value, w = rows.data[p], W[np.uint64(rows.indices[p])]
            for r in range(len(out)):
                out[r] += value * w[r]
    else:
        whole = len(chosen) // 4 * 4
        for r in range(0, whole, 4):
            c0, c1, c2, c3 = chosen[r], chosen[r + 1], chosen[r + 2], chosen[r + 3]
            s0, s1, s2, s3 = out[r], out[r], out[r], out[r]
            for p in range(first, last):
                value, w = rows.data[p], W[np.uint64(rows.indices[p])]
                s0 += value * w[c0]
                s1 += value * w[c1]
                s2 += value * w[c2]
                s3 += value * w[c3]
            out[r], out[r + 1], out[r + 2], out[r + 3] = s0, s1, s2, s3
        for r in range(whole, len(chosen)):
            s0 = out[r]
            for p in range(first, last):
                s0 += rows.data[p] * W[np.uint64(rows.indices[p]), chosen[r]]
            out[r] = s0
    if scale != 0.0:
        for r in range(len(chosen)):
            out[r] += scale * W[rows.width, chosen[r]]


@generic
def row_move(rows, i, scale, chosen, change, W):
    """w_m += change_r (x_i, s) for the classes m = chosen_r."""


@row_move.register(DenseRows)
def _(rows, i, scale, chosen, change, W):
    x = rows.values[i]
    for r in range(len(chosen)):
        w, by = W[chosen[r]], change[r]
        for j in range(len(x)):
            w[j] += by * x[j]
        if scale != 0.0:
            w[len(x)] += by * scale


@row_move.register(CsrRows)
def _(rows, i, scale, chosen, change, W):
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        value, w = rows.data[p], W[np.uint64(rows.indices[p])]
        for r in range(len(chosen)):
            w[chosen[r]] += change[r] * value
    if scale != 0.0:
        for r in range(len(chosen)):
            W[rows.width, chosen[r]] += change[r] * scale


@jit(reductions=True)
def _visit(terms, order, run, slack, candidates, W, B, random):
    """Visit the rows in ``order``, an ascending one, by runs; returns those kept for the next epoch, and sums.

    These are the losses, conjugates and gaps of the visited rows and the largest change of a score. Writes: W, B,
    random, candidates.
    """
    rows, scale, labels, costs, squares, loss = terms
    classes, counts = candidates
    kept, sums, k = np.empty_like(order), np.zeros(4), B.shape[1]
    all_scores, all_beta, all_u, all_new = np.empty(k, W.dtype), np.empty(k), np.empty(k), np.empty(k)
    moved, change = np.empty(k, np.int32), np.empty(k, W.dtype)
    count, worst = 0, 0.0
    visits = shuffled(order, run, random)
    for at in range(len(visits)):
        i = visits[at]
        later = visits[min(at + 1, len(visits) - 1)]
        row_fetch(rows, later)
        for r in range(0, min(k, FETCHED), CACHE_LINE // B.itemsize):
            fetch(B, later * k + r)
        for r in range(0, min(counts[later], FETCHED), CACHE_LINE // classes.itemsize):
            fetch(classes, later * k + r)
        c, q, few = costs[i], squares[i], counts[i]
        chosen = classes[i, :few]
        scores, beta, u, new = all_scores[:few], all_beta[:few], all_u[:few], all_new[:few]
        y = _gather(B, i, labels[i], chosen, beta)
        row_scores(rows, i, scale, W, chosen, scores)
        value, conjugate, gap = row_terms(loss, c, y, scores, beta)
        sums[LOSSES] += value
        sums[CONJUGATES] += conjugate
        sums[GAPS] += gap
        tau = best_row(loss, c, q, y, scores, beta, u, new)
        many, largest = _scatter(beta, new, chosen, B, i, moved, change)
        if many:
            row_move(rows, i, scale, moved[:many], change[:many], W)
            worst = larger(worst, largest * q)
        stays = True
        if slack < np.inf:
            counts[i], stays = _narrow(loss, Visited(c, q, y, tau, slack), u, new, chosen)
        if stays:
            kept[count] = i
            count += 1
    sums[WORST] = worst
    return kept[:count], sums


@jit(inline=True)
def _gather(B, i, label, chosen, beta):
    """The row's multipliers of the chosen classes; returns the place of its label. Writes: beta."""
    y = 0
    for r in range(len(chosen)):
        beta[r] = B[i, chosen[r]]
        if chosen[r] == label:
            y = r
    return y


@jit(reductions=True, inline=True)
def _scatter(beta, new, chosen, B, i, moved, change):
    """The new multipliers go to their places; returns how many differ, and the largest change.

    Writes: B, and the classes and changes of those that differ to moved and change.
    """
    many, largest = 0, 0.0
    for r in range(len(chosen)):
        by = new[r] - beta[r]
        if by != 0.0:
            moved[many], change[many] = chosen[r], by
            many += 1
            largest = larger(largest, abs(by))
            B[i, chosen[r]] = new[r]
    return many, largest


@jit(reductions=True, inline=True)
def _narrow(loss, row, u, new, chosen):
    """How many classes stay with the row, and whether it must be visited again. Writes: chosen, those that stay first.

    A class leaves that is further from a multiplier than the slack.
    """
    few, moving = 0, False
    for r in range(len(u)):
        if r != row.y:
            if new[r] == 0.0:
                if row.q * (row.tau - u[r]) > row.slack:
                    continue
                moving = True
            elif loss.squared or new[r] != -row.c or row.q * (u[r] - row.c - new[row.y]) <= row.slack:
                moving = True
        chosen[few] = chosen[r]
        few += 1
    return few, moving
