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

import numpy as np

from maxmargin.certificates.joint import inside
from maxmargin.core import limits
from maxmargin.core.jit import generic, jit, larger
from maxmargin.core.rows import Array, CsrRows, DenseRows
from maxmargin.losses.multiclass import best_row, row_terms
from maxmargin.problems.joint import LinearJoint
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.linear.coordinate import CACHED_ENTRIES, CALM, STEP_EPOCHS, WINDOW, shuffle

STEP_WORK = 100_000_000  # stored entries times classes that one step of the driver may visit: tens of milliseconds
ROUGH_TOL = 1e-5  # from here on weights are float32 where the rows are

# Places in the array of sums of an epoch.
LOSSES, CONJUGATES, GAPS, WORST = range(4)


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
        self.random = np.array([options.seed * 2 + 88172645463325252], np.uint64)
        self._window = WINDOW if design.entries > CACHED_ENTRIES else max(1, problem.n)
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
        self._everyone()

    def step(self, most: float = np.inf) -> None:
        """At most ``most`` epochs, until some tens of milliseconds have gone by or the gap looks small enough."""
        problem, work = self.problem, 0.0
        for _ in range(int(min(STEP_EPOCHS, most))):
            work += len(self.order) / problem.n * problem.design.entries * problem.n_classes
            self._epoch()
            if work > STEP_WORK or self.shortfall <= self.aim:
                break
            limits.checkpoint()

    def _epoch(self) -> None:
        """One visit to every row in ``order``. Sets: order, slack, shortfall, objective."""
        problem, design = self.problem, self.problem.design
        everyone = len(self.order) == problem.n and int(self.counts.min()) == problem.n_classes
        kept, sums = np.empty_like(self.order), np.zeros(4)
        count = _visit(
            design.rows, design.scale, self.order, self._window, problem.labels, problem.costs, self.squares,
            problem.loss, self.slack, self.W, self.B, self.classes, self.counts, self.random, kept, sums,
        )  # fmt: skip
        self.iterations += 1
        design.passes += len(self.order) / problem.n
        square = float(np.sum(self.W * self.W, dtype=np.float64))
        primal = 0.5 * square + sums[LOSSES]
        self.order, self.slack = kept[:count], sums[WORST]
        if everyone:
            self.shortfall, self._primal = sums[GAPS] / max(primal, 1e-300), primal
            self.objective = -0.5 * square - sums[CONJUGATES]
            self._calm = CALM * self.slack
        elif self.slack <= self._calm or sums[GAPS] <= 0.5 * self.aim * self._primal:
            self._everyone()

    def _weights_of(self, B: Array) -> None:
        """Sets: W = A'B."""
        made = np.stack([self.problem.design.combine(column) for column in np.ascontiguousarray(B.T)])
        self.W = (made.T if self.problem.design.sparse else made).astype(self.W.dtype, order="C")

    def _everyone(self) -> None:
        """Look at all rows and classes again, and leave none out before violations are known. Sets: order, slack."""
        n, k = self.problem.n, self.problem.n_classes
        self.order, self.slack = np.arange(n), np.inf
        self.classes, self.counts = np.tile(np.arange(k, dtype=np.int32), (n, 1)), np.full(n, k, np.int32)


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
def _visit(rows, scale, order, window, labels, costs, squares, loss, slack, W, B, classes, counts, random, kept, sums):
    """Visit the rows in ``order``; returns how many are kept for the next epoch.

    Row i looks at its first counts_i classes in ``classes``. ``sums`` gets the losses, conjugates and gaps of the
    visited rows and the largest change of a score. Writes: W, B, classes, counts, random, kept, sums.
    """
    k = B.shape[1]
    all_scores, all_beta, all_u, all_new = np.empty(k, W.dtype), np.empty(k), np.empty(k), np.empty(k)
    moved, change = np.empty(k, np.int32), np.empty(k, W.dtype)
    n_windows = (len(order) + window - 1) // window
    windows = np.arange(n_windows)
    shuffle(windows, 0, n_windows, random)
    count, worst = 0, 0.0
    for at in windows:
        first, last = at * window, min((at + 1) * window, len(order))
        shuffle(order, first, last, random)
        for position in range(first, last):
            i = order[position]
            c, q, few = costs[i], squares[i], counts[i]
            chosen = classes[i, :few]
            scores, beta, u, new = all_scores[:few], all_beta[:few], all_u[:few], all_new[:few]
            y = 0
            for r in range(few):
                beta[r] = B[i, chosen[r]]
                if chosen[r] == labels[i]:
                    y = r
            row_scores(rows, i, scale, W, chosen, scores)
            value, conjugate, gap = row_terms(loss, c, y, scores, beta)
            sums[LOSSES] += value
            sums[CONJUGATES] += conjugate
            sums[GAPS] += gap
            tau = best_row(loss, c, q, y, scores, beta, u, new)
            largest, many = 0.0, 0
            for r in range(few):
                by = new[r] - beta[r]
                if by != 0.0:
                    moved[many], change[many] = chosen[r], by
                    many += 1
                    largest = larger(largest, abs(by))
                    B[i, chosen[r]] = new[r]
            if many:
                row_move(rows, i, scale, moved[:many], change[:many], W)
                worst = larger(worst, largest * q)
            if slack == np.inf or _stays(loss, c, q, y, u, new, tau, slack, chosen, counts, i):
                kept[count] = i
                count += 1
    sums[WORST] = worst
    return count


@jit(reductions=True)
def _stays(loss, c, q, y, u, new, tau, slack, chosen, counts, i):
    """Whether the row must be visited again; classes far from a multiplier leave it. Writes: chosen, counts."""
    few, moving = 0, False
    for r in range(len(u)):
        if r != y:
            if new[r] == 0.0:
                if q * (tau - u[r]) > slack:
                    continue
                moving = True
            elif loss.squared or new[r] != -c or q * (u[r] - c - new[y]) <= slack:
                moving = True
        chosen[few] = chosen[r]
        few += 1
    counts[i] = few
    return moving
