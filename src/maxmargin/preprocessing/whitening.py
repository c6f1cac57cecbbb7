"""Whitening: features with mean 0 and variance 1, on request uncorrelated."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Documented, Rule
from maxmargin.core.rows import Array
from maxmargin.preprocessing.moments import Moments, moments

BLOCK_ROWS = 4096  # rows that are centred at a time
ROUNDING = 4.0 * np.finfo(np.float64).eps  # a deviation below this share of the mean is none
_SWITCH = Rule("True or False", checks.boolean)
_RULES = {
    "center": _SWITCH,
    "scale": _SWITCH,
    "decorrelate": _SWITCH,
    "ridge": Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0),
}


class Spread(NamedTuple):
    """Moments of all rows as one group, and if asked for sum_i w_i (x_i - m)(x_i - m)'."""

    moments: Moments
    scatter: Array | None

    def merged(self, other: Spread) -> Spread:
        """That of both sets of rows; of scatter matrices as in ``Moments.merged``, with d d' for d^2."""
        both = self.moments.merged(other.moments)
        if self.scatter is None or other.scatter is None:
            return Spread(both, None)
        apart = other.moments.means[0] - self.moments.means[0]
        share = self.moments.weights * other.moments.weights / both.weights
        return Spread(both, self.scatter + other.scatter + share * np.outer(apart, apart))


class Whitener(Documented, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Translate, scale and on request decorrelate features.

    A row becomes z = R^(-1/2) D^(-1) (x - m): m are the features' means, D their standard deviations, and R is the
    covariance of D^(-1) (x - m), that is, the correlation matrix. Each factor can be left out.

    Whitening is "a very good idea", and "important to translate as well - why?" (002, lines 302-303). Steps along a
    gradient in (w, b) meet the curvature E[(x, 1)(x, 1)']. Features of different sizes make it large in some directions
    and small in others, and no step length suits both. So does a mean m: it adds an eigenvalue of about 1 + |m|^2, and
    it couples w with b, so that every change of w has to be compensated by b. Of whitened features it is the identity.

    Parameters
    ----------
    center : bool, default=True
        Subtract the means. Sparse X would become dense, so it is refused unless this is False.
    scale : bool, default=True
        Divide by the standard deviations, those from the mean even if it is not subtracted. A feature that does not
        vary is divided by 1: centred it becomes 0, otherwise it stays as it is.
    decorrelate : bool, default=False
        Multiply by R^(-1/2), the symmetric root (ZCA): of all ways to make features uncorrelated it is the one that
        changes them least, so they keep their names. Sparse X is refused.
    ridge : float, default=1e-8
        Share of the mean eigenvalue of R that is added to its eigenvalues before the root is taken, so that features
        that do not vary or depend on each other do no harm. With fewer rows than features take more, such as 0.1: new
        rows leave the span of the old ones, where they are magnified (scaled ones by 1 / sqrt(ridge)). With 0 a
        singular R is an error, also that of the first rows of a stream.

    Attributes
    ----------
    mean_, var_ : ndarray of shape (n_features,)
        Means and variances; they divide by the sum of the weights, as estimates of maximum likelihood do.
    scale_ : ndarray of shape (n_features,)
        What the features are divided by.
    decorrelation_ : ndarray of shape (n_features, n_features) or None
        R^(-1/2).
    n_samples_seen_ : float
        Sum of the weights of all rows so far.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Whitener
    >>> X = np.array([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]])
    >>> Z = Whitener(decorrelate=True).fit_transform(X)
    >>> bool(np.allclose(np.cov(Z.T, bias=True), np.eye(2)))
    True
    """

    mean_: Array
    var_: Array
    scale_: Array
    decorrelation_: Array | None
    n_samples_seen_: float
    _spread: Spread
    _centred: bool
    _correlation_root: Array | None

    def __init__(
        self, *, center: bool = True, scale: bool = True, decorrelate: bool = False, ridge: float = 1e-8
    ) -> None:
        self.center = center
        self.scale = scale
        self.decorrelate = decorrelate
        self.ridge = ridge

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not (self.center or self.decorrelate)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn means, deviations and correlations.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; everything is summed in float64.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: a weight of 2 is the same as having the row twice.

        Returns
        -------
        Self
            The fitted transformer.
        """
        checks.check_parameters(self, _RULES)
        draft = checks.draft(self)
        spread = draft._spread_of(*checks.weighted(sample_weight, draft._rows(X, reset=True)))
        checks.commit(self, draft, draft._model(spread))
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows: the same as one ``fit`` on all rows so far; rows of weight zero teach nothing."""
        checks.check_parameters(self, _RULES)
        if not hasattr(self, "_spread"):
            return self.fit(X, y, sample_weight)
        draft = checks.draft(self)
        weights, X = checks.weighted(sample_weight, draft._rows(X, reset=False), all_zero=True)
        if self.decorrelate and self._spread.scatter is None:
            raise ValueError("Whitener: correlations were not counted from the first rows on; use fit to start again.")
        spread = self._spread.merged(draft._spread_of(weights, X)) if len(weights) else self._spread
        checks.commit(self, draft, draft._model(spread))
        return self

    def transform(self, X: Any) -> Any:
        """R^(-1/2) D^(-1) (x - m), in the precision of X and as sparse as X."""
        X = self._known_rows(X)
        if sparse.issparse(X):
            return _with_columns_times(X, 1.0 / self.scale_)
        rows = (X - self.mean_ if self._centred else X) / self.scale_
        if self.decorrelation_ is not None:
            rows = rows @ self.decorrelation_
        return rows.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """The rows that ``transform`` turns into X."""
        X = self._known_rows(X)
        if sparse.issparse(X):
            return _with_columns_times(X, self.scale_)
        rows = X if self.decorrelation_ is None else X @ self._correlation_root
        rows = rows * self.scale_ + (self.mean_ if self._centred else 0.0)
        return rows.astype(X.dtype, copy=False)

    def _rows(self, X: Any, reset: bool) -> Any:
        _refuse_sparse(X, self.center, self.decorrelate)
        return checks.unlabelled_data(self, X, reset)

    def _known_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        _refuse_sparse(X, self._centred, self.decorrelation_ is not None)
        return checks.unlabelled_data(self, X, reset=False)

    def _spread_of(self, weights: Array, X: Any) -> Spread:
        found = moments(X, weights)
        return Spread(found, _scatter(X, found.means[0], weights) if self.decorrelate else None)

    def _model(self, spread: Spread) -> dict[str, Any]:
        """The fitted attributes.

        What ``center`` and ``decorrelate`` were is kept with them: changed, they wait for the next fit.
        """
        checks.finite_total(self, spread.moments.weights)
        variances = spread.moments.squares[0] / spread.moments.weights
        if not np.isfinite(variances).all():
            feature = checks.feature_label(self, int(np.argmin(np.isfinite(variances))))
            raise ValueError(f"Whitener: the values of {feature} are too large: their variance overflows.")
        weight, mean = float(spread.moments.weights[0]), spread.moments.means[0]
        deviations = np.sqrt(variances)
        divides = bool(self.scale) & (deviations > ROUNDING * np.abs(mean))
        scale = np.where(divides, deviations, 1.0)
        roots = None if spread.scatter is None else self._roots(spread.scatter / weight / np.outer(scale, scale))
        decorrelation, correlation_root = roots or (None, None)
        return {
            "mean_": mean,
            "var_": variances,
            "scale_": scale,
            "decorrelation_": decorrelation,
            "n_samples_seen_": weight,
            "_spread": spread,
            "_centred": bool(self.center),
            "_correlation_root": correlation_root,
        }

    def _roots(self, R: Array) -> tuple[Array, Array]:
        """(R + ridge I)^(-1/2) and (R + ridge I)^(1/2), from R = V diag(v) V'."""
        values, V = linalg.eigh(R)
        values[values <= len(R) * np.finfo(np.float64).eps * values[-1]] = 0.0  # rounding: it would be magnified
        values += self.ridge * (values.mean() or 1.0)
        if values[0] == 0.0:
            raise ValueError(
                "Whitener: some features do not vary or depend on the others, so that they cannot be made "
                "uncorrelated: give ridge > 0."
            )
        return (V / np.sqrt(values)) @ V.T, (V * np.sqrt(values)) @ V.T


def _refuse_sparse(X: Any, center: bool, decorrelate: bool) -> None:
    if sparse.issparse(X) and (center or decorrelate):
        name = "center" if center else "decorrelate"
        raise ValueError(
            f"Whitener: {name}=True would make sparse X dense. Use {name}=False, or pass X.toarray() if it fits."
        )


def _scatter(X: Array, mean: Array, weights: Array) -> Array:
    """sum_i w_i (x_i - m)(x_i - m)', block by block in float64."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for first in range(0, len(X), BLOCK_ROWS):
        block = slice(first, first + BLOCK_ROWS)
        apart = (X[block] - mean) * np.sqrt(weights[block, None])
        with np.errstate(over="ignore", invalid="ignore"):  # the variances overflow as well, and are reported
            total += apart.T @ apart
    return total


def _with_columns_times(X: Any, factors: Array) -> Any:
    """CSR rows, each column times a factor."""
    scaled = X.copy()
    scaled.data = (X.data * factors[X.indices]).astype(X.dtype, copy=False)
    return scaled
