"""A kernel machine with a loss whose conjugate is no quadratic: the power of the slack, the logistic loss.

In signed multipliers beta it is

    maximise   -1/2 beta'K beta - sum_i c_i l*(y_i, -beta_i / c_i),    sum_i beta_i = 0 where the bias is free,

the dual of

    minimise   1/2 ||w||^2 + sum_i c_i l(y_i, w'phi(x_i) + b).

K must be positive semidefinite. For a regularised bias it is the matrix of the kernel K + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.losses.box import Box, one_sided, two_sided
from maxmargin.losses.curved import Terms, is_curved
from maxmargin.problems.box import Bias, BoxQP, GramMatrix, no_group, one_group
from maxmargin.problems.solution import Certificate, Point


@dataclass(frozen=True)
class KernelProblem:
    """See the module's formula. ``loss`` has a curved conjugate (``losses.curved``), ``costs`` are finite."""

    gram: GramMatrix
    y: Array
    costs: Array
    loss: Any
    bias: Bias

    def __post_init__(self) -> None:
        if self.y.shape != (self.gram.n,) or self.costs.shape != (self.gram.n,):
            raise ValueError(
                f"A problem on {self.gram.n} rows of a kernel matrix needs {self.gram.n} targets and costs."
            )
        if not is_curved(self.loss, self.loss.one_sided):
            raise ValueError(f"{self.loss!r} has no conjugate with two derivatives, or parameters out of their range.")
        if not (np.isfinite(self.costs).all() and np.all(self.costs >= 0)):
            raise ValueError(f"{self.loss!r} needs finite costs >= 0.")
        found = self.gram.definiteness(NO_ROWS)
        if not found.definite:
            raise ValueError(
                f"{self.loss!r} needs a positive semidefinite kernel: {found.note}. Use another kernel (see "
                "maxmargin.mercer), or a piecewise quadratic loss such as 'hinge' or 'squared_hinge'."
            )

    @cached_property
    def constraints(self) -> BoxQP:
        """The domain of the multipliers as a box QP; its objective means nothing."""
        bound, zero, free = self.loss.bound(self.costs), np.zeros(self.n), self.bias is Bias.FREE
        box = (
            one_sided(self.y, zero, bound, zero + 1.0)
            if self.loss.one_sided
            else two_sided(zero, bound, 0.0, zero + 1.0)
        )
        group, totals = one_group(self.n) if free else no_group(self.n)
        return BoxQP(self.gram, box, group, totals, appended=self.bias is Bias.REGULARIZED)

    def model(self, p: Array, lower: Array, upper: Array, ridge: Array) -> BoxQP:
        """The same machine with quadratic conjugates -p beta + ridge beta^2 / 2 between these bounds."""
        frame = self.constraints
        box = Box(p, lower, upper, frame.kink, ridge)
        return BoxQP(self.gram, box, frame.group, frame.totals, appended=frame.appended)

    @cached_property
    def paid(self) -> Any:
        """What picks the rows that cost something; the multipliers of the others are zero."""
        return slice(None) if self.costs.all() else np.flatnonzero(self.costs)

    @cached_property
    def terms(self) -> Terms:
        """Of the rows that cost something."""
        return Terms(self.y[self.paid], self.costs[self.paid], self.gram.diagonal[self.paid])

    @property
    def n(self) -> int:
        """Number of multipliers."""
        return self.gram.n

    @property
    def passes(self) -> float:
        """Kernel values computed so far, in matrices."""
        return self.constraints.passes

    def start(self, near: Point | None = None) -> Point:
        """A feasible point near ``near``; without one, zero."""
        return self.constraints.start(near)

    def point_of(self, alpha: Any) -> Point:
        """The notes' multipliers alpha >= 0 as a point."""
        return self.constraints.point_of(alpha)

    def optimality_error(self, certificate: Certificate) -> float:
        """The violation is held against ``tol``."""
        return self.constraints.optimality_error(certificate)

    def proof_seconds(self, point: Callable[[], Point], elapsed: float) -> float:
        """All scores in float64."""
        return self.gram.certificate_seconds(int(np.count_nonzero(point().beta)), self.n)

    def bias_of(self, point: Point) -> float:
        """The free bias, the weight of the appended 1, or 0."""
        return self.constraints.bias_of(point)
