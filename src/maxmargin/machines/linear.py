"""What ``LinearSVC.fit`` and ``LinearSVR.fit`` do between reading their parameters and storing their attributes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from maxmargin import checks
from maxmargin.core import limits
from maxmargin.core.rows import Array, rows_of
from maxmargin.core.threads import effective_jobs, task_map
from maxmargin.core.twins import WIDE, find_twins, find_twins_among_many
from maxmargin.estimators.progress import SklearnPairs, SklearnSteps, TimeShares, printer
from maxmargin.estimators.reductions import bias_of
from maxmargin.multiclass import Task
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Progress, Solution, Status, combine
from maxmargin.solvers.choose import SMALL_ROWS
from maxmargin.solvers.linear.solve import LinearOptions, solve_linear


class Tasks(NamedTuple):
    """What a fit learns from: rows of weight above zero, their costs, and the machines with their targets."""

    X: Any
    machines: list[Task]
    costs: Array
    loss: Any


def few_merged(X: Any, targets: Array, weights: Array) -> tuple[Any, Array, Array]:
    """Few rows: equal ones with equal targets become one, in an order that depends on their values alone.

    Small problems are compared digit by digit: a weight of 2 and two rows are then the same problem, in any order.
    Wide rows stay in the order given, because a copy of them may take longer than the fit (400 MB: 2.9 s in memory that
    was not touched before). ``targets`` has one row (or number) for each row of X.
    """
    if X.shape[0] > SMALL_ROWS:
        return X, targets, weights
    kinds = np.unique(targets, axis=0, return_inverse=True)[1].ravel()
    twins = (find_twins_among_many if X.shape[1] > WIDE else find_twins)(X, kinds, weights)
    if np.array_equal(twins.first, np.arange(X.shape[0])):
        return X, targets, weights
    return X[twins.first], targets[twins.first], np.bincount(twins.group, weights=weights)


class Kept(NamedTuple):
    """Points of a fit and the costs they belong to, for the next fit on the same rows."""

    points: list[Point]
    costs: Array
    kind: tuple[Any, ...]  # how several classes were solved, and how many there were

    def starts(self, tasks: Tasks, d: int, kind: tuple[Any, ...]) -> list[Point] | None:
        """Where each machine starts: multipliers grow with their costs, so that they stay within bounds."""
        n = len(tasks.costs)
        fits = (
            kind == self.kind
            and len(self.points) == len(tasks.machines)
            and len(self.costs) == n
            and self.points[0].v.shape[-1] == d
            and all(
                p.beta is None or len(p.beta) == m.size(n) for p, m in zip(self.points, tasks.machines, strict=True)
            )
        )
        if not fits:
            checks.warn_user("warm_start: the data have another shape or other classes; this fit starts afresh.")
            return None
        factor = tasks.costs / self.costs
        return [
            Point(p.v, None if p.beta is None else (p.beta.T * (factor if m.rows is None else factor[m.rows])).T)
            for p, m in zip(self.points, tasks.machines, strict=True)
        ]


def cost_of(estimator: Any, weights: Array) -> float:
    """C, or what ``lam`` stands for: 1 / (n lam) for the mean loss (002), 1 / lam for the sum (001, 003)."""
    if estimator.lam is None:
        return float(estimator.C)
    return 1.0 / (estimator.lam * (float(weights.sum()) if estimator.lam_form == "mean" else 1.0))


class LinearTraining:
    """One fit of one or more linear machines on the same rows."""

    def __init__(
        self,
        estimator: Any,
        tasks: Tasks,
        begun: float,
        steps: SklearnSteps | None,
        machines: SklearnPairs,
        fixed: dict[str, Any] | None = None,
    ) -> None:
        self.estimator, self.tasks, self.begun, self.fixed = estimator, tasks, begun, fixed or {}
        self.steps, self.machines = steps, machines
        self.bias = bias_of(estimator)
        self.n_jobs = effective_jobs(estimator.n_jobs)
        self.seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
        scale = {Bias.NONE: 0.0, Bias.FREE: 1.0, Bias.REGULARIZED: float(estimator.intercept_scaling)}
        self.scale = scale[self.bias]
        self.design = Design(rows_of(tasks.X, tasks.X.dtype), self.scale)
        if len(tasks.machines) > 1:
            self.design.squared_norms()  # before the machines share it

    def solve(self) -> list[Solution]:
        """All machines, on the pool where there are several."""
        estimator, n_tasks = self.estimator, len(self.tasks.machines)
        starts = self.starts()
        left = time_left(estimator, self.begun)
        sizes = [machine.size(len(self.tasks.costs)) for machine in self.tasks.machines]
        shares = TimeShares(left, sizes, self.n_jobs)
        with limits.limits():
            return task_map(
                lambda k: self._one(k, shares, starts[k] if starts else None),
                range(n_tasks),
                self.n_jobs if n_tasks > 1 else 1,
                keep=estimator.interrupt == "keep",
            )

    def starts(self) -> list[Point] | None:
        """Where the machines start, if the last fit is to be gone on from."""
        kept = getattr(self.estimator, "_kept", None) if self.estimator.warm_start else None
        return kept.starts(self.tasks, self.design.d, self.kind) if kept else None

    @property
    def kind(self) -> tuple[Any, ...]:
        """How several classes are solved, and how many there are."""
        return getattr(self.estimator, "multi_class", None), len(self.fixed.get("classes_", ()))

    def _one(self, index: int, shares: TimeShares, start: Point | None) -> Solution:
        tasks, estimator = self.tasks, self.estimator
        problem = self.problem(index)
        options = LinearOptions(
            tol=estimator.tol,
            start=start,
            max_iter=estimator.max_iter,
            time_limit=shares.take(problem.n),
            watch=self._watcher(index),
            interrupt=estimator.interrupt,
            seed=self.seed,
        )
        with self.machines.pair() if len(tasks.machines) > 1 else nullcontext():
            return solve_linear(problem, estimator.solver, options)

    def problem(self, index: int) -> LinearProblem:
        """The problem of one machine."""
        tasks, machine = self.tasks, self.tasks.machines[index]
        if machine.rows is None:
            design, costs = self.design.shared(1 if len(tasks.machines) > 1 else self.n_jobs), tasks.costs
        else:
            design = Design(rows_of(tasks.X[machine.rows], tasks.X.dtype), self.scale)
            costs = tasks.costs[machine.rows]
        return LinearProblem(design, machine.signs, costs, tasks.loss, self.bias, self.estimator.penalty)

    def _watcher(self, index: int) -> Callable[[Progress, Callable[[], Array]], bool]:
        """Everyone who wants to know of a step; True where one of them asks to stop."""
        estimator, n_tasks = self.estimator, len(self.tasks.machines)
        show = printer("" if n_tasks == 1 else f"{self.tasks.machines[index].name} ") if estimator.verbose else None

        def watch(seen: Progress, weights: Callable[[], Array]) -> bool:
            if show:
                show(seen)
            stop = self.machines.stopped or (bool(estimator.callback(seen)) if estimator.callback else False)
            if self.steps:
                stop |= self.steps.step(lambda: self.model([weights()]))
            return stop

        return watch

    def model(self, weights: list[Array]) -> dict[str, Any]:
        """Fitted attributes of machines with these weights: ``coef_``, ``intercept_`` and those known before."""
        features = self.tasks.X.shape[1]
        biases = [self.scale * v[-1] if self.scale else 0.0 for v in weights]
        coef, biases = np.stack([v[:features] for v in weights]), np.array(biases)
        if len(weights) > 1 and len(self.fixed.get("classes_", ())) == 2:  # a joint machine: its two classes as one
            coef, biases = coef[1:] - coef[:1], biases[1:] - biases[:1]
        return self.fixed | {"coef_": coef, "intercept_": biases}


def time_left(estimator: Any, begun: float) -> float | None:
    """Seconds until the estimator's time limit."""
    limit = estimator.time_limit
    return None if limit is None else max(1e-3, limit - (limits.now() - begun))


def fit_machines(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    tasks: Tasks,
    begun: float,
    fixed: dict[str, Any] | None = None,
    solve: Callable[[LinearTraining], list[Solution]] = LinearTraining.solve,
) -> tuple[LinearTraining, list[Solution]]:
    """Solve all machines of a fit, tell scikit-learn's callbacks, and store the attributes. Sets: the estimator's."""
    n_tasks = len(tasks.machines)
    root = estimator._init_callback_context(max_subtasks=None if n_tasks == 1 else n_tasks)
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y, metadata=metadata)
    watched = n_tasks == 1 and hasattr(estimator, "_skl_callbacks")
    steps = SklearnSteps(root, estimator, X, y, metadata) if watched else None
    training = LinearTraining(estimator, tasks, begun, steps, SklearnPairs(root, estimator), fixed)
    solutions = solve(training)
    _store(estimator, training, solutions)
    if steps:
        steps.close()
    root.call_on_fit_task_end(estimator=estimator, X=X, y=y, metadata=metadata, reconstruction_attributes=dict)
    return training, solutions


def _store(estimator: Any, training: LinearTraining, solutions: list[Solution]) -> None:
    """Sets: every attribute that tells of the solve. Warns where a machine was not solved to ``tol``."""
    for name, value in training.model([v for s in solutions for v in np.atleast_2d(s.point.v)]).items():
        setattr(estimator, name, value)
    one = len(solutions) == 1
    estimator.certificate_ = combine([s.certificate for s in solutions])
    estimator.status_ = max((s.status for s in solutions), key=lambda status: status.severity)
    estimator.trace_ = solutions[0].trace if one else [s.trace for s in solutions]
    estimator.n_iter_ = max(s.iterations for s in solutions)
    estimator.n_passes_ = float(np.mean([s.passes for s in solutions]))
    chosen = {s.solver: s.reason for s in reversed(solutions)}  # of machines of different sizes the first one's reason
    estimator.solver_ = "; ".join(f"{name}: {reason}" for name, reason in chosen.items())
    if estimator.warm_start:
        estimator._kept = Kept([s.point for s in solutions], training.tasks.costs, training.kind)
    elif hasattr(estimator, "_kept"):
        del estimator._kept
    if estimator.status_ is not Status.CONVERGED:
        unsolved = sum(s.status is not Status.CONVERGED for s in solutions)
        unit = estimator.reduction_.unit if hasattr(estimator, "reduction_") else "machines"
        of = "" if one else f" ({unsolved} of {len(solutions)} {unit})"
        worst = max(s.certificate.relative_gap for s in solutions)
        checks.warn_user(
            f"{type(estimator).__name__} {estimator.status_}{of}. The model is kept; its largest relative gap is "
            f"{worst:.2g} (tol {estimator.tol:g}).",
            ConvergenceWarning,
        )
