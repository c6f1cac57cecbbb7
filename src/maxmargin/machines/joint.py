"""Joint machines: what differs from others in stating their problem and reading its solution.

Their multipliers are a matrix B (rows, classes): one decision function per class, of two classes one for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel
from maxmargin.machines.plan import Fold, Job, fold_without
from maxmargin.machines.refusals import refuse_indefinite_joint
from maxmargin.problems.box import Bias
from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.solution import Point, Solution


class JointRows(NamedTuple):
    """What a joint machine learns from: class indices of the rows, of this many classes, and their costs."""

    labels: Array
    n_classes: int
    costs: Array

    def some(self, rows: Array) -> JointRows:
        """Fewer rows of the same classes."""
        return self._replace(labels=self.labels[rows], costs=self.costs[rows])

    @property
    def parts(self) -> tuple[Array, int, Array]:
        """As problems take them."""
        return self.labels.astype(np.int64), self.n_classes, self.costs


def kernel_job(
    rows: JointRows, loss: Any, kernel: Kernel, bias: Bias, start: Array | None, left_out: Sequence[Array] = ()
) -> Job:
    """A joint machine with a kernel; ``start`` are coefficients of its machines over the rows."""

    def state(some: JointRows, gram: Any) -> KernelJoint:
        refuse_indefinite_joint(gram, kernel)
        return KernelJoint(*some.parts, loss, gram)

    B = None if start is None else for_each_class(start, rows.n_classes)
    return Job(
        rows=None,
        shape=(len(rows.labels), rows.n_classes),
        state=partial(state, rows),
        start=None if B is None else Point(B, B),
        finish=partial(_without_appended, bias=bias),
        to_machine=one_of_two,
        folds=_folds(rows, state, left_out),
    )


def linear_job(rows: JointRows, loss: Any, start: Point | None, left_out: Sequence[Array] = ()) -> Job:
    """A joint machine without a kernel."""

    def state(some: JointRows, design: Any) -> LinearJoint:
        return LinearJoint(*some.parts, loss, design)

    return Job(
        rows=None,
        shape=(len(rows.labels), rows.n_classes),
        state=partial(state, rows),
        start=start,
        to_machine=one_of_two,
        folds=_folds(rows, state, left_out),
    )


def _folds(rows: JointRows, state: Callable[[JointRows, Any], Any], left_out: Sequence[Array]) -> tuple[Fold, ...]:
    """Problems on the rows that are left: a row of a joint machine always has a cost."""
    return tuple(
        fold_without(places, len(rows.labels), lambda kept, matrix: state(rows.some(kept), matrix))
        for places in left_out
    )


def one_of_two(coef: Array, biases: Array) -> tuple[Array, Array]:
    """Two classes as one machine, positive for the second: w_1 - w_0. More classes as they are."""
    return (coef[1:] - coef[:1], biases[1:] - biases[:1]) if len(coef) == 2 else (coef, biases)


def for_each_class(coef: Array, n_classes: int) -> Array:
    """B of the coefficients of machines: the inverse of ``one_of_two``, with w_1 = -w_0."""
    return np.hstack([-0.5 * coef.T, 0.5 * coef.T]) if n_classes == 2 else np.ascontiguousarray(coef.T)


def _without_appended(problem: KernelJoint, solution: Solution, bias: Bias) -> Solution:
    """The norm in the certificate without the weights of the appended 1; of two classes that of w_1 - w_0 = 2 w_1."""
    B, proof = solution.beta, solution.certificate
    appended = float(np.sum(B.sum(axis=0) ** 2)) if bias is Bias.REGULARIZED else 0.0
    factor = 2.0 if problem.n_classes == 2 else 1.0
    norm = math.sqrt(max(factor * (proof.norm**2 - appended), 0.0))
    return solution._replace(certificate=proof._replace(norm=norm))
