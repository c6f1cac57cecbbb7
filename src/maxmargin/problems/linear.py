"""The canonical problem of all linear machines: a norm plus a sum of losses.

    minimise  Omega(w) + sum_i c_i l(y_i, z_i),    z = Xw + b,

Omega(w) = 1/2 ||w||^2 (penalty "l2") or ||w||_1 ("l1"). In multipliers beta_i = -c_i l'(z_i) its dual is

    maximise  -1/2 ||X'beta||^2 - sum_i c_i l*(y_i, -beta_i / c_i)          for l2,
    maximise  -sum_i c_i l*(y_i, -beta_i / c_i) with ||X'beta||_inf <= 1    for l1,

with sum_i beta_i = 0 where the bias is free. A regularised bias is one more column of X (``Design``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.base import has_conjugate
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.solution import Certificate, Point

Penalty = Literal["l2", "l1"]

PROOF_PASSES = 4.0  # a proof reads the rows twice, and as much again is set aside to be safe


@dataclass(frozen=True)
class LinearProblem:
    """See the module's formula. All costs are > 0: rows without weight are left out before."""

    design: Design
    y: Array
    costs: Array
    loss: Any
    bias: Bias
    penalty: Penalty = "l2"

    def __post_init__(self) -> None:
        if self.penalty == "l1" and not has_conjugate(self.loss):
            raise ValueError(
                "The l1 penalty needs a loss with a conjugate: without a dual value nothing bounds its gap."
            )

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.design.n

    @property
    def d(self) -> int:
        """Number of weights, the bias included."""
        return self.design.d

    @property
    def n_weights(self) -> int:
        """Number of weights of the machine: the same."""
        return self.d

    @property
    def free_bias(self) -> bool:
        """Whether the last entry of v is a bias that the norm leaves out."""
        return self.bias is Bias.FREE

    @property
    def penalized(self) -> slice:
        """The entries of v that the norm counts."""
        return slice(0, self.design.features if self.free_bias else self.d)

    @property
    def hardness(self) -> float:
        """About the mean cost times the mean of ||x||^2: where it is small, so is the number of passes needed."""
        return float(self.costs.mean()) * self.design.mean_square()

    @property
    def passes(self) -> float:
        """How often all rows were read so far."""
        return self.design.passes

    def start(self, near: Point | None = None) -> Point:
        """Zero weights, or those given."""
        return near or Point(np.zeros(self.d))

    def thinned(self, rows: Array, factor: float) -> LinearProblem:
        """The problem of some rows at ``factor`` times their cost."""
        return replace(self, design=self.design.some(rows), y=self.y[rows], costs=factor * self.costs[rows])

    def optimality_error(self, certificate: Certificate) -> float:
        """The relative gap is held against ``tol``."""
        return certificate.relative_gap

    def proof_seconds(self, point: Callable[[], Point], elapsed: float) -> float:
        """About how long a certificate takes, by what passes took in the ``elapsed`` seconds so far."""
        return PROOF_PASSES * elapsed / max(self.passes, PROOF_PASSES)

    def bias_of(self, point: Point) -> float:
        """b = s v_0."""
        return float(self.design.scale * point.v[-1]) if self.design.scale else 0.0
