"""From checked data to solutions: what ``SVC.fit`` does between reading its parameters and storing its attributes."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from maxmargin import checks
from maxmargin.certificates import bias_and_violation, feasible_point, hull_distance
from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.core.buffers import POOL
from maxmargin.core.rows import Array
from maxmargin.core.threads import available_cores, effective_jobs, task_map
from maxmargin.core.twins import Twins, by_class, find_twins, find_twins_among_many, no_twins
from maxmargin.estimators.kernel_choice import resolve_kernel, takes_objects, takes_positions
from maxmargin.estimators.progress import SklearnPairs, SklearnSteps, TimeShares, printer
from maxmargin.estimators.reductions import bias_of, is_joint, reduction_of
from maxmargin.gram import Gram
from maxmargin.gram.budget import Residence, default_budget
from maxmargin.gram.sharing import SharedBlocks, affordable
from maxmargin.kernels import Kernel, Linear
from maxmargin.kernels.points import centre_of, shifted
from maxmargin.multiclass import OneVsOne, OutputCodes, Reduction, Task
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.box import Bias, BoxQP, Loss, soft_margin
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Progress, Solution, Status, Trace, unproved
from maxmargin.solvers.box.old_solve import SMO, Options, solve
from maxmargin.solvers.box.smo import CHUNK, SMALL, STEP_ROUNDING, State

if TYPE_CHECKING:
    from maxmargin.estimators.svc import SVC

STORED_CHUNK = 1024  # working sets where all kernel values are stored: updates are cheap (letter: 0.70 for 0.84 s)
NO_ROWS = np.empty(0, np.int64)
SMALL_BUDGET = 1 << 26
SHARED_PART = 4  # of the budget one part in so many is for values that several pairs of classes share


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


def read(svc: SVC, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    """Checked data; equal rows of one class become one."""
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
    if not (kernel.of_positions or kernel.of_objects):
        find = find_twins if len(used) <= SMALL_ROWS else find_twins_among_many
        twins = find(some, labels, weights[used])
    if len(classes) > 2:
        twins = by_class(twins, labels[twins.first])
    if not np.array_equal(twins.first, np.arange(len(used))):
        some, labels = kernel.rows(some, twins.first), labels[twins.first]
    shares = factors[labels] * np.bincount(twins.group, weights=weights[used])
    costs = np.multiply(svc.C, shares, out=np.zeros(len(shares)), where=shares > 0)  # infinity times zero is zero
    fixed = {"classes_": classes, "class_weight_": factors, "shape_fit_": rows.shape, "kernel_": kernel}
    return TrainingData(some, labels, costs, used, twins, kernel, guess, fixed)


def _previous(svc: SVC, classes: Array, shape: tuple[int, ...]) -> Array | None:
    """Multipliers of the last fit, one column per row of its data, if that had the same rows and classes."""
    if not hasattr(svc, "dual_coef_"):
        return None
    if not np.array_equal(svc.classes_, classes) or svc.shape_fit_ != shape:
        checks.warn_user(
            f"warm_start: the data have other rows or classes (shape {shape}, before {svc.shape_fit_}); "
            "this fit starts afresh."
        )
        return None
    if svc._fitted_as != svc.multi_class:
        checks.warn_user(f"warm_start: the last fit was multi_class={svc._fitted_as!r}; this fit starts afresh.")
        return None
    before, now = (getattr(reduction, "book", None) for reduction in (svc.reduction_, reduction_of(svc, len(classes))))
    if not np.array_equal(before, now):  # type: ignore[arg-type]
        checks.warn_user("warm_start: the last fit had another code; this fit starts afresh.")
        return None
    coef = np.zeros((len(svc.dual_coef_), shape[0]))
    coef[:, svc.support_] = svc.dual_coef_
    return coef


class Kept(NamedTuple):
    """Kernel rows of a fit, for the next one on the same rows."""

    gram: Gram
    blocks: SharedBlocks | None
    mark: bytes
    accuracy: float
    budget: int
    segments: list[slice]

    def serves(self, kernel: Kernel, X: Any, accuracy: float, budget: float, segments: list[slice]) -> bool:
        """Whether another fit would compute the same values, and is allowed as much memory."""
        same = (kernel, accuracy, segments) == (self.gram.kernel, self.accuracy, self.segments)
        return same and self.budget <= budget and fingerprint(X) == self.mark

    def release(self) -> None:
        """Give all memory back to the pool."""
        self.gram.release()
        if self.blocks:
            self.blocks.release()


def fingerprint(X: Any) -> bytes:
    """A hash of shape, type and content: the caller may change an array in place between two fits."""
    digest = hashlib.blake2b(f"{X.shape} {X.dtype}".encode())
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


class Training:
    """One fit: all machines of a reduction, solved in parallel where there are several.

    Pairs of classes are parts of the kernel matrix and share the values within a class. Machines on all rows share the
    whole matrix: where it fits the budget it is computed once and they run side by side; where not, one machine after
    the other, on the rows that the store still has.
    """

    steps: SklearnSteps | None
    pairs: SklearnPairs

    def __init__(self, svc: SVC, data: TrainingData, begun: float) -> None:
        self.svc, self.data, self.begun = svc, data, begun
        self.kept: Kept | None = getattr(svc, "_kept", None)
        self._lock = threading.Lock()
        self.reduction: Reduction = reduction_of(svc, data.n_classes)
        self.tasks = self.reduction.tasks(data.labels)
        self.pairwise = isinstance(self.reduction, OneVsOne) and data.n_classes > 2
        edges = np.searchsorted(data.labels, np.arange(data.n_classes + 1))  # several classes come one after the other
        self.segments = [slice(int(a), int(b)) for a, b in pairwise(edges)]
        self.n_jobs = 1 if data.kernel.of_objects else effective_jobs(svc.n_jobs)
        self.bias = bias_of(svc)
        self.precise = len(data.labels) <= SMALL
        self.kernel = data.kernel + 1.0 if self.bias is Bias.REGULARIZED else data.kernel
        self.total_budget = total = self._total_budget()
        # Divided by what does not depend on n_jobs: the budget decides the path of the solver.
        share = total // SHARED_PART
        shared = self.pairwise and affordable(self.segments, share, 8)
        self.blocks = SharedBlocks(self.segments, share) if shared else None
        self.budget = (total - share * shared) // (min(len(self.tasks), available_cores()) if self.pairwise else 1)
        self.kernel_values, self.float32 = 0, True
        self.hard = bool(np.isinf(data.costs).any())
        # With a free bias a linear machine does not depend on the origin; centred rows spare it cancellation.
        movable = isinstance(data.kernel, Linear) and self.bias is Bias.FREE
        self.shift = centre_of(data.X) if movable else None
        self.X = data.X if self.shift is None else shifted(data.X, self.shift, np.float64)

    @property
    def deadline(self) -> float:
        """When the whole fit must end."""
        return math.inf if self.svc.time_limit is None else self.begun + self.svc.time_limit

    def prepare(self, gram: Gram) -> Status | None:
        """What machines that share a matrix need of it first; how that ended, where it was stopped."""
        try:
            with limits.limits(self.deadline):
                gram.definiteness(NO_ROWS)
                if not is_joint(self.svc) and gram.residence is Residence.WHOLE:
                    gram.whole()
        except limits.OutOfTime:
            return Status.TIME_LIMIT if is_joint(self.svc) else None  # other machines end at their own limits
        except BaseException as cause:
            if self.svc.interrupt == "keep" and isinstance(cause, KeyboardInterrupt | limits.Cancelled):
                return Status.INTERRUPTED
            self.put_away(gram)
            raise
        return None

    def watched_by(self, steps: SklearnSteps | None, pairs: SklearnPairs) -> None:
        """Sets: who is told of steps and of machines."""
        self.steps, self.pairs = steps, pairs

    def _total_budget(self) -> int:
        """Bytes for kernel values; small problems do not wait for the system to tell how much is free."""
        if self.svc.cache_size is not None:
            return int(self.svc.cache_size * 2**20)
        return SMALL_BUDGET if self.precise else default_budget()

    def solved_model(self) -> tuple[dict[str, Any], list[Solution]]:
        """The fitted attributes of all machines, and their solutions."""
        solutions = self.solve()
        biases = [solution.certificate.bias for solution in solutions]
        return self.model([solution.beta for solution in solutions], biases), solutions

    def solve(self) -> list[Solution]:
        """A solution for every pair of classes."""
        svc, tasks, n = self.svc, self.tasks, len(self.data.labels)
        keep = svc.interrupt == "keep"

        def nothing(status: Status) -> list[Solution]:
            return [unsolved(task.size(n), status) for task in tasks]

        with blas_held(), limits.limits() as active:
            try:
                shared = self.shared_gram()
            except limits.OutOfTime:
                return nothing(Status.TIME_LIMIT)
            except KeyboardInterrupt:
                if not keep:
                    raise
                active.cancel.set()
                return nothing(Status.INTERRUPTED)
            if len(tasks) > 1 and not self.pairwise:
                ended = self.prepare(shared)
                if ended:
                    self.put_away(shared)
                    return nothing(ended)
            left = None if svc.time_limit is None else max(1e-3, svc.time_limit - (limits.now() - self.begun))
            # Small problems end before a thread wakes up; others have as many budgets as there are cores.
            workers = 1 if self.precise else min(self.n_jobs, len(tasks), available_cores())
            if not (self.pairwise or shared.complete):
                workers = 1
            shares = TimeShares(left, [task.size(n) for task in tasks], workers)
            order = None
            if svc.random_state is not None:
                order = check_random_state(svc.random_state).permutation(len(self.data.labels))
            guesses = self._guesses()

            def one(index: int) -> Solution:
                try:
                    return self._one(index, shared, shares, order, guesses[index] if guesses else None)
                except limits.OutOfTime:  # before the problem could even be stated
                    return unsolved(tasks[index].size(n), Status.TIME_LIMIT)
                except (KeyboardInterrupt, limits.Cancelled):
                    if not keep:
                        raise
                    active.cancel.set()
                    return unsolved(tasks[index].size(n), Status.INTERRUPTED)

            try:
                # Pairs so that threads rarely wait for the same class.
                order_of_work = ovo.rounds(self.data.n_classes) if self.pairwise else range(len(tasks))
                found = dict(zip(order_of_work, task_map(one, order_of_work, workers, keep), strict=True))
                return [found[index] for index in range(len(tasks))]
            finally:
                self.put_away(shared)

    def shared_gram(self) -> Gram:
        """The kernel matrix of all rows; pairs of classes are parts of it. That of the last fit where it serves."""
        accuracy = self._accuracy()
        # What is kept already counts as memory in use where the budget is a part of what is free.
        allowed = math.inf if self.svc.cache_size is None else self.budget
        given = (self.kernel, self.X, accuracy, allowed, self.segments)
        if self.kept is not None and self.svc.warm_start and self.kept.serves(*given):
            self.blocks, self.kept.gram.n_jobs = self.kept.blocks, self.n_jobs
            return self.kept.gram
        if self.kept is not None:
            self.kept.release()
        with limits.limits(self.deadline):  # the user's function is called
            return Gram(self.kernel, self.X, accuracy, self.budget, self.n_jobs)

    def _accuracy(self) -> float:
        """What kernel values must be good for; 0 asks for float64: no slack, or costs that drown tol in rounding."""
        usual = float(np.median(self.data.costs))  # a few rows that stand for many equal ones do not count
        large = self.svc.loss == "hinge" and STEP_ROUNDING * usual > self.svc.tol
        return 0.0 if self.hard or large else self.svc.tol

    def _finish_with(self, gram: Gram, shared: Gram) -> None:
        """After one problem. Sets: kernel_values."""
        with self._lock:
            self.kernel_values += gram.values_computed
            gram.values_computed = 0
            self.float32 &= gram.dtype == np.float32
        gram.tidy()
        if gram is not shared or (len(self.tasks) == 1 and not self.svc.warm_start):
            gram.release()

    def put_away(self, shared: Gram) -> None:
        """After the last problem: the rows are kept for a warm start, or their memory is given back. Sets: kept."""
        self.kernel_values += shared.values_computed + (self.blocks.take_count() if self.blocks else 0)
        shared.values_computed = 0
        self.kept = None
        if self.svc.warm_start and not self.data.kernel.of_objects:
            mark = fingerprint(self.X)
            self.kept = Kept(shared, self.blocks, mark, self._accuracy(), self.budget, self.segments)
        else:
            shared.release()
            if self.blocks:
                self.blocks.release()
        POOL.rest()

    def _one(self, index: int, shared: Gram, shares: TimeShares, order: Array | None, guess: Array | None) -> Solution:
        task, svc = self.tasks[index], self.svc
        gram = self._gram_of(index, shared)
        with limits.limits(self.deadline):
            problem, begun = self._problem(task, gram), limits.now()
        with self.pairs.pair() if len(self.tasks) > 1 else nullcontext():
            options = Options(
                guess=None if guess is None else feasible_point(problem, guess),
                max_iter=svc.max_iter,
                time_limit=shares.take(gram.n),
                watch=self._watcher(index, problem),
                interrupt=svc.interrupt,  # type: ignore[arg-type]
            )
            chunk = STORED_CHUNK if gram is not shared and not self.pairwise else CHUNK
            order = self._order_within(order, task)
            solver = SMO(svc.tol, svc.shrinking, order, chunk, precise=self.precise)
            try:
                solution = solve(problem, solver, options)
            finally:
                self._finish_with(gram, shared)
            if solution.status is Status.STALLED and gram.dtype == np.float32:
                solution = self._in_float64(index, solution, solver, options, limits.now() - begun)
        if self.hard:
            self._refuse_inseparable(index, solution, problem)
        return solution

    def _in_float64(self, index: int, found: Solution, solver: SMO, options: Options, passed: float) -> Solution:
        """Go on from a point where float32 kernel values let the solver come no further."""
        task = self.tasks[index]
        X = self.X if task.rows is None else self.kernel.rows(self.X, task.rows)
        beside = len(self.tasks) > 1 and not self.pairwise  # the others go on, on the matrix that they share
        gram = Gram(self.kernel, X, 0.0, self.budget // (1 + available_cores()) if beside else self.budget, self.n_jobs)
        left = options.max_iter if options.max_iter < 0 else max(0, options.max_iter - found.iterations)
        limit = None if options.time_limit is None else max(1e-3, options.time_limit - passed)
        again = replace(options, guess=found.beta, max_iter=left, time_limit=limit)
        try:
            solution = solve(self._problem(task, gram), solver, again)
        finally:
            self._finish_with(gram, gram)
            gram.release()
        trace = Trace((*found.trace, *solution.trace))
        return solution._replace(trace=trace, iterations=found.iterations + solution.iterations)

    def _gram_of(self, index: int, shared: Gram) -> Gram:
        if self.pairwise:
            assert isinstance(self.reduction, OneVsOne)
            return shared.part([self.segments[c] for c in self.reduction.pairs[index]], self.budget, self.blocks)
        return shared.beside() if len(self.tasks) > 1 and shared.complete else shared

    def _problem(self, task: Task, gram: Gram) -> BoxQP:
        """The box QP of one machine."""
        self.refuse_asymmetric(gram)
        if self.hard and not gram.definiteness(NO_ROWS).definite:
            raise ValueError(
                f"The hard margin (C = infinity) needs a positive semidefinite kernel, and the Gram matrix of "
                f"{self.data.kernel!r} on these rows is not. Use a finite C or another kernel; see maxmargin.mercer."
            )
        costs = self.data.costs if task.rows is None else self.data.costs[task.rows]
        return soft_margin(gram, task.signs, costs, Loss(self.svc.loss), self.bias)

    def refuse_asymmetric(self, gram: Gram) -> None:
        """An error where K(x, z) is not K(z, x)."""
        if not gram.definiteness(NO_ROWS).symmetric:
            raise ValueError(
                f"The kernel matrix of {self.data.kernel!r} is not symmetric, so it is no kernel: K(x, z) must equal "
                "K(z, x). Average it with its transpose, or mend the function."
            )

    def _guesses(self) -> list[Array] | None:
        """Multipliers to start each pair from, those of equal rows added up."""
        data = self.data
        if data.guess is None:
            return None
        coef = np.zeros((len(data.guess), len(data.labels)))
        np.add.at(coef.T, data.twins.group, data.guess[:, data.used].T)
        return ovo.split(coef, self.tasks, data.labels, data.n_classes) if self.pairwise else list(coef)

    def _watcher(self, index: int, problem: BoxQP) -> Callable[[Progress, State], bool]:
        """Everyone who wants to know of a step; True where one of them asks to stop."""
        svc, steps, n_tasks = self.svc, self.steps, len(self.tasks)
        show = printer("" if n_tasks == 1 else f"{self.tasks[index].name} ") if svc.verbose else None

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
        weights = self._weights(betas) if isinstance(data.kernel, Linear) else None
        if self.shift is not None:  # f(x) = w'(x - shift) + b; with the very w that predicts, or rounding is doubled
            assert weights is not None
            biases = [bias - float(w @ self.shift) for w, bias in zip(weights, biases, strict=True)]
        joined = ovo.join(self.tasks, betas, data.labels, n_classes) if self.pairwise else np.stack(betas)
        coef = joined[:, twins.group] * twins.share
        labels = data.labels[twins.group]
        support = np.flatnonzero(coef.any(axis=0))
        support = support[np.argsort(labels[support], kind="stable")]
        vectors = np.empty((0, 0)) if data.kernel.of_positions else data.X[twins.group[support]]
        return data.fixed | {
            "support_": data.used[support].astype(np.int32),
            "support_vectors_": vectors,
            "n_support_": np.bincount(labels[support], minlength=n_classes).astype(np.int32),
            "dual_coef_": coef[:, support],
            "intercept_": np.array(biases),
            "reduction_": self.reduction,
            "_fitted_as": self.svc.multi_class,
            "_weights": weights,
        }

    def _weights(self, betas: list[Array]) -> Array:
        """The weights sum_i beta_i x_i of every machine. The origin may have been moved: sum(beta) = 0 there."""
        each = zip(self.tasks, betas, strict=True)
        parts = [beta @ (self.X if task.rows is None else self.X[task.rows]) for task, beta in each]
        return np.stack([np.asarray(w, np.float64).ravel() for w in parts])

    def _refuse_inseparable(self, index: int, solution: Solution, problem: BoxQP) -> None:
        """An error where the hard margin has no solution, with its proof, or where rounding hides one."""
        plane = "hyperplane" if problem.balanced else "hyperplane through the origin"
        where = f"{self._sides(index)} in the feature space of {self.data.kernel!r}"
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

    def _sides(self, index: int) -> str:
        """The two sides of a machine, in words."""
        classes = self.data.fixed["classes_"]
        if isinstance(self.reduction, OneVsOne):
            first, second = self.reduction.pairs[index]
            return f"class {classes[first]} from class {classes[second]}"
        if isinstance(self.reduction, OutputCodes):
            return f"the classes with +1 from those with -1 in column {index} of the code"
        return f"class {classes[index]} from the rest"

    def _order_within(self, order: Array | None, task: Task) -> Array | None:
        """The given order of all rows, as positions within the task's."""
        if order is None or task.rows is None:
            return order
        position = np.full(len(order), -1, np.int64)
        position[task.rows] = np.arange(len(task.rows))
        found = position[order]
        return found[found >= 0]


def unsolved(n: int, status: Status) -> Solution:
    """Zero multipliers for a problem that was stopped before it was stated."""
    nothing = unproved("stopped before the problem was set up", bias=0.0, norm=0.0)
    return Solution(Point(beta=np.zeros(n)), status, nothing, Trace(), 0, "none", "", 0.0)
