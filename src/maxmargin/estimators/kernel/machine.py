"""What all estimators with kernels share: their parameters, tags, and decision values of new points."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin

from maxmargin import checks
from maxmargin.checks import Documented, Rule
from maxmargin.core.rows import Array, as_dense
from maxmargin.core.threads import effective_jobs
from maxmargin.estimators.crossfit import FoldMachines, fold_decisions
from maxmargin.estimators.decides import DecidesByFold
from maxmargin.estimators.plans.warm import KeepsForNextFit
from maxmargin.kernels import Kernel
from maxmargin.kernels.choice import KERNEL_NAMES, Takes, is_kernel, taken_by
from maxmargin.machines.scoring import Expansion, Scorer, linear_decisions, scorer_of
from maxmargin.problems.solution import Certificate, Status
from maxmargin.solvers.box.choose import NAMED
from maxmargin.solvers.contract import is_solver

SOLVERS = ("auto", *NAMED)
KERNEL_RULES: dict[str, Rule] = checks.COMMON_RULES | {
    "kernel": Rule(f"one of {', '.join(map(repr, KERNEL_NAMES))}, a Kernel or a function", is_kernel, KERNEL_NAMES),
    "degree": Rule("an integer >= 0", lambda value: checks.integer(value) and value >= 0),
    "gamma": Rule(
        "'scale', 'auto' or a number >= 0",
        lambda value: value in ("scale", "auto") if isinstance(value, str) else checks.number(value) and value >= 0,
        ("scale", "auto"),
    ),
    "coef0": Rule("a finite number", checks.number),
    "solver": Rule(
        f"one of {', '.join(map(repr, SOLVERS))}, a class that follows solvers.Solver, or a Stage of one",
        lambda value: value in SOLVERS if isinstance(value, str) else is_solver(value),
        SOLVERS,
    ),
    "shrinking": Rule("True or False", checks.boolean),
    "cache_size": Rule(
        "a number of megabytes > 0, or None", lambda value: value is None or (checks.number(value) and value > 0)
    ),
}

_SCORERS: WeakKeyDictionary[Any, dict[str, Scorer]] = WeakKeyDictionary()


class KernelMachine(KeepsForNextFit, DecidesByFold, Documented, CallbackSupportMixin, BaseEstimator):
    """An estimator whose decisions are sum_i dual_coef_i k(x_i, x) + b; see ``plans.kernel`` for its attributes."""

    kernel: Any
    degree: int
    gamma: Any
    coef0: float
    tol: float
    solver: Any
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    shape_fit_: tuple[int, ...]
    kernel_: Kernel
    support_: Array
    support_vectors_: Any
    n_support_: Array
    dual_coef_: Any
    intercept_: Array
    margin_: float | Array
    kernel_values_: int
    n_iter_: Any
    fit_status_: int
    certificate_: Certificate
    status_: Status
    trace_: Any
    _weights: Any  # w of the linear kernel, and the coefficients that it was made of
    _float32: bool = False  # whether all machines were solved with float32 tiles; known when a fit has ended

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = taken_by(self.kernel) is Takes.VALUES
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    @property
    def coef_(self) -> Any:
        """The weights w of the linear kernel: a row for each machine (or class of a joint one), one for two classes.

        Made of ``dual_coef_``, so it cannot be written; sparse where the training data were.
        """
        checks.refuse_unfitted(self)
        w = self._linear_weights()
        if w is None:
            raise AttributeError("coef_ exists for the linear kernel only: w lies in feature space otherwise.")
        if sparse.issparse(self.support_vectors_):
            return sparse.csr_matrix(w)
        view = w.view()
        view.flags.writeable = False
        return view

    def _linear_weights(self) -> Array | None:
        """w of the linear kernel, made again where ``dual_coef_`` was changed since."""
        if self._weights is None:
            return None
        w, made_of = self._weights
        coef = as_dense(self.dual_coef_)
        if coef.shape == made_of.shape and np.array_equal(coef, made_of):
            return w
        return self._weights_of(coef)

    def _weights_of(self, coef: Array) -> Array:
        """sum_i coef_i x_i over the support vectors, for every machine."""
        return np.asarray(coef @ self.support_vectors_)

    def _groups(self) -> Array | None:
        """Sizes of the groups of support vectors whose sums are kept apart; None for one group."""
        return None

    def _decisions(self, X: Any) -> Array:
        """Decision values (points, machines): checked data -> scorer."""
        checks.refuse_unfitted(self)
        X = checks.prediction_data(self, X, taken_by(self.kernel_))
        w = self._linear_weights()
        if w is not None:
            return linear_decisions(X, w, self.intercept_)
        vectors = self.support_ if self.kernel_.of_positions else self.support_vectors_
        return self._scorer("machine", vectors, self._groups(), self.dual_coef_).decisions(
            X, self.intercept_, effective_jobs(self.n_jobs)
        )

    def _fold_decisions(self, X: Any, folds: FoldMachines) -> Array:
        """Decision values of the machines without each fold, (folds, points, machines)."""
        X = checks.prediction_data(self, X, taken_by(self.kernel_))
        if folds.weights is not None:
            return fold_decisions(X, folds)
        vectors = folds.support if self.kernel_.of_positions else folds.vectors
        scorer = self._scorer("folds", vectors, folds.counts, folds.coef)
        sums = scorer.sums(X, effective_jobs(self.n_jobs))
        parts = np.split(sums, len(folds.biases), axis=1)
        return np.stack([scorer.joined(part, biases) for part, biases in zip(parts, folds.biases, strict=True)])

    def _scorer(self, name: str, vectors: Any, groups: Array | None, coef: Any) -> Scorer:
        """An expansion made ready, kept from one call to the next outside of the estimator."""
        kept = _SCORERS.setdefault(self, {})
        machine = Expansion(self.kernel_, vectors, groups, coef, self.tol, self._float32)
        known = kept.get(name)
        if known is None or not known.serves(machine):
            kept[name] = known = scorer_of(machine)
        return known
