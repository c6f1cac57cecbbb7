"""Joint machines: what fits do between reading their data and storing their attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.core.rows import Array
from maxmargin.estimators.progress import printer
from maxmargin.estimators.reductions import joint_loss, one_machine, two_classes
from maxmargin.machines.kernel import Training, unsolved
from maxmargin.machines.linear import LinearTraining, time_left
from maxmargin.multiclass import Task
from maxmargin.problems.box import Bias
from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.solution import Certificate, Point, Progress, Solution, Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.contract import Watch


def watcher(estimator: Any, steps: Any, model: Callable[[Point], dict[str, Any]]) -> Watch:
    """Everyone who wants to know of a step of a joint solve; True where one of them asks to stop."""
    show = printer("") if estimator.verbose else None

    def watch(seen: Progress, point: Callable[[], Point]) -> bool:
        if show:
            show(seen)
        stop = bool(estimator.callback(seen)) if estimator.callback else False
        if steps:
            stop |= steps.step(lambda: model(point()))
        return stop

    return watch


ZERO_WEIGHT = (
    "multi_class='{}' needs class weights > 0; leave the rows of a class that should not count out of the data."
)
JOINT_MACHINE = Task(None, lambda: np.empty(0), "all classes")


def solve_linear_joint(training: LinearTraining, labels: Array, n_classes: int) -> list[Solution]:
    """The solution of a linear joint machine."""
    estimator = training.estimator
    starts = training.starts()
    options = Options(
        tol=estimator.tol,
        start=starts[0] if starts else None,
        max_iter=estimator.max_iter,
        time_limit=time_left(estimator, training.begun),
        watch=watcher(estimator, training.steps, lambda point: training.model(list(point.v))),
        interrupt=estimator.interrupt,
        seed=training.seed,
    )
    design = training.design.shared(training.n_jobs)
    problem = LinearJoint(labels.astype(np.int64), n_classes, training.tasks.costs, joint_loss(estimator), design)
    return [solve(problem, options, estimator.solver)]


def solve_kernel_joint(training: Training) -> tuple[dict[str, Any], list[Any]]:
    """The fitted attributes of a joint machine with a kernel, and its solution."""
    data = training.data
    _refuse(training)
    with blas_held():
        try:
            gram = training.shared_gram()
        except limits.OutOfTime:
            return _unsolved(training, Status.TIME_LIMIT)
        except KeyboardInterrupt:
            if training.svc.interrupt != "keep":
                raise
            return _unsolved(training, Status.INTERRUPTED)
        ended = training.prepare(gram)
        try:
            if ended:
                return _unsolved(training, ended)
            _refuse_indefinite(training, gram)
            loss = joint_loss(training.svc)
            problem = KernelJoint(data.labels.astype(np.int64), data.n_classes, data.costs, loss, gram)
            solution = solve(problem, _options(training))
            training.float32 = gram.dtype == np.float32
        finally:
            gram.tidy()
            training.put_away(gram)
    B = solution.point.beta
    assert B is not None
    return _model(training, B), [solution._replace(certificate=_with_norm(training, B, solution.certificate))]


def _unsolved(training: Training, ended: Status) -> tuple[dict[str, Any], list[Any]]:
    """A machine that was stopped before its problem was set up."""
    n, n_classes = len(training.data.labels), training.data.n_classes
    return _model(training, np.zeros((n, n_classes))), [unsolved(n, ended)]


def _options(training: Training) -> Options:
    svc = training.svc
    return Options(
        tol=svc.tol,
        start=_start(training),
        max_iter=svc.max_iter,
        time_limit=time_left(svc, training.begun),
        watch=watcher(svc, training.steps, lambda point: _model(training, point.beta)),
        interrupt=svc.interrupt,  # type: ignore[arg-type]
    )


def _with_norm(training: Training, B: Array, proof: Certificate) -> Certificate:
    """The norm without the weights of the appended 1; of two classes that of w_1 - w_0 = 2 w_1."""
    appended = float(np.sum(B.sum(axis=0) ** 2)) if training.bias is Bias.REGULARIZED else 0.0
    factor = 2.0 if B.shape[1] == 2 else 1.0
    return proof._replace(norm=math.sqrt(max(factor * (proof.norm**2 - appended), 0.0)))


def _refuse_indefinite(training: Training, gram: Any) -> None:
    training.refuse_asymmetric(gram)
    found = gram.definiteness(np.empty(0, np.int64))
    if not found.definite:
        raise ValueError(
            f"A joint machine needs a positive semidefinite kernel, and of {training.data.kernel!r} {found.note}. Use "
            "another kernel, or multi_class='ovo' or 'ovr'."
        )


def _refuse(training: Training) -> None:
    if training.hard:
        raise ValueError(
            f"SVC: multi_class={training.svc.multi_class!r} needs a finite C; the hard margin is solved with 'ovo', "
            "'ovr' and 'codes'."
        )
    if not training.data.costs.all():
        raise ValueError(f"SVC: {ZERO_WEIGHT.format(training.svc.multi_class)}")


def _start(training: Training) -> Point | None:
    """Multipliers of the last fit, those of equal rows added up; the solver brings them within bounds."""
    data = training.data
    if data.guess is None:
        return None
    coef = np.zeros((len(data.labels), len(data.guess)))
    np.add.at(coef, data.twins.group, data.guess[:, data.used].T)
    B = two_classes(coef, data.n_classes)
    return Point(B, B)


def _model(training: Training, B: Array) -> dict[str, Any]:
    """Fitted attributes of the multipliers B (rows, classes): a machine per class, of two classes one."""
    coef = one_machine(B)
    # The weight of the appended 1 is sum_i B_im.
    biases = coef.sum(axis=0) if training.bias is not Bias.NONE else np.zeros(coef.shape[1])
    return training.model(list(coef.T), list(biases))
