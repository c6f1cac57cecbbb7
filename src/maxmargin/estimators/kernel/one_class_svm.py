"""Novelty detection by a hyperplane between the rows and the origin of feature space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import OneProblem
from maxmargin.estimators.kernel.novelty import NoveltyMachine
from maxmargin.estimators.plans.kernel import Rows
from maxmargin.estimators.progress import Attributes
from maxmargin.machines import Fitted
from maxmargin.models import one_class
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Progress


class OneClassSVM(NoveltyMachine):
    """One-class support vector machine, solved to a certificate of optimality.

    It minimises, with weights c_i that add up to W,

        1/2 ||w||^2 - nu W rho + sum_i c_i max(0, rho - w'phi(x_i)),

    a hyperplane w'phi(x) = rho as far from the origin as all but a share ``nu`` of the rows allow (Schoelkopf, Platt,
    Shawe-Taylor, Smola and Williamson 2001). At most that share of the training weight is outside, also of
    predictions, which scikit-learn's OneClassSVM does not keep for small nu; and at least that share are support
    vectors.

    Parameters
    ----------
    nu : float, default=0.5
        The share, above 0 and at most 1.
    kernel, degree, gamma, coef0, solver, shrinking, tol, cache_size, max_iter, time_limit, warm_start, random_state, \
    n_jobs, verbose, callback, interrupt
        As in ``SVC``.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho, or as little below it as rounding needs for the rows on the hyperplane to be inside:
        ``decision_function(X) = score_samples(X) - offset_``.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_
        As in scikit-learn's OneClassSVM; ``intercept_`` is minus ``offset_``.
    certificate_, status_, trace_, kernel_, kernel_values_
        As in ``SVC``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = OneClassSVM(nu=0.05).fit(X)
    >>> bool((model.predict(X) == -1).mean() <= 0.05)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
            return one_class(gram, nu, weights)

        # The multipliers do not add up to zero, so a linear machine depends on the origin.
        return OneProblem(state, Bias.FREE, float(np.median(rows.weights)), movable=False, to_edges=True)

    def _boundary(self, fitted: Fitted, rows: Rows) -> Attributes:
        rho = -float(fitted.machines[0].biases[0])
        rho -= self._slack(fitted) * abs(rho)
        return {"offset_": np.array([rho]), "intercept_": np.array([-rho])}

    def score_samples(self, X: Any) -> Array:
        """w'phi(x)."""
        return self.decision_function(X) + self.offset_

    def decision_function(self, X: Any) -> Array:
        """w'phi(x) - rho: positive inside, negative outside."""
        return self._decisions(X).ravel()
