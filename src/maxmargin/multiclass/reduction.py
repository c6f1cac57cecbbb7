"""What the reductions of many classes to two have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from maxmargin.core.rows import Array


class Task(NamedTuple):
    """One problem of two sides: its rows (None for all of them), what makes their signs, and its name in messages.

    ``make_signs()`` is +1 for the side that a positive decision stands for. It is called when the task is solved: with
    many tasks on many rows all signs at once would be larger than the data.
    """

    rows: Array | None
    make_signs: Callable[[], Array]
    name: str

    @property
    def signs(self) -> Array:
        """+1 or -1 for each of the task's rows."""
        return self.make_signs()

    def of(self, values: Array) -> Array:
        """Of values for all rows, those of the task's rows."""
        return values if self.rows is None else values[self.rows]

    def size(self, n: int) -> int:
        """Number of rows, where the data have n."""
        return n if self.rows is None else len(self.rows)


class Reduction(Protocol):
    """Many classes as tasks of two."""

    n_classes: int
    unit: str  # what a task is, in the plural

    def tasks(self, labels: Array) -> Sequence[Task]:
        """The tasks of rows with these class indices."""
        ...

    def scores(self, decisions: Array) -> Array:
        """One value per class from the tasks' decisions (rows, tasks); the largest one wins."""
        ...

    def winners(self, decisions: Array) -> Array:
        """The class index of each row; ties go to the lowest."""
        ...

    def leads(self, decisions: Array) -> Array:
        """By how much each class leads where it leads least, (rows, classes), from the tasks that know the class."""
        ...

    def probabilities(self, shares: Array) -> Array:
        """P(class | x), (rows, classes), from P(positive side | x) of every task, (rows, tasks)."""
        ...


def sides(labels: Array, positive: Array) -> Callable[[], Array]:
    """Makes signs: +1 for the classes in ``positive`` (a flag per class), -1 for the others."""
    return lambda: np.where(positive[labels], 1.0, -1.0)


def normalised(shares: Array) -> Array:
    """Rows that add up to one; equal parts where all entries are zero."""
    sums = shares.sum(axis=1, keepdims=True)
    return np.divide(shares, sums, out=np.full_like(shares, 1.0 / shares.shape[1]), where=sums > 0)


def squeezed(confidence: Array) -> Array:
    """Any numbers into (-1/3, 1/3), in order: they tell equal counts apart and change no others."""
    return confidence / (3.0 * (np.abs(confidence) + 1.0))
