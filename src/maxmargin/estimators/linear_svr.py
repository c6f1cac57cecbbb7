"""Linear support vector regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.rules import LINEAR_RULES, is_loss
from maxmargin.estimators.warm import KeepsForNextFit
from maxmargin.losses import EpsilonInsensitive, SquaredEpsilonInsensitive
from maxmargin.machines.linear import Tasks, cost_of, few_merged, fit_machines
from maxmargin.multiclass import Task
from maxmargin.problems.solution import Certificate, Progress, Status

_LOSSES: dict[str, Callable[[float], Any]] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}
_RULES = {name: rule for name, rule in LINEAR_RULES.items() if name != "penalty"} | {
    "loss": is_loss(False, *_LOSSES),
    "epsilon": Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0),
}


class LinearSVR(KeepsForNextFit, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    """Linear support vector regression, solved to a certified relative duality gap.

    It minimises 1/2 ||w||^2 + sum_i C_i max(0, |y_i - w'x_i - b| - epsilon)^p, p = 1 or 2.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"} or loss object, default="epsilon_insensitive"
        p = 1 or p = 2, or your own loss (see ``maxmargin.losses.CustomLoss``).
    epsilon : float, default=0.0
        Half width of the tube within which errors cost nothing; a loss object has its own.
    C, lam, lam_form, fit_intercept, intercept_scaling, solver, tol, max_iter, time_limit, warm_start, random_state, \
    n_jobs, verbose, callback, interrupt
        As in ``LinearSVC``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : ndarray of shape (1,)
        The bias b.
    certificate_, status_, solver_, n_iter_, n_passes_, trace_
        As in ``LinearSVC``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100.0, epsilon=10.0).fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-4
    True
    """

    coef_: Array
    intercept_: Array
    certificate_: Certificate
    status_: Status
    trace_: Any
    penalty = "l2"

    def __init__(
        self,
        *,
        loss: Any = "epsilon_insensitive",
        epsilon: float = 0.0,
        C: float = 1.0,
        lam: float | None = None,
        lam_form: str = "mean",
        fit_intercept: Any = True,
        intercept_scaling: float = 1.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        self.loss = loss
        self.epsilon = epsilon
        self.C = C
        self.lam = lam
        self.lam_form = lam_form
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.interrupt = interrupt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @checks.all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; float32 and float64 are read where they are, without a copy.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 that multiply C: a weight of 2 is the same as having the row twice.

        Returns
        -------
        LinearSVR
            The fitted estimator.
        """
        begun = limits.now()
        checks.check_parameters(self, _RULES)
        rows, y = checks.regression_data(self, X, y)
        weights = checks.sample_weights(sample_weight, rows.shape[0])
        if not weights.all():
            used = np.flatnonzero(weights)
            rows, y, weights = rows[used], y[used], weights[used]
        rows, targets, weights = few_merged(rows, y, weights)
        loss = _LOSSES[self.loss](float(self.epsilon)) if isinstance(self.loss, str) else self.loss
        tasks = Tasks(rows, [Task(None, lambda: targets, "targets")], cost_of(self, weights) * weights, loss)
        fit_machines(self, X, y, sample_weight, tasks, begun)
        self.coef_ = self.coef_[0]
        return self

    def predict(self, X: Any) -> Array:
        """w'x + b."""
        check_is_fitted(self)
        X = checks.prediction_data(self, X, objects=False)
        return np.asarray(X @ np.ravel(self.coef_)) + self.intercept_[0]
