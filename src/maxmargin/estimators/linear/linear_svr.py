"""Linear support vector regression."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from maxmargin import checks
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.crossfit import linear_folds
from maxmargin.estimators.fitting import OF_WEIGHTS, fit
from maxmargin.estimators.linear.machine import LinearMachine, biases_of
from maxmargin.estimators.linear.rules import LINEAR_RULES, is_loss
from maxmargin.estimators.losses import NUMBER_LOSSES, number_loss
from maxmargin.estimators.plans.folds import given_folds, no_folds, own_folds
from maxmargin.estimators.plans.linear import cost_of, linear_plan, linear_starts
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.estimators.uncertain import INTERVAL_RULES, Intervals
from maxmargin.machines import Fitted, Job, Machine
from maxmargin.machines.linear import merged
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Progress

_RULES = {name: rule for name, rule in (LINEAR_RULES | INTERVAL_RULES).items() if name != "penalty"} | {
    "loss": is_loss(False, *NUMBER_LOSSES),
    "epsilon": checks.NOT_NEGATIVE,
}


class LinearSVR(Intervals, RegressorMixin, LinearMachine):
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
    intervals : bool, default=False
        Whether ``predict_interval`` is learned from machines without each of ``cv`` folds.
    cv : int, splitter or list of (train, test) rows, default=5
        The folds for ``intervals``. With a number, equal rows stay in one fold where there are few.
    C, lam, lam_form, fit_intercept, intercept_scaling, dual, solver, tol, max_iter, time_limit, warm_start, \
    random_state, n_jobs, verbose, callback, interrupt
        As in ``LinearSVC``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w.
    intercept_ : ndarray of shape (1,), or 0.0 without a bias
        The bias b.
    certificate_, status_, solver_, n_iter_, n_passes_, trace_
        As in ``LinearSVC``.
    cross_fit_ : CrossFit
        With ``intervals``: the machines without each fold, their certificates, and what they are off by.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100.0, epsilon=10.0).fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-4
    True
    """

    loss: Any
    epsilon: float
    penalty = "l2"  # the only one there is

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: Any = "epsilon_insensitive",
        lam: float | None = None,
        lam_form: str = "mean",
        fit_intercept: Any = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        solver: str = "auto",
        intervals: bool = False,
        cv: Any = 5,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        checks.keep(self, locals())

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
        self._warn_idle_scaling(Bias.of(self.fit_intercept))
        draft = checks.draft(self)
        rows, targets = checks.regression_data(draft, X, y)
        divided = self.intervals and not checks.integer(self.cv)
        folds = given_folds(self.cv, rows, targets, False) if divided else no_folds(len(targets))
        weights, rows, targets, of_rows = checks.weighted(sample_weight, rows, targets, folds.of_rows)
        if divided:
            folds = folds._replace(of_rows=of_rows)
        else:
            rows, targets, weights = merged(rows, targets, weights)
            folds = own_folds(self.cv, len(targets), None, self.random_state) if self.intervals else no_folds(0)
        costs, bias = cost_of(self, weights) * weights, Bias.of(self.fit_intercept)
        loss = number_loss(self.loss, self.epsilon)

        def state(kept: Any, design: Design) -> LinearProblem:
            return LinearProblem(design, targets[kept], costs[kept], loss, bias)

        (start,) = linear_starts(self, rows, [None], costs, (), bias)
        without = folds.without_rows(state, len(targets))
        job = Job(None, targets.shape, partial(state, slice(None)), start=start, folds=without)
        plan = linear_plan(self, rows, [job], bias, costs, begun)

        def model(machines: list[Machine]) -> Attributes:
            return {"coef_": machines[0].weights[0], "intercept_": biases_of(self, machines[0].biases)}

        def more(fitted: Fitted) -> Attributes:
            if not folds.number:
                return {}
            return self._residuals(fitted, targets, weights, folds, linear_folds(fitted, folds.number))

        return fit(self, draft, Given(X, y, sample_weight), plan, model, OF_WEIGHTS, more)

    def predict(self, X: Any) -> Array:
        """w'x + b."""
        return self._decisions(X).ravel()
