"""The hard margin of a linear classifier: a machine with the linear kernel, which can prove that there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.core.rows import Array, as_dense
from maxmargin.estimators.linear.machine import biases_of
from maxmargin.estimators.plans.reductions import JOINT
from maxmargin.estimators.progress import Given, SklearnCallbacks
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.solvers.linear.choose import NAMED_L1

SHARED = (
    "multi_class", "code", "fit_intercept", "max_iter", "time_limit", "class_weight", "random_state", "n_jobs",
    "verbose", "callback", "interrupt",
)  # fmt: skip
VIOLATION = 0.25  # of tol: a relative gap is at most twice the violation of the margin


def fit_hard_margin(estimator: Any, draft: Any, given: Given, X: Any, y: Array, weights: Array) -> Any:
    """Fit a ``LinearSVC`` with C = infinity. Sets: all fitted attributes, at the end."""
    _refuse(estimator)
    callbacks = SklearnCallbacks(estimator, given, (), lambda machines: {})
    parameters = {name: getattr(estimator, name) for name in SHARED}
    from maxmargin.estimators.kernel.svc import SVC  # here: kernel machines load machine code of their own

    machine = SVC(kernel="linear", C=estimator.C, tol=VIOLATION * estimator.tol, **parameters)
    machine.fit(X, y, sample_weight=weights)
    attributes = {
        "classes_": machine.classes_,
        "class_weight_": machine.class_weight_,
        "reduction_": machine.reduction_,
        "coef_": np.array(as_dense(machine.coef_)),
        "intercept_": biases_of(estimator, machine.intercept_),
        "margin_": machine.margin_,
        "leave_one_out_bound_": machine.leave_one_out_bound_,
        "certificate_": machine.certificate_,
        "status_": machine.status_,
        "trace_": machine.trace_,
        "n_iter_": int(np.max(machine.n_iter_)),
        "n_passes_": machine.kernel_values_ / X.shape[0] ** 2,
        "solver_": "the hard margin, by its dual",
        "_fitted_as": estimator.multi_class,
    }
    callbacks.end(attributes)
    checks.commit(estimator, draft, attributes)
    return estimator


def _refuse(estimator: Any) -> None:
    """Errors for parameters that have no meaning without slack."""
    name, loss = type(estimator).__name__, estimator.loss
    if not (loss in ("hinge", "squared_hinge") or isinstance(loss, Hinge | SquaredHinge)):
        raise ValueError(f"{name}: C=infinity is the hard margin, of loss 'hinge' or 'squared_hinge'; got {loss!r}.")
    if estimator.penalty != "l2" or estimator.intercept_scaling != 1:
        raise ValueError(f"{name}: C=infinity takes penalty='l2' and intercept_scaling=1.")
    if NAMED_L1.get(estimator.solver) or estimator.multi_class in JOINT:
        raise ValueError(
            f"{name}: C=infinity takes solver='auto' and multi_class 'ovo', 'ovr' or 'codes'; got "
            f"{estimator.solver!r} and {estimator.multi_class!r}."
        )
    if estimator.probability not in (False, "deprecated"):
        raise ValueError(f"{name}: C=infinity has no probabilities; use a finite C.")
