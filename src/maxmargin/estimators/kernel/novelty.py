"""What machines that learn from one class share: a region that leaves at most a share nu of the rows outside."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.callback import with_callbacks

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import Lesson, OneProblem, fit_one_problem
from maxmargin.estimators.kernel.machine import KERNEL_RULES, KernelMachine
from maxmargin.estimators.plans.folds import no_folds
from maxmargin.estimators.plans.kernel import Rows, read_rows
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.gram.source import FLOAT32_SHARE
from maxmargin.kernels.choice import taken_by
from maxmargin.machines import Fitted

NOVELTY_RULES: dict[str, Rule] = {
    name: rule for name, rule in (KERNEL_RULES | {"nu": checks.SHARE}).items() if name != "fit_intercept"
}
ROUNDING = 1e-9  # of a score in float64, rather too high


class NoveltyMachine(OutlierMixin, KernelMachine):
    """Learns where the rows are: +1 inside, -1 outside. A subclass has parameters, and states its problem."""

    nu: float
    offset_: Any

    @abstractmethod
    def _problem(self, rows: Rows) -> OneProblem:
        """The problem of the different rows."""

    @abstractmethod
    def _boundary(self, fitted: Fitted, rows: Rows) -> Attributes:
        """Attributes that say where the region ends, ``offset_`` among them."""

    def _slack(self, fitted: Fitted) -> float:
        """How much scores may be off when they are worked out again: rows on the boundary must stay inside.

        A share of them, which is at most what float32 kernel values are trusted with.
        """
        return FLOAT32_SHARE * self.tol if fitted.float32 else ROUNDING

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; the (n, n) matrix of kernel values for "precomputed"; any objects for a kernel function.
        y : Ignored
            There are no targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows: a weight of 2 is the same as having the row twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        begun = limits.now()
        checks.check_parameters(self, NOVELTY_RULES)
        draft = checks.draft(self)
        items = checks.unlabelled_training_data(draft, X, taken_by(self.kernel))
        weights = checks.sample_weights(sample_weight, items.shape[0])
        rows = read_rows(self, items, weights, np.zeros(items.shape[0], np.int64))
        lesson = Lesson(Given(X, y, sample_weight), rows, no_folds(len(rows.target_ids)), begun)
        return fit_one_problem(self, draft, lesson, self._problem(rows), lambda fitted: self._boundary(fitted, rows))

    @abstractmethod
    def score_samples(self, X: Any) -> Array:
        """How much points look like the rows of the fit: inside where it is at least ``offset_``."""

    def decision_function(self, X: Any) -> Array:
        """``score_samples`` minus ``offset_``: positive inside, negative outside."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """+1 inside the region (where the decision is >= 0), -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
