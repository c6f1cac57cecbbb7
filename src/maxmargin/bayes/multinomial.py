"""Naive Bayes for counts, such as words of documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin import checks
from maxmargin.bayes.base import DISCRETE_RULES, DiscreteNaiveBayes
from maxmargin.checks import Rule
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, row_axpy, rows_of


class Counts(NamedTuple):
    """Per class: the weight of its rows, and the weighted sum of its rows."""

    weights: Array
    sums: Array

    def merged(self, other: Counts) -> Counts:
        """The counts of both sets of rows."""
        return Counts(self.weights + other.weights, self.sums + other.sums)


def _is_alpha(value: Any) -> bool:
    values = checks.numbers(value)
    return values is not None and values.ndim <= 1 and bool(np.all(np.isfinite(values) & (values >= 0)))


class MultinomialNB(DiscreteNaiveBayes):
    """Naive Bayes for counts: a row of class l is drawn word by word, feature j with probability eta_lj.

    The posterior is linear (003, lines 71-75), softmax(x'theta_l + beta_l) with

        theta_lj = ln eta_lj,    eta_lj = (n_lj + alpha) / sum_v (n_lv + alpha),    beta_l = ln pi_l,

    n_lj being the (weighted) sum of feature j over the rows of class l. With alpha = 0 this is the maximum of the
    likelihood (003, line 119): a feature without counts in a class has probability exactly zero there, and rows with
    that feature are impossible in the class. A row that is impossible in every class is predicted by the prior alone,
    with a warning.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-counts >= 0 that are added to every n_lj; 1 is Laplace's rule. Changed after ``fit`` it waits for the
        next ``fit`` or ``partial_fit``, as all parameters do.
    fit_prior : bool, default=True
        Take pi from the shares of the (weighted) rows; if False, all classes have the same.
    class_prior : array-like of shape (n_classes,), default=None
        pi, whatever the rows say.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : ndarray of shape (n_classes,)
        Labels, sums of the weights of their rows, pi, and ln pi.
    feature_count_ : ndarray of shape (n_classes, n_features)
        The counts n.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        ln eta.
    coef_, intercept_ : ndarrays of shape (n_classes, n_features) and (n_classes,)
        theta and beta: other names of ``feature_log_prob_`` and ``class_log_prior_``.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Notes
    -----
    ``predict_joint_log_proba`` leaves out the multinomial coefficient ln h(x), as scikit-learn does: it is the same for
    all classes. Sparse rows may be CSR; they are never made dense.

    Examples
    --------
    >>> from maxmargin import MultinomialNB
    >>> words = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]  # money, hello, friend
    >>> model = MultinomialNB().fit(words, ["spam", "spam", "ham"])
    >>> model.predict([[1, 1, 0]])
    array(['spam'], dtype='<U4')
    """

    feature_count_: Array
    feature_log_prob_: Array
    _rules = DISCRETE_RULES | {"alpha": Rule("a finite number >= 0, or one for each feature", _is_alpha)}

    def __init__(self, *, alpha: Any = 1.0, fit_prior: bool = True, class_prior: Any = None) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # only directions of rows count, not their lengths
        return tags

    @property
    def coef_(self) -> Array:
        """The weights theta of the linear posterior, one row per class."""
        return self.feature_log_prob_

    @property
    def intercept_(self) -> Array:
        """The biases beta of the linear posterior."""
        return self.class_log_prior_

    def _labelled(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        X, y = checks.further_data(self, X, y, reset)
        return checks.non_negative(self, X), y

    def _unlabelled(self, X: Any) -> Any:
        return checks.non_negative(self, checks.unlabelled_data(self, X, reset=False))

    def _count(self, X: Any, labels: Array, weights: Array, n_classes: int) -> Counts:
        counts = Counts(np.zeros(n_classes), np.zeros((n_classes, X.shape[1])))
        _add_rows(rows_of(X, X.dtype), labels, weights, counts)
        return counts

    def _estimate(self, statistics: Counts, classes: Array) -> dict[str, Any]:
        features = statistics.sums.shape[1]
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.shape not in ((), (features,)):
            raise ValueError(f"MultinomialNB: alpha has {len(alpha)} values, and X has {features} features.")
        logs = self._log_shares(statistics.sums, alpha, classes)
        return {
            "feature_count_": statistics.sums,
            "feature_log_prob_": np.asfortranarray(logs),  # as CSR products read it
        }

    def _scores(self, X: Any) -> Array:
        """x'theta_l + beta_l, with 0 * ln 0 = 0: what does not occur may be impossible."""
        theta, beta = self.coef_, self.intercept_
        if theta.min() > -np.inf:
            return X @ theta.T + beta
        never = np.isneginf(theta)
        scores = X @ np.where(never, 0.0, theta).T + beta
        scores[X @ never.T.astype(np.float64) > 0] = -np.inf
        return scores


@jit()
def _add_rows(rows, labels, weights, counts):
    """n_l += w_i x_i for the class l of each row. Writes: counts."""
    for i in range(len(labels)):
        counts.weights[labels[i]] += weights[i]
        row_axpy(rows, i, weights[i], counts.sums[labels[i]])
