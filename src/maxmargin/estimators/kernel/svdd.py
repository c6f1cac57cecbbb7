"""Novelty detection by the smallest ball around the rows in feature space."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.core.rows import Array, as_dense
from maxmargin.estimators.fitting import OneProblem
from maxmargin.estimators.kernel.novelty import NoveltyMachine
from maxmargin.estimators.plans.kernel import Rows
from maxmargin.estimators.progress import Attributes
from maxmargin.kernels.choice import Takes, taken_by
from maxmargin.machines import Fitted
from maxmargin.models import svdd
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Progress


class SVDD(NoveltyMachine):
    """Support vector data description, the smallest ball, solved to a certificate of optimality.

    It minimises, with weights c_i that add up to W,

        R^2 + sum_i c_i / (nu W) max(0, ||phi(x_i) - a||^2 - R^2)

    over the radius R and the centre a = sum_i beta_i phi(x_i) (Tax and Duin 2004): at most a share ``nu`` of the
    training weight lies outside, and at least that share are support vectors. Where K(x, x) is the same for all points,
    as for "rbf" and "laplacian", the ball is the region of ``OneClassSVM`` with the same nu.

    Parameters
    ----------
    nu : float, default=0.1
        The share, above 0 and at most 1.
    tol : float, default=1e-5
        Largest violation of the optimality conditions, in units of half the squared distance.
    kernel, degree, gamma, coef0, solver, shrinking, cache_size, max_iter, time_limit, warm_start, random_state, \
    n_jobs, verbose, callback, interrupt
        As in ``SVC``. With "precomputed" kernel values new points need K(x, x) too, in one more column behind the
        values between them and the training rows, unless it is the same for all training rows (training rows
        themselves are known by their values). Without it a warning says that the least possible one is taken.

    Attributes
    ----------
    radius_ : float
        R, or as much more as rounding needs for the rows on the sphere to be inside.
    center_ : ndarray of shape (n_features,)
        The centre a of the linear kernel; in feature space its coefficients are ``dual_coef_``.
    offset_ : float
        -R^2: ``decision_function(X) = score_samples(X) - offset_``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_, \
    certificate_, status_, trace_, kernel_, kernel_values_
        As in ``OneClassSVM``; the certificate is that of half the problem above, and ``intercept_`` is
        (R^2 - ||a||^2) / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVDD
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = SVDD(nu=0.05, kernel="linear").fit(X)
    >>> bool((np.linalg.norm(X - model.center_, axis=1) > model.radius_).mean() <= 0.05)
    True
    """

    radius_: float
    _squares: _Squares | None  # K(x, x) of rows of kernel values, where new points do not bring it

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-5,
        nu: float = 0.1,
        solver: Any = "auto",
        shrinking: bool = True,
        cache_size: float | None = None,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = False,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        checks.keep(self, locals())

    def _problem(self, rows: Rows) -> OneProblem:
        nu = self.nu

        def state(weights: Array, gram: Any) -> BoxQP:
            return svdd(gram, weights / (nu * float(weights.sum())))

        # The multipliers add up to one, so a linear machine depends on the origin.
        bound = float(np.median(rows.weights)) / (nu * float(rows.weights.sum()))
        return OneProblem(state, Bias.FREE, bound, movable=False, to_edges=True)

    def _boundary(self, fitted: Fitted, rows: Rows) -> Attributes:
        bias, norm = float(fitted.machines[0].biases[0]), fitted.solutions[0].certificate.norm
        squared = max(0.0, norm**2 + 2.0 * bias)
        # Scores are off by a share of K(x, x), which is at most (R + ||a||)^2 for points inside.
        squared += self._slack(fitted) * (math.sqrt(squared) + norm) ** 2
        return {
            "radius_": math.sqrt(squared),
            "offset_": -squared,
            "intercept_": np.array([0.5 * (squared - norm**2)]),
            "_squares": _Squares.of_rows(rows) if rows.kernel.of_positions else None,
        }

    @property
    def center_(self) -> Array:
        """The centre a of the linear kernel."""
        return np.asarray(as_dense(self.coef_)).ravel()

    def score_samples(self, X: Any) -> Array:
        """Minus the squared distance to the centre in feature space."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X: Any) -> Array:
        """R^2 - ||phi(x) - a||^2 = 2 f(x) + R^2 - ||a||^2 - K(x, x): positive inside, negative outside."""
        check_is_fitted(self)
        if self.kernel_.of_positions:
            X, squares = self._apart(X)
        else:
            points = checks.prediction_data(self, X, taken_by(self.kernel_))
            squares = self.kernel_.diagonal(self.kernel_.prepare(points))
        return 2.0 * self._decisions(X).ravel() - squares

    def distance(self, X: Any) -> Array:
        """Distance to the centre in feature space."""
        return np.sqrt(np.maximum(-self.score_samples(X), 0.0))

    def _apart(self, X: Any) -> tuple[Any, Array]:
        """Kernel values between new points and training rows, and K(x, x) of the points."""
        n = self.n_features_in_
        given = np.asarray(X)
        if given.ndim == 2 and given.shape[1] == n + 1:
            squares = given[:, n].astype(np.float64)
            if not np.isfinite(squares).all():
                raise ValueError(f"SVDD: K(x, x), column {n}, contains NaN or infinity.")
            return given[:, :n], squares
        values = checks.prediction_data(self, X, Takes.VALUES)
        assert self._squares is not None
        squares, unknown = self._squares.of(values)
        if len(unknown):
            checks.warn_user(
                f"SVDD: the distance of row {unknown[0]} to the centre needs K(x, x), which kernel values between it "
                f"and training rows do not tell; the least that they allow is taken. Append it as column {n}, or use a "
                "kernel that is the same for all x (normalise the matrix: K_ij / sqrt(K_ii K_jj))."
            )
        return values, squares


class _Squares(NamedTuple):
    """K(x, x) of the training rows, and which row has which: their kernel values tell rows apart.

    ``places`` are those of the rows that were learned from, among the columns of the matrix as it was given.
    """

    diagonal: Array
    known: dict[bytes, float]
    places: Array

    @classmethod
    def of_rows(cls, rows: Rows) -> _Squares:
        K = rows.X
        diagonal = np.diag(K).astype(np.float64)
        same = np.ptp(diagonal) <= 1e-12 * np.abs(diagonal).max()
        each = {} if same else {_mark(row): float(square) for row, square in zip(K, diagonal, strict=True)}
        return cls(diagonal, each, rows.of(np.arange(rows.shape[0])))

    def of(self, values: Array) -> tuple[Array, Array]:
        """K(x, x) of points with these kernel values, and which of them are only bounded from below.

        K(x, x_i)^2 <= K(x, x) K(x_i, x_i) (Cauchy and Schwarz).
        """
        if not self.known:
            return np.full(len(values), self.diagonal[0]), np.empty(0, np.int64)
        values = values[:, self.places]
        squares = np.array([self.known.get(_mark(row), np.nan) for row in values])
        unknown = np.flatnonzero(np.isnan(squares))
        long = self.diagonal > 0
        squares[unknown] = np.max(values[unknown][:, long] ** 2 / self.diagonal[long], axis=1, initial=0.0)
        return squares, unknown


def _mark(row: Array) -> bytes:
    return hashlib.blake2b(np.asarray(row, np.float64).tobytes(), digest_size=16).digest()
