"""Which rows the next chunk is made of: half of them kept, the rest those that violate optimality most."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.kkt import Standing, slopes
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.problems.box import BoxQP
from maxmargin.solvers.contract import Options

FIRST_NS = 2.5e5  # the first working set is as large as this many nanoseconds of kernel values make it
LEAST = 64
MODEST = 1024
FREE_FACTOR = 2.0


class WorkingSets:
    """Makes one working set after another; they double up to ``largest`` rows."""

    def __init__(self, problem: BoxQP, options: Options, largest: int) -> None:
        self.problem, self.options = problem, options
        self.largest = min(problem.n, largest, problem.gram.working_rows)
        self._size = 0

    def choose(self, working: Array, beta: Array, v: Array, standing: Standing, untouched: bool) -> tuple[Array, Array]:
        """Rows to solve for, kept and fresh ones; rows settled at a bound stay out where shrinking is allowed."""
        first = max(LEAST, int((FIRST_NS / self.problem.gram.value_ns) ** 0.5))
        free = np.count_nonzero((beta > self.problem.lower) & (beta < self.problem.upper) & (beta != 0.0))
        most = min(self.largest, max(MODEST, int(FREE_FACTOR * free)))
        self._size = min(most, 2 * self._size if self._size else first)
        if untouched and self._tied():
            return NO_ROWS, self._spread(self._size)
        return self._violators(working, beta, v, standing)

    def _tied(self) -> bool:
        """Whether all rows of a side violate alike where all multipliers are zero: classes, not numbers."""
        return bool(np.ptp(np.abs(self.problem.p)) == 0.0)

    def _violators(self, working: Array, beta: Array, v: Array, standing: Standing) -> tuple[Array, Array]:
        problem = self.problem
        growable, shrinkable = beta < problem.upper, beta > problem.lower
        up, down = slopes(v, beta, problem.kink)
        high = problem.by_row(standing.highest[:-1])
        low = problem.by_row(standing.lowest[:-1])
        rising, falling = growable & (up > low), shrinkable & (down < high)
        kept = working
        if self.options.shrinking:
            kept = kept[(rising | falling | (growable & shrinkable))[kept]]
        kept = kept[-(self._size // 2) :]
        fresh = np.ones(problem.n, bool)
        fresh[kept] = False
        wanted = self._size - len(kept)
        if problem.n_groups and not problem.one_for_all:  # slopes compare only beside those of their own group
            up, down = up - low, down - high
        risers = _largest(np.where(rising & fresh, up, -np.inf), wanted)
        fallers = _largest(np.where(falling & fresh, -down, -np.inf), wanted)
        return kept, _alternate(risers, fallers)[:wanted]

    def _spread(self, size: int) -> Array:
        """At the origin all rows of a class are tied: take both classes in equal parts, spread over the data."""
        problem, order = self.problem, self.options.order
        order = np.arange(problem.n) if order is None else order
        chosen = []
        for side in (problem.upper[order] > 0, problem.lower[order] < 0):
            rows = order[side]
            chosen.append(rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), size)).astype(np.int64))])
        return _alternate(*chosen)[:size]


def _largest(values: Array, count: int) -> Array:
    """Indices of the ``count`` largest finite values, largest first."""
    count = min(count, len(values))
    top = np.argpartition(-values, count - 1)[:count] if count else NO_ROWS
    top = top[np.isfinite(values[top])]
    return top[np.argsort(-values[top], kind="stable")]


def _alternate(first: Array, second: Array) -> Array:
    """Both lists in turn, each index once."""
    both = np.full((max(len(first), len(second)), 2), -1, np.int64)
    both[: len(first), 0], both[: len(second), 1] = first, second
    mixed = both.ravel()
    mixed = mixed[mixed >= 0]
    return mixed[np.sort(np.unique(mixed, return_index=True)[1])]
