"""Naive Bayes for numbers: normal distributions with diagonal covariance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from maxmargin import checks
from maxmargin.bayes.base import NaiveBayes, given_prior, shares
from maxmargin.checks import Rule
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, rows_of
from maxmargin.preprocessing.moments import Moments, grouped_moments


class GaussianNB(NaiveBayes):
    """Naive Bayes with normally distributed features: p(x|l) = N(mu_l, Sigma_l), Sigma_l diagonal.

    ``covariance="shared"`` is the model of the notes (003, lines 21-33): one Sigma = diag(s_1^2, ..., s_p^2) for all
    classes. Its posterior is linear, softmax(x'theta_l + beta_l) with

        theta_l = Sigma^-1 mu_l,    beta_l = ln pi_l - 1/2 mu_l'Sigma^-1 mu_l.

    ``covariance="per_class"``, a Sigma_l of its own for each class, has a quadratic one. It is the default because it
    is what scikit-learn calls GaussianNB; "shared" has fewer parameters and is the better choice for few rows.
    The estimates maximise the likelihood: means and mean squared deviations of the rows of a class (of all classes).

    Features count as independent given the class, so one that is repeated 999 times counts 999 times (000, lines
    134-146): probabilities of correlated features are too sure of themselves.

    Parameters
    ----------
    covariance : {"per_class", "shared"}, default="per_class"
        Whether each class has variances of its own. Changed after ``fit`` it waits for the next ``fit`` or
        ``partial_fit``, as all parameters do.
    priors : array-like of shape (n_classes,), default=None
        Probabilities pi of the classes; None takes their shares of the (weighted) rows.
    var_smoothing : float, default=1e-9
        Share of the largest variance of a feature, over all rows, that is added to every variance. If no feature
        varies, it is this number itself. With 0 a variance of zero is an error, also that of
        the first rows of a stream.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : ndarray of shape (n_classes,)
        Labels, sums of the weights of their rows, pi, and ln pi.
    theta_ : ndarray of shape (n_classes, n_features)
        Means mu (scikit-learn's name; not the theta above).
    var_ : ndarray of shape (n_classes, n_features), or (n_features,) if shared
        Variances, with ``epsilon_`` added.
    epsilon_ : float
        What ``var_smoothing`` added.
    coef_, intercept_ : ndarrays of shape (n_classes, n_features) and (n_classes,)
        theta and beta, only if shared. They belong to rows seen from the mean c of all rows, theta_l = Sigma^-1
        (mu_l - c): that leaves the posterior softmax(X @ coef_.T + intercept_) as it is, and keeps the digits of
        features that are far from zero.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB(covariance="shared").fit(X, y)
    >>> model.coef_.shape
    (3, 4)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    theta_: Array
    var_: Array
    epsilon_: float
    _centre: Array
    _rules: ClassVar = {
        "covariance": checks.one_of("per_class", "shared"),
        "var_smoothing": Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0),
    }

    def __init__(self, *, covariance: str = "per_class", priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.covariance = covariance
        self.priors = priors
        self.var_smoothing = var_smoothing

    def decision_function(self, X: Any) -> Array:
        """Log of p(x, l) up to a term common to all classes; for two classes the log-odds of ``classes_[1]``."""
        scores = self._scores(self._new_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _labelled(self, X: Any, y: Any, reset: bool) -> tuple[Array, Array]:
        return checks.further_data(self, X, y, reset, checks.DENSE)

    def _unlabelled(self, X: Any) -> Array:
        return checks.unlabelled_data(self, X, False, checks.DENSE)

    def _count(self, X: Array, labels: Array, weights: Array, n_classes: int) -> Moments:
        return grouped_moments(X, labels, weights, n_classes)

    def _prior(self, counts: Array) -> Array:
        return shares(counts) if self.priors is None else given_prior(self.priors, "priors", len(counts))

    def _estimate(self, statistics: Moments, classes: Array) -> dict[str, Any]:
        everything = statistics.pooled()
        largest = float((everything.squares / everything.weights).max())
        epsilon = self.var_smoothing * (largest or 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # reported by ``_check_variances``
            variances = self._variances(statistics) + epsilon
        self._check_variances(variances, classes)
        return {
            "theta_": statistics.means,
            "var_": variances,
            "epsilon_": epsilon,
            "_centre": everything.means[0],
        }

    def _variances(self, statistics: Moments) -> Array:
        """Mean squared deviations from the mean of the class, of each class or of all."""
        weights = statistics.weights[:, None]
        if self.covariance == "shared":
            return statistics.squares.sum(axis=0) / weights.sum()
        variances = np.ones_like(statistics.squares)
        return np.divide(statistics.squares, weights, out=variances, where=weights > 0)

    def _check_variances(self, variances: Array, classes: Array) -> None:
        usable = np.isfinite(variances) & (variances > 0)
        if usable.all():
            return
        *group, feature = (int(places[0]) for places in np.nonzero(~usable))
        where = f" within class {classes[group[0]]}" if group else ""
        variance = variances[*group, feature]
        raise ValueError(
            f"GaussianNB: the variance of {checks.feature_label(self, feature)}{where} is {variance}: "
            + ("give var_smoothing > 0." if variance == 0 else "its values are too large; scale them.")
        )

    @property
    def coef_(self) -> Array:
        """The weights theta of the linear posterior, one row per class."""
        self._must_be_shared("coef_")
        return (self.theta_ - self._centre) / self.var_

    @property
    def intercept_(self) -> Array:
        """The biases beta of the linear posterior."""
        self._must_be_shared("intercept_")
        return self.class_log_prior_ - 0.5 * ((self.theta_ + self._centre) * self.coef_).sum(axis=1)

    @property
    def _is_shared(self) -> bool:
        """What ``covariance`` was when the variances were estimated; it may have changed since."""
        return self.var_.ndim == 1

    def _must_be_shared(self, name: str) -> None:
        if not self._is_shared:
            raise AttributeError(f"GaussianNB has {name} with covariance='shared' only: then its posterior is linear.")

    def _scores(self, X: Array) -> Array:
        if self._is_shared:
            return X @ self.coef_.T + self.intercept_
        return self.class_log_prior_ + self._log_densities(X, self.theta_, self.var_)

    def _log_carrier(self, X: Array) -> Array | float:
        """If shared, log of N(x | c, Sigma): the scores are relative to it."""
        if self._is_shared:
            return self._log_densities(X, self._centre[None], self.var_[None])
        return 0.0

    def _log_densities(self, X: Array, means: Array, variances: Array) -> Array:
        """Log of N(x | mu_l, Sigma_l), one column per class."""
        distances = np.empty((len(X), len(means)))
        _squared_distances(rows_of(X, X.dtype), means, 1.0 / variances, distances)
        return -0.5 * (distances + np.log(2.0 * np.pi * variances).sum(axis=1))


@jit(reductions=True)
def _squared_distances(rows, means, precisions, out):
    """out_il = sum_j (x_ij - mu_lj)^2 / s_lj^2: not by products x'mu, whose digits cancel. Writes: out."""
    for i in range(out.shape[0]):
        for group in range(out.shape[1]):
            mean, precision = means[group], precisions[group]
            total = 0.0
            for k in range(len(mean)):
                apart = rows.values[i, k] - mean[k]
                total += apart * apart * precision[k]
            out[i, group] = total
