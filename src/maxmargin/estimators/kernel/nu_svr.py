"""Regression that is told how many rows may lie outside its tube instead of how wide it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import OneProblem
from maxmargin.estimators.kernel.machine import KERNEL_RULES
from maxmargin.estimators.kernel.regressor import KernelRegressor
from maxmargin.estimators.plans.kernel import Rows
from maxmargin.estimators.progress import Attributes
from maxmargin.estimators.uncertain import INTERVAL_RULES
from maxmargin.models import nu_regression, tube
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Point, Progress, Solution

_RULES: dict[str, Rule] = {
    name: rule
    for name, rule in (KERNEL_RULES | INTERVAL_RULES | {"C": checks.POSITIVE, "nu": checks.SHARE}).items()
    if name != "fit_intercept"
}


class NuSVR(KernelRegressor):
    """Support vector regression with a share nu of rows outside its tube, solved to a certificate of optimality.

    It minimises, with weights c_i that add up to W,

        1/2 ||w||^2 + C (nu W epsilon + sum_i c_i max(0, |y_i - w'phi(x_i) - b| - epsilon))

    over the half width epsilon of the tube too: at most a share ``nu`` of the weight lies outside, and at least that
    share are support vectors (Schoelkopf, Smola, Williamson and Bartlett 2000). It is the ``SVR`` of the epsilon found.

    Parameters
    ----------
    nu : float, default=0.5
        The share, above 0 and at most 1.
    C : float, default=1.0
        Cost of errors.
    kernel, degree, gamma, coef0, solver, shrinking, tol, cache_size, intervals, cv, max_iter, time_limit, warm_start, \
    random_state, n_jobs, verbose, callback, interrupt
        As in ``SVR``.

    Attributes
    ----------
    epsilon_ : float
        The half width that was found.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_, \
    certificate_, status_, trace_, kernel_, kernel_values_, cross_fit_
        As in ``SVR``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import NuSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NuSVR(nu=0.3, C=100.0).fit(X, y)
    >>> bool((abs(y - model.predict(X)) > model.epsilon_ + 1e-6).mean() <= 0.3)
    True
    """

    nu: float
    C: float
    epsilon_: float

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        solver: Any = "auto",
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        intervals: bool = False,
        cv: Any = 5,
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

    def _check(self) -> None:
        checks.check_parameters(self, _RULES)

    def _problem(self, rows: Rows, targets: Array) -> OneProblem:
        nu, C = self.nu, self.C

        def state(weights: Array, gram: Any) -> BoxQP:
            return nu_regression(gram, targets, nu, C * weights)

        return OneProblem(
            state,
            Bias.FREE,
            float(np.median(C * rows.weights)),
            groups=2,
            multipliers=2 * len(targets),
            to_machine=_of_both_sides,
            from_machine=lambda coef: np.concatenate([np.maximum(coef, 0.0), np.minimum(coef, 0.0)]),
        )

    def _more(self, solution: Solution) -> Attributes:
        return {"epsilon_": tube(solution.point).width}


def _of_both_sides(coef: Array, biases: Array) -> tuple[Array, Array]:
    """The machine of a solution whose multipliers belong to the upper and the lower side of the tube."""
    machine = tube(Point(beta=coef[0], biases=biases))
    return machine.coef[None], np.array([machine.bias])
