"""What all estimators with kernels share: their tags, and decision values of new points."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.core.threads import effective_jobs
from maxmargin.estimators.plans.warm import KeepsForNextFit
from maxmargin.kernels import Kernel
from maxmargin.kernels.choice import KERNEL_NAMES, is_kernel, takes_positions
from maxmargin.machines.scoring import Expansion, Scorer, linear_decisions, scorer_of
from maxmargin.problems.solution import Certificate, Status

KERNEL_RULES: dict[str, Rule] = checks.COMMON_RULES | {
    "kernel": Rule(f"one of {', '.join(map(repr, KERNEL_NAMES))}, a Kernel or a function", is_kernel),
    "degree": Rule("an integer >= 0", lambda value: checks.integer(value) and value >= 0),
    "gamma": Rule(
        "'scale', 'auto' or a number >= 0",
        lambda value: value in ("scale", "auto") if isinstance(value, str) else checks.number(value) and value >= 0,
    ),
    "coef0": Rule("a finite number", checks.number),
    "shrinking": Rule("True or False", checks.boolean),
    "cache_size": Rule(
        "a number of megabytes > 0, or None", lambda value: value is None or (checks.number(value) and value > 0)
    ),
}

_SCORERS: WeakKeyDictionary[Any, Scorer] = WeakKeyDictionary()


class KernelMachine(KeepsForNextFit, CallbackSupportMixin, BaseEstimator):
    """An estimator whose decisions are sum_i dual_coef_i k(x_i, x) + b; see ``plans.kernel`` for its attributes."""

    kernel: Any
    tol: float
    n_jobs: int | None
    shape_fit_: tuple[int, ...]
    kernel_: Kernel
    support_: Array
    support_vectors_: Any
    n_support_: Array
    dual_coef_: Array
    intercept_: Array
    margin_: float | Array
    kernel_values_: int
    n_iter_: Array
    fit_status_: int
    certificate_: Certificate
    status_: Status
    trace_: Any
    _weights: Array | None  # w of the linear kernel
    _float32: bool = False  # whether all machines were solved with float32 tiles; known when a fit has ended

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not takes_positions(self.kernel)
        tags.input_tags.pairwise = takes_positions(self.kernel)
        return tags

    @property
    def coef_(self) -> Array:
        """The weights w of the linear kernel: a row for each machine (or class of a joint one), one for two classes."""
        check_is_fitted(self)
        if self._weights is None:
            raise AttributeError("coef_ exists for the linear kernel only: w lies in feature space otherwise.")
        return self._weights

    def _groups(self) -> Array | None:
        """Sizes of the groups of support vectors whose sums are kept apart; None for one group."""
        return None

    def _decisions(self, X: Any) -> Array:
        """Decision values (points, machines): checked data -> scorer."""
        check_is_fitted(self)
        X = checks.prediction_data(self, X, self.kernel_.of_objects)
        if self._weights is not None:
            return linear_decisions(X, self._weights, self.intercept_)
        return self._scorer().decisions(X, self.intercept_, effective_jobs(self.n_jobs))

    def _scorer(self) -> Scorer:
        """The machine made ready, kept from one call to the next outside of the estimator."""
        known = _SCORERS.get(self)
        vectors = self.support_ if self.kernel_.of_positions else self.support_vectors_
        machine = Expansion(self.kernel_, vectors, self._groups(), self.dual_coef_, self.tol, self._float32)
        if known is None or not known.serves(machine):
            _SCORERS[self] = known = scorer_of(machine)
        return known
