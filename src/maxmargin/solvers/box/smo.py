"""Sequential minimal optimisation on chunks of the problem.

Each step takes a working set W (half of it kept from before, the rest the rows that violate optimality most on either
side), solves the problem on W with the kernel values K_WW in memory, and updates the gradient of all rows with the
multipliers that changed. What a step costs is rows of the kernel matrix; the pairs inside W are nearly free.

Small problems end each step with Newton steps on the free multipliers.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING, in_units
from maxmargin.certificates.kkt import Standing, gradient, standing_and_value
from maxmargin.core import limits
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.problems.box import BoxQP, GramMatrix, largest_size
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Proof, Scores
from maxmargin.solvers.box.groups import in_order, take_steps
from maxmargin.solvers.box.newton import polish
from maxmargin.solvers.box.steps import Block, apply_change
from maxmargin.solvers.box.working_set import WorkingSets
from maxmargin.solvers.contract import Options, Solver

SMALL_GOAL = 1e-9
SMALL_STEPS = 1e-12  # what the pairs of a small problem try for; where they are slow, Newton steps take over
CHUNK = 3072
WHOLE_NS = 3e7  # problems whose kernel matrix takes less than this, and of at most two chunks, are one working set
INNER = 0.1  # a chunk is solved until its own violation is this share of what it was
AIM, AIM_AGAIN = 0.9, 0.5  # of tol: where all rows are one set, and after the certificate found float32 to be off
BURST = 4096  # inner steps between two looks at the clock: about 30 ms
PATIENCE = 3  # steps without progress after which a small problem is at the limit of rounding
RISE = 1e-14  # of the objective: what rises less than this in every one of many steps does not rise
MANY = 20
# Steps in which the violation of a machine that is divided by rho must halve. Where rho tends to zero, so does the
# objective, which relative to itself rises without end: 2,500 rows of noisy labels at nu = 0.3 went on for 9 minutes.
DIVIDED_PATIENCE = 30
# Pair steps, for few rows at least and for each of many, in which the violation must halve. (LIBSVM takes no more in
# all.) 400 rows of random labels with C = 1e6 needed 2.9 million; without a bound hard margins that rounding hides ran
# without an end.
LEAST_PATIENCE, ROW_PATIENCE = 10_000_000, 100
# Steps on an indefinite matrix, for each row, at least and at most: without concavity nothing promises an end. (LIBSVM
# takes ten million of them however few rows there are.)
INDEFINITE_STEPS, LEAST_INDEFINITE, MOST_INDEFINITE = 1000, 100_000, 10_000_000
STEP_ROUNDING = 2.0**-20  # of scores and usual steps: what float32 steps may be off by, 16 times their unit


class RunningScores(NamedTuple):
    """Scores f = K beta from where a solver began, and how far float32 kernel values may have led them off.

    Positive and negative changes of the multipliers are summed apart, ``above`` and ``below``. Kernels with float32
    values are nonnegative, so above - below is the sum of the sizes of all that was added, of which every term may be
    off by the relative error of its kernel value. The certificate then needs no row of K again but those in doubt.
    """

    begun: Scores
    above: Array
    below: Array
    total: float = 0.0  # of the sizes of all changes

    @property
    def f(self) -> Array:
        """The scores."""
        return self.begun.f + self.above + self.below

    def moved(self, above: Array, below: Array, total: float) -> RunningScores:
        """After further changes, with these sums and this total size."""
        return RunningScores(self.begun, self.above + above, self.below + below, self.total + total)

    def scores(self, gram: GramMatrix, largest: float) -> Scores:
        """The scores with their error bounds; ``largest`` is the largest kernel value."""
        new = gram.score_errors(self.above - self.below, self.total) + FLOAT64_ROUNDING * largest * self.total
        return Scores(self.f, self.begun.errors + new)


class SMO(Solver):
    """State and steps of one solve: multipliers, their gradient v, the working set (newest last) and its K.

    ``whole`` is whether all rows are one working set, ``finish`` whether it goes on to the last digits. Its
    optimality error is the violation of the optimality conditions. ``patience`` are the pair steps in which that must
    halve where another solver is to come.
    """

    name: ClassVar[str] = "smo"
    refinable: ClassVar[bool] = True
    finishes: ClassVar[bool] = True

    def __init__(self, problem: BoxQP, start: Point, options: Options, patience: int | None = None) -> None:
        self.problem, self.options, self._patience = problem, options, patience
        self.chunk = options.working_rows or CHUNK
        self._largest = problem.largest
        self.finish = self._to_the_end()
        self.whole = self._takes_all()
        self.beta = start.beta.copy()
        self.K: Array | None = None
        self.working, self._sets = NO_ROWS, WorkingSets(problem, options, self.chunk)
        self._attempts, self._hopeless, self._mark, self._halved_at = 0, False, np.inf, 0
        self._aim: float | None = None
        f, errors = np.zeros((2, problem.n))
        if self.beta.any():
            if self.whole:
                problem.gram.whole()  # needed anyway, and the scores then come from it
            f, errors = problem.gram.scores(self.beta)
        self._begin(f, errors)

    @property
    def point(self) -> Point:
        """The multipliers, and the biases that belong to the gradient as it is kept, not recomputed."""
        kept = self._running.scores(self.problem.gram, self._largest) if self._running else None
        return Point(beta=self.beta, biases=self._standing.biases, edges=self._standing.edges, scores=kept)

    def refine(self, goal: float, proof: Proof) -> None:
        """Go on from scores worked out afresh: takes the float32 error out of the gradient of the doubtful rows."""
        kept, moved = self.point.scores, self._largest * float(np.abs(proof.point.beta - self.beta).sum())
        self.beta = proof.point.beta
        if kept is not None and (np.abs(proof.scores - kept.f) <= kept.errors + moved).all():
            self._begin(proof.scores, kept.errors + moved)
        else:
            self._begin(proof.scores)

    def turn_to(self, problem: BoxQP, beta: Array, f: Array, aim: float) -> None:
        """Go on with another problem on the same matrix, at ``beta`` with scores f, until its violation is ``aim``.

        Its working set and the kernel values of that stay.
        """
        self.problem = self._sets.problem = problem
        self.beta, self._aim = beta, aim
        self._hopeless, self._mark, self._halved_at = False, np.inf, self.iterations
        self._begin(f)

    def _begin(self, f: Array, errors: Array | None = None) -> None:
        """Sets: the gradient from the scores f, off by at most ``errors`` where known, and all that is judged by it."""
        self.v = gradient(self.problem.box, f, self.beta)
        self._running: RunningScores | None = None
        if errors is not None and self.problem.gram.dtype == np.float32:
            self._running = RunningScores(Scores(f, errors), np.zeros(len(f)), np.zeros(len(f)))
        self._look()
        self.exhausted, self._idle, self._flat, self._best = self._hopeless, 0, 0, np.inf
        self._mark = min(self._mark, self.optimality_error)
        self._attempts += 1
        self._settle()

    def _look(self) -> None:
        """Sets: optimality_error, the unit of the machine, what a score is uncertain by, and the objective.

        p'beta - 1/2 beta'(K + R) beta = 1/2 (p + v)'beta, minus the kinks.
        """
        self._standing: Standing
        self._standing, self.objective, size = standing_and_value(self.problem, self.beta, self.v)
        self._unit = self.problem.unit(self._standing.biases)
        self.optimality_error = in_units(self._standing.violation, self._unit)
        self._rounding = FLOAT64_ROUNDING * self._largest * size

    @property
    def goal(self) -> float:
        """The violation to reach: tol, or as near to zero as rounding allows where the problem is small."""
        if not self.finish:
            return self.options.tol
        return min(self.options.tol, max(SMALL_GOAL, in_units(self._rounding, self._unit)))

    def step(self, most: float = np.inf) -> None:
        """Solve one chunk. The multipliers are feasible whenever this is left."""
        problem = self.problem
        self._choose()
        working, K = self._arranged()
        ridge = problem.ridge[working]
        curvature = problem.gram.diagonal[working] + ridge
        bounds = problem.lower[working], problem.upper[working], problem.kink[working]
        beta, v = self.beta[working], self.v[working]
        try:
            done, moving = self._inner(Block(K, curvature, ridge, *bounds), problem.group[working], v, beta, most)
        except BaseException:  # what was reached before a deadline or Ctrl-C is kept, unless its scores would be lost
            if not self._running or len(working) == problem.n:
                self._running, self.beta[working] = None, beta
            raise
        changed = not np.array_equal(beta, self.beta[working])
        if self._running and changed:
            self._follow(working, beta, K)
        else:
            self._go_to(working, beta, v)
        if K is not self.K:
            problem.gram.give_back(K)
        self.iterations += done
        self._judge(changed, moving)

    def _go_to(self, working: Array, beta: Array, v: Array) -> None:
        """Take over multipliers of ``working``, and their v where that is all rows. Sets: beta, v."""
        problem, change = self.problem, beta - self.beta[working]
        self.beta[working] = beta
        if len(working) == problem.n:
            self.v[working] = v
            return
        moved = change != 0.0
        if moved.any():
            # All rows may be stored: without running scores the certificate will use those of all multipliers again.
            problem.gram.accumulate(working[moved], -change[moved], self.v)
            self.v[working] -= problem.ridge[working] * change

    def _follow(self, working: Array, beta: Array, K: Array) -> None:
        """Take over multipliers of ``working``, among which kernel values are K, with their scores. Sets: beta, v.

        Work that is stopped on the way changes nothing: multipliers and scores belong together.
        """
        problem, running, change = self.problem, self._running, beta - self.beta[working]
        assert running is not None
        above, below = np.zeros((2, problem.n))
        if len(working) == problem.n:
            for side, sums in ((change > 0.0, above), (change < 0.0, below)):
                here = np.zeros(problem.n)
                apply_change(K, np.where(side, -change, 0.0), here)
                sums[working] = here
        else:
            moved = change != 0.0
            rows = working[moved]
            problem.gram.accumulate(rows, change[moved], above, self._lasting(rows, beta[moved]), below)
        self._running = None  # Ctrl-C may come between two lines
        self.beta[working] = beta
        self._running = running.moved(above, below, float(np.abs(change).sum()))
        self.v = gradient(problem.box, self._running.f, self.beta)

    def _lasting(self, rows: Array, beta: Array) -> Array:
        """Rows whose multipliers are free: those are used one to four times more, those at rest 0.1 to 0.8 times."""
        return (beta != 0.0) & (beta != self.problem.lower[rows]) & (beta != self.problem.upper[rows])

    def _choose(self) -> None:
        """The rows to solve for, and K among them: what was in the old set is copied. Sets: working, K."""
        gram = self.problem.gram
        if self.whole:
            self.working, self.K = np.arange(self.problem.n), gram.whole()
            return
        untouched = self.iterations == 0 and not self.beta.any()
        kept, fresh = self._sets.choose(self.working, self.beta, self.v, self._standing, untouched)
        place = np.empty(self.problem.n, np.int64)
        place[self.working] = np.arange(len(self.working))
        working = np.concatenate([kept, fresh])
        K = gram.submatrix(working, self.K, place[kept], self._sets.largest)
        if self.K is not None:
            gram.give_back(self.K)
        self.working, self.K = working, K

    def _arranged(self) -> tuple[Array, Array]:
        """The working set and its K, the rows of each group one after the other: as they are, or K in borrowed memory.

        (Rows come newest last, which says what the next set keeps.)
        """
        assert self.K is not None
        group = self.problem.group[self.working]
        if self.problem.n_groups <= 1 or group.min() < 0 or in_order(group):
            return self.working, self.K
        order = np.argsort(group, kind="stable")
        return self.working[order], self.problem.gram.rearranged(self.K, order)

    def _inner(self, block: Block, group: Array, v: Array, beta: Array, max_steps: float) -> tuple[int, bool]:
        """Pairs (or single multipliers) until the chunk is solved well enough. Writes: beta, v where it is all rows.

        They run on a copy of v, in float32 where that serves; v itself is brought up to date from the multipliers.
        """
        problem, tol = self.problem, self._inner_tol(len(beta))
        whole = len(beta) == problem.n
        # A problem that is one working set reports its progress now and then.
        most = int(min(max_steps, (10 if self.finish else 1 if whole else 100) * len(beta) + 1000))
        done, moving, violation, begun = 0, True, np.inf, beta.copy()
        rough = v.astype(self._precision(block, v, beta))
        while done < most and moving and violation > tol:
            share = min(BURST, most - done)
            more, violation, moving = take_steps(block, group, problem.n_groups, rough, beta, tol, share)
            done += more
            limits.checkpoint()
        if self.finish or (whole and not self._running):
            apply_change(block.K, beta - begun, v)
            v -= block.ridge * (beta - begun)
        if self.finish and violation > tol:
            polish(block, v, beta, group)
        return done, moving

    def _inner_tol(self, rows: int) -> float:
        """The violation, in units of the scores, that a chunk of that many rows is solved to."""
        if self._aim is not None:
            return self._aim
        if self.finish:
            return max(SMALL_STEPS, self._rounding)
        if rows == self.problem.n and self.optimality_error > self.options.tol:
            enough = self.options.tol * (AIM if self._attempts == 1 else AIM_AGAIN)
            return max(enough, 0.5 * self.goal) * self._unit
        return max(INNER * self._standing.violation, 0.5 * self.goal * self._unit)

    def _precision(self, block: Block, v: Array, beta: Array) -> Any:
        """The type of v inside a chunk: that of K, but float64 where large multipliers would round by more than tol."""
        if block.K.dtype != np.float32:
            return np.float64
        width = block.upper - block.lower
        reach = np.where(width < np.inf, width, np.abs(beta))  # how far a multiplier may move, or its own size
        largest, middle = largest_size(v), len(reach) // 2
        usual = np.partition(reach, middle)[middle]  # np.median takes five times as long on 1,000 rows
        size = largest + float(usual)
        return np.float32 if STEP_ROUNDING * size <= self.options.tol * self._unit else np.float64

    def _judge(self, changed: bool, moving: bool) -> None:
        """Sets: optimality_error, objective, and exhausted, where further steps bring nothing but rounding."""
        before = self.objective
        self._look()
        moved = changed and (moving or self.optimality_error < self._best)
        self._idle = 0 if self.optimality_error < 0.5 * self._best else self._idle + 1
        self._flat = 0 if self.objective > before + RISE * abs(before) else self._flat + 1
        self._best = min(self._best, self.optimality_error)
        at_end = self.optimality_error <= self.options.tol and self._idle >= PATIENCE
        self._hopeless |= self._patience_ends()
        self.exhausted = at_end or (not moved and self._idle > 0) or self._flat >= MANY or self._hopeless
        allowed = min(max(INDEFINITE_STEPS * self.problem.n, LEAST_INDEFINITE), MOST_INDEFINITE)
        if self.iterations > allowed:
            self.exhausted |= not self.problem.gram.definiteness(self.working).definite
        self._settle()

    def _patience_ends(self) -> bool:
        """Whether the violation has not halved for so long that it is not going to. Sets: the last that was half."""
        if self.optimality_error < 0.5 * self._mark:
            self._mark, self._halved_at = self.optimality_error, self.iterations
        if self.problem.divided and self._idle >= DIVIDED_PATIENCE:
            return True
        patience = self._patience or max(LEAST_PATIENCE, ROW_PATIENCE * self.problem.n)
        return self.iterations - self._halved_at > patience

    def _settle(self) -> None:
        """Sets: exhausted, where the goal, which grows with the multipliers' rounding, is reached."""
        self.exhausted |= self.optimality_error <= self.goal

    def _to_the_end(self) -> bool:
        wanted = self.options.to_the_end
        precise = self.problem.n <= SMALL_ROWS if wanted is None else wanted
        return precise and self.problem.gram.definiteness(NO_ROWS).definite

    def _takes_all(self) -> bool:
        """Whether the whole problem is one working set: cheap kernel values, or a small problem."""
        problem = self.problem
        cheap = whole_pays(problem.n, problem.gram.value_ns, self.chunk)
        return (cheap or self.finish) and problem.n <= problem.gram.working_rows


def whole_pays(n: int, value_ns: float, chunk: int | None = None) -> bool:
    """Whether n rows are best solved as one working set: at most two chunks, of cheap kernel values."""
    return n <= 2 * (chunk or CHUNK) and 0.5 * n**2 * value_ns <= WHOLE_NS
