"""Online learners by stochastic gradient descent: ``SGDSVC`` and ``SGDSVR``."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array, finite_squared_norms, rows_of
from maxmargin.core.threads import effective_jobs, thread_map
from maxmargin.estimators.probabilities import probabilities
from maxmargin.estimators.rules import is_loss
from maxmargin.losses import EpsilonInsensitive, Hinge, Logistic, SquaredEpsilonInsensitive, SquaredHinge
from maxmargin.machines.linear import few_merged
from maxmargin.solvers.choose import SMALL_ROWS
from maxmargin.solvers.linear.sgd import STEPS, Descent, Iterates


class Season(NamedTuple):
    """What a season did: its number, steps in all so far, the step length it began with, and the held-out score."""

    number: int
    steps: int
    step_length: float
    score: float


def _is_schedule(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto"
    try:
        return len(value) > 0 and all(checks.integer(n) and n > 0 and checks.positive(eta) for n, eta in value)
    except TypeError:
        return False


_RULES: dict[str, Rule] = {
    **{name: checks.COMMON_RULES[name] for name in ("warm_start", "n_jobs", "verbose")},
    "lam": Rule("a finite number > 0", lambda v: checks.positive(v) and checks.number(v)),
    "C": Rule("a finite number > 0, or None", lambda v: v is None or (checks.positive(v) and checks.number(v))),
    "fit_intercept": Rule("True or False", checks.boolean),
    "batch_size": Rule("an integer > 0", lambda v: checks.integer(v) and v > 0),
    "schedule": Rule("'auto' or a list of seasons (steps, step length)", _is_schedule),
    "max_iter": Rule("an integer > 0", lambda v: checks.integer(v) and v > 0),
    "average": Rule("True or False", checks.boolean),
    "monitor": Rule("True or False", checks.boolean),
    "early_stopping": Rule("True or False", checks.boolean),
    "validation_fraction": Rule("a number between 0 and 1", lambda v: checks.number(v) and 0 < v < 1),
    "n_iter_no_change": Rule("an integer > 0", lambda v: checks.integer(v) and v > 0),
    "tol": Rule("a number >= 0", lambda v: checks.number(v) and v >= 0),
}


class _OnlineLearner(BaseEstimator):
    """What both learners share: seasons over the rows, averages, held-out scores, ``partial_fit``."""

    coef_: Array
    intercept_: Array
    _iterates: list[Iterates]
    _first_lengths: list[float]
    _streams = False  # whether ``partial_fit`` is at work

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _train(self, X: Any, targets: list[Array], weights: Array, seasons: int, held_out: Any) -> None:
        """Run seasons over the rows. Sets: coef_, intercept_, seasons_, n_iter_, t_."""
        parameters: Any = self
        lam = parameters.lam if parameters.C is None else 1.0 / (parameters.C * float(weights.sum()))
        drawn = X.shape[0] <= SMALL_ROWS
        X, columns, weights = few_merged(X, np.stack(targets, axis=1), weights)
        targets = [np.ascontiguousarray(y) for y in columns.T]
        n = X.shape[0]
        factors = np.ones(n) if drawn else weights / weights.mean()
        rows, scale = rows_of(X, X.dtype), float(bool(parameters.fit_intercept))
        finite_squared_norms(rows)  # beyond float64 every step length is zero, and so are the weights
        descents = [Descent(rows, y, factors, self._loss(), lam, scale) for y in targets]
        rng = np.random.default_rng(check_random_state(parameters.random_state).randint(2**31 - 1))
        batch, jobs = min(parameters.batch_size, n), effective_jobs(parameters.n_jobs)
        if self._first_lengths is None and parameters.schedule == "auto":
            self._first_lengths = [descent.first_length(np.random.default_rng(0), batch) for descent in descents]
        best, waited = -np.inf, 0
        kept: Any = None
        for number, (rows_of_season, eta) in enumerate(self._seasons(n, seasons, batch)):
            order = _draws(rng, weights, rows_of_season) if drawn else _order(rng, n, rows_of_season)
            lengths = self._first_lengths if eta is None else [eta] * len(descents)

            def run(k: int, order: Array = order, lengths: Any = lengths, decays: bool = eta is None) -> None:
                self._iterates[k].forget_average()
                descents[k].run(order, self._iterates[k], lengths[k], decays, batch)

            thread_map(run, range(len(descents)), jobs)
            self._take_weights()
            if not (np.isfinite(self.coef_).all() and np.isfinite(self.intercept_).all()):
                raise ValueError(
                    f"{type(self).__name__}: the weights grew without bound in season {number}: the step length "
                    f"{lengths[0]:g} is too large for these features. Scale the features or shorten the steps."
                )
            score = self._score(*held_out) if held_out is not None else np.nan
            self.seasons_.append(Season(len(self.seasons_), int(self.t_), float(lengths[0]), score))
            if parameters.verbose:
                print(f"[maxmargin] season {number}  steps {int(self.t_)}  held-out score {score:.4f}")  # noqa: T201
            if not parameters.early_stopping:
                continue
            waited = 0 if score > best + parameters.tol else waited + 1
            if score > best:
                best, kept = score, copy.deepcopy(self._iterates)
            if waited >= parameters.n_iter_no_change:
                break
        self.n_iter_ = len(self.seasons_)
        if kept is not None:
            self._iterates = kept
            self._take_weights()

    def _stream(self, X: Any, targets: list[Array], weights: Array) -> None:
        """One season over further rows."""
        parameters: Any = self
        if parameters.early_stopping or parameters.monitor:
            raise ValueError(
                f"{type(self).__name__}.partial_fit cannot hold rows out of a stream: leave early_stopping and monitor "
                "at False, or use fit."
            )
        self._streams = True
        try:
            self._train(X, targets, weights, 1, None)
        finally:
            del self._streams

    def _seasons(self, n: int, most: int, batch: int) -> list[tuple[int, float | None]]:
        """Rows and step length of each season; None is the decaying length."""
        schedule = self.schedule  # type: ignore[attr-defined]
        if isinstance(schedule, str):
            return [(n, None)] * most
        if most == 1 and self._streams:  # one season over the rows of this call, with the length of its place
            begins = np.cumsum([0, *(steps for steps, _ in schedule)])
            now = min(int(np.searchsorted(begins, self._iterates[0].numbers[STEPS], "right")) - 1, len(schedule) - 1)
            return [(n, float(schedule[now][1]))]
        return [(steps * batch, float(eta)) for steps, eta in schedule]

    def _take_weights(self) -> None:
        """Sets: coef_, intercept_, t_."""
        average = self.average  # type: ignore[attr-defined]
        pairs = [it.average if average else it.last for it in self._iterates]
        self.coef_ = np.stack([w for w, _ in pairs])
        self.intercept_ = np.array([b for _, b in pairs]) * float(bool(self.fit_intercept))  # type: ignore[attr-defined]
        self.t_ = float(self._iterates[0].numbers[STEPS])

    def _begin(self, machines: int, features: int, warm: bool) -> None:
        """Fresh iterates, unless those of the last fit can go on: copies, as steps write into them."""
        fits = warm and hasattr(self, "_iterates") and len(self._iterates) == machines
        if fits and len(self._iterates[0].u) == features:
            self._iterates, self.seasons_ = copy.deepcopy(self._iterates), list(self.seasons_)
            return
        self._iterates = [Iterates(features) for _ in range(machines)]
        self._first_lengths = None  # type: ignore[assignment]
        self.seasons_: list[Season] = []

    def _split(self, n: int, labels: Array | None) -> tuple[Array, Array] | None:
        """Rows to learn from and rows held out, or None where nobody asks for a score; a share of each class."""
        parameters: Any = self
        if not (parameters.early_stopping or parameters.monitor):
            return None
        seed = parameters.random_state if isinstance(parameters.random_state, int | np.integer) else 0
        order = np.random.default_rng(seed).permutation(n)
        groups = [order] if labels is None else [order[labels[order] == k] for k in np.unique(labels)]
        held = [group[: max(1, round(parameters.validation_fraction * len(group)))] for group in groups]
        out = np.concatenate(held)
        kept = np.setdiff1d(order, out)
        if not len(kept) or (labels is not None and len(np.unique(labels[kept])) < len(groups)):
            raise ValueError(
                f"{type(self).__name__}: too few rows to hold out validation_fraction="
                f"{parameters.validation_fraction} of them for early_stopping or monitor."
            )
        return kept, np.sort(out)

    def _loss(self) -> Any:
        raise NotImplementedError

    def _score(self, X: Any, y: Array, weights: Array) -> float:
        raise NotImplementedError


def _weighty(X: Any, y: Array, weights: Array, name: str) -> tuple[Any, Array, Array]:
    """The rows of weight above zero."""
    used = np.flatnonzero(weights)
    if not len(used):
        raise ValueError(f"{name}: all weights are zero: there is no row left to learn from.")
    return (X, y, weights) if len(used) == len(weights) else (X[used], y[used], weights[used])


def _draws(rng: np.random.Generator, weights: Array, wanted: int) -> Array:
    """Row numbers for a season, drawn in proportion to the weights: a weight of 2 is then the same as two rows."""
    return np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(wanted)).clip(0, len(weights) - 1)


def _order(rng: np.random.Generator, n: int, wanted: int) -> Array:
    """Row numbers for a season: permutations one after another."""
    return np.concatenate([rng.permutation(n) for _ in range(-(-wanted // n))])[:wanted]


_CLASSES: dict[str, Callable[[], Any]] = {"hinge": Hinge, "squared_hinge": SquaredHinge, "logistic": Logistic}
_NUMBERS: dict[str, Callable[[float], Any]] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


class SGDSVC(ClassifierMixin, _OnlineLearner):
    """Linear classifier trained by stochastic gradient descent: for streams, and for a good model within one pass.

    It descends on mean_i l(y_i, w'x_i + b) + lam/2 ||w||^2 (the notes' form); more classes one versus the rest. For the
    exact optimum with a certificate use ``LinearSVC``.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic"} or loss of ``maxmargin.losses``, default="hinge"
        The loss.
    lam : float, default=1e-4
        Weight of the norm.
    C : float, default=None
        Replaces lam by 1 / (C n), n the sum of the weights of the rows that ``fit`` learns from (those not held out),
        or of one call of ``partial_fit``.
    fit_intercept : bool, default=True
        Whether there is a (free) bias.
    batch_size : int, default=1
        Rows whose gradients are averaged in a step.
    schedule : "auto" or list of (steps, step length), default="auto"
        Seasons of constant step length, such as ``[(1000, 1e-3), (1000, 1e-4)]``; ``partial_fit`` takes the length that
        belongs to its steps so far. "auto" makes a season of each pass
        over the rows, with a first length found by trial and decaying lengths.
    max_iter : int, default=10
        Passes over the rows, the seasons of "auto".
    average : bool, default=True
        Take the average of the iterates over the second half of the last season instead of the last iterate.
    monitor : bool, default=False
        Hold rows out and record the accuracy on them after each season, in ``seasons_``.
    early_stopping : bool, default=False
        Stop when that accuracy has not grown by ``tol`` for ``n_iter_no_change`` seasons, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of each class that is held out.
    n_iter_no_change : int, default=3
        Patience of ``early_stopping``.
    tol : float, default=1e-3
        Least growth of the accuracy that counts.
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows' weights per class; ``partial_fit`` takes a dict or None.
    warm_start : bool, default=False
        ``fit`` goes on from the last weights.
    random_state : int, RandomState or None, default=None
        Order of the rows.
    n_jobs : int, default=None
        Threads for several classes; None is all cores. Results do not depend on it.
    verbose : int, default=0
        Above zero, print a line per season.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights (1 or n_classes rows), biases, labels.
    seasons_ : list of Season
        Number, steps so far, step length and held-out accuracy of every season.
    n_iter_ : int
        Number of seasons.
    t_ : float
        Steps so far.
    """

    classes_: Array

    def __init__(
        self,
        *,
        loss: Any = "hinge",
        lam: float = 1e-4,
        C: float | None = None,
        fit_intercept: bool = True,
        batch_size: int = 1,
        schedule: Any = "auto",
        max_iter: int = 10,
        average: bool = True,
        monitor: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-3,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.lam = lam
        self.C = C
        self.fit_intercept = fit_intercept
        self.batch_size = batch_size
        self.schedule = schedule
        self.max_iter = max_iter
        self.average = average
        self.monitor = monitor
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.fit_intercept  # f = 0 at the origin, whatever the weights
        return tags

    @checks.all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDSVC:
        """Learn from all rows, in seasons.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows.

        Returns
        -------
        SGDSVC
            The fitted estimator.
        """
        checks.check_parameters(self, _RULES | {"loss": is_loss(True, *_CLASSES, custom=False)})
        X, y = checks.training_data(self, X, y, objects=False, square=False)
        weights = checks.sample_weights(sample_weight, X.shape[0])
        classes = np.unique(y[weights > 0])
        checks.at_least_two(classes, type(self).__name__)
        X, y, weights = _weighty(X, y, weights, type(self).__name__)
        labels = np.searchsorted(classes, y)
        factors = checks.class_costs(self.class_weight, classes, y, weights)
        weights = weights * factors[labels]
        if not weights.all():  # a class of weight zero
            X, labels, weights = _weighty(X, labels, weights, type(self).__name__)
        same = self.warm_start and hasattr(self, "classes_") and np.array_equal(self.classes_, classes)
        self.classes_ = classes
        self._begin(self._machines, X.shape[1], warm=bool(same))
        parts = self._split(X.shape[0], labels)
        if parts is None:
            self._train(X, self._targets(labels), weights, self.max_iter, None)
        else:
            kept, out = parts
            held_out = X[out], classes[labels[out]], weights[out]
            self._train(X[kept], self._targets(labels[kept]), weights[kept], self.max_iter, held_out)
        return self

    @checks.all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> SGDSVC:
        """Learn from further rows: one season over them, from where the last one ended.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, all among ``classes``.
        classes : array-like, default=None
            All labels there will be; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows.

        Returns
        -------
        SGDSVC
            The estimator.
        """
        checks.check_parameters(self, _RULES | {"loss": is_loss(True, *_CLASSES, custom=False)})
        first = not hasattr(self, "classes_")
        if self.class_weight == "balanced":
            raise ValueError("SGDSVC.partial_fit cannot balance classes it has not seen: give class_weight as a dict.")
        X, y = checks.further_data(self, X, y, reset=first)
        known = checks.stream_classes(self, y, classes)
        checks.at_least_two(known, type(self).__name__)
        self.classes_ = known
        labels = np.searchsorted(self.classes_, y)
        weights = checks.sample_weights(sample_weight, X.shape[0])
        weights = weights * checks.class_costs(self.class_weight, self.classes_, y, weights)[labels]
        self._begin(self._machines, X.shape[1], warm=not first)
        if weights.any():
            X, labels, weights = _weighty(X, labels, weights, type(self).__name__)
            self._stream(X, self._targets(labels), weights)
        elif first:
            self._take_weights()
        return self

    @property
    def _machines(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _targets(self, labels: Array) -> list[Array]:
        positives = [1] if self._machines == 1 else range(len(self.classes_))
        return [np.where(labels == k, 1.0, -1.0) for k in positives]

    def _loss(self) -> Any:
        return _CLASSES[self.loss]() if isinstance(self.loss, str) else self.loss

    def _score(self, X: Any, y: Array, weights: Array) -> float:
        return float(accuracy_score(y, self._decide(self._values(X)), sample_weight=weights))

    def _values(self, X: Any) -> Array:
        values = np.asarray(X @ self.coef_.T) + self.intercept_
        return values.ravel() if len(self.classes_) == 2 else values

    def _decide(self, values: Array) -> Array:
        return self.classes_[(values >= 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)]

    def decision_function(self, X: Any) -> Array:
        """w'x + b: one value for two classes, positive for ``classes_[1]``; else one per class."""
        check_is_fitted(self)
        return self._values(checks.prediction_data(self, X, objects=False))

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes the largest value, ties to the lowest class index."""
        return self._decide(self.decision_function(X))

    @available_if(lambda self: self.loss == "logistic" or isinstance(self.loss, Logistic))
    def predict_proba(self, X: Any) -> Array:
        """P(class | x) = 1 / (1 + exp(-f)) of the logistic loss; with more classes scaled to sum to one."""
        return probabilities(self.decision_function(X))


class SGDSVR(RegressorMixin, _OnlineLearner):
    """Linear regression trained by stochastic gradient descent with the losses of support vector regression.

    It descends on mean_i max(0, |y_i - w'x_i - b| - epsilon)^p + lam/2 ||w||^2, p = 1 or 2. For the exact optimum with
    a certificate use ``LinearSVR``.

    Parameters
    ----------
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"} or loss of ``maxmargin.losses``, \
    default="epsilon_insensitive"
        p = 1 or p = 2.
    epsilon : float, default=0.0
        Half width of the tube within which errors cost nothing.
    lam, C, fit_intercept, batch_size, schedule, max_iter, average, monitor, early_stopping, validation_fraction, \
    n_iter_no_change, tol, warm_start, random_state, n_jobs, verbose
        As in ``SGDSVC``; the held-out score is R^2.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_, seasons_, n_iter_, t_
        As in ``SGDSVC``.
    """

    def __init__(
        self,
        *,
        loss: Any = "epsilon_insensitive",
        epsilon: float = 0.0,
        lam: float = 1e-4,
        C: float | None = None,
        fit_intercept: bool = True,
        batch_size: int = 1,
        schedule: Any = "auto",
        max_iter: int = 10,
        average: bool = True,
        monitor: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.epsilon = epsilon
        self.lam = lam
        self.C = C
        self.fit_intercept = fit_intercept
        self.batch_size = batch_size
        self.schedule = schedule
        self.max_iter = max_iter
        self.average = average
        self.monitor = monitor
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @checks.all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDSVR:
        """Learn from all rows, in seasons (see ``SGDSVC.fit``)."""
        self._check()
        X, y = checks.regression_data(self, X, y)
        weights = checks.sample_weights(sample_weight, X.shape[0])
        X, y, weights = _weighty(X, y, weights, type(self).__name__)
        self._begin(1, X.shape[1], self.warm_start)
        parts = self._split(X.shape[0], None)
        if parts is None:
            self._train(X, [y], weights, self.max_iter, None)
        else:
            kept, out = parts
            self._train(X[kept], [y[kept]], weights[kept], self.max_iter, (X[out], y[out], weights[out]))
        self.coef_ = self.coef_.ravel()
        return self

    @checks.all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDSVR:
        """Learn from further rows: one season over them, from where the last one ended."""
        self._check()
        first = not hasattr(self, "coef_")
        X, y = checks.regression_data(self, X, y, reset=first)
        X, y, weights = _weighty(X, y, checks.sample_weights(sample_weight, X.shape[0]), type(self).__name__)
        self._begin(1, X.shape[1], warm=not first)
        self._stream(X, [y], weights)
        self.coef_ = self.coef_.ravel()
        return self

    def _check(self) -> None:
        epsilon = Rule("a finite number >= 0", lambda v: checks.number(v) and v >= 0)
        checks.check_parameters(self, _RULES | {"loss": is_loss(False, *_NUMBERS, custom=False), "epsilon": epsilon})

    def _loss(self) -> Any:
        return _NUMBERS[self.loss](float(self.epsilon)) if isinstance(self.loss, str) else self.loss

    def _score(self, X: Any, y: Array, weights: Array) -> float:
        return float(r2_score(y, np.asarray(X @ self.coef_.ravel()) + self.intercept_[0], sample_weight=weights))

    def predict(self, X: Any) -> Array:
        """w'x + b."""
        check_is_fitted(self)
        X = checks.prediction_data(self, X, objects=False)
        return np.asarray(X @ self.coef_) + self.intercept_[0]
