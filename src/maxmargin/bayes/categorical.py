"""Naive Bayes for categories."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin import checks
from maxmargin.bayes import categories
from maxmargin.bayes.base import DISCRETE_RULES, DiscreteNaiveBayes
from maxmargin.bayes.categories import MOST_CATEGORIES
from maxmargin.checks import Rule
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, rows_of


class CategoryCounts(NamedTuple):
    """Per class: the weight of its rows, and for every feature a table (class, category) of weights."""

    weights: Array
    tables: list[Array]

    def merged(self, other: CategoryCounts) -> CategoryCounts:
        """The counts of both sets of rows."""
        tables = []
        for mine, its in zip(self.tables, other.tables, strict=True):
            categories = max(mine.shape[1], its.shape[1])
            tables.append(_widened(mine, categories) + _widened(its, categories))
        return CategoryCounts(self.weights + other.weights, tables)


def _widened(table: Array, categories: int) -> Array:
    """The table with columns of zeros for categories that it does not have yet."""
    return np.pad(table, ((0, 0), (0, max(0, categories - table.shape[1]))))


def _are_sizes(value: Any) -> bool:
    if value is None:
        return True
    if checks.numbers(value) is None:
        return False
    sizes = np.asarray(value)
    return sizes.ndim <= 1 and sizes.dtype.kind in "iu" and bool(np.all((sizes >= 1) & (sizes <= MOST_CATEGORIES)))


class CategoricalNB(DiscreteNaiveBayes):
    """Naive Bayes for categories: feature j of a row of class l is category k with probability eta_ljk.

    x_j is one of 0, ..., m_j - 1 (``sklearn.preprocessing.OrdinalEncoder`` makes such numbers of anything); m_j is at
    most 2^24, for every category has its place in a table. The posterior is linear in the indicators x_j^k of the
    categories (003, lines 71-75), softmax(x'theta_l + beta_l) with

        theta_ljk = ln eta_ljk,    eta_ljk = (n_ljk + alpha) / sum_v (n_ljv + alpha),    beta_l = ln pi_l,

    n_ljk being the (weighted) number of rows of class l with x_j = k. With alpha = 0 this is the maximum of the
    likelihood (003, line 119): a category without a row in a class has probability exactly zero there, and rows with
    that category are impossible in the class. A row that is impossible in every class is predicted by the prior alone,
    with a warning.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count >= 0 that is added to every n_ljk; 1 is Laplace's rule.
    fit_prior : bool, default=True
        Take pi from the shares of the (weighted) rows; if False, all classes have the same.
    class_prior : array-like of shape (n_classes,), default=None
        pi, whatever the rows say.
    min_categories : int or array-like of shape (n_features,), default=None
        m_j is at least this; None is one more than the largest category in the rows. Categories below m_j may be
        missing in the training rows: their probabilities are those of n_ljk = 0.
    handle_unknown : {"error", "ignore"}, default="error"
        What to do with categories from m_j on, and with negative numbers, when predicting: raise an error, or leave
        feature j out of that row (its probabilities sum to one, so that is the model of the other features). An
        ``OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)`` goes with "ignore". May be changed
        after ``fit``; the other parameters are those of the last ``fit`` or ``partial_fit``.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : ndarray of shape (n_classes,)
        Labels, sums of the weights of their rows, pi, and ln pi.
    n_categories_ : ndarray of shape (n_features,)
        The numbers of categories m.
    category_count_ : list of ndarrays of shape (n_classes, n_categories)
        The counts n, feature by feature.
    feature_log_prob_ : list of ndarrays of shape (n_classes, n_categories)
        ln eta. ``np.hstack`` of it is theta for one-hot coded rows.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from maxmargin import CategoricalNB
    >>> weather = [[0, 1], [0, 0], [1, 1], [2, 0]]  # sunny, overcast or rain; calm or windy
    >>> model = CategoricalNB().fit(weather, ["play", "play", "play", "stay"])
    >>> model.predict([[2, 0], [1, 0]])
    array(['stay', 'play'], dtype='<U4')
    """

    n_categories_: Array
    category_count_: list[Array]
    feature_log_prob_: list[Array]
    _rules = DISCRETE_RULES | {
        "min_categories": Rule(f"None, an integer from 1 to {MOST_CATEGORIES}, or one for each feature", _are_sizes),
        "handle_unknown": checks.one_of("error", "ignore"),
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        handle_unknown: str = "error",
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.handle_unknown = handle_unknown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _labelled(self, X: Any, y: Any, reset: bool) -> tuple[Array, Array]:
        X, y = checks.further_data(self, X, y, reset, checks.DENSE_OF_ANY_NUMBERS)
        return categories.learnable_codes(self, X), y

    def _unlabelled(self, X: Any) -> Array:
        checks.check_parameters(self, {"handle_unknown": self._rules["handle_unknown"]})  # it may have changed since
        X = checks.unlabelled_data(self, X, False, checks.DENSE_OF_ANY_NUMBERS)
        codes = categories.category_codes(self, X, negative=self.handle_unknown == "ignore")
        unknown = np.flatnonzero(codes.max(axis=0) >= self.n_categories_)
        if self.handle_unknown == "error" and len(unknown):
            feature = int(unknown[0])
            row = int(np.argmax(codes[:, feature]))
            raise ValueError(
                f"CategoricalNB: {checks.feature_label(self, feature)} is {X[row, feature]} in row {row}, and the "
                f"largest category known is {self.n_categories_[feature] - 1}. Say with min_categories how many there "
                "are, or leave such features out with handle_unknown='ignore'."
            )
        return codes

    def _count(self, X: Array, labels: Array, weights: Array, n_classes: int) -> CategoryCounts:
        edges = _edges(X.max(axis=0) + 1)
        cells = np.zeros((edges[-1], n_classes))
        _add_weights(rows_of(X, np.int64), labels, weights, edges, cells)
        tables = [cells[first:last].T for first, last in pairwise(edges)]
        return CategoryCounts(np.bincount(labels, weights=weights, minlength=n_classes), tables)

    def _estimate(self, statistics: CategoryCounts, classes: Array) -> dict[str, Any]:
        tables = statistics.tables
        least = np.asarray(1 if self.min_categories is None else self.min_categories)
        if least.shape not in ((), (len(tables),)):
            raise ValueError(
                f"CategoricalNB: min_categories has {len(least)} values, and X has {len(tables)} features."
            )
        sizes = np.maximum([table.shape[1] for table in tables], least)
        counts = [_widened(*pair) for pair in zip(tables, sizes, strict=True)]
        return {
            "n_categories_": sizes,
            "category_count_": counts,
            "feature_log_prob_": [self._log_shares(table, self.alpha, classes) for table in counts],
        }

    def _scores(self, X: Array) -> Array:
        """Log of pi_l prod_j eta_ljk with k = x_j; an unknown category is no factor."""
        unknown = np.zeros((1, len(self.classes_)))
        cells = np.vstack([part for logs in self.feature_log_prob_ for part in (logs.T, unknown)])
        scores = np.tile(self.class_log_prior_, (len(X), 1))
        _add_logs(rows_of(X, np.int64), _edges(self.n_categories_ + 1), cells, scores)
        return scores


def _edges(sizes: Array) -> Array:
    """Where the categories of each feature begin, and the last one's end, in one long list of all."""
    return np.concatenate([[0], np.cumsum(sizes)])


@jit()
def _add_weights(rows, labels, weights, edges, cells):
    """n_jkl += w_i for the class l of row i and k = x_ij. Writes: cells, (features' categories, classes)."""
    for i in range(len(labels)):
        for j in range(len(edges) - 1):
            cells[edges[j] + rows.values[i, j], labels[i]] += weights[i]


@jit()
def _add_logs(rows, edges, cells, scores):
    """scores_il += sum_j cells_jkl with k = x_ij, at most the last category of feature j. Writes: scores."""
    for i in range(scores.shape[0]):
        sums = scores[i]
        for j in range(len(edges) - 1):
            logs = cells[min(edges[j] + rows.values[i, j], edges[j + 1] - 1)]
            for group in range(len(sums)):
                sums[group] += logs[group]
