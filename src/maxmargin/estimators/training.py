"""From checked data to solutions: what ``SVC.fit`` does between reading its parameters and storing its attributes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from maxmargin.certificates import bias_and_violation, feasible_point, hull_distance
from maxmargin.core import checks, limits
from maxmargin.core.problem import Bias, BoxQP, Loss, soft_margin
from maxmargin.core.rows import Array
from maxmargin.core.solution import Certificate, Progress, Solution, Status, Trace
from maxmargin.core.threads import available_cores, blas_held, effective_jobs, task_map
from maxmargin.core.twins import Twins, find_twins, no_twins
from maxmargin.estimators.kernel_choice import resolve_kernel, takes_objects, takes_positions
from maxmargin.estimators.progress import SklearnPairs, SklearnSteps, TimeShares, printer
from maxmargin.kernels import Gram, Kernel, Linear
from maxmargin.kernels.gram import FLOAT64_ROWS, default_budget
from maxmargin.kernels.mercer import NOT_SYMMETRIC
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.solvers import SMO, Options, solve
from maxmargin.solvers.dual.smo import State

if TYPE_CHECKING:
    from maxmargin.estimators.svc import SVC

NO_ROWS = np.empty(0, np.int64)


class TrainingData(NamedTuple):
    """What a fit learns from: different rows of weight above zero, their class indices and costs.

    ``used`` are the given rows of weight above zero; row ``used[i]`` is solved as row ``twins.group[i]``. ``guess`` are
    multipliers to start from. ``fixed`` are the fitted attributes that are known before solving; the estimator gets all
    its attributes together, at the end.
    """

    X: Any
    labels: Array
    costs: Array
    used: Array
    twins: Twins
    kernel: Kernel
    guess: Array | None
    fixed: dict[str, Any]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.fixed["classes_"])


def bias_kind(svc: SVC) -> Bias:
    """The estimator's ``fit_intercept`` as a kind of bias."""
    if isinstance(svc.fit_intercept, str):
        return Bias(svc.fit_intercept)
    return Bias.FREE if svc.fit_intercept else Bias.NONE


def read(svc: SVC, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """Checked data; equal rows of one class become one where there are few rows."""
    rows, y = checks.training_data(svc, X, y, takes_objects(svc.kernel), takes_positions(svc.kernel))
    weights = checks.sample_weights(sample_weight, rows.shape[0])
    used = np.flatnonzero(weights)
    classes = np.unique(y[used])
    checks.at_least_two(classes, type(svc).__name__)
    labels = np.searchsorted(classes, y[used])
    factors = checks.class_costs(svc.class_weight, classes, y[used], weights[used])
    kernel = resolve_kernel(svc.kernel, svc.degree, svc.coef0, svc.gamma, rows, weights)
    guess = _previous(svc, classes, rows.shape) if svc.warm_start else None
    some = rows if len(used) == rows.shape[0] else kernel.rows(rows, used)
    twins = no_twins(len(used))
    if len(used) <= FLOAT64_ROWS and not (kernel.of_positions or kernel.of_objects):
        twins = find_twins(some, labels, weights[used])
        some, labels = some[twins.first], labels[twins.first]
    shares = factors[labels] * np.bincount(twins.group, weights=weights[used])
    costs = np.multiply(svc.C, shares, out=np.zeros(len(shares)), where=shares > 0)  # infinity times zero is zero
    fixed = {"classes_": classes, "class_weight_": factors, "shape_fit_": rows.shape, "kernel_": kernel}
    return TrainingData(some, labels, costs, used, twins, kernel, guess, fixed)


def _previous(svc: SVC, classes: Array, shape: tuple[int, ...]) -> Array | None:
    """Multipliers of the last fit, one column per row of its data, if that had the same rows and classes."""
    if not hasattr(svc, "dual_coef_"):
        return None
    if not np.array_equal(svc.classes_, classes) or svc.shape_fit_ != shape:
        warnings.warn(
            f"warm_start: the data have other rows or classes (shape {shape}, before {svc.shape_fit_}); "
            "this fit starts afresh.",
            stacklevel=5,
        )
        return None
    coef = np.zeros((len(classes) - 1, shape[0]))
    coef[:, svc.support_] = svc.dual_coef_
    return coef


class Training:
    """One fit: all pairs of classes, solved in parallel where there are several."""

    def __init__(
        self, svc: SVC, data: TrainingData, begun: float, steps: SklearnSteps | None, pairs: SklearnPairs
    ) -> None:
        self.svc, self.data, self.begun, self.steps, self.pairs = svc, data, begun, steps, pairs
        self.tasks = ovo.tasks(data.labels, data.n_classes)
        self.n_jobs = 1 if data.kernel.of_objects else effective_jobs(svc.n_jobs)
        self.bias = bias_kind(svc)
        self.kernel = data.kernel + 1.0 if self.bias is Bias.REGULARIZED else data.kernel
        total = default_budget() if svc.cache_size is None else int(svc.cache_size * 2**20)
        # Divided by what does not depend on n_jobs: the budget decides the path of the solver.
        self.budget = total // min(len(self.tasks), available_cores())
        self.hard = bool(np.isinf(data.costs).any())
        # With a free bias a linear machine does not depend on the origin; centred rows spare it cancellation.
        movable = isinstance(data.kernel, Linear) and self.bias is Bias.FREE and not sparse.issparse(data.X)
        self.shift = np.mean(data.X, axis=0, dtype=np.float64) if movable else None
        self.X = data.X if self.shift is None else data.X - self.shift

    def solve(self) -> list[Solution]:
        """A solution for every pair of classes."""
        svc, tasks = self.svc, self.tasks
        keep = svc.interrupt == "keep"
        with blas_held(), limits.limits() as active:
            try:
                shared = self._shared_gram()
            except KeyboardInterrupt:
                if not keep:
                    raise
                active.cancel.set()
                shared = None
            left = None if svc.time_limit is None else max(1e-3, svc.time_limit - (limits.now() - self.begun))
            workers = min(self.n_jobs, len(tasks))
            shares = TimeShares(left, [len(task.rows) for task in tasks], workers)
            order = None
            if svc.random_state is not None:
                order = check_random_state(svc.random_state).permutation(len(self.data.labels))
            guesses = self._guesses()

            def one(index: int) -> Solution:
                try:
                    return self._one(index, shared, shares, order, guesses[index] if guesses else None)
                except (KeyboardInterrupt, limits.Cancelled):  # before the problem could even be stated
                    if not keep:
                        raise
                    active.cancel.set()
                    return _unsolved(len(tasks[index].rows))

            return task_map(one, range(len(tasks)), workers, keep)

    def _shared_gram(self) -> Gram | None:
        """The kernel matrix of all rows, from which small pairs of classes take their parts."""
        if len(self.tasks) == 1 or len(self.data.labels) > FLOAT64_ROWS:
            return None
        shared = Gram(self.kernel, self.X, 0.0, self.budget, self.n_jobs)
        if shared.working_rows < shared.n:
            return None
        shared.submatrix(np.arange(shared.n))
        return shared

    def _one(
        self, index: int, shared: Gram | None, shares: TimeShares, order: Array | None, guess: Array | None
    ) -> Solution:
        task, svc = self.tasks[index], self.svc
        problem = self._problem(task, shared)
        with self.pairs.pair() if len(self.tasks) > 1 else nullcontext():
            options = Options(
                guess=None if guess is None else feasible_point(problem, guess),
                max_iter=svc.max_iter,
                time_limit=shares.take(len(task.rows)),
                watch=self._watcher(index, problem),
                interrupt=svc.interrupt,  # type: ignore[arg-type]
            )
            solution = solve(problem, SMO(svc.tol, svc.shrinking, _order_within(order, task.rows)), options)
        if self.hard:
            self._refuse_inseparable(task, solution, problem)
        return solution

    def _problem(self, task: ovo.Task, shared: Gram | None) -> BoxQP:
        """The box QP of one pair of classes."""
        if shared is not None:
            gram = shared.restricted(task.rows, self.budget)
        else:
            whole = len(task.rows) == len(self.data.labels)
            X = self.X if whole else self.kernel.rows(self.X, task.rows)
            gram = Gram(self.kernel, X, 0.0 if self.hard else self.svc.tol, self.budget, self.n_jobs)
        definite, reason = gram.definiteness(NO_ROWS)
        if NOT_SYMMETRIC in reason:
            raise ValueError(
                f"The kernel matrix of {self.data.kernel!r} is not symmetric, so it is no kernel: K(x, z) must equal "
                "K(z, x). Average it with its transpose, or mend the function."
            )
        if self.hard and not definite:
            raise ValueError(
                f"The hard margin (C = infinity) needs a positive semidefinite kernel, and the Gram matrix of "
                f"{self.data.kernel!r} on these rows is not. Use a finite C or another kernel; see maxmargin.mercer."
            )
        return soft_margin(gram, task.signs, self.data.costs[task.rows], Loss(self.svc.loss), self.bias)

    def _guesses(self) -> list[Array] | None:
        """Multipliers to start each pair from, those of equal rows added up."""
        data = self.data
        if data.guess is None:
            return None
        coef = np.zeros((len(data.guess), len(data.labels)))
        np.add.at(coef.T, data.twins.group, data.guess[:, data.used].T)
        return ovo.split(coef, self.tasks, data.n_classes)

    def _watcher(self, index: int, problem: BoxQP) -> Callable[[Progress, State], bool]:
        """Everyone who wants to know of a step; True where one of them asks to stop."""
        svc, steps, n_tasks = self.svc, self.steps, len(self.tasks)
        show = printer("" if n_tasks == 1 else f"pair {index + 1}/{n_tasks} ") if svc.verbose else None

        def watch(seen: Progress, state: State) -> bool:
            if show:
                show(seen)
            stop = self.pairs.stopped or (bool(svc.callback(seen)) if svc.callback else False)
            if steps:
                stop |= steps.step(lambda: self._model_at(problem, state))
            return stop

        return watch

    def _model_at(self, problem: BoxQP, state: State) -> dict[str, Any]:
        """Fitted attributes of a binary fit in progress, for scikit-learn's callbacks."""
        bias, _ = bias_and_violation(problem, state.beta, state.v)
        regularized = self.bias is Bias.REGULARIZED
        return self.model([state.beta.copy()], [float(state.beta.sum()) if regularized else bias])

    def model(self, betas: list[Array], biases: list[float]) -> dict[str, Any]:
        """Fitted attributes that make a machine of multipliers and biases."""
        data, n_classes, twins = self.data, self.data.n_classes, self.data.twins
        if self.shift is not None:  # f(x) = w'(x - shift) + b
            each = zip(self.tasks, betas, biases, strict=True)
            biases = [bias - float((beta @ self.X[task.rows]) @ self.shift) for task, beta, bias in each]
        coef = ovo.join(self.tasks, betas, len(data.labels), n_classes)[:, twins.group] * twins.share
        labels = data.labels[twins.group]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(labels[support], kind="stable")]
        vectors = np.empty((0, 0)) if data.kernel.of_positions else data.X[twins.group[support]]
        return data.fixed | {
            "support_": data.used[support].astype(np.int32),
            "support_vectors_": vectors,
            "n_support_": np.bincount(labels[support], minlength=n_classes).astype(np.int32),
            "dual_coef_": coef[:, support],
            "intercept_": ovo.direction(n_classes) * np.array(biases),
        }

    def _refuse_inseparable(self, task: ovo.Task, solution: Solution, problem: BoxQP) -> None:
        """An error where the hard margin has no solution, with its proof, or where rounding hides one."""
        first, second = self.data.fixed["classes_"][[task.first, task.second]]
        plane = "hyperplane" if problem.balanced else "hyperplane through the origin"
        where = f"class {first} from class {second} in the feature space of {self.data.kernel!r}"
        if solution.status is Status.INFEASIBLE:
            distance = hull_distance(problem, solution.beta, problem.gram.scores(solution.beta, exact=True)[0])
            rows = np.count_nonzero(solution.beta)
            proof = (
                f"{rows} rows carry weights alpha >= 0 with alpha'y = 0 whose two class means lie {distance:.1g} of "
                "the data's size apart, so the convex hulls of the classes meet"
                if problem.balanced
                else f"{rows} rows carry weights alpha >= 0 with |sum alpha y phi(x)| {0.5 * distance:.1g} of what "
                "it could be, so no w has y w'phi(x) > 0 for all of them"
            )
            raise ValueError(
                f"The hard margin (C = infinity) has no solution: no {plane} separates {where}. Proof, to working "
                f"precision: {proof}. Use a finite C, or another kernel."
            )
        if solution.status is Status.STALLED and math.isinf(solution.certificate.primal):
            raise ValueError(
                f"The hard margin (C = infinity) was not reached: rounding hides whether a {plane} separates {where}. "
                "Scale the features, or use a finite C."
            )


def _unsolved(n: int) -> Solution:
    """Zero multipliers for a problem that was interrupted before it was stated."""
    reason = "interrupted before the problem was set up"
    nothing = Certificate(math.nan, math.nan, math.nan, math.inf, 0.0, 0.0, reason=reason)
    return Solution(np.zeros(n), Status.INTERRUPTED, nothing, Trace(), 0)


def _order_within(order: Array | None, rows: Array) -> Array | None:
    """The given order of all rows, as positions within ``rows``."""
    if order is None:
        return None
    position = np.full(len(order), -1, np.int64)
    position[rows] = np.arange(len(rows))
    found = position[order]
    return found[found >= 0]
