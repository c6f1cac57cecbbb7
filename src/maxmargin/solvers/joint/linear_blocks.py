"""Linear joint machines of few rows as kernel machines: their matrix of inner products is small."""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.problems.definiteness import Definiteness
from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.contract import Options
from maxmargin.solvers.joint.blocks import JointBlocks


class StoredGram:
    """A kernel matrix of few rows, all of it in memory."""

    n_jobs = 1
    values_computed = 0
    float64_error = 0.0

    def __init__(self, K: Array) -> None:
        self._K = K
        self.diagonal, self.working_rows = np.diagonal(K).copy(), len(K)

    def submatrix(self, rows: Array, older: Array | None = None, places: Array | None = None, up_to: int = 0) -> Array:
        """K among ``rows``."""
        return self._K[np.ix_(rows, rows)]

    def give_back(self, array: Array) -> None:
        """Nothing was borrowed."""

    def accumulate_many(self, rows: Array, weights: Array, out: Array) -> None:
        """out += K[:, rows] @ weights. Writes: out."""
        out += self._K[:, rows] @ weights

    def many_scores(self, B: Array, exact: bool = False) -> Array:
        """K B."""
        return self._K @ B

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Next to nothing."""
        return 0.0

    def definiteness(self, prefer: Array) -> Definiteness:
        """A matrix of inner products is positive semidefinite."""
        return Definiteness(True)


class LinearBlocks(JointBlocks):
    """A linear machine of few rows, solved to the end on the matrix of its rows' inner products."""

    def __init__(self, problem: LinearJoint, start: Point, options: Options, patience: float = np.inf) -> None:
        gram = StoredGram(problem.design.outer_gram())
        on_gram = KernelJoint(problem.labels, problem.n_classes, problem.costs, problem.loss, gram)
        super().__init__(on_gram, start, options, patience)
        self.design = problem.design

    @property
    def point(self) -> Point:
        """The weights, a row per class, and the multipliers."""
        return Point(self.design.combine_several(self.B), self.B)

    def refine(self, goal: float, proof: Proof) -> None:
        """Aim lower, from scores worked out afresh by the matrix that the steps use."""
        self._go_on(goal, self.gram.many_scores(self.B))
