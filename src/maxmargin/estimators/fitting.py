"""The one path of every fit: a plan goes down to ``machines.solve``, and the attributes come up, set once and last.

check parameters -> draft -> read data -> plan        (the estimator)
    -> machines.solve -> attributes -> commit         (here)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sklearn.exceptions import ConvergenceWarning

from maxmargin import checks, machines
from maxmargin.checks.transaction import OF_VALIDATION
from maxmargin.core.rows import Array
from maxmargin.estimators.plans.kernel import Rows, expansion, kernel_plan, kernel_promise, kernel_report
from maxmargin.estimators.plans.linear import linear_promise, linear_report
from maxmargin.estimators.plans.warm import last_coefficients
from maxmargin.estimators.progress import Attributes, Given, SklearnCallbacks
from maxmargin.machines import Caller, Fitted, Job, KernelPlan, LinearPlan, Machine, Observer, Printer
from maxmargin.machines.plan import as_they_are
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.solution import Point, Solution, Status, combine

Estimator = TypeVar("Estimator")


class Report(NamedTuple):
    """What a family of machines tells of its solves: attributes, and in words how near an unsolved one came."""

    attributes: Callable[[Fitted], Attributes]
    promise: Callable[[list[Solution]], str]


OF_KERNELS = Report(kernel_report, kernel_promise)
OF_WEIGHTS = Report(linear_report, linear_promise)


def fit(
    estimator: Estimator,
    draft: Any,
    given: Given,
    plan: KernelPlan | LinearPlan,
    model: Callable[[list[Machine]], Attributes],
    report: Report,
) -> Estimator:
    """Solve the plan. ``model`` makes attributes of machines. Sets: all fitted attributes, in one step at the end."""
    seen = {name: vars(draft)[name] for name in OF_VALIDATION if name in vars(draft)}
    names = [job.name for job in plan.jobs]
    callbacks = SklearnCallbacks(estimator, given, names, lambda found: seen | model(found))
    fitted = machines.solve(plan, [*_observers(estimator, names), callbacks.observer])
    attributes = model(fitted.machines) | report.attributes(fitted) | _ends(fitted.solutions)
    if fitted.kept is not None:
        attributes["_kept"] = fitted.kept
    unit = attributes["reduction_"].unit if "reduction_" in attributes else "machines"
    _warn_unsolved(estimator, fitted.solutions, unit, report.promise)
    callbacks.end(seen | attributes)
    checks.commit(estimator, draft, attributes)
    return estimator


class OneProblem(NamedTuple):
    """The one problem of a kernel machine: ``state(gram)`` is that problem, and ``bias`` what kind of bias it has.

    ``usual_bound`` is the usual bound of a multiplier. ``movable``: whether the multipliers add up to zero, so that a
    linear machine does not depend on the origin. For problems with several groups, or other multipliers than one per
    row: ``groups``, their number of ``multipliers`` (None: one per row), and ``to_machine``, which makes coefficients
    of the rows and biases of the machines from those of the problem (``machines.plan.Job``).
    """

    state: Callable[[Any], BoxQP]
    bias: Bias
    usual_bound: float
    movable: bool = True
    groups: int = 1
    multipliers: int | None = None
    to_machine: Callable[[Array, Array], tuple[Array, Array]] = as_they_are


def fit_one_problem(
    estimator: Estimator, draft: Any, given: Given, rows: Rows, problem: OneProblem, begun: float
) -> Estimator:
    """Fit a kernel machine that has one problem on all rows. Sets: all fitted attributes, at the end."""
    n = len(rows.target_ids)
    same = problem.to_machine is as_they_are  # only then is the last model a start for the next one
    known = rows.merged(last_coefficients(estimator, rows.shape)) if same else None
    job = Job(
        rows=None,
        shape=(problem.multipliers or n,),
        state=problem.state,
        start=None if known is None else Point(beta=known[0]),
        groups=problem.groups,
        to_machine=problem.to_machine,
    )
    plan = kernel_plan(estimator, rows, [job], problem.bias, problem.usual_bound, begun, movable=problem.movable)

    def model(machines: list[Machine]) -> Attributes:
        return expansion(rows, machines[0].coef, machines)

    return fit(estimator, draft, given, plan, model, OF_KERNELS)


def _observers(estimator: Any, names: list[str]) -> list[Observer]:
    """Who watches, as the parameters say."""
    observers: list[Observer] = [Printer(names)] if estimator.verbose else []
    return observers if estimator.callback is None else [*observers, Caller(estimator.callback)]


def _ends(solutions: list[Solution]) -> Attributes:
    """How the solves ended: attributes of every fit."""
    return {
        "certificate_": combine([solution.certificate for solution in solutions]),
        "status_": _worst(solutions),
        "trace_": solutions[0].trace if len(solutions) == 1 else [solution.trace for solution in solutions],
    }


def _worst(solutions: list[Solution]) -> Status:
    return max((solution.status for solution in solutions), key=lambda status: status.severity)


def _warn_unsolved(
    estimator: Any, solutions: list[Solution], unit: str, promise: Callable[[list[Solution]], str]
) -> None:
    """A warning where a machine was not solved to ``tol``."""
    unsolved = sum(solution.status is not Status.CONVERGED for solution in solutions)
    if unsolved:
        of = "" if len(solutions) == 1 else f" ({unsolved} of {len(solutions)} {unit})"
        checks.warn_user(
            f"{type(estimator).__name__} {_worst(solutions)}{of}. The model is kept{promise(solutions)} "
            f"(tol {estimator.tol:g}).",
            ConvergenceWarning,
        )
