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
from maxmargin.estimators.fitting import OF_WEIGHTS, fit
from maxmargin.estimators.linear.rules import LINEAR_RULES, NUMBER_LOSSES, is_loss, number_loss
from maxmargin.estimators.plans.linear import cost_of, linear_plan, linear_starts
from maxmargin.estimators.plans.warm import KeepsForNextFit
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.machines import Job, Machine
from maxmargin.machines.linear import few_merged
from maxmargin.machines.scoring import linear_decisions
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Certificate, Progress, Status

_RULES = {name: rule for name, rule in LINEAR_RULES.items() if name != "penalty"} | {
    "loss": is_loss(False, *NUMBER_LOSSES),
    "epsilon": Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0),
}


class LinearSVR(KeepsForNextFit, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    """Linear support vector regression, solved to a certified relative duality gap.

    It minimises 1/2 ||w||^2 + sum_i C_i max(0, |y_i - w'x_i - b| - epsilon)^p, p = 1 or 2, or with Huber's loss.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "huber"} or loss object, \
    default="epsilon_insensitive"
        p = 1; p = 2; or beyond the tube a parabola u^2 / 2 that becomes a line at u = 1. An object of
        ``maxmargin.losses``, such as ``Huber(delta, epsilon)``, or your own (see ``maxmargin.losses.CustomLoss``).
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
    penalty = "l2"  # the only one there is

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
        draft = checks.draft(self)
        rows, targets = checks.regression_data(draft, X, y)
        weights, rows, targets = checks.weighted(sample_weight, rows, targets)
        rows, targets, weights = few_merged(rows, targets, weights)
        costs, bias = cost_of(self, weights) * weights, Bias.of(self.fit_intercept)
        loss = number_loss(self.loss, self.epsilon)

        def state(design: Design) -> LinearProblem:
            return LinearProblem(design, targets, costs, loss, bias)

        (start,) = linear_starts(self, rows, [None], costs, (), bias)
        plan = linear_plan(self, rows, [Job(None, targets.shape, state, start=start)], bias, costs, begun)

        def model(machines: list[Machine]) -> Attributes:
            return {"coef_": machines[0].weights[0], "intercept_": machines[0].biases}

        return fit(self, draft, Given(X, y, sample_weight), plan, model, OF_WEIGHTS)

    def predict(self, X: Any) -> Array:
        """w'x + b."""
        check_is_fitted(self)
        X = checks.prediction_data(self, X, objects=False)
        return linear_decisions(X, np.atleast_2d(self.coef_), self.intercept_).ravel()
