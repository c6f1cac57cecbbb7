"""Joint machines with kernels: blocks of rows, each row's multipliers set exactly, scores of all rows by BLAS.

Each step takes a working set W of rows (half of it kept from before, the rest those that violate optimality most), and
with the kernel values K_WW in memory goes through W row by row and by conjugate gradients on its free multipliers in
turn, until its violation is a tenth. Then the scores of all rows and classes follow, F += K[:, changed] dB: one kernel
row serves all classes.

Rows alone crawl once the free multipliers are known (usps, C = 10: 16 s and 85 sets; with conjugate gradients 8 sets).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.certificates.joint import inside
from maxmargin.core import limits
from maxmargin.core.jit import jit, larger
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.core.threads import thread_map
from maxmargin.losses.multiclass import JointLoss, best_row, row_terms, row_violation
from maxmargin.problems.joint import KernelJoint
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.joint.face import ENOUGH, TO_THE_END, FaceProblem, climb

CHUNK = 2048  # letter: 3,072 took 1.5 times as long, 6,144 four times
FIRST = 256  # rows of the first working set; it doubles
INNER = 0.1  # a chunk is solved until its violation is this share of what it was
PASSES = 200  # most passes over a chunk
BURST = 4  # passes between two looks at the clock and conjugate gradients
SMALL_BURST = 200  # the same for few rows: there a pass costs next to nothing beside conjugate gradients
ROWS = 4096  # of a piece of work on all rows
SMALL_ROUNDS = 5  # bursts in a step on few rows, each with its conjugate gradients
STUCK = 15  # bursts without a smaller violation after which all rows are looked at again
SETTLED = 0.1  # of what a chunk is solved to: rows nearer to their optimum are left alone
IDLE = 20  # steps without a smaller violation or a larger dual value after which rounding is all that moves
RISE = 1e-9  # of the dual value
SMALL_GOAL = 1e-10  # the violation that few rows are solved for


class Chunk(NamedTuple):
    """The part of the problem that concerns the working set: its kernel values and their diagonal in float64."""

    K: Array
    diagonal: Array
    labels: Array
    costs: Array
    loss: JointLoss


class JointBlocks(Solver):
    """State and steps of one solve. ``optimality_error`` is the largest violation of a row's optimality conditions.

    Few rows are given up when it is not halved in ``patience`` steps.
    """

    name = "blocks"

    def __init__(self, problem: KernelJoint, start: Point, options: Options, patience: float = np.inf) -> None:
        self.problem, self.gram, self.options, self.patience = problem, problem.gram, options, patience
        assert start.beta is not None
        self.B = inside(problem, start.beta)
        self.working, self.K = NO_ROWS, np.empty((0, 0))
        self.size = 0
        self.objective = -np.inf
        self._go_on(options.tol, self.gram.many_scores(self.B, exact=True) if self.B.any() else problem.zeros())

    @property
    def point(self) -> Point:
        """The multipliers; the weights live in feature space."""
        return Point(self.B, self.B)

    def refine(self, goal: float, proof: Proof) -> None:
        """Aim lower, from scores worked out afresh in float64."""
        self._go_on(goal, proof.scores)

    def _go_on(self, goal: float, scores: Array) -> None:
        """Aim at ``goal`` from these scores of the present multipliers."""
        self.aim, self.F = goal, scores
        self._best, self._idle = np.inf, 0
        self._halved, self._halved_at = np.inf, self.iterations
        self._look()

    def step(self, most: float = np.inf) -> None:
        """Solve one chunk and bring all scores up to date; multipliers are feasible whenever this is left."""
        self._choose()
        rows, before = self.working, self.B[self.working]
        self._reached = before
        try:
            self._inner(rows, before)
        finally:  # what was reached before a deadline or Ctrl-C is kept; B and F change together
            beta = self._reached
            changed = np.flatnonzero((beta != before).any(axis=1))
            self.B[rows] = beta
            with limits.unlimited():
                self.gram.accumulate_many(rows[changed], (beta - before)[changed], self.F)
        self.iterations += 1
        self._look()

    def _inner(self, rows: Array, before: Array) -> None:
        """Better multipliers of the working set. Sets: _reached."""
        problem, K = self.problem, self.K
        labels, costs = problem.labels[rows], problem.costs[rows]
        face = FaceProblem(problem.loss, labels, costs, lambda D: (K @ D.astype(K.dtype)).astype(np.float64))
        chunk = Chunk(K, self.gram.diagonal[rows], labels, costs, problem.loss)
        beta, scores = before.copy(), self.F[rows]
        self._reached = beta
        small = problem.n <= SMALL_ROWS
        enough = max(INNER * self.optimality_error, SMALL_GOAL if small else 0.3 * self.aim)
        best, idle, burst = np.inf, 0, SMALL_BURST if small else BURST
        for _ in range(SMALL_ROUNDS if small else PASSES // BURST):
            by_class = np.ascontiguousarray(scores.T)
            _passes(chunk, enough, burst, by_class, beta)
            limits.checkpoint()
            worst = _worst(labels, costs, problem.loss, by_class, beta)
            best, idle = (worst, 0) if worst < 0.9 * best else (best, idle + 1)
            if worst <= enough or idle >= STUCK:
                break
            extent = TO_THE_END if small else ENOUGH
            beta, scores = climb(face, np.ascontiguousarray(by_class.T), beta, extent)
            self._reached = beta

    def _choose(self) -> None:
        """The rows to work on; few rows are one set. Sets: working, K."""
        n = self.problem.n
        if n <= min(SMALL_ROWS, self.gram.working_rows):
            if not len(self.working):
                self.working = np.arange(n)
                self.K = self.gram.submatrix(self.working)
            return
        largest = min(n, CHUNK, self.gram.working_rows)
        self.size = min(largest, 2 * self.size if self.size else FIRST)
        kept = self.working[-(self.size // 2) :]
        kept = kept[self._open[kept]]
        rest = self.violations.copy()
        rest[kept] = 0.0
        wanted = min(self.size - len(kept), int(np.count_nonzero(rest)))
        fresh = np.argpartition(-rest, wanted - 1)[:wanted] if wanted else NO_ROWS
        fresh = fresh[np.argsort(-rest[fresh], kind="stable")]
        place = np.full(n, -1)
        place[self.working] = np.arange(len(self.working))
        older, self.working = self.K, np.concatenate([kept, fresh])
        self.K = self.gram.submatrix(self.working, older, place[kept], largest)
        if len(older):
            self.gram.give_back(older)

    def _look(self) -> None:
        """Sets: violations, optimality_error, objective, exhausted."""
        problem, n = self.problem, self.problem.n
        self.violations, self._open = np.empty(n), np.empty(n, np.bool_)
        sums = np.zeros((-(-n // ROWS), 2))

        def part(piece: int) -> None:
            some = slice(piece * ROWS, min((piece + 1) * ROWS, n))
            _standing(
                problem.labels[some], problem.costs[some], problem.loss, self.F[some], self.B[some],
                self.violations[some], self._open[some], sums[piece],
            )  # fmt: skip

        thread_map(part, range(len(sums)), self.gram.n_jobs)
        conjugates, squares = sums.sum(axis=0)
        before, self.objective = self.objective, -conjugates - 0.5 * squares
        self.optimality_error = float(self.violations.max())
        moves = self.optimality_error < 0.9 * self._best or self.objective > before + RISE * abs(before)
        self._idle = 0 if moves else self._idle + 1
        self._best = min(self._best, self.optimality_error)
        if self.optimality_error <= 0.5 * self._halved:
            self._halved, self._halved_at = self.optimality_error, self.iterations
        slow = self.iterations - self._halved_at > self.patience
        small = n <= SMALL_ROWS and (self.optimality_error <= SMALL_GOAL or slow)
        self.exhausted = self._idle > IDLE or self.optimality_error == 0.0 or small


@jit(reductions=True)
def _standing(labels, costs, loss, F, B, violations, open_rows, sums):
    """Violation of every row, whether it has free multipliers; sums of conjugates and B'F. Writes: the last three."""
    for i in range(len(labels)):
        violations[i] = row_violation(loss, costs[i], labels[i], F[i], B[i])
        sums[0] += row_terms(loss, costs[i], labels[i], F[i], B[i])[1]
        free = False
        for m in range(B.shape[1]):
            sums[1] += B[i, m] * F[i, m]
            if m != labels[i] and B[i, m] < 0.0 and (loss.squared or -B[i, m] < costs[i]):
                free = True
        open_rows[i] = free or violations[i] > 0.0


@jit(reductions=True)
def _passes(chunk, enough, most, scores, B):
    """Row after row its best multipliers, with the scores (classes, rows) kept up to date. Writes: scores, B.

    Ends when a pass meets no violation above ``enough``. At its end there may be larger ones (0.43 where 0.04 was met):
    small changes of all later rows add up in the scores of a row, and the next pass takes them back before its turn.
    """
    K, diagonal, labels, costs, loss = chunk
    k, n = scores.shape
    here, u, new = np.empty(k), np.empty(k), np.empty(k)
    for _ in range(most):
        worst = 0.0
        for i in range(n):
            for m in range(k):
                here[m] = scores[m, i]
            beta = B[i]
            violation = row_violation(loss, costs[i], labels[i], here, beta)
            worst = larger(worst, violation)
            if violation <= SETTLED * enough:
                continue
            best_row(loss, costs[i], diagonal[i], labels[i], here, beta, u, new)
            row = K[i]
            for m in range(k):
                change = new[m] - beta[m]
                if change != 0.0:
                    beta[m] = new[m]
                    target = scores[m]
                    for j in range(n):
                        target[j] += change * row[j]
        if worst <= enough:
            break


@jit()
def _worst(labels, costs, loss, scores, B):
    """The largest violation of a row, of scores (classes, rows)."""
    here, worst = np.empty(scores.shape[0]), 0.0
    for i in range(len(labels)):
        for m in range(len(here)):
            here[m] = scores[m, i]
        worst = max(worst, row_violation(loss, costs[i], labels[i], here, B[i]))
    return worst
