"""Sequential minimal optimisation on chunks of the problem.

Each step takes a working set W (half of it kept from before, the rest the rows that violate optimality most on either
side), solves the problem on W with the kernel values K_WW in memory, and updates the gradient of all rows with the
multipliers that changed. What a step costs is rows of the kernel matrix; the pairs inside W are nearly free.

Small problems end each step with Newton steps on the free multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.certificates.kkt import bias_and_violation
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP
from maxmargin.solvers.box.newton import polish
from maxmargin.solvers.box.steps import Block, apply_change, pair_steps, single_steps

SMALL = 1000  # rows up to which a problem is solved to the end whatever tol says
SMALL_GOAL = 1e-9
SMALL_STEPS = 1e-12  # what the pairs of a small problem try for; where they are slow, Newton steps take over
CHUNK = 3072
FIRST_NS = 2.5e5  # the first working set is as large as this many nanoseconds of kernel values make it
WHOLE_NS = 3e7  # problems whose kernel matrix takes less than this, and of at most two chunks, are one working set
INNER = 0.1  # a chunk is solved until its own violation is this much of what it was
AIM, AIM_AGAIN = 0.9, 0.5  # of tol: where all rows are one set, and after the certificate found float32 to be off
BURST = 4096  # inner steps between two looks at the clock: about 30 ms
PATIENCE = 3  # steps without progress after which a small problem is at the limit of rounding
RISE = 1e-14  # of the objective: what rises less than this in every one of many steps does not rise
MANY = 20
# Steps on an indefinite matrix, for each row, at least and at most: without concavity nothing promises an end. (LIBSVM
# takes ten million of them however few rows there are.)
INDEFINITE_STEPS, LEAST_INDEFINITE, MOST_INDEFINITE = 1000, 100_000, 10_000_000
NOTHING = np.empty(0, np.int64)
STEP_ROUNDING = 2.0**-20  # of the largest multiplier: what float32 steps may be off by, 16 times their unit


@dataclass
class State:
    """Where the solver is: multipliers, their gradient v, the working set (newest last), its K, and how it fares.

    ``whole`` is whether all rows are one working set, ``finish`` whether it goes on to the last digits. ``idle`` counts
    steps since the violation last halved, ``flat`` steps since the objective last rose.
    """

    beta: Array
    v: Array
    working: Array
    K: Array | None = None
    size: int = 0
    whole: bool = False
    finish: bool = False
    violation: float = np.inf
    objective: float = 0.0
    iterations: int = 0
    attempts: int = 0
    exhausted: bool = False
    idle: int = 0
    flat: int = 0
    best: float = np.inf


@dataclass(frozen=True)
class SMO:
    """Options of the solver. ``tol`` bounds the KKT violation; ``order`` breaks ties in the first working set.

    ``precise`` is whether to go on to the last digits, None where the problem is small.
    """

    tol: float = 1e-3
    shrinking: bool = True
    order: Array | None = None
    chunk: int = CHUNK
    precise: bool | None = None

    def goal(self, problem: BoxQP, state: State) -> float:
        """The violation to reach: tol, or as near to zero as rounding allows where the problem is small."""
        if not state.finish:
            return self.tol
        return min(self.tol, max(SMALL_GOAL, _rounding(problem, state.beta)))

    def start(self, problem: BoxQP, guess: Array) -> State:
        """The feasible multipliers ``guess`` with their gradient."""
        beta, f, whole = guess.copy(), np.zeros(problem.n), self._takes_all(problem)
        if beta.any():
            if whole:
                problem.gram.whole()  # needed anyway, and the scores then come from it
            f = problem.gram.scores(beta)[0]
        return self.restart(problem, State(beta, f, NOTHING, whole=whole, finish=self._to_the_end(problem)), f)

    def restart(self, problem: BoxQP, state: State, f: Array) -> State:
        """Go on from scores ``f`` worked out afresh: takes the drift and the float32 error out of the gradient."""
        state.v = problem.p - f - problem.ridge * state.beta
        state.violation, state.objective = _standing(problem, state)
        state.exhausted, state.idle, state.flat, state.best = False, 0, 0, np.inf
        state.attempts += 1
        return state

    def step(self, problem: BoxQP, state: State, max_steps: float = np.inf) -> State:
        """Solve one chunk. Sets: every field of ``state``; its multipliers are feasible whenever this is left."""
        kept, fresh = self._working_set(problem, state)
        self._choose(problem, state, kept, fresh)
        working = state.working
        ridge = problem.ridge[working]
        curvature = problem.gram.diagonal[working] + ridge
        assert state.K is not None
        block = Block(state.K, curvature, ridge, problem.lower[working], problem.upper[working])
        beta, v = state.beta[working], state.v[working]
        try:
            done, moving = self._inner(problem, state, block, v, beta, max_steps)
        finally:  # what was reached before a deadline or Ctrl-C is kept
            change = beta - state.beta[working]
            state.beta[working] = beta
        changed = change != 0.0
        if len(working) == problem.n:
            state.v[working] = v
        elif changed.any():
            problem.gram.accumulate(working[changed], -change[changed], state.v)
            state.v[working] -= ridge * change
        state.iterations += done
        before = state.objective
        state.violation, state.objective = _standing(problem, state)
        rises = state.objective > before + RISE * abs(before)
        self._judge(state, bool(changed.any()) and (moving or state.violation < state.best), rises)
        if state.iterations > min(max(INDEFINITE_STEPS * problem.n, LEAST_INDEFINITE), MOST_INDEFINITE):
            state.exhausted |= not problem.gram.definiteness(working).definite
        return state

    def _choose(self, problem: BoxQP, state: State, kept: Array, fresh: Array) -> None:
        """Make K of the working set: what was in the old one is copied. Sets: working, K."""
        gram = problem.gram
        if state.whole:
            state.working, state.K = fresh, gram.whole()
            return
        place = np.empty(problem.n, np.int64)
        place[state.working] = np.arange(len(state.working))
        working = np.concatenate([kept, fresh])
        K = gram.submatrix(working, state.K, place[kept])
        if state.K is not None:
            gram.give_back(state.K)
        state.working, state.K = working, K

    def _inner(
        self, problem: BoxQP, state: State, block: Block, v: Array, beta: Array, max_steps: float
    ) -> tuple[int, bool]:
        """Pairs (or single multipliers) until the chunk is solved well enough. Writes: beta, v where it is all rows.

        They run on a copy of v, in float32 where that serves; v itself is brought up to date from the multipliers.
        """
        steps = pair_steps if problem.balanced else single_steps
        whole, goal = len(beta) == problem.n, self.goal(problem, state)
        enough = self.tol * (AIM if state.attempts == 1 else AIM_AGAIN)
        tol = enough if whole and state.violation > self.tol else INNER * state.violation
        tol = max(SMALL_STEPS, _rounding(problem, state.beta)) if state.finish else max(tol, 0.5 * goal)
        # A problem that is one working set reports its progress now and then.
        most = int(min(max_steps, (10 if state.finish else 1 if whole else 100) * len(beta) + 1000))
        done, moving, violation, begun = 0, True, np.inf, beta.copy()
        rough = v.astype(self._precision(block, v, beta))
        while done < most and moving and violation > tol:
            more, violation, moving = steps(block, rough, beta, tol, min(BURST, most - done))
            done += more
            limits.checkpoint()
        if whole or state.finish:
            apply_change(block.K, beta - begun, v)
            v -= block.ridge * (beta - begun)
        if state.finish and violation > tol:
            polish(block, v, beta, problem.balanced)
        return done, moving

    def _precision(self, block: Block, v: Array, beta: Array) -> Any:
        """The type of v inside a chunk: that of K, but float64 where large multipliers would drown tol in rounding."""
        reach = np.where(np.isfinite(block.upper - block.lower), block.upper - block.lower, np.abs(beta))
        size = float(np.abs(v).max()) + float(np.median(reach))
        return np.float32 if block.K.dtype == np.float32 and STEP_ROUNDING * size <= self.tol else np.float64

    def _judge(self, state: State, moved: bool, rises: bool) -> None:
        """Sets: exhausted, where further steps bring nothing but rounding."""
        state.idle = 0 if state.violation < 0.5 * state.best else state.idle + 1
        state.flat = 0 if rises else state.flat + 1
        state.best = min(state.best, state.violation)
        at_end = state.violation <= self.tol and state.idle >= PATIENCE
        state.exhausted = at_end or (not moved and state.idle > 0) or state.flat >= MANY

    def _to_the_end(self, problem: BoxQP) -> bool:
        precise = problem.n <= SMALL if self.precise is None else self.precise
        return precise and problem.gram.definiteness(NOTHING).definite

    def _takes_all(self, problem: BoxQP) -> bool:
        """Whether the whole problem is one working set: cheap kernel values, or a small problem."""
        cheap = problem.n <= 2 * self.chunk and 0.5 * problem.n**2 * problem.gram.value_ns <= WHOLE_NS
        return (cheap or self._to_the_end(problem)) and problem.n <= problem.gram.working_rows

    def _first_size(self, problem: BoxQP) -> int:
        return max(64, int((FIRST_NS / problem.gram.value_ns) ** 0.5))

    def _working_set(self, problem: BoxQP, state: State) -> tuple[Array, Array]:
        """Rows to solve for, kept and fresh ones; rows settled at a bound stay out where shrinking is allowed."""
        if state.whole:
            return NOTHING, np.arange(problem.n)
        largest = min(problem.n, self.chunk, problem.gram.working_rows)
        state.size = min(largest, 2 * state.size if state.size else self._first_size(problem))
        if state.iterations == 0 and not state.beta.any():
            return NOTHING, self._first_set(problem, state.size)
        growable, shrinkable = state.beta < problem.upper, state.beta > problem.lower
        high = np.max(state.v, where=growable, initial=-np.inf) if problem.balanced else 0.0
        low = np.min(state.v, where=shrinkable, initial=np.inf) if problem.balanced else 0.0
        rising, falling = growable & (state.v > low), shrinkable & (state.v < high)
        kept = state.working
        if self.shrinking:
            kept = kept[(rising | falling | (growable & shrinkable))[kept]]
        kept = kept[-(state.size // 2) :]
        fresh = np.ones(problem.n, bool)
        fresh[kept] = False
        wanted = state.size - len(kept)
        up = _largest(np.where(rising & fresh, state.v, -np.inf), wanted)
        down = _largest(np.where(falling & fresh, -state.v, -np.inf), wanted)
        return kept, _alternate(up, down)[:wanted]

    def _first_set(self, problem: BoxQP, size: int) -> Array:
        """At the origin all rows of a class are tied: take both classes in equal parts, spread over the data."""
        order = np.arange(problem.n) if self.order is None else self.order
        chosen = []
        for side in (problem.upper[order] > 0, problem.lower[order] < 0):
            rows = order[side]
            chosen.append(rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), size)).astype(np.int64))])
        return _alternate(*chosen)[:size]


def _rounding(problem: BoxQP, beta: Array) -> float:
    """What a score is uncertain by with multipliers of this size."""
    size = float(np.abs(problem.gram.diagonal).max(initial=0.0)) * float(np.abs(beta).sum())
    return 4.0 * float(np.finfo(float).eps) * size


def _standing(problem: BoxQP, state: State) -> tuple[float, float]:
    """Violation and dual value: p'beta - 1/2 beta'(K + R) beta = 1/2 (p + v)'beta."""
    violation = bias_and_violation(problem, state.beta, state.v)[1]
    return violation, 0.5 * float((problem.p + state.v) @ state.beta)


def _largest(values: Array, count: int) -> Array:
    """Indices of the ``count`` largest finite values, largest first."""
    count = min(count, len(values))
    top = np.argpartition(-values, count - 1)[:count] if count else np.empty(0, np.int64)
    top = top[np.isfinite(values[top])]
    return top[np.argsort(-values[top], kind="stable")]


def _alternate(first: Array, second: Array) -> Array:
    """Both lists in turn, each index once."""
    both = np.full((max(len(first), len(second)), 2), -1, np.int64)
    both[: len(first), 0], both[: len(second), 1] = first, second
    mixed = both.ravel()
    mixed = mixed[mixed >= 0]
    return mixed[np.sort(np.unique(mixed, return_index=True)[1])]
