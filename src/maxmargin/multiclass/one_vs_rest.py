"""One versus the rest: a machine for every class, and the largest decision wins."""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.multiclass.reduction import Task, normalised, sides


class OneVsRest:
    """Task k sets class k against all others. The decisions of different machines are compared with each other."""

    unit = "classes"

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def tasks(self, labels: Array) -> list[Task]:
        """One task per class, each on all rows."""
        return [
            Task(None, sides(labels, np.arange(self.n_classes) == k), f"class {k + 1}/{self.n_classes}")
            for k in range(self.n_classes)
        ]

    def scores(self, decisions: Array) -> Array:
        """The decisions themselves."""
        return decisions

    def winners(self, decisions: Array) -> Array:
        """The largest decision; ties go to the lowest class index."""
        return np.argmax(decisions, axis=1)

    def leads(self, decisions: Array) -> Array:
        """The decision of each class minus the largest of the others."""
        two = np.sort(decisions, axis=1)[:, -2:]
        largest = two[:, 1:]
        return decisions - np.where(decisions == largest, two[:, :1], largest)

    def probabilities(self, shares: Array) -> Array:
        """Each class against the rest, scaled to add up to one."""
        return normalised(shares)
