"""The support vector classifier with kernels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificates import bias_and_violation, distances, feasible_point, hull_distance
from maxmargin.core import checks, limits
from maxmargin.core.checks import Rule
from maxmargin.core.problem import BoxQP, Loss, soft_margin
from maxmargin.core.rows import Array
from maxmargin.core.solution import Progress, Solution, Status, combine
from maxmargin.core.threads import blas_held, effective_jobs, task_map
from maxmargin.core.twins import Twins, find_twins, no_twins
from maxmargin.estimators.kernel_choice import KERNEL_NAMES, is_kernel, resolve_kernel
from maxmargin.estimators.progress import SklearnPairs, SklearnSteps, TimeShares, printer
from maxmargin.estimators.scoring import kernel_sums
from maxmargin.kernels import Gram, Kernel, Linear
from maxmargin.kernels.gram import FLOAT64_ROWS, default_budget
from maxmargin.kernels.points import Entries
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.solvers import SMO, solve
from maxmargin.solvers.dual.smo import State

_RULES: dict[str, Rule] = {
    "C": Rule("a number > 0, or infinity for the hard margin", checks.positive),
    "kernel": Rule(f"one of {', '.join(map(repr, KERNEL_NAMES))}, a Kernel or a function", is_kernel),
    "degree": Rule("a number >= 0", lambda value: checks.number(value) and value >= 0),
    "gamma": Rule(
        "'scale', 'auto' or a number >= 0",
        lambda value: value in ("scale", "auto") if isinstance(value, str) else checks.number(value) and value >= 0,
    ),
    "coef0": Rule("a finite number", checks.number),
    "loss": checks.one_of("hinge", "squared_hinge"),
    "fit_intercept": Rule("True, False or 'regularized'", lambda v: checks.boolean(v) or v == "regularized"),
    "shrinking": Rule("True or False", checks.boolean),
    "tol": Rule("a number > 0", checks.positive),
    "cache_size": Rule("a number of megabytes > 0, or None", lambda value: value is None or checks.positive(value)),
    "max_iter": Rule("-1 (no limit) or an integer >= 0", lambda value: checks.integer(value) and value >= -1),
    "time_limit": Rule("a number of seconds > 0, or None", lambda value: value is None or checks.positive(value)),
    "decision_function_shape": checks.one_of("ovr", "ovo"),
    "break_ties": Rule("True or False", checks.boolean),
    "warm_start": Rule("True or False", checks.boolean),
    "interrupt": checks.one_of("raise", "keep"),
    "callback": Rule("a function or None", lambda value: value is None or callable(value)),
    "n_jobs": Rule("an integer or None", lambda value: value is None or checks.integer(value)),
}


class _Data(NamedTuple):
    """What a fit learns from: different rows of weight above zero, their class indices and costs.

    ``used`` are the given rows of weight above zero; row ``used[i]`` is solved as row ``twins.group[i]``.
    """

    X: Any
    labels: Array
    costs: Array
    used: Array
    twins: Twins


class SVC(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Support vector classifier with kernels, solved to a certificate of optimality.

    For two classes y in {-1, +1} it minimises

    .. math:: \tfrac12 \|w\|^2 + \sum_i C_i \max(0, 1 - y_i (w^\top \phi(x_i) + b))^p,

    p = 1 for ``loss="hinge"`` and p = 2 for ``loss="squared_hinge"``, through its dual: 0 <= alpha_i <= C_i for the
    hinge; alpha_i >= 0 with the kernel K + I / (2C) for its square. More classes are solved one versus one.

    Parameters
    ----------
    C : float, default=1.0
        Cost of slack; C_i is C times the weights of the row and its class. ``float("inf")`` is the hard margin: no
        slack at all, and an error where no hyperplane separates the classes.
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"}, Kernel or callable, default="rbf"
        The similarity. A callable either maps two collections to their matrix of kernel values, as in scikit-learn, or
        compares two single objects; it may compare anything, such as strings. See ``maxmargin.kernels``.
    degree : int, default=3
        Degree of the polynomial kernel (gamma x'z + coef0)^degree.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid" and "laplacian". "scale" is 1 / (d var(X)) with the variance weighted by
        ``sample_weight``; "auto" is 1 / d.
    coef0 : float, default=0.0
        The constant in "poly" and "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The slack itself or its square.
    fit_intercept : True, False or "regularized", default=True
        A free bias b; none; or one that is part of the norm, ||w||^2 + b^2 (the notes' appended 1).
    shrinking : bool, default=True
        Leave rows that look settled at a bound out of the working sets. The end is always tested on all rows.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the decision function. Problems of up to 2,000 rows
        are solved to about 1e-9 whatever this says.
    cache_size : float, default=None
        Megabytes for kernel values; None is a quarter of the free memory.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    max_iter : int, default=-1
        Most iterations of the solver, -1 for no limit.
    time_limit : float, default=None
        Seconds for the whole fit, certificate included. A fit that runs out of time keeps its best model.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For three classes and more: one value per class, or one per pair of classes.
    break_ties : bool, default=False
        Predict the largest decision value of "ovr" instead of the first class with most votes.
    warm_start : bool, default=False
        Start from the multipliers of the last fit, on the same rows and classes.
    random_state : int, RandomState or None, default=None
        Order in which tied rows enter the first working set; None spreads them evenly. The solution does not depend on
        it beyond ``tol``.
    n_jobs : int, default=None
        Threads; None is all cores. Results do not depend on it.
    verbose : int, default=0
        Above zero, print a line per step of the solver.
    callback : callable, default=None
        Called with a ``Progress`` after every step; return True to stop. Pairs of classes call it from their threads.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit: raise KeyboardInterrupt, or keep the best model so far with status interrupted.

    Attributes
    ----------
    certificate_ : Certificate
        Primal and dual value, duality gap and violation, recomputed from the model; ``certificate_.parts`` holds one
        per pair of classes.
    status_ : Status
        How the fit ended (the worst of all pairs).
    trace_ : Trace or list of Trace
        History of the solver, one for each pair of classes.
    margin_ : float or ndarray
        1 / ||w||, one for each pair of classes.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, n_iter_, class_weight_, shape_fit_
        As in scikit-learn's SVC.
    coef_ : ndarray
        The weights w of the linear kernel.
    kernel_ : Kernel
        The kernel with its width.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-6
    True
    """

    classes_: Array
    class_weight_: Array
    shape_fit_: tuple[int, ...]
    kernel_: Kernel
    support_: Array
    support_vectors_: Any
    n_support_: Array
    dual_coef_: Array
    intercept_: Array

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: str = "hinge",
        fit_intercept: Any = True,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: Any = None,
        max_iter: int = -1,
        time_limit: float | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.interrupt = interrupt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._of_positions
        tags.input_tags.pairwise = self._of_positions
        # Without a bias these decision functions vanish at the origin, or far from all rows: no weights can make one
        # class win everywhere, which scikit-learn expects of good scores.
        tags.classifier_tags.poor_score = self.fit_intercept is False and self.kernel not in ("rbf", "laplacian")
        return tags

    @property
    def _of_positions(self) -> bool:
        kernel = self.kernel
        return kernel.of_positions if isinstance(kernel, Kernel) else kernel == "precomputed"

    @property
    def _of_objects(self) -> bool:
        kernel = self.kernel
        return kernel.of_objects if isinstance(kernel, Kernel) else callable(kernel)

    # --- fitting -----------------------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; the (n, n) matrix of kernel values for "precomputed"; any objects for a kernel function.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 that multiply C: a weight of 2 is the same as having the row twice.

        Returns
        -------
        SVC
            The fitted estimator.
        """
        begun = limits.now()
        data, y = self._read(X, y, sample_weight)
        tasks = ovo.tasks(data.labels, len(self.classes_))
        binary = len(tasks) == 1
        root = self._init_callback_context(max_subtasks=None if binary else len(tasks))  # type: ignore[arg-type]
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        root.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
        steps = SklearnSteps(root, self, X, y, metadata) if binary and hasattr(self, "_skl_callbacks") else None
        solutions, problems = self._solve_all(data, tasks, begun, steps, SklearnPairs(root, self))
        self._store(data, tasks, solutions, problems)
        if steps:
            steps.close()
        root.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata, reconstruction_attributes=dict)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[_Data, Any]:
        """Checked rows and labels. Sets: classes_, class_weight_, shape_fit_, kernel_."""
        checks.parameters(self, _RULES)
        rows, y = checks.training_data(self, X, y, self._of_objects, self._of_positions)
        weights = checks.sample_weights(sample_weight, rows.shape[0])
        used = np.flatnonzero(weights)
        classes = np.unique(y[used])
        checks.at_least_two(classes, type(self).__name__)
        labels = np.searchsorted(classes, y[used])
        self._guess = self._previous(classes, rows.shape) if self.warm_start else None
        self.classes_, self.shape_fit_ = classes, rows.shape
        self.class_weight_ = checks.class_costs(self.class_weight, classes, y[used], weights[used])
        self.kernel_ = resolve_kernel(self.kernel, self.degree, self.coef0, self.gamma, rows, weights)
        return self._different_rows(rows, labels, weights, used), y

    def _different_rows(self, rows: Any, labels: Array, weights: Array, used: Array) -> _Data:
        """Rows of weight above zero; in small data equal ones become one."""
        some = rows if len(used) == rows.shape[0] else self.kernel_.rows(rows, used)
        vectors = not (self.kernel_.of_positions or self.kernel_.of_objects)
        twins = no_twins(len(used))
        if vectors and len(used) <= FLOAT64_ROWS:
            twins = find_twins(some, labels, weights[used])
            some, labels = some[twins.first], labels[twins.first]
        costs = self.C * self.class_weight_[labels] * np.bincount(twins.group, weights=weights[used])
        return _Data(some, labels, costs, used, twins)

    def _previous(self, classes: Array, shape: tuple[int, ...]) -> Array | None:
        """Multipliers of the last fit, one column per row of its data, if that had the same rows and classes."""
        if not hasattr(self, "dual_coef_"):
            return None
        if not np.array_equal(self.classes_, classes) or self.shape_fit_ != shape:
            warnings.warn(
                f"warm_start: the data have other rows or classes (shape {shape}, before {self.shape_fit_}); "
                "this fit starts afresh.",
                stacklevel=5,
            )
            return None
        coef = np.zeros((len(classes) - 1, shape[0]))
        coef[:, self.support_] = self.dual_coef_
        return coef

    def _solve_all(
        self, data: _Data, tasks: list[ovo.Task], begun: float, steps: SklearnSteps | None, pairs: SklearnPairs
    ) -> tuple[list[Solution], list[BoxQP]]:
        """Solve every pair of classes, in parallel where there are several."""
        n_jobs = effective_jobs(self.n_jobs)
        workers = min(n_jobs, len(tasks))
        budget = default_budget() if self.cache_size is None else int(self.cache_size * 2**20)
        kernel = self.kernel_ + 1.0 if self.fit_intercept == "regularized" else self.kernel_
        shared = None
        if len(tasks) > 1 and data.X.shape[0] <= FLOAT64_ROWS:
            shared = Gram(kernel, data.X, 0.0, budget, n_jobs)
            shared.submatrix(np.arange(shared.n))
        left = None if self.time_limit is None else max(1e-3, self.time_limit - (limits.now() - begun))
        shares = TimeShares(left, [len(task.rows) for task in tasks], workers)
        order = None
        if self.random_state is not None:
            order = check_random_state(self.random_state).permutation(data.X.shape[0])
        guesses = self._warm_guesses(data, tasks)
        problems: list[Any] = [None] * len(tasks)

        def one(index: int) -> Solution:
            task = tasks[index]
            problem = self._problem(data, task, kernel, shared, budget // workers, n_jobs)
            problems[index] = problem
            guess = None if guesses is None else feasible_point(problem, guesses[index])
            with pairs.pair() if len(tasks) > 1 else nullcontext():
                return solve(
                    problem,
                    SMO(self.tol, self.shrinking, _order_within(order, task.rows)),
                    guess=guess,
                    max_iter=self.max_iter,
                    time_limit=shares.take(len(task.rows)),
                    watch=self._watcher(index, tasks, data, problem, steps, pairs),
                    interrupt=self.interrupt,  # type: ignore[arg-type]
                )

        with blas_held(), limits.limits():
            solutions = task_map(one, range(len(tasks)), workers, self.interrupt == "keep")
        return solutions, problems

    def _problem(
        self, data: _Data, task: ovo.Task, kernel: Kernel, shared: Gram | None, budget: int, n_jobs: int
    ) -> BoxQP:
        """The box QP of one pair of classes."""
        costs = data.costs[task.rows]
        accuracy = 0.0 if np.isinf(costs).any() else self.tol
        if shared is not None:
            gram = shared.restricted(task.rows)
        else:
            whole = len(task.rows) == data.X.shape[0]
            X = data.X if whole else kernel.rows(data.X, task.rows)
            gram = Gram(kernel, X, accuracy, budget, n_jobs)
        if accuracy == 0.0 and not gram.definiteness(np.empty(0, np.int64))[0]:
            raise ValueError(
                f"The hard margin (C = infinity) needs a positive semidefinite kernel, and the Gram matrix of "
                f"{self.kernel_!r} on these rows is not. Use a finite C or another kernel; see maxmargin.mercer."
            )
        return soft_margin(gram, task.signs, costs, Loss(self.loss), self.fit_intercept is True)

    def _warm_guesses(self, data: _Data, tasks: list[ovo.Task]) -> list[Array] | None:
        if self._guess is None:
            return None
        coef = np.zeros((len(self._guess), len(data.labels)))
        np.add.at(coef.T, data.twins.group, self._guess[:, data.used].T)
        return ovo.split(coef, tasks, len(self.classes_))

    def _watcher(
        self,
        index: int,
        tasks: list[ovo.Task],
        data: _Data,
        problem: BoxQP,
        steps: SklearnSteps | None,
        pairs: SklearnPairs,
    ) -> Callable[[Progress, State], bool]:
        """Everyone who wants to know of a step; True where one of them asks to stop."""
        label = "" if len(tasks) == 1 else f"pair {index + 1}/{len(tasks)} "
        show = printer(label) if self.verbose else None

        def watch(seen: Progress, state: State) -> bool:
            if show:
                show(seen)
            stop = pairs.stopped or (bool(self.callback(seen)) if self.callback else False)
            if steps:
                stop |= steps.step(lambda: self._model_at(data, tasks, problem, state))
            return stop

        return watch

    def _model_at(self, data: _Data, tasks: list[ovo.Task], problem: BoxQP, state: State) -> dict[str, Any]:
        """Fitted attributes of a binary fit in progress, for scikit-learn's callbacks."""
        bias, _ = bias_and_violation(problem, state.beta, state.v)
        return self._model(data, tasks, [state.beta.copy()], [self._bias(bias, state.beta)])

    def _bias(self, free: float, beta: Array) -> float:
        if self.fit_intercept == "regularized":
            return float(beta.sum())  # the weight of the appended 1
        return free if self.fit_intercept else 0.0

    def _model(self, data: _Data, tasks: list[ovo.Task], betas: list[Array], biases: list[float]) -> dict[str, Any]:
        n_classes, twins = len(self.classes_), data.twins
        coef = ovo.join(tasks, betas, len(data.labels), n_classes)[:, twins.group] * twins.share
        labels = data.labels[twins.group]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(labels[support], kind="stable")]
        vectors = np.empty((0, 0)) if self.kernel_.of_positions else data.X[twins.group[support]]
        return {
            "support_": data.used[support].astype(np.int32),
            "support_vectors_": vectors,
            "n_support_": np.bincount(labels[support], minlength=n_classes).astype(np.int32),
            "dual_coef_": coef[:, support],
            "intercept_": ovo.direction(n_classes) * np.array(biases),
        }

    def _store(self, data: _Data, tasks: list[ovo.Task], solutions: list[Solution], problems: list[BoxQP]) -> None:
        """Sets: every fitted attribute. Warns of problems that were not solved, raises for those without solution."""
        for task, solution, problem in zip(tasks, solutions, problems, strict=True):
            if solution.status is Status.INFEASIBLE:
                self._refuse(task, solution, problem)
        biases = [self._bias(s.certificate.bias, s.beta) for s in solutions]
        for name, value in self._model(data, tasks, [s.beta for s in solutions], biases).items():
            setattr(self, name, value)
        norms = [
            _norm(s, b if self.fit_intercept == "regularized" else 0.0) for s, b in zip(solutions, biases, strict=True)
        ]
        inverse = np.array([1.0 / norm if norm > 0 else math.inf for norm in norms])
        self.margin_ = float(inverse[0]) if len(tasks) == 1 else inverse
        self.n_iter_ = np.array([s.iterations for s in solutions], np.int32)
        self.certificate_ = combine([s.certificate for s in solutions])
        self.status_ = max((s.status for s in solutions), key=lambda status: status.severity)
        self.fit_status_ = int(self.status_ is not Status.CONVERGED)
        traces = [s.trace for s in solutions]
        self.trace_ = traces[0] if len(tasks) == 1 else traces
        del self._guess
        if self.status_ is not Status.CONVERGED:
            unsolved = sum(s.status is not Status.CONVERGED for s in solutions)
            of = "" if len(tasks) == 1 else f" ({unsolved} of {len(tasks)} pairs of classes)"
            proof = self.certificate_
            warnings.warn(
                f"SVC {self.status_}{of}. The model is kept: relative gap {proof.relative_gap:.2g}, "
                f"violation {proof.violation:.2g} (tol {self.tol:g}).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _refuse(self, task: ovo.Task, solution: Solution, problem: BoxQP) -> None:
        distance = hull_distance(problem, solution.beta, problem.gram.scores(solution.beta, exact=True)[0])
        first, second = self.classes_[task.first], self.classes_[task.second]
        raise ValueError(
            f"The hard margin (C = infinity) has no solution: no hyperplane separates class {first!r} from {second!r} "
            f"in the feature space of {self.kernel_!r}. Proof: {np.count_nonzero(solution.beta)} rows carry weights "
            f"alpha >= 0 with alpha'y = 0 whose two class means lie {distance:.1g} of the data's size apart, so the "
            "convex hulls of the classes meet. Use a finite C, or another kernel."
        )

    # --- using the machine -------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> Array:
        """W of the linear kernel: one row for two classes, else one row for each pair."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ exists for the linear kernel only: w lies in feature space otherwise.")
        edges = np.cumsum([0, *self.n_support_])
        parts = []
        for start, stop in pairwise(edges):
            w = self.support_vectors_[start:stop].T @ self.dual_coef_[:, start:stop].T
            parts.append(np.asarray(w.todense() if sparse.issparse(w) else w))
        return ovo.pair_decisions(parts, len(self.classes_)).T

    def _pair_decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        X = checks.prediction_data(self, X, self._of_objects)
        n_classes = len(self.classes_)
        if isinstance(self.kernel_, Linear):
            return np.asarray(X @ self.coef_.T) + self.intercept_
        edges = np.cumsum([0, *self.n_support_])
        groups = [self.dual_coef_[:, a:b].T for a, b in pairwise(edges)]
        vectors = Entries(X, self.support_) if self.kernel_.of_positions else self.support_vectors_
        partial = kernel_sums(self.kernel_, X, vectors, groups, effective_jobs(self.n_jobs))
        return ovo.pair_decisions(partial, n_classes) + self.intercept_

    def decision_function(self, X: Any) -> Array:
        """Decision values: w'phi(x) + b for two classes, positive for ``classes_[1]``.

        For more classes, one value per class (``decision_function_shape="ovr"``) or per pair ("ovo", in the order
        (0, 1), (0, 2), ..., positive for the first of the pair).
        """
        pairs = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return pairs.ravel()
        return pairs if self.decision_function_shape == "ovo" else ovo.class_scores(pairs, len(self.classes_))

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes most votes, ties to the lowest class index."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        pairs = self._pair_decisions(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self.classes_[(pairs.ravel() >= 0).astype(np.intp)]
        value = ovo.class_scores if self.break_ties else ovo.votes
        return self.classes_[np.argmax(value(pairs, n_classes), axis=1)]

    def distance(self, X: Any) -> Array:
        """Distance of points to the hyperplane, |w'phi(x) + b| / ||w||; a column per pair of classes."""
        pairs = self._pair_decisions(X)
        return distances(pairs.ravel() if len(self.classes_) == 2 else pairs, 1.0 / np.asarray(self.margin_))


def _order_within(order: Array | None, rows: Array) -> Array | None:
    """The given order of all rows, as positions within ``rows``."""
    if order is None:
        return None
    position = np.full(len(order), -1, np.int64)
    position[rows] = np.arange(len(rows))
    found = position[order]
    return found[found >= 0]


def _norm(solution: Solution, bias: float) -> float:
    """||w||; a regularised bias is part of the certificate's norm and is taken out."""
    return math.sqrt(max(solution.certificate.norm**2 - bias**2, 0.0))
