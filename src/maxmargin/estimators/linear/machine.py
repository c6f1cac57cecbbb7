"""What exact linear machines share: parameters, tags, and decision values of new points."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin

from maxmargin import checks
from maxmargin.checks import Documented
from maxmargin.core.rows import Array
from maxmargin.estimators.crossfit import FoldMachines, fold_decisions
from maxmargin.estimators.decides import DecidesByFold
from maxmargin.estimators.plans.warm import KeepsForNextFit
from maxmargin.machines.scoring import linear_decisions
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Certificate, Status


class LinearMachine(KeepsForNextFit, DecidesByFold, Documented, CallbackSupportMixin, BaseEstimator):
    """An estimator whose decisions are w'x + b."""

    C: float
    lam: float | None
    lam_form: str
    fit_intercept: Any
    intercept_scaling: float
    dual: Any
    solver: str
    tol: float
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    coef_: Any
    intercept_: Any
    certificate_: Certificate
    status_: Status
    trace_: Any
    solver_: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _warn_idle_scaling(self, bias: Bias) -> None:
        """A free bias is not the weight of a constant feature."""
        if self.intercept_scaling != 1 and bias is Bias.FREE:
            checks.warn_user(
                f"{type(self).__name__}: intercept_scaling={self.intercept_scaling:g} has no effect on a free bias; "
                "fit_intercept='regularized' is scikit-learn's bias, part of the norm and scaled by it."
            )

    def _weights(self) -> Any:
        """w, a row for each machine."""
        return self.coef_ if self.coef_.ndim == 2 else self.coef_.reshape(1, -1)

    def _decisions(self, X: Any) -> Array:
        checks.refuse_unfitted(self)
        return linear_decisions(checks.prediction_data(self, X), self._weights(), self.intercept_)

    def _fold_decisions(self, X: Any, folds: FoldMachines) -> Array:
        return fold_decisions(checks.prediction_data(self, X), folds)


def biases_of(estimator: Any, biases: Array) -> Any:
    """``intercept_``: 0.0 without a bias, as in scikit-learn."""
    return biases if Bias.of(estimator.fit_intercept) is not Bias.NONE else 0.0
