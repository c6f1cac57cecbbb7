"""Support vector regression with kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import OneProblem
from maxmargin.estimators.kernel.machine import KERNEL_RULES
from maxmargin.estimators.kernel.regressor import KernelRegressor
from maxmargin.estimators.losses import NUMBER_LOSSES, number_loss
from maxmargin.estimators.plans.kernel import Rows, usual_bound_of
from maxmargin.estimators.uncertain import INTERVAL_RULES
from maxmargin.losses.box import has_box
from maxmargin.models import regression
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Progress

_RULES: dict[str, Rule] = (
    KERNEL_RULES
    | INTERVAL_RULES
    | {
        "C": checks.POSITIVE,
        "epsilon": checks.NOT_NEGATIVE,
        "loss": Rule(
            f"one of {', '.join(map(repr, NUMBER_LOSSES))}, or a loss of maxmargin.losses for numbers that has a box",
            lambda loss: loss in NUMBER_LOSSES if isinstance(loss, str) else has_box(loss, of_labels=False),
            tuple(NUMBER_LOSSES),
        ),
    }
)


class SVR(KernelRegressor):
    """Support vector regression with kernels, solved to a certificate of optimality.

    It minimises

        1/2 ||w||^2 + sum_i C_i l(y_i - w'phi(x_i) - b),    l(r) = max(0, |r| - epsilon)

    or another loss: errors within a tube of half width epsilon cost nothing, and only rows on it or outside are support
    vectors. One multiplier per row, -C_i <= beta_i <= C_i.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors; C_i is C times the weight of the row.
    epsilon : float, default=0.1
        Half width of the tube; a loss object has its own.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "huber"} or loss object, default="epsilon_insensitive"
        What lies outside the tube; its square; or its square up to 1 and linear beyond (``Huber`` of
        ``maxmargin.losses`` with another width).
    fit_intercept : True, False or "regularized", default=True
        A free bias b; none; or one that is part of the norm.
    intervals : bool, default=False
        Whether ``predict_interval`` is learned: the machine is fitted again without each of ``cv`` folds, on the same
        kernel matrix.
    cv : int, splitter or list of (train, test) rows, default=5
        The folds for ``intervals``. With a number, equal rows stay in one fold.
    kernel, degree, gamma, coef0, solver, shrinking, tol, cache_size, max_iter, time_limit, warm_start, random_state, \
    n_jobs, verbose, callback, interrupt
        As in ``SVC``. ``tol`` is in units of the targets.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, shape_fit_
        As in scikit-learn's SVR.
    certificate_, status_, trace_, kernel_, kernel_values_
        As in ``SVC``.
    cross_fit_ : CrossFit
        With ``intervals``: the machines without each fold, their certificates, and what they are off by.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import SVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR(C=100.0, epsilon=10.0).fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-6
    True
    """

    C: float
    epsilon: float
    loss: Any
    fit_intercept: Any

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: Any = "epsilon_insensitive",
        fit_intercept: Any = True,
        intervals: bool = False,
        cv: Any = 5,
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

    def _check(self) -> None:
        checks.check_parameters(self, _RULES)

    def _problem(self, rows: Rows, targets: Array) -> OneProblem:
        loss = number_loss(self.loss, self.epsilon)
        C, bias = self.C, Bias.of(self.fit_intercept)

        def state(weights: Array, gram: Any) -> BoxQP:
            return regression(gram, targets, C * weights, loss, bias)

        return OneProblem(state, bias, usual_bound_of(loss, C * rows.weights))
