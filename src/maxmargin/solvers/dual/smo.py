"""Sequential minimal optimisation on chunks of the problem.

Each step takes a working set W (half of it kept from before, the rest the rows that violate optimality most on either
side), solves the problem on W with the kernel values K_WW in memory, and updates the gradient of all rows with the
multipliers that changed. What a step costs is rows of the kernel matrix; the pairs inside W are nearly free.

Small problems end each step with Newton steps on the free multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.certificates.kkt import bias_and_violation
from maxmargin.core import limits
from maxmargin.core.problem import BoxQP
from maxmargin.core.rows import Array
from maxmargin.solvers.dual.newton import polish
from maxmargin.solvers.dual.steps import Block, pair_steps, single_steps

SMALL = 2000  # rows up to which a problem is solved to the end whatever tol says
SMALL_GOAL = 1e-9
CHUNK = 2048
INNER = 0.1  # a chunk is solved until its own violation is this much of what it was
BURST = 4096  # inner steps between two looks at the clock: about 30 ms
PATIENCE = 3  # steps without progress after which a small problem is at the limit of rounding
RISE = 1e-14  # of the objective: what rises less than this in every one of many steps does not rise
MANY = 20
MOST_INDEFINITE = 10_000_000  # steps: without concavity nothing promises an end (LIBSVM's limit)


@dataclass
class State:
    """Where the solver is: multipliers, their gradient v, the working set (newest first) and how it fares.

    ``idle`` counts steps since the violation last halved, ``flat`` steps since the objective last rose.
    """

    beta: Array
    v: Array
    working: Array
    violation: float = np.inf
    objective: float = 0.0
    iterations: int = 0
    exhausted: bool = False
    idle: int = 0
    flat: int = 0
    best: float = np.inf


@dataclass(frozen=True)
class SMO:
    """Options of the solver. ``tol`` bounds the KKT violation; ``order`` breaks ties in the first working set."""

    tol: float = 1e-3
    shrinking: bool = True
    order: Array | None = None
    chunk: int = CHUNK

    def goal(self, problem: BoxQP, state: State) -> float:
        """The violation to reach: tol, or as near to zero as rounding allows where the problem is small."""
        if not self._to_the_end(problem):
            return self.tol
        rounding = 4.0 * np.finfo(float).eps * float(np.abs(problem.gram.diagonal).max(initial=0.0))
        return min(self.tol, max(SMALL_GOAL, rounding * float(np.abs(state.beta).sum())))

    def start(self, problem: BoxQP, guess: Array) -> State:
        """The feasible multipliers ``guess`` with their gradient."""
        beta = guess.copy()
        f = problem.gram.scores(beta)[0] if beta.any() else np.zeros(problem.n)
        return self.restart(problem, State(beta, f, np.empty(0, np.int64)), f)

    def restart(self, problem: BoxQP, state: State, f: Array) -> State:
        """Go on from scores ``f`` worked out afresh: takes the drift and the float32 error out of the gradient."""
        state.v = problem.p - f - problem.ridge * state.beta
        state.violation, state.objective = _standing(problem, state)
        state.exhausted, state.idle, state.flat, state.best = False, 0, 0, np.inf
        return state

    def step(self, problem: BoxQP, state: State, max_steps: float = np.inf) -> State:
        """Solve one chunk. Sets: every field of ``state``; its multipliers are feasible whenever this is left."""
        working = self._working_set(problem, state)
        block = _block(problem, working)
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
            state.v[working] -= problem.ridge[working] * change
        state.iterations += done
        state.working = working
        before = state.objective
        state.violation, state.objective = _standing(problem, state)
        rises = state.objective > before + RISE * abs(before)
        self._judge(state, bool(changed.any()) and (moving or state.violation < state.best), rises)
        if state.iterations > MOST_INDEFINITE:
            state.exhausted |= not problem.gram.definiteness(working)[0]
        return state

    def _inner(
        self, problem: BoxQP, state: State, block: Block, v: Array, beta: Array, max_steps: float
    ) -> tuple[int, bool]:
        """Pairs (or single multipliers) until the chunk is solved well enough. Writes: v, beta."""
        steps = pair_steps if problem.balanced else single_steps
        whole = len(beta) == problem.n
        tol = self.tol if whole and state.violation > self.tol else INNER * state.violation
        tol = max(tol, 0.5 * self.goal(problem, state))
        finish = self._to_the_end(problem)
        most = int(min(max_steps, (10 if finish else 100) * len(beta) + 1000))
        gains, done, moving = np.empty(len(beta)), 0, True
        while done < most and moving:
            more, violation, moving = steps(block, v, beta, gains, tol, min(BURST, most - done))
            done += more
            if violation <= tol:
                break
            limits.checkpoint()
        if finish:
            polish(block, v, beta, problem.balanced)
        return done, moving

    def _judge(self, state: State, moved: bool, rises: bool) -> None:
        """Sets: exhausted, where further steps bring nothing but rounding."""
        state.idle = 0 if state.violation < 0.5 * state.best else state.idle + 1
        state.flat = 0 if rises else state.flat + 1
        state.best = min(state.best, state.violation)
        at_end = state.violation <= self.tol and state.idle >= PATIENCE
        state.exhausted = at_end or (not moved and state.idle > 0) or state.flat >= MANY

    def _to_the_end(self, problem: BoxQP) -> bool:
        return problem.n <= SMALL and problem.gram.definiteness(np.empty(0, np.int64))[0]

    def _working_set(self, problem: BoxQP, state: State) -> Array:
        """Rows to solve for, newest first; rows settled at a bound stay out where shrinking is allowed."""
        growable, shrinkable = state.beta < problem.upper, state.beta > problem.lower
        size = min(problem.n, self.chunk, problem.gram.working_rows)
        if state.iterations == 0 and size < problem.n and not state.beta.any():
            return self._first_set(problem, size)
        high = np.max(state.v, where=growable, initial=-np.inf) if problem.balanced else 0.0
        low = np.min(state.v, where=shrinkable, initial=np.inf) if problem.balanced else 0.0
        rising, falling = growable & (state.v > low), shrinkable & (state.v < high)
        if size >= problem.n:
            chosen = np.flatnonzero(rising | falling | (growable & shrinkable)) if self.shrinking else None
            return np.arange(problem.n) if chosen is None or len(chosen) == 0 else chosen
        kept = state.working
        if self.shrinking:
            kept = kept[(rising | falling | (growable & shrinkable))[kept]]
        kept = kept[: size // 2]
        fresh = np.ones(problem.n, bool)
        fresh[kept] = False
        wanted = size - len(kept)
        up = _largest(np.where(rising & fresh, state.v, -np.inf), wanted)
        down = _largest(np.where(falling & fresh, -state.v, -np.inf), wanted)
        return np.concatenate([_alternate(up, down)[:wanted], kept])

    def _first_set(self, problem: BoxQP, size: int) -> Array:
        """At the origin all rows of a class are tied: take both classes in equal parts, spread over the data."""
        order = np.arange(problem.n) if self.order is None else self.order
        chosen = []
        for side in (problem.upper[order] > 0, problem.lower[order] < 0):
            rows = order[side]
            chosen.append(rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), size)).astype(np.int64))])
        return _alternate(*chosen)[:size]


def _standing(problem: BoxQP, state: State) -> tuple[float, float]:
    """Violation and dual value: p'beta - 1/2 beta'(K + R) beta = 1/2 (p + v)'beta."""
    violation = bias_and_violation(problem, state.beta, state.v)[1]
    return violation, 0.5 * float((problem.p + state.v) @ state.beta)


def _block(problem: BoxQP, working: Array) -> Block:
    gram, ridge = problem.gram, problem.ridge[working]
    return Block(
        gram.submatrix(working), gram.diagonal[working] + ridge, ridge, problem.lower[working], problem.upper[working]
    )


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
