"""What classifiers with kernels share: from labels to machines of two sides, and from their decisions to a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.crossfit import kernel_folds
from maxmargin.estimators.fitting import OF_KERNELS, Report, fit
from maxmargin.estimators.geometry import Hyperplanes
from maxmargin.estimators.kernel.machine import KernelMachine
from maxmargin.estimators.plans.classes import Classes, ClassTasks, in_pairs, read_classes, share_of
from maxmargin.estimators.plans.folds import Folds
from maxmargin.estimators.plans.kernel import Rows, expansion, folds_of, kernel_plan, read_rows
from maxmargin.estimators.plans.reductions import bias_of, reduction_of
from maxmargin.estimators.plans.warm import last_class_coefficients
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.estimators.uncertain import PROBABILITY_RULES, ClassFolds, Probable, wants_probabilities
from maxmargin.kernels.choice import taken_by
from maxmargin.machines import Fitted, Job, Machine
from maxmargin.multiclass import Reduction
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Solution
from maxmargin.solvers.small.pairs import Sides

CLASSIFIER_RULES: dict[str, Rule] = PROBABILITY_RULES | {
    "decision_function_shape": checks.one_of("ovr", "ovo"),
    "break_ties": Rule("True or False", checks.boolean),
    "class_weight": checks.CLASS_WEIGHT,
}


class KernelClassifier(Hyperplanes, Probable, ClassifierMixin, KernelMachine):
    """A classifier with a kernel: a subclass has parameters, rules for them, and states the problem of a machine."""

    fit_intercept: Any
    multi_class: str
    class_weight: Any
    decision_function_shape: str
    break_ties: bool
    classes_: Array
    class_weight_: Array
    reduction_: Reduction
    leave_one_out_bound_: float
    _report: ClassVar[Report] = OF_KERNELS
    _grouped: ClassVar[bool] = False  # whether the rows of a class must come one after the other, for two classes too

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a bias f vanishes at the origin (or far from all rows): no weights can make one class win everywhere.
        # Of stationary kernels it vanishes nowhere near the rows.
        tags.classifier_tags.poor_score = Bias.of(self.fit_intercept) is Bias.NONE and self.kernel not in (
            "rbf",
            "laplacian",
        )
        return tags

    # --- fitting -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _check(self) -> None:
        """Errors for parameters that are not what they must be, or do not go together."""

    @abstractmethod
    def _costs(self, rows: Rows, classes: Classes) -> Array:
        """Of the different rows: what their slack costs, or how much they count."""

    @abstractmethod
    def _jobs(self, rows: Rows, tasks: ClassTasks, costs: Array, start: Array | None, folds: Folds) -> Sequence[Job]:
        """A job for each machine."""

    def _sides(self, costs: Array) -> Sides | None:
        """Pairs of classes as bundles take them; None where they cannot."""
        return None

    @abstractmethod
    def _usual_bound(self, costs: Array) -> float:
        """The usual bound of a multiplier."""

    def _more(self, solutions: list[Solution]) -> Attributes:
        """Attributes beside those of every classifier."""
        return {}

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; the (n, n) matrix of kernel values for "precomputed"; any objects for a kernel function.
        y : array-like of shape (n_samples,)
            Labels of any kind.
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
        items, labels = checks.training_data(draft, X, y, taken_by(self.kernel))
        weights = checks.sample_weights(sample_weight, items.shape[0])
        classes = read_classes(self, labels, weights)
        k, wanted = len(classes.names), wants_probabilities(self)
        merge = not wanted or checks.integer(self.cv)
        rows = read_rows(self, items, weights, classes.of_rows, grouped=self._grouped or k > 2, merge=merge)
        folds = folds_of(self, wanted, rows, items, labels, classes=True)
        tasks = ClassTasks(reduction_of(self, k), rows.target_ids, classes.names)
        costs = self._costs(rows, classes)
        start = rows.merged(last_class_coefficients(self, rows.shape, classes.names, tasks.reduction))
        jobs = self._jobs(rows, tasks, costs, start, folds)
        sides = self._sides(costs) if tasks.segments and start is None and not folds.number else None
        how = {"segments": tasks.segments, "sides": sides}
        plan = kernel_plan(self, rows, jobs, bias_of(self), self._usual_bound(costs), begun, **how)

        def model(machines: list[Machine]) -> Attributes:
            coef = tasks.coefficients(machines)
            return {
                "classes_": classes.names,
                "class_weight_": classes.factors,
                "reduction_": tasks.reduction,
                "leave_one_out_bound_": share_of(rows.weights, np.asarray(coef.any(axis=0))),
                "_fitted_as": self.multi_class,
            } | expansion(rows, coef, machines, k)

        def more(fitted: Fitted) -> Attributes:
            found = self._more(fitted.solutions)
            if not folds.number:
                return found
            pairs = k if in_pairs(tasks.reduction) else 0
            machines = kernel_folds(fitted, folds.number, rows, tasks.coefficients, pairs)
            divided = ClassFolds(rows.target_ids, rows.weights, folds, classes.factors)
            return found | self._calibration(fitted, tasks.reduction, divided, machines)

        return fit(self, draft, Given(X, y, sample_weight), plan, model, self._report, more)

    # --- using the machine -------------------------------------------------------------------------------------------

    def _groups(self) -> Array | None:
        return self.n_support_ if in_pairs(self.reduction_) else None

    def _weights_of(self, coef: Array) -> Array:
        if not in_pairs(self.reduction_):
            return super()._weights_of(coef)
        return ovo.pair_weights(coef, self.support_vectors_, np.cumsum([0, *self.n_support_]))

    def decision_function(self, X: Any) -> Array:
        """Decision values: w'phi(x) + b for two classes, positive for ``classes_[1]``.

        For more classes, one value per class; with ``decision_function_shape="ovo"`` one per pair of classes, in the
        order (0, 1), (0, 2), ..., positive for the first of the pair.
        """
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return decisions.ravel()
        return decisions if self.decision_function_shape == "ovo" else self.reduction_.scores(decisions)

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes most votes, the largest score or the nearest word.

        Ties go to the lowest class index; with codes, and with ``break_ties`` among votes, first to the larger scores.
        A machine with probabilities predicts the most probable class, the largest entry of ``predict_proba``.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if hasattr(self, "calibration_"):
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        decisions = self._decisions(X)
        if in_pairs(self.reduction_) and not self.break_ties:
            return self.classes_[np.argmax(ovo.votes(decisions, len(self.classes_)), axis=1)]
        return self.classes_[self.reduction_.winners(decisions)]

    @property
    def probA_(self) -> Array:  # noqa: N802
        """A of Platt's sigmoid 1 / (1 + exp(A f + B)), one for each machine; see ``probability``."""
        return np.array([rule.A for rule in self._sigmoids()])

    @property
    def probB_(self) -> Array:  # noqa: N802
        """B of Platt's sigmoid, one for each machine; of two classes with scikit-learn's sign, that of the first."""
        B = np.array([rule.B for rule in self._sigmoids()])
        return -B if len(self.classes_) == 2 else B

    def _sigmoids(self) -> list[Any]:
        self._check_calibrated()
        if not all(hasattr(rule, "A") for rule in self.calibration_):
            raise AttributeError("probA_ and probB_ exist for probability='sigmoid' only.")
        return self.calibration_
