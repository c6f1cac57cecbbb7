"""The one path of every fit: a plan goes down to ``machines.solve``, and the attributes come up, set once and last.

check parameters -> draft -> read data -> plan        (the estimator)
    -> machines.solve -> attributes -> commit         (here)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from sklearn.exceptions import ConvergenceWarning

from maxmargin import checks, machines
from maxmargin.checks.transaction import OF_VALIDATION
from maxmargin.core.rows import Array
from maxmargin.estimators.plans.folds import Folds
from maxmargin.estimators.plans.kernel import (
    Rows,
    classes_report,
    expansion,
    kernel_plan,
    kernel_promise,
    kernel_report,
)
from maxmargin.estimators.plans.linear import linear_promise, linear_report
from maxmargin.estimators.plans.warm import last_coefficients
from maxmargin.estimators.progress import Attributes, Given, SklearnCallbacks
from maxmargin.machines import Caller, Fitted, Job, KernelPlan, LinearPlan, Machine, Observer, Printer
from maxmargin.machines.plan import as_they_are
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Point, Solution, Status, combine

Estimator = TypeVar("Estimator")


def worst_status(solutions: list[Solution]) -> str:
    """How the worst of several solves ended."""
    return str(_worst(solutions))


class Report(NamedTuple):
    """What a family of machines tells of its solves: attributes, and in words how near an unsolved one came.

    ``reason`` says why it was not solved.
    """

    attributes: Callable[[Fitted], Attributes]
    promise: Callable[[list[Solution]], str]
    reason: Callable[[list[Solution]], str] = worst_status


OF_ONE_KERNEL = Report(kernel_report, kernel_promise)
OF_KERNELS = Report(classes_report, kernel_promise)
OF_WEIGHTS = Report(linear_report, linear_promise)


def nothing_more(fitted: Fitted) -> Attributes:
    """Of machines that say all."""
    return {}


def fit(
    estimator: Estimator,
    draft: Any,
    given: Given,
    plan: KernelPlan | LinearPlan,
    model: Callable[[list[Machine]], Attributes],
    report: Report,
    more: Callable[[Fitted], Attributes] = nothing_more,
) -> Estimator:
    """Solve the plan. ``model`` makes attributes of machines, ``more`` further ones of their solutions and folds.

    Sets: all fitted attributes, in one step at the end.
    """
    seen = {name: vars(draft)[name] for name in OF_VALIDATION if name in vars(draft)}
    callbacks = SklearnCallbacks(estimator, given, plan.jobs, lambda found: seen | model(found))
    fitted = machines.solve(plan, [*_observers(estimator, plan.jobs), *callbacks.observers])
    attributes = model(fitted.machines) | report.attributes(fitted) | _ends(fitted.solutions) | more(fitted)
    if fitted.kept is not None:
        attributes["_kept"] = fitted.kept
    unit = attributes["reduction_"].unit if "reduction_" in attributes else "machines"
    _warn_unsolved(estimator, fitted, unit, report)
    callbacks.end(seen | attributes)
    checks.commit(estimator, draft, attributes)
    return estimator


class OneProblem(NamedTuple):
    """The one problem of a kernel machine: ``state(weights, gram)`` is that problem, of rows with these weights.

    ``bias`` is what kind of bias it has, ``usual_bound`` the usual bound of a multiplier. ``movable``: whether the
    multipliers add up to zero, so that a linear machine does not depend on the origin. For problems with several
    groups, or other multipliers than one per row: ``groups``, their number of ``multipliers`` (None: one per row),
    ``to_machine``, which makes coefficients of the rows and biases of the machines from those of the problem, and
    ``from_machine``, which makes multipliers of the last fit's coefficients. ``to_edges``: see ``machines.plan.Job``.
    """

    state: Callable[[Array, Any], BoxQP]
    bias: Bias
    usual_bound: float
    movable: bool = True
    groups: int = 1
    multipliers: int | None = None
    to_machine: Callable[[Array, Array], tuple[Array, Array]] = as_they_are
    from_machine: Callable[[Array], Array] = lambda coef: coef
    to_edges: bool = False


class Lesson(NamedTuple):
    """What a kernel machine with one problem learns from: the data as given, the different rows, and their folds.

    ``begun`` is when the fit began, from which its time limit counts.
    """

    given: Given
    rows: Rows
    folds: Folds
    begun: float


def fit_one_problem(
    estimator: Estimator,
    draft: Any,
    lesson: Lesson,
    problem: OneProblem,
    more: Callable[[Fitted], Attributes] = nothing_more,
) -> Estimator:
    """Fit a kernel machine that has one problem on all rows. Sets: all fitted attributes, at the end.

    ``more`` are attributes beside those of every expansion (``plans.kernel``).
    """
    rows = lesson.rows
    known = rows.merged(last_coefficients(estimator, rows.shape))
    job = Job(
        rows=None,
        shape=(problem.multipliers or len(rows.target_ids),),
        state=partial(problem.state, rows.weights),
        start=None if known is None else Point(beta=problem.from_machine(known[0])),
        groups=problem.groups,
        to_machine=problem.to_machine,
        folds=lesson.folds.without_costs(problem.state, rows.weights),
        to_edges=problem.to_edges,
    )
    plan = kernel_plan(estimator, rows, [job], problem.bias, problem.usual_bound, lesson.begun, movable=problem.movable)

    def model(machines: list[Machine]) -> Attributes:
        return expansion(rows, machines[0].coef, machines)

    return fit(estimator, draft, lesson.given, plan, model, OF_ONE_KERNEL, more)


def _observers(estimator: Any, jobs: Sequence[Job]) -> list[Observer]:
    """Who watches, as the parameters say."""
    observers: list[Observer] = [Printer([job.name for job in jobs])] if estimator.verbose else []
    return observers if estimator.callback is None else [*observers, Caller(estimator.callback)]


def _ends(solutions: list[Solution]) -> Attributes:
    """How the solves ended: attributes of every fit."""
    return {
        "certificate_": combine([solution.certificate for solution in solutions]),
        "status_": _worst(solutions),
        "trace_": solutions[0].trace if len(solutions) == 1 else [solution.trace for solution in solutions],
    }


def _worst(solutions: list[Solution]) -> Status:
    return max({solution.status for solution in solutions}, key=lambda status: status.severity)


def _warn_unsolved(estimator: Any, fitted: Fitted, unit: str, report: Report) -> None:
    """A warning where a machine was not solved to ``tol``, or one without a fold."""
    solutions, name, folds = fitted.solutions, type(estimator).__name__, _unsolved_folds(fitted)
    unsolved = sum(solution.status is not Status.CONVERGED for solution in solutions)
    if unsolved:
        of = "" if len(solutions) == 1 else f" ({unsolved} of {len(solutions)} {unit})"
        kept = f"The model is kept{report.promise(solutions)} (tol {estimator.tol:g})."
        checks.warn_user(f"{name} {report.reason(solutions)}{of}. {kept}{folds}", ConvergenceWarning)
    elif folds:
        checks.warn_user(f"{name}:{folds}", ConvergenceWarning)


def _unsolved_folds(fitted: Fitted) -> str:
    """Words for machines without a fold that were not solved: what is learned from them is not what was promised."""
    ended = [found.solution.status for of_job in fitted.crossed for found in of_job]
    unsolved = sum(status is not Status.CONVERGED for status in ended)
    if not unsolved:
        return ""
    return (
        f" {unsolved} of {len(ended)} fits without a fold were not solved to tol: probabilities, sets and intervals "
        "may not keep what they promise."
    )
