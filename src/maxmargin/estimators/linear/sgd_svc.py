"""Online classification by stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.core.rows import Array
from maxmargin.estimators.available import available
from maxmargin.estimators.geometry import Hyperplanes, margins_of
from maxmargin.estimators.linear.online import ONLINE_RULES, OnlineLearner
from maxmargin.estimators.linear.rules import is_loss
from maxmargin.estimators.losses import CLASS_LOSSES, class_loss
from maxmargin.estimators.plans.classes import read_classes
from maxmargin.estimators.probabilities import probabilities
from maxmargin.estimators.uncertain import is_logistic
from maxmargin.machines.online import Learnt, OnlinePlan, learn
from maxmargin.machines.scoring import linear_decisions
from maxmargin.multiclass import OneVsOne, OneVsRest, Reduction

_RULES = ONLINE_RULES | {"loss": is_loss(True, *CLASS_LOSSES)}

_ADVICE = "take {name}(loss='logistic'), or LinearSVC(probability=True)"


class SGDSVC(Hyperplanes, SparseCoefMixin, ClassifierMixin, OnlineLearner):
    """Linear classifier trained by stochastic gradient descent: for streams, and for a good model within one pass.

    It descends on mean_i l(y_i, w'x_i + b) + lam/2 ||w||^2 (the notes' form); more classes one versus the rest. For the
    exact optimum with a certificate use ``LinearSVC``.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic", "huber_hinge"} or loss object, default="hinge"
        One of these, an object of ``maxmargin.losses``, or your own with ``value(y, z)`` and ``slope(y, z)`` on arrays
        (``maxmargin.losses.CustomLoss``). Your functions are called for every batch: a larger ``batch_size`` is faster.
    lam : float, default=1e-4
        Weight of the norm.
    C : float, default=None
        Replaces lam by 1 / (C n), n the sum of the weights of the rows that ``fit`` learns from (those not held out),
        or of one call of ``partial_fit``.
    fit_intercept : bool, default=True
        Whether there is a (free) bias.
    batch_size : int, default=1
        Rows whose gradients are averaged in a step.
    schedule : "auto" or list of (steps, step length), default="auto"
        Seasons of constant step length, such as ``[(1000, 1e-3), (1000, 1e-4)]``; ``partial_fit`` takes the length that
        belongs to its steps so far. "auto" makes a season of each pass
        over the rows, with a first length found by trial and decaying lengths.
    max_iter : int, default=10
        Passes over the rows, the seasons of "auto".
    average : bool, default=True
        Take the average of the iterates over the second half of the last season instead of the last iterate.
    monitor : bool, default=False
        Hold rows out and record the accuracy on them after each season, in ``seasons_``.
    early_stopping : bool, default=False
        Stop when that accuracy has not grown by ``tol`` for ``n_iter_no_change`` seasons, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of each class that is held out.
    n_iter_no_change : int, default=3
        Patience of ``early_stopping``.
    tol : float, default=1e-3
        Least growth of the accuracy that counts.
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows' weights per class; ``partial_fit`` takes a dict or None.
    warm_start : bool, default=False
        ``fit`` goes on from the last weights.
    random_state : int, RandomState or None, default=None
        Order of the rows.
    n_jobs : int, default=None
        Threads for several classes; None is all cores. Results do not depend on it.
    verbose : int, default=0
        Above zero, print a line per season.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights (1 or n_classes rows), biases, labels.
    margin_ : float or ndarray of shape (n_classes,)
        1 / ||w||, one for each machine.
    reduction_ : Reduction
        How the machines' decisions become a class (``maxmargin.multiclass``).
    seasons_ : list of Season
        Number, steps so far, step length and held-out accuracy of every season.
    n_iter_ : int
        Number of seasons.
    t_ : float
        Steps so far.
    """

    classes_: Array

    def __init__(
        self,
        *,
        loss: Any = "hinge",
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
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
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
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.fit_intercept  # f = 0 at the origin, whatever the weights
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDSVC:
        """Learn from all rows, in seasons.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows.

        Returns
        -------
        SGDSVC
            The fitted estimator.
        """
        checks.check_parameters(self, _RULES)
        draft = checks.draft(self)
        X, y = checks.training_data(draft, X, y)
        weights = checks.sample_weights(sample_weight, X.shape[0])
        classes, labels, factors = read_classes(self, y, weights)
        weights = weights * factors[labels]
        X, labels, weights = self._with_weight(X, labels, weights)
        known = self.warm_start and np.array_equal(getattr(self, "classes_", ()), classes)
        start = self._start(_machines(classes), X.shape[1], warm=bool(known))
        learnt = learn(self._plan_of_fit(X, labels, weights, len(classes)), start)
        checks.commit(self, draft, self._fitted_classes(learnt, classes))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> SGDSVC:
        """Learn from further rows: one season over them, from where the last one ended.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, all among ``classes``.
        classes : array-like, default=None
            All labels there will be; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows.

        Returns
        -------
        SGDSVC
            The estimator.
        """
        checks.check_parameters(self, _RULES)
        if self.class_weight == "balanced":
            raise ValueError("SGDSVC.partial_fit cannot balance classes it has not seen: give class_weight as a dict.")
        first = not hasattr(self, "classes_")
        draft = checks.draft(self)
        X, y = checks.further_data(draft, X, y, reset=first)
        known = checks.stream_classes(self, y, classes)
        checks.at_least_two(known, type(self).__name__)
        labels = np.searchsorted(known, y)
        weights = checks.sample_weights(sample_weight, X.shape[0])
        weights = weights * checks.class_costs(self.class_weight, known, y, weights)[labels]
        learnt = self._start(_machines(known), X.shape[1], warm=not first)
        if weights.any():
            self._refuse_held_out_rows()
            X, labels, weights = self._with_weight(X, labels, weights)
            learnt = learn(self._plan(X, _targets(labels, len(known)), weights, stream=True), learnt)
        checks.commit(self, draft, self._fitted_classes(learnt, known))
        return self

    def _fitted_classes(self, learnt: Learnt, classes: Array) -> dict[str, Any]:
        fitted, n_classes = self._fitted(learnt), len(classes)
        margin = margins_of(fitted["coef_"], joint=False)
        return fitted | {"classes_": classes, "reduction_": _reduction(n_classes), "margin_": margin}

    def _plan_of_fit(self, X: Any, labels: Array, weights: Array, n_classes: int) -> OnlinePlan:
        """All rows, or those not held out and the accuracy on the others."""
        parts = self._split(X.shape[0], labels)
        if parts is None:
            return self._plan(X, _targets(labels, n_classes), weights)
        kept, out = parts
        rows, wanted, shares = X[out], labels[out], weights[out]

        def accuracy(coef: Array, biases: Array) -> float:
            winners = _reduction(n_classes).winners(linear_decisions(rows, coef, biases))
            return float(accuracy_score(wanted, winners, sample_weight=shares))

        return self._plan(X[kept], _targets(labels[kept], n_classes), weights[kept], accuracy)

    def _with_weight(self, X: Any, labels: Array, weights: Array) -> tuple[Any, Array, Array]:
        """The rows of weight above zero: a class may have weight zero."""
        used = np.flatnonzero(weights)
        if not len(used):
            raise ValueError(f"{type(self).__name__}: all weights are zero: there is no row left to learn from.")
        return (X, labels, weights) if len(used) == len(weights) else (X[used], labels[used], weights[used])

    def _loss(self) -> Any:
        return class_loss(self.loss)

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        return linear_decisions(checks.prediction_data(self, X), self.coef_, self.intercept_)

    def decision_function(self, X: Any) -> Array:
        """w'x + b: one value for two classes, positive for ``classes_[1]``; else one per class."""
        values = self._decisions(X)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes the largest value, ties to the lowest class index."""
        decisions = self._decisions(X)
        return self.classes_[self.reduction_.winners(decisions)]

    @available(is_logistic, _ADVICE)
    def predict_proba(self, X: Any) -> Array:
        """P(class | x) = 1 / (1 + exp(-f)) of the logistic loss; with more classes scaled to sum to one."""
        values = self._decisions(X)
        return probabilities(values, self.reduction_.winners(values))

    @available(is_logistic, _ADVICE)
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | x)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def _machines(classes: Array) -> int:
    """One for two classes, otherwise one for each class against the rest."""
    return 1 if len(classes) == 2 else len(classes)


def _targets(labels: Array, n_classes: int) -> list[Array]:
    """+1 for the class of a machine and -1 for the rest; ``labels`` are class indices."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return [np.where(labels == k, 1.0, -1.0) for k in positives]


def _reduction(n_classes: int) -> Reduction:
    return OneVsOne(2) if n_classes == 2 else OneVsRest(n_classes)
