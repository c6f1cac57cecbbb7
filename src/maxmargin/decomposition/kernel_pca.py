"""Principal components in feature space."""

from __future__ import annotations

import functools
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Documented, Rule
from maxmargin.core import memory
from maxmargin.core.buffers import POOL
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.core.threads import effective_jobs
from maxmargin.decomposition.matrices import KernelRows
from maxmargin.decomposition.preimages import Preimages, ridge
from maxmargin.decomposition.projection import Projection, projection
from maxmargin.decomposition.spectrum import SOLVERS, Asked, Eigenpairs
from maxmargin.gram.budget import granted
from maxmargin.kernels import RBF, Kernel, Linear
from maxmargin.kernels.choice import KERNEL_NAMES, Takes, is_kernel, resolve_kernel, taken_by
from maxmargin.machines.scoring import Expansion, scorer_of

ZERO = 1e-12  # eigenvalues below this share of the largest one are rounding
INDEFINITE = 1e-5  # negative ones beyond this share are worth a word

_SWITCH = Rule("True or False", checks.boolean)
_RULES = {
    "n_components": Rule("an integer >= 1, or None for all", lambda v: v is None or (checks.integer(v) and v >= 1)),
    "kernel": Rule(
        f"one of {', '.join(map(repr, (*KERNEL_NAMES, 'cosine')))}, a Kernel or a function",
        lambda v: v == "cosine" if isinstance(v, str) and v not in KERNEL_NAMES else is_kernel(v),
        (*KERNEL_NAMES, "cosine"),
    ),
    "gamma": Rule("a number >= 0, or None for 1 / n_features", lambda v: v is None or (checks.number(v) and v >= 0)),
    "degree": Rule("an integer >= 0", lambda v: checks.number(v) and v >= 0 and v == int(v)),
    "coef0": Rule("a finite number", checks.number),
    "kernel_params": Rule("a dictionary or None", lambda v: v is None or isinstance(v, dict)),
    "alpha": Rule("a number >= 0", lambda v: checks.number(v) and v >= 0),
    "fit_inverse_transform": _SWITCH,
    "eigen_solver": checks.one_of(*SOLVERS),
    "tol": Rule("a number >= 0", lambda v: checks.number(v) and v >= 0),
    "max_iter": Rule("an integer >= 1, or None", lambda v: v is None or (checks.integer(v) and v >= 1)),
    "iterated_power": Rule(
        "an integer >= 0, or 'auto'", lambda v: v == "auto" if isinstance(v, str) else checks.integer(v) and v >= 0
    ),
    "remove_zero_eig": _SWITCH,
    "copy_X": _SWITCH,
    "n_jobs": checks.COMMON_RULES["n_jobs"],
    "center": _SWITCH,
    "cache_size": Rule("a number of megabytes > 0, or None", lambda v: v is None or (checks.number(v) and v > 0)),
    "inverse": checks.one_of("auto", "fixed_point", "ridge"),
}


class KernelPCA(Documented, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal component analysis (Schoelkopf, Smola and Mueller, Neural Computation 10, 1998).

    With H = I - 11'/n, the centred kernel matrix A = H K H holds the inner products of phi(x_i) - mean. From
    A u = lambda u with |u| = 1 the component v = sum_i u_i phi(x_i) / sqrt(lambda) has length 1 in feature space, and
    a row x has the coordinate v'(phi(x) - mean) = sum_i u_i k(x_i, x) / sqrt(lambda) + constant along it. For the
    linear kernel this is principal component analysis.

    Every fit carries its proof: ``residuals_`` are |A u - lambda u|, from one product with A in float64 after the
    solver has ended. Some eigenvalue of A lies within the residual of each of ``eigenvalues_``, and within
    residual^2 / gap where the others are at least gap away; the angle between u and the true vectors has a sine of at
    most residual / gap. That no larger eigenvalue was missed is not proved, but what could be missing of a positive
    semidefinite kernel is bounded: 1 minus the sum of ``explained_variance_ratio_``, of the trace.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None is all whose eigenvalue is not zero.
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "precomputed"}, Kernel or callable, \
            default="linear"
        The similarity of two rows; "precomputed" says that X holds kernel values. A function takes two rows, or two
        collections of rows and returns their matrix: which of both is found out by trial.
    gamma : float, default=None
        Width of kernels that have one; None is 1 / n_features. Kernel objects that have their own keep it.
    degree, coef0 : int and float, default=3 and 1
        Of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function; others ignore it.
    alpha : float, default=1.0
        Ridge of the regression that learns the way back, with ``fit_inverse_transform=True``.
    fit_inverse_transform : bool, default=False
        Learn the way back by a regression; see ``inverse``. Takes dense X and a kernel of vectors.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "dense" is LAPACK on the whole matrix in float64, whatever ``cache_size`` says. "arpack" is the name of
        scikit-learn for few components; here it runs a block Lanczos method of our own, which needs products with K
        alone. "randomized" are ``iterated_power`` power iterations, quick and rough. "auto" chooses the first for
        small matrices and many components, otherwise the second.
    tol : float, default=0
        Residuals that will do, as a share of the largest eigenvalue, for "arpack"; 0 is 1e-6 where kernel values are
        float32 (RBF with more than 1,000 rows) and 1e-10 elsewhere.
    max_iter : int, default=None
        Most products with K of "arpack"; None is 60.
    iterated_power : int or "auto", default="auto"
        Power iterations of "randomized", two products each; "auto" is 7, or 4 for a tenth of all components or more.
    remove_zero_eig : bool, default=False
        Drop components whose eigenvalue is zero (below 1e-12 of the largest); with ``n_components=None`` they always
        are.
    random_state : int, RandomState instance or None, default=None
        Of the start of "arpack" and "randomized". None is the same start every time.
    copy_X : bool, default=True
        Keep a copy of X. With False a model refers to the rows given, which must not be changed; so does every model
        with a precomputed kernel, which does not look at them again.
    n_jobs : int, default=None
        Threads; None is all cores. Results do not depend on it.
    center : bool, default=True
        Centre the rows in feature space; without it H is the identity.
    cache_size : float, default=None
        Megabytes for kernel values; what does not fit is computed again. None is a quarter of the memory that is free,
        and at most 1024.
    inverse : {"auto", "fixed_point", "ridge"}, default="auto"
        How ``inverse_transform`` works. "fixed_point": for the RBF kernel, the row whose image is nearest in feature
        space, by iterations (Mika et al. 1998) that need nothing from the fit. "ridge": the regression of
        ``fit_inverse_transform=True``. "auto" is the first for the RBF kernel, the second for others.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of A, in decreasing order.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Of A, of length 1; the entry of largest size is positive.
    residuals_ : ndarray of shape (n_components,)
        |A u - lambda u| of each pair.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Eigenvalues as shares of the trace of A, which is the sum of all of them.
    n_iter_ : int
        Products with K that "arpack" and "randomized" took before the last one; 0 for "dense".
    kernel_ : Kernel
        The kernel, its width set.
    gamma_ : float
        The width: ``gamma``, or 1 / n_features.
    X_fit_ : array or CSR matrix of shape (n_samples, n_features)
        The training rows.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the regression, with ``fit_inverse_transform=True``, unless the fixed point takes its place.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Components of the training rows, with ``fit_inverse_transform=True``.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import KernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = KernelPCA(n_components=2, kernel="rbf", gamma=0.1).fit(X)
    >>> model.transform(X).shape
    (150, 2)
    >>> bool(model.residuals_.max() < 1e-9 * model.eigenvalues_[0])
    True
    """

    n_components: int | None
    kernel: Any
    gamma: float | None
    degree: int
    coef0: float
    kernel_params: dict[str, Any] | None
    alpha: float
    fit_inverse_transform: bool
    eigen_solver: str
    tol: float
    max_iter: int | None
    iterated_power: int | str
    remove_zero_eig: bool
    random_state: Any
    copy_X: bool  # noqa: N815
    n_jobs: int | None
    center: bool
    cache_size: float | None
    inverse: str
    eigenvalues_: Array
    eigenvectors_: Array
    residuals_: Array
    explained_variance_ratio_: Array
    n_iter_: int
    kernel_: Kernel
    gamma_: float
    X_fit_: Any
    dual_coef_: Array
    X_transformed_fit_: Array
    _projection: Projection
    _searches: bool  # whether the way back is the search of a fixed point

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        center: bool = True,
        cache_size: float | None = None,
        inverse: str = "auto",
    ) -> None:
        checks.keep(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = taken_by(self.kernel) is Takes.VALUES
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        """For the names of the components."""
        return len(self.eigenvalues_)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; with ``kernel="precomputed"`` the square matrix of kernel values; for functions of objects a list.
        y : None
            Not used.

        Returns
        -------
        Self
            The fitted transformer.
        """
        checks.check_parameters(self, _RULES)
        draft = checks.draft(self)
        rows = checks.unlabelled_training_data(draft, X, taken_by(self.kernel))
        if self.copy_X and taken_by(self.kernel) is not Takes.VALUES:
            rows = rows.copy()
        kernel = self._chosen_kernel(rows)
        by_search = self._searches_back(kernel, rows)
        fitted = self._model(kernel, rows, self._solved(kernel, rows))
        if self.fit_inverse_transform:
            fitted["X_transformed_fit_"] = Y = fitted["eigenvectors_"] * np.sqrt(fitted["eigenvalues_"])
            if not by_search:
                fitted["dual_coef_"] = ridge(kernel, Y, rows, self.alpha)
        checks.commit(self, draft, fitted | {"_searches": by_search})
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """The components of the rows that they are learned from: sqrt(lambda) u."""
        self.fit(X, y, **fit_params)
        return _as_given(self._own_components(), self.X_fit_)

    def transform(self, X: Any) -> Array:
        """Components of rows, in the precision of X: sum_i u_i k(x_i, x) / sqrt(lambda) + constant."""
        check_is_fitted(self)
        X = checks.prediction_data(self, X, taken_by(self.kernel_))
        return _as_given(self._projection.of(X, self, effective_jobs(self.n_jobs)), X)

    def inverse_transform(self, X: Any) -> Array:
        """Rows whose components are X, or nearly so; see ``inverse``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Components.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        Y, n_jobs = checks.component_data(self, X, len(self.eigenvalues_)), effective_jobs(self.n_jobs)
        if self._searches and isinstance(self.kernel_, RBF):
            search = Preimages(self.kernel_, self.X_fit_, self._own_components(), self._projection)
            return _as_given(search.find(Y, n_jobs), Y)
        if not hasattr(self, "dual_coef_"):
            raise NotFittedError(
                f"KernelPCA was fitted without a way back for {self.kernel_!r}: set fit_inverse_transform=True "
                "before fit, for a regression on vectors of numbers, or use kernel='rbf', which needs none."
            )
        back = Expansion(self.kernel_, self.X_transformed_fit_, None, self.dual_coef_.T, 0.0, False)
        return _as_given(scorer_of(back).decisions(Y, np.zeros(self.dual_coef_.shape[1]), n_jobs), Y)

    # --- parts of a fit ----------------------------------------------------------------------------------------------

    def _chosen_kernel(self, rows: Any) -> Kernel:
        given = self.kernel
        if isinstance(given, str) and given == "cosine":
            given = Linear().normalized()
        elif self.kernel_params and callable(given) and not isinstance(given, Kernel):
            given = functools.partial(given, **self.kernel_params)
        gamma = "auto" if self.gamma is None else self.gamma
        return resolve_kernel(given, int(self.degree), self.coef0, gamma, rows, NO_ROWS)

    def _searches_back(self, kernel: Kernel, rows: Any) -> bool:
        """Whether the way back is the search of a fixed point; an error where what was asked for cannot be had."""
        if self.inverse == "fixed_point" and not isinstance(kernel, RBF):
            raise ValueError(f"KernelPCA: inverse='fixed_point' is for the RBF kernel alone; the kernel is {kernel!r}.")
        if self.inverse != "ridge" and isinstance(kernel, RBF):
            return True
        if self.fit_inverse_transform and (kernel.of_positions or sparse.issparse(rows) or rows.ndim != 2):
            raise ValueError(
                "KernelPCA: Cannot fit_inverse_transform with a precomputed kernel, with sparse X (pass X.toarray() if "
                "it fits) or on objects: the regression back needs rows of numbers."
            )
        return False

    def _solved(self, kernel: Kernel, rows: Any) -> Eigenpairs:
        count, n = self.n_components, rows.shape[0]
        if isinstance(kernel, Linear) and (count is None or self.remove_zero_eig):  # the other eigenvalues are zero
            count = min(*rows.shape, count or n)
        megabytes = None if self.cache_size is None else int(self.cache_size * 2**20)
        budget = granted(megabytes, n)
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        power = None if isinstance(self.iterated_power, str) else self.iterated_power
        asked = Asked(count, self.tol, self.max_iter, power, seed)
        training = KernelRows(kernel, rows, bool(self.center), budget, effective_jobs(self.n_jobs))
        with memory.explained(budget):
            pairs = SOLVERS[self.eigen_solver](training, asked)
        POOL.rest()
        if not pairs.found:
            checks.warn_user(
                f"KernelPCA: after {pairs.steps} products with the kernel matrix the largest residual is "
                f"{pairs.residuals.max():.2g}, and {pairs.wanted:.2g} was asked for. The model is kept; residuals_ "
                "says which components are concerned. Raise max_iter or tol, or use eigen_solver='dense'.",
                ConvergenceWarning,
            )
        return pairs

    def _model(self, kernel: Kernel, rows: Any, pairs: Eigenpairs) -> dict[str, Any]:
        """The fitted attributes."""
        pairs = self._proper(kernel, pairs)
        return {
            "eigenvalues_": pairs.values,
            "eigenvectors_": pairs.vectors,
            "residuals_": pairs.residuals,
            "explained_variance_ratio_": pairs.values / pairs.trace if pairs.trace > 0 else 0.0 * pairs.values,
            "n_iter_": pairs.steps,
            "kernel_": kernel,
            "gamma_": self.gamma if self.gamma is not None or rows.ndim != 2 else 1.0 / rows.shape[1],
            "X_fit_": rows,
            "_projection": projection(kernel, rows, pairs, bool(self.center)),
        }

    def _proper(self, kernel: Kernel, pairs: Eigenpairs) -> Eigenpairs:
        """Directions without length are no components: eigenvalues that are rounding or negative become zero, or go."""
        largest, least = (float(end) for end in (pairs.values.max(initial=0.0), pairs.values.min(initial=0.0)))
        rounding = float(np.finfo(np.float64).eps) * len(pairs.vectors) * pairs.size
        if least < -max(INDEFINITE * largest, rounding):
            checks.warn_user(
                f"KernelPCA: {kernel!r} is not positive semidefinite on these rows: the centred kernel matrix has the "
                f"eigenvalue {least:.2g} beside {largest:.2g}. Negative ones count as zero."
            )
        values = np.where(pairs.values > max(ZERO * largest, rounding), pairs.values, 0.0)
        kept = values > 0 if self.remove_zero_eig or self.n_components is None else np.ones(len(values), bool)
        vectors = np.ascontiguousarray(pairs.vectors[:, kept])
        return pairs._replace(values=values[kept], vectors=vectors, residuals=pairs.residuals[kept])

    def _own_components(self) -> Array:
        """Of the training rows."""
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)


def _as_given(out: Array, X: Any) -> Array:
    """In the precision of X."""
    return out.astype(np.float32) if X.dtype == np.float32 else out
