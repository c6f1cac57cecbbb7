"""Linear classifiers: support vector machines and logistic regression without kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import OF_WEIGHTS, fit
from maxmargin.estimators.linear.rules import CLASS_LOSSES, LINEAR_RULES, class_loss, is_loss
from maxmargin.estimators.plans.classes import Classes, read_classes
from maxmargin.estimators.plans.linear import cost_of, linear_plan, linear_starts
from maxmargin.estimators.plans.reductions import RULES as MULTICLASS_RULES
from maxmargin.estimators.plans.reductions import bias_of, is_joint, joint_loss, reduction_of, refuse_zero_weights
from maxmargin.estimators.plans.warm import KeepsForNextFit
from maxmargin.estimators.probabilities import probabilities
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.losses import Logistic, SquaredHinge
from maxmargin.machines import Job, Machine
from maxmargin.machines.joint import linear_job
from maxmargin.machines.linear import few_merged
from maxmargin.machines.scoring import linear_decisions
from maxmargin.multiclass import Reduction, Task
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Certificate, Point, Progress, Status

_RULES = LINEAR_RULES | MULTICLASS_RULES | {"loss": is_loss(True, *CLASS_LOSSES)}
_SPARSE_WEIGHTS = ("squared_hinge", "logistic")


class _Rows(NamedTuple):
    """What a fit learns from: rows of weight above zero, their class indices and costs."""

    X: Any
    labels: Array
    costs: Array


def _has_probabilities(model: LinearSVC) -> bool:
    """Whether decisions are log-odds of classes: those of the logistic loss, one versus the rest."""
    return model.multi_class == "ovr" and (model.loss == "logistic" or isinstance(model.loss, Logistic))


class LinearSVC(KeepsForNextFit, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier, solved to a certified relative duality gap.

    For two classes y in {-1, +1} it minimises

        Omega(w) + sum_i C_i l(y_i, w'x_i + b),    Omega(w) = 1/2 ||w||^2 or ||w||_1;

    more classes are many such machines or one joint one (``multi_class``).

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic", "huber_hinge"} or loss object, default="squared_hinge"
        With m = y (w'x + b): max(0, 1 - m), its square, log(1 + exp(-m)), or a hinge whose corner is a parabola of half
        width 1/2. An object of ``maxmargin.losses``, such as ``PowerHinge(1.5)``, the slack to the power p, or your own
        with the methods of ``CustomLoss``: value and slope, and where they exist curvature and conjugate.
    penalty : {"l2", "l1"}, default="l2"
        Omega. "l1" makes weights exactly zero; it takes the squared hinge and the logistic loss.
    multi_class : {"ovo", "ovr", "crammer_singer", "weston_watkins", "codes"}, default="ovr"
        Three classes and more: a machine for every pair of classes and a vote; for every class against the rest; one
        joint machine with the maximum over the other classes in its loss, or with their sum
        (``maxmargin.losses.multiclass``; loss "hinge" or "squared_hinge"); or a machine for every bit of a code.
        LIBLINEAR's -s 4 and scikit-learn's "crammer_singer" is this one with ``loss="hinge"``.
    code : {"auto", "exhaustive", "random", "bits"} or array of shape (n_classes, n_bits), default="auto"
        The words of +1 and -1 for ``multi_class="codes"``: all ways to split the classes, 10 log2(k) random ones, the
        class index in binary, or your own. "auto" is "exhaustive" up to seven classes, else "random".
    C : float, default=1.0
        Cost of the losses; C_i is C times the weights of the row and its class.
    lam : float, default=None
        Replaces C: the notes' lambda, in the form of ``lam_form``.
    lam_form : {"mean", "sum"}, default="mean"
        "mean": mean loss + lam Omega(w), so C = 1 / (n lam), n the sum of the weights; "sum": C = 1 / lam.
    fit_intercept : True, False or "regularized", default=True
        A free bias b; none; or scikit-learn's, the weight of a constant feature ``intercept_scaling`` in the norm.
        Joint machines take True as "regularized": free biases would couple all rows.
    intercept_scaling : float, default=1.0
        The constant feature of the regularised bias.
    solver : {"auto", "newton", "alm", "dual_cd", "gd", "sgd"}, default="auto"
        "auto" chooses by loss and shape, and hands over when a solver stalls; ``solver_`` says what and why. A solver
        that is named runs alone. "gd" (descent with line search) and "sgd" cannot promise ``tol``. Joint machines are
        solved by "dual_cd", those of few rows by blocks of rows.
    tol : float, default=1e-4
        Relative duality gap to prove: the objective is at most this share above its minimum. Problems of up to 1,000
        rows are solved further, to what rounding allows.
    max_iter : int, default=-1
        Most steps of the solver (epochs of "dual_cd" and "sgd"), -1 for no limit; 1,000 for "gd" and "sgd".
    time_limit : float, default=None
        Seconds for the whole fit, certificate included. A fit that runs out of time keeps its model;
        where no time is left for its proof either, ``certificate_`` holds NaN and says so.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    warm_start : bool, default=False
        Start from the last fit on the same rows and classes.
    random_state : int, RandomState or None, default=None
        Order of rows for "dual_cd" and "sgd", and the random code. None is not fixed (the code is); the solution does
        not depend on it beyond ``tol``.
    n_jobs : int, default=None
        Threads; None is all cores. Results do not depend on it.
    verbose : int, default=0
        Above zero, print a line per step of the solver; "violation" there is the relative gap.
    callback : callable, default=None
        Called with a ``Progress`` at the start and after every step (its ``violation`` is the relative gap); return
        True to stop.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit: raise KeyboardInterrupt, or keep the model so far.

    Attributes
    ----------
    coef_ : ndarray of shape (n_machines, n_features)
        The weights w: one row for two classes, else one for each class, pair of classes or bit.
    intercept_ : ndarray of shape (n_machines,)
        The bias b.
    reduction_ : Reduction
        How the machines' decisions become a class (``maxmargin.multiclass``); ``reduction_.book`` is the code.
    certificate_ : Certificate
        Primal and dual value and duality gap, recomputed from the model; ``parts`` holds one per machine.
    status_ : Status
        How the fit ended (the worst of all machines).
    solver_ : str
        The solver that ended the fit, and why it was chosen.
    n_passes_ : float
        How often the rows were read, the mean over the machines.
    zero_features_ : ndarray of bool of shape (n_features,)
        With penalty "l1": features whose weight is proved to be zero at the optimum, for every class.
    classes_, n_iter_, trace_, class_weight_, n_features_in_
        Classes, steps (the most of any machine), history, weights of the classes, number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-4
    True
    """

    classes_: Array
    coef_: Array
    intercept_: Array
    certificate_: Certificate
    status_: Status
    trace_: Any
    reduction_: Reduction

    def __init__(
        self,
        *,
        loss: Any = "squared_hinge",
        penalty: str = "l2",
        multi_class: str = "ovr",
        code: Any = "auto",
        C: float = 1.0,
        lam: float | None = None,
        lam_form: str = "mean",
        fit_intercept: Any = True,
        intercept_scaling: float = 1.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.multi_class = multi_class
        self.code = code
        self.C = C
        self.lam = lam
        self.lam_form = lam_form
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.interrupt = interrupt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Without a bias f vanishes at the origin: no weights can make one class win everywhere, as good scores would.
        tags.classifier_tags.poor_score = Bias.of(self.fit_intercept) is Bias.NONE
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; float32 and float64 are read where they are, without a copy.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 that multiply C: a weight of 2 is the same as having the row twice.

        Returns
        -------
        LinearSVC
            The fitted estimator.
        """
        begun = limits.now()
        checks.check_parameters(self, _RULES)
        self._refuse_combinations()
        draft = checks.draft(self)
        items, labels = checks.training_data(draft, X, y, objects=False, square=False)
        weights = checks.sample_weights(sample_weight, items.shape[0])
        classes = read_classes(self, labels, weights)
        rows, reduction = self._rows(items, weights, classes), reduction_of(self, len(classes.names))
        warm_key = (self.multi_class, len(classes.names))
        jobs = (self._joint_jobs if is_joint(self) else self._jobs)(rows, reduction, warm_key)
        screen = self.penalty == "l1"
        plan = linear_plan(self, rows.X, jobs, bias_of(self), rows.costs, begun, warm_key, screen)

        def model(machines: list[Machine]) -> Attributes:
            return {
                "classes_": classes.names,
                "class_weight_": classes.factors,
                "reduction_": reduction,
                "coef_": np.vstack([machine.weights for machine in machines]),
                "intercept_": np.concatenate([machine.biases for machine in machines]),
            }

        return fit(self, draft, Given(X, y, sample_weight), plan, model, OF_WEIGHTS)

    def _refuse_combinations(self) -> None:
        """Errors for parameters that do not go together."""
        if self.penalty == "l1" and not (
            self.loss in _SPARSE_WEIGHTS or isinstance(self.loss, SquaredHinge | Logistic)
        ):
            raise ValueError(f"LinearSVC: penalty='l1' takes loss 'squared_hinge' or 'logistic'; got {self.loss!r}.")
        if not is_joint(self):
            return
        if self.penalty != "l2":
            raise ValueError(f"LinearSVC: multi_class={self.multi_class!r} takes penalty='l2'; got {self.penalty!r}.")
        joint_loss(self)

    def _rows(self, X: Any, weights: Array, classes: Classes) -> _Rows:
        """Rows of weight above zero, of classes of weight above zero. Where they are few, equal ones are merged."""
        labels = classes.of_rows
        if not weights.all():
            used = np.flatnonzero(weights)
            X, labels, weights = X[used], labels[used], weights[used]
        X, labels, weights = few_merged(X, labels, weights)
        costs = cost_of(self, weights) * classes.factors[labels] * weights
        if is_joint(self):
            refuse_zero_weights(self, costs)
        if costs.all():
            return _Rows(X, labels, costs)
        used = np.flatnonzero(costs)
        if not len(used):
            raise ValueError(f"class_weight={self.class_weight!r} leaves no row to learn from: all weights are zero.")
        return _Rows(X[used], labels[used], costs[used])

    def _jobs(self, rows: _Rows, reduction: Reduction, warm_key: tuple[Any, ...]) -> list[Job]:
        """A job for each machine of two sides."""
        tasks = reduction.tasks(rows.labels)
        starts = linear_starts(self, rows.X, [task.rows for task in tasks], rows.costs, warm_key, bias_of(self))
        loss, bias, penalty = class_loss(self.loss), bias_of(self), self.penalty

        def state(task: Task, design: Design) -> LinearProblem:
            costs = rows.costs if task.rows is None else rows.costs[task.rows]
            return LinearProblem(design, task.signs, costs, loss, bias, penalty)  # type: ignore[arg-type]

        def job(task: Task, start: Point | None) -> Job:
            name = task.name if len(tasks) > 1 else ""
            return Job(task.rows, (task.size(len(rows.labels)),), partial(state, task), name, start)

        return [job(task, start) for task, start in zip(tasks, starts, strict=True)]

    def _joint_jobs(self, rows: _Rows, reduction: Reduction, warm_key: tuple[Any, ...]) -> list[Job]:
        """One job for all classes."""
        (start,) = linear_starts(self, rows.X, [None], rows.costs, warm_key, bias_of(self))
        return [linear_job(rows.labels, reduction.n_classes, rows.costs, joint_loss(self), start)]

    def decision_function(self, X: Any) -> Array:
        """w'x + b: one value for two classes, positive for ``classes_[1]``; else one per class.

        With "ovo" a class's value is its votes, with "codes" the bits that agree with its word; both with the summed
        decisions, squeezed into (-1/3, 1/3), to tell equal ones apart.
        """
        values = self._decisions(X)
        return values.ravel() if len(self.classes_) == 2 else self.reduction_.scores(values)

    def _decisions(self, X: Any) -> Array:
        check_is_fitted(self)
        X = checks.prediction_data(self, X, objects=False)
        return linear_decisions(X, self.coef_, self.intercept_)

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes the largest value, ties to the lowest class index."""
        decisions = self._decisions(X)
        return self.classes_[self.reduction_.winners(decisions)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """P(class | x) = 1 / (1 + exp(-f)) of the logistic loss; with more classes scaled to sum to one."""
        return probabilities(self.decision_function(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | x)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
