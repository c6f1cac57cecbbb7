"""What naive Bayes models share: statistics of the rows, priors, and posteriors in log space.

Given its class l, a row has independent features, p(x|l) = prod_j p(x_j|l) (003, lines 29-33). Each p(x|l) is of the
exponential family (003, line 121),

    p(x|l) = h(x) exp(sum_i eta_i(l) T_i(x) - A(l)),

with, for rows of p features,

    model                  h(x)                          T(x)      eta(l)            A(l)
    Gaussian, one Sigma    prod_j N(x_j | 0, s_j^2)      x         mu_l / s^2        sum_j mu_lj^2 / 2 s_j^2
    Gaussian, Sigma_l      (2 pi)^(-p/2)                 x, x^2    mu_l / s_l^2,     sum_j mu_lj^2 / 2 s_lj^2 + ln s_lj
                                                                   -1 / (2 s_l^2)
    categorical            1                             x_j^k     ln eta_ljk        0
    multinomial            (sum_j x_j)! / prod_j x_j!    x         ln eta_lj         0

where x_j^k is 1 if x_j = k and 0 otherwise. h(x) cancels in the posterior, which is linear in T (003, lines 69-75):

    p(l|x) = exp(T(x)'theta_l + beta_l) / sum_m exp(T(x)'theta_m + beta_m),  theta_l = eta(l),  beta_l = ln pi_l - A(l).

Only these exponents are computed, never the products of probabilities, which underflow with a few hundred features.

The maximum of the likelihood needs nothing of the rows but their sums per class (of T), so a model is its sums: more
rows add to them, and ``partial_fit`` in pieces is one ``fit``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Documented, Rule
from maxmargin.core.rows import Array


class Statistics(Protocol):
    """What a model needs to know of its rows."""

    @property
    def weights(self) -> Array:
        """Sum of the rows' weights, per class."""
        ...

    def merged(self, other: Any) -> Any:
        """Those of both sets of rows."""
        ...


class NaiveBayes(Documented, ClassifierMixin, BaseEstimator):
    """A model says how its rows are checked and counted, what parameters and prior follow, and how they score.

    ``fit`` and ``partial_fit`` ask a draft, which knows the features of the rows at hand: messages name them.
    """

    classes_: Array
    class_count_: Array
    class_prior_: Array
    class_log_prior_: Array
    _statistics: Statistics
    _rules: ClassVar[dict[str, Rule]]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the model from all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: a weight of 2 is the same as having the row twice, a weight of 0 as not having it.

        Returns
        -------
        Self
            The fitted estimator.
        """
        checks.check_parameters(self, self._rules)
        draft = checks.draft(self)
        X, y = draft._labelled(X, y, reset=True)
        weights, X, y = checks.weighted(sample_weight, X, y)
        classes = np.unique(y)
        statistics = draft._statistics_of(X, y, weights, classes, None)
        checks.commit(self, draft, draft._model(classes, statistics))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same model as one ``fit`` on all rows so far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, all among ``classes``.
        classes : array-like, default=None
            All labels there will be; needed in the first call. A class has probability zero until it has a row; what
            its prior would be is shared among the others, in proportion to theirs.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. If all are zero there is nothing to learn, which is an error in the first call
            only.

        Returns
        -------
        Self
            The estimator.
        """
        checks.check_parameters(self, self._rules)
        first = not hasattr(self, "classes_")
        draft = checks.draft(self)
        X, y = draft._labelled(X, y, reset=first)
        known = checks.stream_classes(self, y, classes)
        weights, X, y = checks.weighted(sample_weight, X, y, all_zero=not first)
        statistics = draft._statistics_of(X, y, weights, known, None if first else self._statistics)
        checks.commit(self, draft, draft._model(known, statistics))
        return self

    def _statistics_of(self, X: Any, y: Array, weights: Array, classes: Array, before: Statistics | None) -> Any:
        """Those of the rows and of what came before."""
        if not len(weights):
            return before
        with np.errstate(over="ignore", invalid="ignore"):  # sums that overflow are reported by ``_model``
            found = self._count(X, np.searchsorted(classes, y), weights, len(classes))
            return found if before is None else before.merged(found)

    def _model(self, classes: Array, statistics: Any) -> dict[str, Any]:
        """The fitted attributes: classes, prior, the parameters of p(x|l), and the sums that they follow from."""
        checks.finite_total(self, statistics.weights)
        prior = _among_seen(self._prior(statistics.weights), statistics.weights)
        return {
            "classes_": classes,
            "class_count_": statistics.weights,
            "class_prior_": prior,
            "class_log_prior_": logarithms(prior),
            "_statistics": statistics,
        } | self._estimate(statistics, classes)

    def predict(self, X: Any) -> Array:
        """The most probable class; ties to the lowest class index."""
        best = np.argmax(self._posterior_scores(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Array:
        """p(l|x), one column per class.

        A row that has probability zero in every class tells nothing about its class: it gets the prior, and a warning.
        """
        return softmax(self._posterior_scores(X), axis=1)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of ``predict_proba``, exact where the probabilities underflow."""
        return log_softmax(self._posterior_scores(X), axis=1)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Log of p(x, l) = p(l) p(x|l), one column per class; -inf is impossible."""
        rows = self._new_rows(X)
        return self._scores(rows) + self._log_carrier(rows)

    def _posterior_scores(self, X: Any) -> Array:
        scores = self._scores(self._new_rows(X))
        if scores.min() > -np.inf:
            return scores
        lost = np.flatnonzero(np.isneginf(scores.max(axis=1)))
        if len(lost):
            checks.warn_user(
                f"{type(self).__name__}: {len(lost)} of {len(scores)} rows (the first is row {lost[0]}) have "
                "probability zero in every class; their classes are predicted by the prior alone."
            )
            scores[lost] = self.class_log_prior_
        return scores

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._unlabelled(X)

    def _labelled(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        """Rows and labels to learn from, checked."""
        raise NotImplementedError

    def _unlabelled(self, X: Any) -> Any:
        """Rows to predict, checked."""
        raise NotImplementedError

    def _count(self, X: Any, labels: Array, weights: Array, n_classes: int) -> Any:
        """The statistics of rows with class indices ``labels``."""
        raise NotImplementedError

    def _estimate(self, statistics: Any, classes: Array) -> dict[str, Any]:
        """The parameters of p(x|l), by the names of the attributes that they become."""
        raise NotImplementedError

    def _prior(self, counts: Array) -> Array:
        """pi_l."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Array:
        """T(x)'theta_l + beta_l = ln p(x, l) - ln h(x), one column per class."""
        raise NotImplementedError

    def _log_carrier(self, X: Any) -> Array | float:
        """Log of h(x): a row each, or a number for all."""
        return 0.0


DISCRETE_RULES: dict[str, Rule] = {
    "alpha": Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0),
    "fit_prior": Rule("True or False", checks.boolean),
}


class DiscreteNaiveBayes(NaiveBayes):
    """Models whose parameters are shares of counts."""

    alpha: Any
    fit_prior: bool
    class_prior: Any

    def _prior(self, counts: Array) -> Array:
        if self.class_prior is not None:
            return given_prior(self.class_prior, "class_prior", len(counts))
        return shares(counts) if self.fit_prior else np.full(len(counts), 1.0 / len(counts))

    def _log_shares(self, counts: Array, alpha: Any, classes: Array) -> Array:
        """Log of eta_lk = (n_lk + alpha) / sum_v (n_lv + alpha), for rows of counts n_l.

        alpha = 0 is the maximum of the likelihood (003, line 119); where a class has no counts every eta is one, and
        the uniform one is taken.
        """
        smoothed = counts + alpha
        smoothed[~smoothed.any(axis=1)] = 1.0
        with np.errstate(over="ignore"):
            totals = smoothed.sum(axis=1, keepdims=True)
        infinite = np.isinf(totals)
        if infinite.any():
            raise ValueError(
                f"{type(self).__name__}: the counts of class {classes[np.argmax(infinite)]}, with alpha added to each, "
                "are too large: their sum overflows. Scale them, or take a smaller alpha."
            )
        return logarithms(smoothed) - np.log(totals)


def shares(counts: Array) -> Array:
    """pi_l = sum_i y_il / n, n the sum of all y (003, line 91)."""
    return counts / counts.sum()


def given_prior(prior: Any, name: str, n_classes: int) -> Array:
    """The user's pi: probabilities, one per class."""
    values = checks.numbers(prior)
    if values is None or values.shape != (n_classes,) or not np.all(values >= 0) or not np.isclose(values.sum(), 1.0):
        raise ValueError(f"{name} must be {n_classes} numbers >= 0 with sum 1, one for each class; got {prior!r}.")
    return values


def _among_seen(prior: Array, counts: Array) -> Array:
    """The prior given that the class has rows; as it is if the classes that have rows are impossible."""
    seen = np.where(counts > 0, prior, 0.0)
    total = seen.sum()
    return seen / total if total > 0 else prior


def logarithms(values: Array) -> Array:
    """Of numbers >= 0; ln 0 = -inf is meant."""
    with np.errstate(divide="ignore"):
        return np.log(values)
