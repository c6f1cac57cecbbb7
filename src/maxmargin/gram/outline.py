"""A kernel matrix that is only as large as the true one: enough to state a problem on it, and to find it infeasible."""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.problems.definiteness import Definiteness


class Outline:
    """Has ``n`` rows and no kernel values. What models ask of a matrix is answered so that they ask nothing further."""

    def __init__(self, n: int) -> None:
        self.n = n

    @property
    def diagonal(self) -> Array:
        """Zeros."""
        return np.zeros(self.n)

    def definiteness(self, prefer: Array) -> Definiteness:
        """As if Mercer's condition held."""
        return Definiteness(True)

    def view(self, index: Array) -> Outline:
        """Of other rows."""
        return Outline(len(index))
