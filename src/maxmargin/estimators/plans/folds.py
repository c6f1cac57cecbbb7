"""Folds of the rows: which are left out together, and what machines without them say of them.

Equal rows are one row before they are divided, so a fold never holds a copy of what its machine was trained on, and a
weight of 2 gives the same folds as two rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.machines.plan import Fitted, Fold, fold_without

CV_RULE = Rule(
    "an integer >= 2, a cross-validation splitter or a list of (train, test) rows",
    lambda value: value >= 2 if checks.integer(value) else hasattr(value, "split") or np.iterable(value),
)
NEVER = -1  # the fold of rows that are never left out


class Folds(NamedTuple):
    """The number of each row's fold, and how many there are; none where nobody asks for them."""

    of_rows: Array
    number: int = 0

    def left_out(self, k: int, rows: Array | None = None) -> Array:
        """The places of fold k among some rows (None: all of them)."""
        return np.flatnonzero((self.of_rows if rows is None else self.of_rows[rows]) == k)

    def without_costs(
        self, state: Callable[[Array, Any], Any], costs: Array, rows: Array | None = None
    ) -> tuple[Fold, ...]:
        """For jobs on a kernel matrix: ``state(costs, gram)`` where the rows of the fold have no cost."""

        def fold(k: int) -> Fold:
            left_out = self.left_out(k, rows)
            rest = costs.copy()
            rest[left_out] = 0.0
            return Fold(left_out, partial(state, rest))

        return tuple(fold(k) for k in range(self.number))

    def without_rows(self, state: Callable[[Array, Any], Any], n: int, rows: Array | None = None) -> tuple[Fold, ...]:
        """For jobs of n rows without a kernel: ``state(kept, design)`` with the places of the rows that are left."""
        return tuple(fold_without(self.left_out(k, rows), n, state) for k in range(self.number))

    @property
    def each(self) -> list[Array]:
        """The rows of every fold."""
        return [self.left_out(k) for k in range(self.number)]


def no_folds(n: int) -> Folds:
    """Nothing is left out."""
    return Folds(np.full(n, NEVER))


def own_folds(number: int, n: int, classes: Array | None, random_state: Any) -> Folds:
    """n different rows in ``number`` folds, no more than rows, each class spread over all.

    ``random_state`` None is the same division every time.
    """
    if n < 2:
        raise ValueError("There is one sample to learn from, or copies of one: to leave some out takes two at least.")
    number = min(number, n)
    rng = check_random_state(0 if random_state is None else random_state)
    order = rng.permutation(n)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    of_rows = np.empty(n, np.int64)
    of_rows[order] = np.arange(n) % number  # one class after the other, dealt out in turn
    return Folds(of_rows, number)


def given_folds(cv: Any, X: Any, y: Array, of_classes: bool) -> Folds:
    """The folds of a splitter, or of a list of (train, test) rows: the test rows of a split are left out together."""
    of_rows = np.full(len(y), NEVER)
    count = 0
    splitter: Any = check_cv(cv, y, classifier=of_classes)
    for count, (train, test) in enumerate(splitter.split(X, y), 1):
        if len(np.union1d(train, test)) < len(y):
            raise ValueError(
                f"cv leaves {len(y) - len(np.union1d(train, test))} rows out of training that split {count} does not "
                "test: machines without a fold are trained on all other rows."
            )
        if (of_rows[test] != NEVER).any():
            raise ValueError("cv leaves a row out of more than one split: every row belongs to at most one fold.")
        of_rows[test] = count - 1
    return Folds(of_rows, count)


def cross_decisions(fitted: Fitted, folds: Folds, rows: list[Array | None]) -> Array:
    """(rows, machines): what the machines without a row's fold decide of it.

    ``rows`` are those of each job. NaN for rows of other jobs, rows that no fold leaves out, and jobs never begun.
    """
    columns = []
    for machine, of_job, some in zip(fitted.machines, fitted.crossed, rows, strict=True):
        part = np.full((len(folds.of_rows), len(machine.biases)), np.nan)
        for k, found in enumerate(of_job):
            places = folds.left_out(k, some)
            part[places if some is None else some[places]] = found.decisions
        columns.append(part)
    return np.hstack(columns)
