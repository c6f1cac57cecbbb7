"""Classes: from labels to jobs of two sides on a kernel matrix, and from their machines to one set of coefficients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin import checks
from maxmargin.core.rows import Array
from maxmargin.estimators.plans.folds import Folds
from maxmargin.machines import Job, LazyJobs, Machine
from maxmargin.multiclass import OneVsOne, OutputCodes, Reduction
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.multiclass.reduction import Task
from maxmargin.problems.solution import Point, Solution


class Classes(NamedTuple):
    """All classes, the class index of each row, and their factors of C."""

    names: Array
    of_rows: Array
    factors: Array


def share_of(weights: Array, chosen: Array) -> float:
    """The share of the weights of some rows in those of all.

    Not as an inner product: that is BLAS, whose threads would wait busily for the next call while others need a core.
    """
    return float(weights[chosen].sum() / weights.sum())


def read_classes(estimator: Any, y: Array, weights: Array) -> Classes:
    """At least two classes with rows of weight above zero; one without any stays a class that nothing speaks for."""
    names, of_rows = checks.distinct(y)
    used = np.flatnonzero(weights)
    counts = np.bincount(of_rows[used], minlength=len(names))
    seen = names[counts > 0]
    checks.at_least_two(seen, type(estimator).__name__)
    factors = np.ones(len(names))
    if estimator.class_weight is not None:
        factors[counts > 0] = checks.class_costs(estimator.class_weight, seen, y[used], weights[used])
    return Classes(names, of_rows, factors)


def in_pairs(reduction: Reduction) -> bool:
    """Whether every machine has the rows of two of several classes, and coefficients are laid out in pairs."""
    return isinstance(reduction, OneVsOne) and reduction.n_classes > 2


class ClassTasks:
    """The tasks of a reduction on rows with these class indices; of pairs, classes come one after the other."""

    def __init__(self, reduction: Reduction, labels: Array, names: Array) -> None:
        self.reduction, self.labels, self.names = reduction, labels, names
        self.tasks = reduction.tasks(labels)
        self.segments: tuple[slice, ...] = ()
        if in_pairs(reduction):
            self._edges = np.searchsorted(labels, np.arange(reduction.n_classes + 1))
            self.segments = tuple(slice(a, b) for a, b in pairwise(self._edges.tolist()))

    def jobs(
        self,
        state: Callable[[Task, Array, Any], Any],
        costs: Array,
        start: Array | None,
        finish: Callable[[str], Callable[[Any, Solution], Solution]],
        folds: Folds,
        units: Array | float = 1.0,
        **how: Any,
    ) -> LazyJobs:
        """A job for each task: ``state(task, costs, gram)`` is its problem, ``finish(sides)`` judges its solution.

        ``start`` are coefficients in the layout of ``coefficients``, which times the ``units`` of the tasks are
        multipliers. For ``how`` see ``Job``.
        """
        starts, units = self._starts(start), np.broadcast_to(units, (len(self.tasks),))

        def job(number: int) -> Job:
            task = self.tasks[number]
            return Job(
                rows=task.rows,
                shape=(task.size(len(self.labels)),),
                state=partial(state, task, task.of(costs)),
                name=task.name if len(self.tasks) > 1 else "",
                start=None if starts is None else Point(beta=units[number] * starts[number]),
                parts=self._parts(number),
                finish=finish(self.sides(number)),
                folds=folds.without_costs(partial(state, task), task.of(costs), task.rows),
                **how,
            )

        return LazyJobs(len(self.tasks), job)

    def coefficients(self, machines: list[Machine]) -> Array:
        """Of all machines, a column for each row; see ``multiclass.one_vs_one`` for the layout of pairs.

        Pairs that were solved in bundles come in that layout already.
        """
        if self.segments and len(machines) > 1:
            return ovo.join((machine.coef[0] for machine in machines), self._edges)
        return machines[0].coef if len(machines) == 1 else np.vstack([machine.coef for machine in machines])

    def _starts(self, coef: Array | None) -> list[Array] | None:
        if coef is None:
            return None
        return ovo.split(coef, self._edges) if self.segments else list(coef)

    def _parts(self, number: int) -> tuple[slice, ...]:
        if not self.segments:
            return ()
        assert isinstance(self.reduction, OneVsOne)
        return tuple(self.segments[c] for c in self.reduction.pairs[number])

    def sides(self, number: int) -> str:
        """The two sides of a machine, in words."""
        if isinstance(self.reduction, OneVsOne):
            first, second = self.reduction.pairs[number]
            return f"class {self.names[first]} from class {self.names[second]}"
        if isinstance(self.reduction, OutputCodes):
            return f"the classes with +1 from those with -1 in column {number} of the code"
        return f"class {self.names[number]} from the rest"
