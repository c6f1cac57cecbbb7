"""Online regression by stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.estimators.linear.online import ONLINE_RULES, OnlineLearner
from maxmargin.estimators.linear.rules import is_loss
from maxmargin.estimators.losses import NUMBER_LOSSES, number_loss
from maxmargin.machines.online import Learnt, OnlinePlan, learn

_RULES = ONLINE_RULES | {
    "loss": is_loss(False, *NUMBER_LOSSES),
    "epsilon": Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0),
}


class SGDSVR(RegressorMixin, OnlineLearner):
    """Linear regression trained by stochastic gradient descent with the losses of support vector regression.

    It descends on mean_i max(0, |y_i - w'x_i - b| - epsilon)^p + lam/2 ||w||^2, p = 1 or 2, or with Huber's loss. For
    the exact optimum with a certificate use ``LinearSVR``.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "huber"} or loss object, \
    default="epsilon_insensitive"
        p = 1; p = 2; or beyond the tube a parabola u^2 / 2 that becomes a line at u = 1. Or a loss object, as in
        ``SGDSVC``.
    epsilon : float, default=0.0
        Half width of the tube within which errors cost nothing.
    lam, C, fit_intercept, batch_size, schedule, max_iter, average, monitor, early_stopping, validation_fraction, \
    n_iter_no_change, tol, warm_start, random_state, n_jobs, verbose
        As in ``SGDSVC``; the held-out score is R^2.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_, seasons_, n_iter_, t_
        As in ``SGDSVC``.
    """

    def __init__(
        self,
        *,
        loss: Any = "epsilon_insensitive",
        epsilon: float = 0.0,
        lam: float = 1e-4,
        C: float | None = None,
        fit_intercept: bool = True,
        batch_size: int = 1,
        schedule: Any = "auto",
        max_iter: int = 10,
        average: bool = True,
        monitor: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.epsilon = epsilon
        self.lam = lam
        self.C = C
        self.fit_intercept = fit_intercept
        self.batch_size = batch_size
        self.schedule = schedule
        self.max_iter = max_iter
        self.average = average
        self.monitor = monitor
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDSVR:
        """Learn from all rows, in seasons (see ``SGDSVC.fit``)."""
        checks.check_parameters(self, _RULES)
        draft = checks.draft(self)
        X, y = checks.regression_data(draft, X, y)
        weights, X, y = checks.weighted(sample_weight, X, y)
        start = self._start(1, X.shape[1], bool(self.warm_start))
        checks.commit(self, draft, self._fitted(learn(self._plan_of_fit(X, y, weights), start)))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDSVR:
        """Learn from further rows: one season over them, from where the last one ended."""
        checks.check_parameters(self, _RULES)
        first = not hasattr(self, "coef_")
        draft = checks.draft(self)
        X, y = checks.regression_data(draft, X, y, reset=first)
        weights, X, y = checks.weighted(sample_weight, X, y)
        self._refuse_held_out_rows()
        start = self._start(1, X.shape[1], warm=not first)
        checks.commit(self, draft, self._fitted(learn(self._plan(X, [y], weights, stream=True), start)))
        return self

    def _plan_of_fit(self, X: Any, y: Array, weights: Array) -> OnlinePlan:
        """All rows, or those not held out and R^2 on the others."""
        parts = self._split(X.shape[0], None)
        if parts is None:
            return self._plan(X, [y], weights)
        kept, out = parts
        rows, wanted, shares = X[out], y[out], weights[out]

        def r2(coef: Array, biases: Array) -> float:
            return float(r2_score(wanted, np.asarray(rows @ coef.ravel()) + biases[0], sample_weight=shares))

        return self._plan(X[kept], [y[kept]], weights[kept], r2)

    def _fitted(self, learnt: Learnt) -> dict[str, Any]:
        fitted = super()._fitted(learnt)
        return fitted | {"coef_": fitted["coef_"].ravel()}

    def _loss(self) -> Any:
        return number_loss(self.loss, self.epsilon)

    def predict(self, X: Any) -> Array:
        """w'x + b."""
        check_is_fitted(self)
        X = checks.prediction_data(self, X)
        return np.asarray(X @ self.coef_) + self.intercept_[0]
