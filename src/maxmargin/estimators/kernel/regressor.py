"""What regressors with kernels share: one problem on all rows, and intervals from its folds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.callback import with_callbacks

from maxmargin import checks
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.crossfit import kernel_folds
from maxmargin.estimators.fitting import Lesson, OneProblem, fit_one_problem
from maxmargin.estimators.kernel.machine import KernelMachine
from maxmargin.estimators.plans.kernel import Rows, folds_of, read_rows
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.estimators.uncertain import Intervals
from maxmargin.kernels.choice import taken_by
from maxmargin.machines import Fitted
from maxmargin.problems.solution import Solution


class KernelRegressor(Intervals, RegressorMixin, KernelMachine):
    """A regressor with a kernel: a subclass has parameters, rules for them, and states its problem."""

    @abstractmethod
    def _check(self) -> None:
        """Errors for parameters that are not what they must be."""

    @abstractmethod
    def _problem(self, rows: Rows, targets: Array) -> OneProblem:
        """The problem of the different rows with these targets."""

    def _more(self, solution: Solution) -> Attributes:
        """Attributes beside those of every regressor."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.kernel == "sigmoid"  # no inner product: many functions are beyond it
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; the (n, n) matrix of kernel values for "precomputed"; any objects for a kernel function.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows: a weight of 2 is the same as having the row twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        begun = limits.now()
        self._check()
        draft = checks.draft(self)
        items, targets = checks.regression_data(draft, X, y, taken_by(self.kernel))
        weights = checks.sample_weights(sample_weight, items.shape[0])
        merge = not self.intervals or checks.integer(self.cv)
        rows = read_rows(self, items, weights, np.unique(targets, return_inverse=True)[1], merge=merge)
        folds = folds_of(self, self.intervals, rows, items, targets, classes=False)
        numbers = rows.of(targets)

        def more(fitted: Fitted) -> Attributes:
            found = self._more(fitted.solutions[0])
            if not folds.number:
                return found
            machines = kernel_folds(fitted, folds.number, rows, lambda machines: machines[0].coef)
            return found | self._residuals(fitted, numbers, rows.weights, folds, machines)

        lesson = Lesson(Given(X, y, sample_weight), rows, folds, begun)
        return fit_one_problem(self, draft, lesson, self._problem(rows, numbers), more)

    def predict(self, X: Any) -> Array:
        """w'phi(x) + b."""
        return self._decisions(X).ravel()
