"""Machines with kernels: from parameters and rows to a plan, and from its machines to attributes.

Every kernel machine takes this path, whatever its problem: ``read_rows`` -> jobs -> ``kernel_plan`` -> ``expansion``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core.rows import Array
from maxmargin.core.twins import Twins, by_class, find_twins, find_twins_among_many, no_twins
from maxmargin.estimators.plans.effort import effort_of
from maxmargin.estimators.plans.kernel_choice import resolve_kernel
from maxmargin.kernels import Kernel
from maxmargin.losses.box import box_of
from maxmargin.machines import Fitted, Job, KernelPlan, Machine
from maxmargin.problems.box import Bias
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Solution, Status, combine


class Rows(NamedTuple):
    """The different rows of weight above zero that a machine learns from; equal ones of one kind are one row.

    ``used`` are the given rows of weight above zero; row ``used[i]`` is solved as row ``twins.group[i]``. ``weights``
    are sums over equal rows, and ``shape`` is that of the given data.
    """

    X: Any
    kinds: Array
    weights: Array
    used: Array
    twins: Twins
    kernel: Kernel
    shape: tuple[int, ...]

    def of(self, values: Array) -> Array:
        """Of values for each given row, those of the different rows: equal ones have equal values."""
        return values[self.used][self.twins.first]

    def merged(self, coef: Array | None) -> Array | None:
        """Coefficients for each given row (machines, rows) as those of the different rows."""
        if coef is None:
            return None
        total = np.zeros((len(coef), len(self.kinds)))
        np.add.at(total.T, self.twins.group, coef[:, self.used].T)
        return total


def read_rows(estimator: Any, X: Any, weights: Array, kinds: Array, grouped: bool = False) -> Rows:
    """Checked data of a kernel machine. ``kinds`` are integers: only rows of one kind (class, target) can be equal.

    ``grouped`` is whether the rows of a kind come one after the other.
    """
    used = np.flatnonzero(weights)
    kernel = resolve_kernel(estimator.kernel, estimator.degree, estimator.coef0, estimator.gamma, X, weights)
    some = X if len(used) == X.shape[0] else kernel.rows(X, used)
    kinds, weights = kinds[used], weights[used]
    twins = no_twins(len(used))
    if not (kernel.of_positions or kernel.of_objects):
        find = find_twins if len(used) <= SMALL_ROWS else find_twins_among_many
        twins = find(some, kinds, weights)
    if grouped:
        twins = by_class(twins, kinds[twins.first])
    if not np.array_equal(twins.first, np.arange(len(used))):
        some, kinds = kernel.rows(some, twins.first), kinds[twins.first]
    return Rows(some, kinds, np.bincount(twins.group, weights=weights), used, twins, kernel, X.shape)


def reach_of(loss: Any, costs: Array) -> float:
    """The usual bound of a multiplier: a few rows that stand for many equal ones do not count.

    Infinite for the hard margin; zero for losses whose multipliers have no bound, and stay small.
    """
    if np.isinf(costs).any():
        return math.inf
    bounds = box_of(loss, np.ones(len(costs)), costs, loss.one_sided).upper
    return 0.0 if np.isinf(bounds).any() else float(np.median(bounds))


def kernel_plan(
    estimator: Any,
    rows: Rows,
    jobs: list[Job],
    bias: Bias,
    reach: float,
    begun: float,
    segments: tuple[slice, ...] = (),
    movable: bool = True,
) -> KernelPlan:
    """The plan of ``jobs`` on these rows; see ``machines.plan`` for ``reach``, ``segments`` and ``movable``."""
    order = None
    if estimator.random_state is not None:
        order = check_random_state(estimator.random_state).permutation(len(rows.kinds))
    return KernelPlan(
        kernel=rows.kernel,
        X=rows.X,
        jobs=jobs,
        bias=bias,
        effort=effort_of(estimator, begun, shrinking=estimator.shrinking, order=order),
        reach=reach,
        memory=None if estimator.cache_size is None else int(estimator.cache_size * 2**20),
        segments=segments,
        movable=movable,
        keep=estimator.warm_start,
        kept=getattr(estimator, "_kept", None),
    )


def expansion(rows: Rows, coef: Array, machines: list[Machine], by_kind: bool = False) -> dict[str, Any]:
    """Attributes that make a machine of coefficients (a column for each different row): support vectors and biases.

    ``by_kind`` is whether support vectors come one kind after the other; else they come in the order of the rows.
    """
    given = coef[:, rows.twins.group] * rows.twins.share
    support = np.flatnonzero(given.any(axis=0))
    counts = np.array([len(support)])
    if by_kind:
        kinds = rows.kinds[rows.twins.group]
        support = support[np.argsort(kinds[support], kind="stable")]
        counts = np.bincount(kinds[support], minlength=int(rows.kinds.max()) + 1)
    weights = [machine.weights for machine in machines]
    return {
        "shape_fit_": rows.shape,
        "kernel_": rows.kernel,
        "support_": rows.used[support].astype(np.int32),
        "support_vectors_": np.empty((0, 0)) if rows.kernel.of_positions else rows.X[rows.twins.group[support]],
        "n_support_": counts.astype(np.int32),
        "dual_coef_": given[:, support],
        "intercept_": np.concatenate([machine.biases for machine in machines]),
        "_weights": None if weights[0] is None else np.vstack(weights),
    }


def kernel_report(fitted: Fitted) -> dict[str, Any]:
    """Attributes that tell of the solve."""
    norms = [solution.certificate.norm for solution in fitted.solutions]
    margins = np.array([math.inf if norm == 0 else 1.0 / norm for norm in norms])
    unsolved = any(solution.status is not Status.CONVERGED for solution in fitted.solutions)
    return {
        "margin_": float(margins[0]) if len(norms) == 1 else margins,
        "n_iter_": np.array([solution.iterations for solution in fitted.solutions], np.int32),
        "fit_status_": int(unsolved),
        "kernel_values_": fitted.kernel_values,
        "_float32": fitted.float32,
    }


def kernel_promise(solutions: list[Solution]) -> str:
    """What a model that is kept nevertheless can promise."""
    proof = combine([solution.certificate for solution in solutions])
    return f": relative gap {proof.relative_gap:.2g}, violation {proof.violation:.2g}"
