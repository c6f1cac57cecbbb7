"""The canonical problem of the joint machines: one weight vector per class, one loss for all of them.

    minimise  1/2 sum_m ||w_m||^2 + sum_i c_i L(s_i, y_i),    s_im = w_m'phi(x_i),

L one of ``losses.multiclass``. In multipliers B (n, k), w_m = sum_i B_im phi(x_i), its dual is

    maximise  -1/2 sum_m ||w_m||^2 - sum_i (c_i L)*(-B_i),

and each row of B lives in a set of its own: nothing but the weights couples the rows. A bias is the weight of a feature
1 that is appended to phi (linear: the scale of ``Design``; kernels: K + 1). Free biases would ask for sum_i B_im = 0
for every class, which couples all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.problems.definiteness import Definiteness
from maxmargin.problems.design import Design
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Certificate, Point

PROOF_PASSES = 6.0  # a proof reads the rows three times, and as much again is set aside to be safe


@dataclass(frozen=True)
class JointProblem:
    """See the module's formula; all costs are > 0."""

    labels: Array
    n_classes: int
    costs: Array
    loss: Any

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def bias_of(self, point: Point) -> float:
        """There is one for each class: NaN."""
        return math.nan

    def zeros(self) -> Array:
        """No multipliers."""
        return np.zeros((self.n, self.n_classes))


@dataclass(frozen=True)
class LinearJoint(JointProblem):
    """A joint machine on the rows of ``design``."""

    design: Design

    @property
    def passes(self) -> float:
        """How often all rows were read so far."""
        return self.design.passes

    @property
    def n_weights(self) -> int:
        """Number of weights of all classes."""
        return self.n_classes * self.design.d

    def thinned(self, rows: Array, factor: float) -> LinearJoint:
        """The problem of some rows at ``factor`` times their cost."""
        return replace(self, design=self.design.some(rows), labels=self.labels[rows], costs=factor * self.costs[rows])

    def start(self, near: Point | None = None) -> Point:
        """Zero weights, a row for each class, and no multipliers; or those given."""
        return near or Point(np.zeros((self.n_classes, self.design.d)), self.zeros())

    def optimality_error(self, certificate: Certificate) -> float:
        """The relative gap is held against ``tol``."""
        return certificate.relative_gap

    def proof_seconds(self, point: Callable[[], Point], elapsed: float) -> float:
        """About how long a certificate takes: some passes over the rows, for all classes at once."""
        return 0.0 if self.n <= SMALL_ROWS else PROOF_PASSES * elapsed / max(self.passes, PROOF_PASSES)


class JointGram(Protocol):
    """What a joint machine asks of the kernel matrix K."""

    diagonal: Array
    working_rows: int

    @property
    def n_jobs(self) -> int:
        """Threads that compute."""
        ...

    @property
    def values_computed(self) -> int:
        """Number of kernel values that were computed."""
        ...

    @property
    def float64_error(self) -> float:
        """A bound on the relative error of float64 values, beyond that of usual arithmetic."""
        ...

    def submatrix(self, rows: Array, older: Array | None = None, places: Array = ..., up_to: int = 0) -> Array:
        """K among ``rows``, in borrowed memory; the first of them are at ``places`` in ``older``, K of other rows.

        ``up_to`` is how many rows the next of such matrices may have.
        """
        ...

    def give_back(self, array: Array) -> None:
        """End of use of a matrix from ``submatrix``."""
        ...

    def accumulate_many(self, rows: Array, weights: Array, out: Array) -> None:
        """out += K[:, rows] @ weights for several columns of weights. Writes: out."""
        ...

    def many_scores(self, B: Array, exact: bool = False) -> Array:
        """F = K B for several columns of multipliers."""
        ...

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Estimated time of ``many_scores`` with this many rows of multipliers."""
        ...

    def definiteness(self, prefer: Array) -> Definiteness:
        """Whether K is positive semidefinite and symmetric, and how far that was checked."""
        ...


@dataclass(frozen=True)
class KernelJoint(JointProblem):
    """A joint machine on a kernel matrix."""

    gram: JointGram

    @property
    def passes(self) -> float:
        """How often all kernel values were worked out so far."""
        return self.gram.values_computed / max(1, self.n) ** 2

    def start(self, near: Point | None = None) -> Point:
        """No multipliers, or those given; they stand for the weights, which live in feature space."""
        return near or Point(self.zeros(), self.zeros())

    def optimality_error(self, certificate: Certificate) -> float:
        """The violation is held against ``tol``."""
        return certificate.violation

    def proof_seconds(self, point: Callable[[], Point], elapsed: float) -> float:
        """About how long a certificate takes, with multipliers in all rows."""
        return self.gram.certificate_seconds(self.n, self.n)
