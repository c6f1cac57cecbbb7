"""The classifier that is told how many margin errors it may make instead of what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import OF_KERNELS, Report, worst_status
from maxmargin.estimators.kernel.classifier import CLASSIFIER_RULES, KernelClassifier
from maxmargin.estimators.kernel.machine import KERNEL_RULES
from maxmargin.estimators.plans.classes import Classes, ClassTasks
from maxmargin.estimators.plans.folds import Folds
from maxmargin.estimators.plans.kernel import Rows
from maxmargin.estimators.progress import Attributes
from maxmargin.machines import Job
from maxmargin.machines.plan import as_solved
from maxmargin.models import class_margin, largest_nu, nu_classifier, soft_margin
from maxmargin.multiclass import Task
from maxmargin.problems.box import BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.solution import Point, Progress, Solution, Status

NO_MARGIN = 1e-6  # violation of the undivided problem below which it is solved
_RULES: dict[str, Rule] = {
    name: rule
    for name, rule in (KERNEL_RULES | CLASSIFIER_RULES | {"nu": checks.SHARE}).items()
    if name != "fit_intercept"
}


def _rho(point: Point) -> float:
    """What a machine was divided by; 1 where there was nothing to divide."""
    return (class_margin(point).width or 1.0) if len(point.biases) == 2 else 1.0


def _has_no_margin(solution: Solution) -> bool:
    violation = solution.certificate.violation
    return not math.isfinite(violation) or _rho(solution.point) * violation <= NO_MARGIN


def _reason(solutions: list[Solution]) -> str:
    """Why a machine was not solved: where the undivided problem is, and rho vanishes, a share nu leaves no margin."""
    stalled = [solution for solution in solutions if solution.status is Status.STALLED]
    if any(map(_has_no_margin, stalled)):
        return "found no margin: with this nu the classes overlap (their reduced convex hulls meet); raise nu"
    return worst_status(solutions)


class NuSVC(KernelClassifier):
    """Support vector classifier with a share nu of margin errors, solved to a certificate of optimality.

    For two classes y in {-1, +1} and rows of weight c_i, which add up to W, it minimises

        1/2 ||w||^2 - nu W rho + sum_i c_i max(0, rho - y_i (w'phi(x_i) + b)),

    and is then divided by rho, which makes it an ``SVC`` with C = 1 / rho (Schoelkopf, Smola, Williamson and Bartlett
    2000). At most a share ``nu`` of the weight are margin errors, and at least that share are support vectors. More
    classes are machines of all pairs.

    Parameters
    ----------
    nu : float, default=0.5
        The share, above 0 and at most twice the share of the lighter class: otherwise no machine exists, which is an
        error that names the largest possible nu. Where the classes overlap so much that rho tends to zero the fit
        stalls; take a larger nu.
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows' weights per class (scikit-learn's NuSVC ignores it).
    kernel, degree, gamma, coef0, solver, shrinking, probability, cv, tol, cache_size, max_iter, time_limit, \
    decision_function_shape, break_ties, warm_start, random_state, n_jobs, verbose, callback, interrupt
        As in ``SVC``. ``tol`` is in units of the machine, f / rho.

    Attributes
    ----------
    rho_ : float or ndarray
        What the machine was divided by, one for each pair of classes.
    certificate_ : Certificate
        Of the problem above; its violation and norm are those of the machine.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, class_weight_, n_iter_, margin_, \
    leave_one_out_bound_, status_, trace_, reduction_, kernel_, kernel_values_, calibration_, cross_fit_, shape_fit_
        As in ``SVC``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.1).fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-6
    True
    """

    nu: float
    rho_: float | Array
    multi_class: str = "ovo"
    code: str = "auto"
    fit_intercept: bool = True
    _report: ClassVar[Report] = OF_KERNELS._replace(reason=_reason)
    _grouped: ClassVar[bool] = True

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        solver: Any = "auto",
        shrinking: bool = True,
        probability: Any = False,
        cv: Any = 5,
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
        verbose: int = False,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        checks.keep(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Weights of classes cannot make one of them win everywhere: at the largest nu that they allow the boundary lies
        # halfway to the farthest row of the lighter one.
        tags.classifier_tags.poor_score = True
        return tags

    def _check(self) -> None:
        checks.check_parameters(self, _RULES)

    def _costs(self, rows: Rows, classes: Classes) -> Array:
        """c_i."""
        return classes.factors[rows.target_ids] * rows.weights

    def _usual_bound(self, costs: Array) -> float:
        return float(np.median(costs))

    def _jobs(self, rows: Rows, tasks: ClassTasks, costs: Array, start: Array | None, folds: Folds) -> Sequence[Job]:
        self._refuse_infeasible(tasks, rows.weights, costs)
        nu, units = self.nu, 1.0 if start is None else self.rho_

        def state(task: Task, costs: Array, gram: Any) -> BoxQP | KernelProblem:
            largest = largest_nu(task.signs, costs)
            if largest == 0.0:  # a class without rows, or all of them in the fold: nothing speaks for it
                return soft_margin(gram, task.signs, costs)
            return nu_classifier(gram, task.signs, min(nu, largest), costs)  # a fold may have fewer of a class

        return tasks.jobs(state, costs, start, lambda sides: as_solved, folds, units, groups=2, to_machine=_divided)

    def _refuse_infeasible(self, tasks: ClassTasks, weights: Array, costs: Array) -> None:
        """An error where the rows allow no such nu; a warning where only the weights of their classes do not."""
        allowed = self.nu * (1.0 - 1e-12)
        for number, task in enumerate(tasks.tasks):
            by_rows, largest = (largest_nu(task.signs, task.of(some)) for some in (weights, costs))
            most = f"to tell {tasks.sides(number)} with these weights it can be at most"
            if 0.0 < by_rows < allowed and largest < allowed:
                raise ValueError(f"NuSVC: specified nu is infeasible: nu={self.nu:.15g}, and {most} {largest:.15g}.")
            if 0.0 < largest < allowed:
                checks.warn_user(
                    f"NuSVC: class_weight makes nu={self.nu:.15g} infeasible: {most} {largest:.15g}, "
                    "which is taken instead."
                )

    def _more(self, solutions: list[Solution]) -> Attributes:
        rho = np.array([_rho(solution.point) for solution in solutions])
        return {"rho_": float(rho[0]) if len(rho) == 1 else rho}


def _divided(coef: Array, biases: Array) -> tuple[Array, Array]:
    """The machine of a solution: that of a pair without rows on one side is as it is."""
    if len(biases) == 1:
        return coef, biases
    machine = class_margin(Point(beta=coef[0], biases=biases))
    return machine.coef[None], np.array([machine.bias])
