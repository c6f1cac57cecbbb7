"""How sure a prediction is: probabilities and sets of classes, intervals of numbers.

All of it is learned from folds: machines trained without some rows say what they make of them. Folds are fitted where
``probability`` (classes) or ``intervals`` (numbers) ask for them, on the same kernel matrix as the machine itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.calibration import (
    Isotonic,
    Sigmoid,
    fit_isotonic,
    fit_sigmoid,
    interval_bounds,
    set_members,
)
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.estimators.available import available
from maxmargin.estimators.crossfit import CrossFit, FoldMachines, cross_fit
from maxmargin.estimators.decides import DecidesByFold
from maxmargin.estimators.plans.folds import CV_RULE, Folds, cross_decisions
from maxmargin.losses import Logistic
from maxmargin.machines import Fitted
from maxmargin.multiclass import Reduction

METHODS: dict[Any, Callable[[Array, Array, Array], Sigmoid | Isotonic]] = {
    True: fit_sigmoid,
    "sigmoid": fit_sigmoid,
    "isotonic": fit_isotonic,
}
PROBABILITY_RULES: dict[str, Rule] = {
    "probability": Rule(
        "True, False, 'sigmoid' or 'isotonic' ('deprecated' is False)",
        lambda value: checks.boolean(value) or value in ("sigmoid", "isotonic", "deprecated"),
        ("sigmoid", "isotonic"),
    ),
    "cv": CV_RULE,
}
INTERVAL_RULES: dict[str, Rule] = {"intervals": Rule("True or False", checks.boolean), "cv": CV_RULE}


def wants_probabilities(estimator: Any) -> bool:
    """Whether ``probability`` asks for them; scikit-learn's default value "deprecated" does not."""
    return estimator.probability not in (False, "deprecated")


class ClassFolds(NamedTuple):
    """Of the rows as a plan has them: class indices, weights and folds; and the weights of the classes."""

    labels: Array
    weights: Array
    folds: Folds
    factors: Array


def calibrated(
    estimator: Any, fitted: Fitted, reduction: Reduction, rows: ClassFolds
) -> tuple[list[Sigmoid | Isotonic], Array]:
    """What turns each machine's decisions into probabilities, and by how much each row's own class does not lead.

    Weights of classes count as those of rows do: or predictions, which go by the probabilities, would not hear of them.
    Scores of a joint machine mean something beside each other only, so what is calibrated there is the lead of each
    class.
    """
    labels, folds, tasks = rows.labels, rows.folds, reduction.tasks(rows.labels)
    counted = rows.factors[labels] * rows.weights
    joint = len(fitted.machines) < len(tasks)  # one job has the machines of all classes
    decisions = cross_decisions(fitted, folds, [None] if joint else [task.rows for task in tasks])
    misfits = -reduction.leads(decisions)[np.arange(len(labels)), labels]
    decisions = reduction.leads(decisions) if joint else decisions
    fit = METHODS[estimator.probability if isinstance(estimator.probability, str) else True]
    found = []
    for task, column in zip(tasks, decisions.T, strict=True):
        scores, shares = task.of(column), task.of(counted)
        known = ~np.isnan(scores) & (shares > 0)
        if known.any():
            found.append(fit(scores[known], task.signs[known] > 0, shares[known]))
        else:  # stopped before anything could be learned, or no row counts
            found.append(Sigmoid(0.0, 0.0))
    return found, misfits


def _coverage(coverage: Any) -> float:
    if not (checks.number(coverage) and 0 < coverage < 1):
        raise ValueError(f"coverage must be a number above 0 and below 1; got {coverage!r}.")
    return float(coverage)


def is_logistic(model: Any) -> bool:
    """Whether decisions are log-odds of the two sides as they are."""
    loss = getattr(model, "loss", None)
    return isinstance(loss, Logistic) or (isinstance(loss, str) and loss == "logistic")


def has_probabilities(model: Any) -> bool:
    """Whether ``predict_proba`` exists."""
    return model._has_probabilities()


def warn_of_light_weights(weights: Array) -> None:
    """Weights are numbers of rows: where they add up to less than there are, promises are made for so few."""
    if weights.sum() < len(weights):
        checks.warn_user(
            f"Weights count as repetitions, and these add up to {weights.sum():.3g} of {len(weights)} rows: sets, "
            "intervals and probabilities are as unsure as so few rows are. Scale them to a mean of one or more."
        )


def _has_sets(model: Any) -> bool:
    return wants_probabilities(model) or hasattr(model, "cross_fit_")


LOG_ODDS = Sigmoid(-1.0, 0.0)  # P(+1 | f) = 1 / (1 + exp(-f))
ADVICE = "fit {name}(probability=True), which cross-fits the machine and calibrates its decisions"


class Probable(DecidesByFold):
    """Probabilities and sets of classes, for classifiers with ``probability`` and ``cv``."""

    probability: Any
    cv: Any
    classes_: Array
    reduction_: Reduction
    calibration_: list[Sigmoid | Isotonic]
    cross_fit_: CrossFit

    def _calibration(
        self, fitted: Fitted, reduction: Reduction, rows: ClassFolds, machines: FoldMachines
    ) -> dict[str, Any]:
        """Attributes of a fit with folds."""
        warn_of_light_weights(rows.weights)
        found, misfits = calibrated(self, fitted, reduction, rows)
        return {"calibration_": found, "cross_fit_": cross_fit(fitted, machines, rows.folds, misfits, rows.weights)}

    def _has_probabilities(self) -> bool:
        return wants_probabilities(self) or hasattr(self, "calibration_") or is_logistic(self)

    def _check_calibrated(self, by: str = "calibration_") -> None:
        check_is_fitted(self)
        if not hasattr(self, by):
            name = type(self).__name__
            raise AttributeError(f"{name} was fitted without probabilities: {ADVICE.format(name=name)}.")

    @available(has_probabilities, ADVICE)
    def predict_proba(self, X: Any) -> Array:
        """P(class | x), a column for each of ``classes_``: calibrated decisions, of pairs of classes coupled.

        With ``class_weight`` those of rows that occur as often as their weights say.
        """
        self._check_calibrated()
        decisions = self._decisions(X)
        if self._is_joint():
            decisions = self.reduction_.leads(decisions)
        shares = np.column_stack([rule(f) for rule, f in zip(self.calibration_, decisions.T, strict=True)])
        return self.reduction_.probabilities(shares)

    @available(has_probabilities, ADVICE)
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | x)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available(_has_sets, ADVICE)
    def predict_set(self, X: Any, coverage: float = 0.9) -> Array:
        """Sets of classes that contain the true one in a share ``coverage`` of the cases.

        By cross-conformal prediction: a class stays in the set unless it fits x worse than all but a share
        1 - ``coverage`` of the training rows fit their own class, each judged by a machine that has not seen it. The
        share is promised for rows like those of the fit, over all classes together, and for any machine at least
        2 ``coverage`` - 1; how good the machine is decides how small the sets are. Rows that look like no class have
        the empty set.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            The share, between 0 and 1.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Whether each of ``classes_`` is in the set.
        """
        self._check_calibrated(by="cross_fit_")
        coverage = _coverage(coverage)
        each = self._fold_decisions(X, self.cross_fit_.machines)
        misfits = [-self.reduction_.leads(decisions) for decisions in each]
        return set_members(self.cross_fit_.misfits, misfits, coverage)


class Intervals(DecidesByFold):
    """Intervals of numbers, for regressors with ``intervals`` and ``cv``."""

    intervals: bool
    cv: Any
    cross_fit_: CrossFit

    def _residuals(
        self, fitted: Fitted, targets: Array, weights: Array, folds: Folds, machines: FoldMachines
    ) -> dict[str, Any]:
        """Attributes of a fit with folds."""
        warn_of_light_weights(weights)
        misfits = np.abs(targets - cross_decisions(fitted, folds, [None])[:, 0])
        return {"cross_fit_": cross_fit(fitted, machines, folds, misfits, weights)}

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Intervals that contain the target in a share ``coverage`` of the cases.

        By cross-conformal prediction (CV+): predictions of machines trained without a fold, and beyond them what rows
        of that fold were off by. The share is promised for rows like those of the fit; for any machine it is at least
        2 ``coverage`` - 1.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            The share, between 0 and 1; an interval is infinite where there are too few rows for it.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        check_is_fitted(self)
        if not hasattr(self, "cross_fit_"):
            name = type(self).__name__
            raise AttributeError(
                f"{name} was fitted without intervals: fit {name}(intervals=True), which cross-fits the machine."
            )
        coverage = _coverage(coverage)
        each = self._fold_decisions(X, self.cross_fit_.machines)[:, :, 0]
        return np.column_stack(interval_bounds(self.cross_fit_.misfits, each, coverage))
