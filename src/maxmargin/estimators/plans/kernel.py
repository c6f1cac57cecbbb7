"""Machines with kernels: from parameters and rows to a plan, and from its machines to attributes.

Every kernel machine takes this path, whatever its problem: ``read_rows`` -> jobs -> ``kernel_plan`` -> ``expansion``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from maxmargin import checks
from maxmargin.core.equal_rows import EqualRows, all_different, by_class, find_equal, find_equal_among_many
from maxmargin.core.rows import Array
from maxmargin.estimators.plans.effort import effort_of
from maxmargin.estimators.plans.folds import Folds, given_folds, no_folds, own_folds
from maxmargin.kernels import Kernel
from maxmargin.kernels.choice import resolve_kernel
from maxmargin.kernels.points import ChosenRows
from maxmargin.losses.box import box_of
from maxmargin.losses.curved import is_curved, usual_multiplier
from maxmargin.machines import Fitted, Job, KernelPlan, Machine
from maxmargin.problems.box import Bias
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Solution, Status, combine


class Rows(NamedTuple):
    """The different rows of weight above zero that a machine learns from; equal ones with equal targets are one row.

    ``used`` are the given rows of weight above zero; row ``used[i]`` is solved as row ``equal.group[i]``. ``weights``
    are sums over equal rows, and ``shape`` is that of the given data.
    """

    X: Any
    target_ids: Array
    weights: Array
    used: Array
    equal: EqualRows
    kernel: Kernel
    shape: tuple[int, ...]

    def of(self, values: Array) -> Array:
        """Of values for each given row, those of the different rows: equal ones have equal values."""
        return values[self.used][self.equal.first]

    def merged(self, coef: Array | None) -> Array | None:
        """Coefficients for each given row (machines, rows) as those of the different rows."""
        if coef is None:
            return None
        total = np.zeros((len(coef), len(self.target_ids)))
        np.add.at(total.T, self.equal.group, coef[:, self.used].T)
        return total


def read_rows(
    estimator: Any, X: Any, weights: Array, target_ids: Array, grouped: bool = False, merge: bool = True
) -> Rows:
    """Checked data of a kernel machine. ``target_ids`` are integers: rows of different classes or targets differ.

    ``grouped`` is whether the rows of a class come one after the other, ``merge`` whether equal rows become one.
    """
    used = np.flatnonzero(weights)
    kernel = resolve_kernel(estimator.kernel, estimator.degree, estimator.coef0, estimator.gamma, X, weights)
    some = X if len(used) == X.shape[0] else kernel.rows(X, used)
    target_ids, weights = target_ids[used], weights[used]
    equal = all_different(len(used))
    if merge and not (kernel.of_positions or kernel.of_objects):
        find = find_equal if len(used) <= SMALL_ROWS else find_equal_among_many
        equal = find(some, target_ids, weights)
    if grouped:
        equal = by_class(equal, target_ids[equal.first])
    if not np.array_equal(equal.first, np.arange(len(used))):
        some, target_ids = _chosen(kernel, some, equal.first), target_ids[equal.first]
    return Rows(some, target_ids, np.bincount(equal.group, weights=weights), used, equal, kernel, X.shape)


def _chosen(kernel: Kernel, X: Any, index: Array) -> Any:
    """These rows of X, not copied yet where the kernel may well need other points than those."""
    if kernel.translation_invariant and type(X) is np.ndarray and X.ndim == 2 and len(index) > SMALL_ROWS:
        return ChosenRows(X, index)
    return kernel.rows(X, index)


def folds_of(estimator: Any, wanted: bool, rows: Rows, X: Any, y: Array, classes: bool) -> Folds:
    """The folds that ``cv`` asks for; ``X`` and ``y`` are the data as given, and ``classes`` says what y holds.

    Rows must not have been merged where ``cv`` divides the rows as given.
    """
    if not wanted:
        return no_folds(len(rows.target_ids))
    if checks.integer(estimator.cv):
        labels = rows.target_ids if classes else None
        return own_folds(int(estimator.cv), len(rows.target_ids), labels, estimator.random_state)
    given = given_folds(estimator.cv, X, y, classes)
    return given._replace(of_rows=rows.of(given.of_rows))


def usual_bound_of(loss: Any, costs: Array) -> float:
    """The usual bound of a multiplier: a few rows that stand for many equal ones do not count.

    Infinite for the hard margin; zero for losses whose multipliers have no bound, and stay small. Of curved conjugates
    it is the multiplier of a row whose score is zero.
    """
    if np.isinf(costs).any():
        return math.inf
    if is_curved(loss, loss.one_sided):
        return _middle(usual_multiplier(loss, costs))
    bounds = box_of(loss, np.ones(len(costs)), costs, loss.one_sided).upper
    return 0.0 if np.isinf(bounds).any() else _middle(bounds)


def _middle(values: Array) -> float:
    """A median; NumPy's takes ten times as long for few of them."""
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])


def kernel_plan(
    estimator: Any,
    rows: Rows,
    jobs: Sequence[Job],
    bias: Bias,
    usual_bound: float,
    begun: float,
    **how: Any,
) -> KernelPlan:
    """The plan of ``jobs`` on these rows; see ``machines.plan`` for ``usual_bound`` and for ``how``."""
    order = None
    if estimator.random_state is not None:
        order = check_random_state(estimator.random_state).permutation(len(rows.target_ids))
    return KernelPlan(
        kernel=rows.kernel,
        X=rows.X,
        jobs=jobs,
        bias=bias,
        effort=effort_of(estimator, begun, estimator.solver, shrinking=estimator.shrinking, order=order),
        usual_bound=usual_bound,
        memory=None if estimator.cache_size is None else int(estimator.cache_size * 2**20),
        keep=estimator.warm_start,
        kept=getattr(estimator, "_kept", None),
        **how,
    )


class Vectors(NamedTuple):
    """Rows with a coefficient that is not zero in any machine: where they are, what they are, and their coefficients.

    ``counts`` has the number of them in each class where they come one class after the other, else all in one.
    """

    support: Array
    vectors: Any
    counts: Array
    coef: Array


def support_of(rows: Rows, coef: Array, classes: int = 0) -> Vectors:
    """What is left of coefficients (a column for each different row) without zeros.

    With ``classes`` support vectors come one class after the other; else they come in the order of the rows.
    """
    given = coef[:, rows.equal.group] * rows.equal.share
    support = np.flatnonzero(given.any(axis=0))
    counts = np.array([len(support)])
    if classes:
        target_ids = rows.target_ids[rows.equal.group]
        support = support[np.argsort(target_ids[support], kind="stable")]
        counts = np.bincount(target_ids[support], minlength=classes)
    vectors = np.empty((0, 0)) if rows.kernel.of_positions else rows.X[rows.equal.group[support]]
    return Vectors(rows.used[support].astype(np.int32), vectors, counts.astype(np.int32), given[:, support])


def expansion(rows: Rows, coef: Array, machines: list[Machine], classes: int = 0) -> dict[str, Any]:
    """Attributes that make a machine of coefficients: support vectors and biases; see ``support_of``."""
    found = support_of(rows, coef, classes)
    weights = [machine.weights for machine in machines]
    return {
        "shape_fit_": rows.shape,
        "kernel_": rows.kernel,
        "support_": found.support,
        "support_vectors_": found.vectors,
        "n_support_": found.counts,
        "dual_coef_": sparse.csr_matrix(found.coef) if sparse.issparse(found.vectors) else found.coef,
        "intercept_": np.concatenate([machine.biases for machine in machines]),
        "_weights": None if weights[0] is None else (np.vstack(weights), found.coef.copy()),
    }


def kernel_report(fitted: Fitted) -> dict[str, Any]:
    """Attributes that tell of the solve of one problem."""
    (solution,) = fitted.solutions
    return {"n_iter_": solution.iterations} | _shared_report(fitted)


def classes_report(fitted: Fitted) -> dict[str, Any]:
    """Attributes that tell of the solves of a classifier's machines."""
    norms = [solution.certificate.norm for solution in fitted.solutions]
    margins = np.array([math.inf if norm == 0 else 1.0 / norm for norm in norms])
    return {
        "margin_": float(margins[0]) if len(norms) == 1 else margins,
        "n_iter_": np.array([solution.iterations for solution in fitted.solutions], np.int32),
    } | _shared_report(fitted)


def _shared_report(fitted: Fitted) -> dict[str, Any]:
    return {
        "fit_status_": int(any(solution.status is not Status.CONVERGED for solution in fitted.solutions)),
        "kernel_values_": fitted.kernel_values,
        "_float32": fitted.float32,
    }


def kernel_promise(solutions: list[Solution]) -> str:
    """What a model that is kept nevertheless can promise."""
    proof = combine([solution.certificate for solution in solutions])
    return f": relative gap {proof.relative_gap:.2g}, violation {proof.violation:.2g}"
