"""Linear classifiers: support vector machines and logistic regression without kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.available import available
from maxmargin.estimators.crossfit import linear_folds
from maxmargin.estimators.fitting import OF_WEIGHTS, fit
from maxmargin.estimators.geometry import Hyperplanes, margins_of
from maxmargin.estimators.linear.hard_margin import fit_hard_margin
from maxmargin.estimators.linear.machine import LinearMachine, biases_of
from maxmargin.estimators.linear.rules import LINEAR_RULES, is_loss
from maxmargin.estimators.losses import CLASS_LOSSES, class_loss
from maxmargin.estimators.plans.class_rows import ClassRows, open_share, read_class_rows
from maxmargin.estimators.plans.classes import read_classes
from maxmargin.estimators.plans.linear import linear_plan, linear_starts
from maxmargin.estimators.plans.reductions import RULES as MULTICLASS_RULES
from maxmargin.estimators.plans.reductions import bias_of, is_joint, joint_loss, reduction_of
from maxmargin.estimators.probabilities import probabilities
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.estimators.uncertain import (
    ADVICE,
    PROBABILITY_RULES,
    ClassFolds,
    Probable,
    has_probabilities,
    is_logistic,
    wants_probabilities,
)
from maxmargin.losses import Logistic, SquaredHinge
from maxmargin.losses.multiclass import JointLoss
from maxmargin.machines import Fitted, Job, Machine
from maxmargin.machines.joint import JointRows, linear_job
from maxmargin.multiclass import Reduction, Task
from maxmargin.problems.box import Bias
from maxmargin.problems.design import Design
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Progress

_RULES: dict[str, Rule] = (
    LINEAR_RULES
    | MULTICLASS_RULES
    | PROBABILITY_RULES
    | {
        "loss": is_loss(True, *CLASS_LOSSES),
        "C": Rule("a number > 0, or infinity for the hard margin", checks.positive),
        "class_weight": checks.CLASS_WEIGHT,
    }
)


def _has_own_probabilities(model: Any) -> bool:
    """Whether decisions are log-odds of classes: those of the logistic loss, one versus the rest."""
    return model.multi_class == "ovr" and is_logistic(model)


class LinearSVC(Hyperplanes, Probable, ClassifierMixin, SparseCoefMixin, LinearMachine):
    """Linear classifier, solved to a certified relative duality gap.

    For two classes y in {-1, +1} it minimises

        Omega(w) + sum_i C_i l(y_i, w'x_i + b),    Omega(w) = 1/2 ||w||^2 or ||w||_1;

    more classes are many such machines or one joint one (``multi_class``).

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Omega. "l1" makes weights exactly zero; it takes the squared hinge and the logistic loss.
    loss : {"hinge", "squared_hinge", "logistic", "huber_hinge"} or loss object, default="squared_hinge"
        With m = y (w'x + b): max(0, 1 - m), its square, log(1 + exp(-m)), or a hinge whose corner is a parabola of half
        width 1/2. An object of ``maxmargin.losses``, such as ``PowerHinge(1.5)``, the slack to the power p, or your own
        with the methods of ``CustomLoss``: value and slope, and where they exist curvature and conjugate.
    multi_class : {"ovo", "ovr", "crammer_singer", "weston_watkins", "codes"}, default="ovr"
        Three classes and more: a machine for every pair of classes and a vote; for every class against the rest; one
        joint machine with the maximum over the other classes in its loss, or with their sum
        (``maxmargin.losses.multiclass``; loss "hinge" or "squared_hinge"); or a machine for every bit of a code.
        "crammer_singer" is the hinge, LIBLINEAR's -s 4, whatever name ``loss`` has, as in scikit-learn;
        ``loss=SquaredHinge()`` is the square of its maximum.
    code : {"auto", "exhaustive", "random", "bits"} or array of shape (n_classes, n_bits), default="auto"
        The words of +1 and -1 for ``multi_class="codes"``: all ways to split the classes, 10 log2(k) random ones, the
        class index in binary, or your own. "auto" is "exhaustive" up to seven classes, else "random".
    C : float, default=1.0
        Cost of the losses; C_i is C times the weights of the row and its class. ``float("inf")`` is the hard margin:
        no slack at all, and an error where no hyperplane separates the classes.
    lam : float, default=None
        Replaces C: the notes' lambda, in the form of ``lam_form``.
    lam_form : {"mean", "sum"}, default="mean"
        "mean": mean loss + lam Omega(w), so C = 1 / (n lam), n the sum of the weights; "sum": C = 1 / lam.
    fit_intercept : True, False or "regularized", default=True
        A free bias b; none; or scikit-learn's, the weight of a constant feature ``intercept_scaling`` in the norm.
        Joint machines take True as "regularized": free biases would couple all rows.
    intercept_scaling : float, default=1.0
        The constant feature of the regularised bias.
    dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake, without effect: the solver is chosen by loss and shape.
    solver : {"auto", "newton", "alm", "dual_cd", "gd", "sgd"}, default="auto"
        "auto" chooses by loss and shape, and hands over when a solver stalls; ``solver_`` says what and why. A solver
        that is named runs alone. "gd" (descent with line search) and "sgd" cannot promise ``tol``. Joint machines have
        "alm" and "dual_cd"; those of few rows are solved by blocks of rows.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether ``predict_proba`` and ``predict_set`` are learned from machines without each of ``cv`` folds: see
        ``SVC``. The logistic loss, one versus the rest, has probabilities of its own without it.
    cv : int, splitter or list of (train, test) rows, default=5
        The folds for ``probability``.
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
        The weights w: one row for two classes, else one for each class, pair of classes or bit; a CSR matrix after
        ``sparsify()``.
    intercept_ : ndarray of shape (n_machines,), or 0.0 without a bias
        The bias b.
    margin_ : float or ndarray
        1 / ||w||, one for each machine; of a joint machine of several classes with the norm of all its weights.
    leave_one_out_bound_ : float
        The notes' bound on the leave-one-out error: the share of the rows, by their weight, that the machine would miss
        if they were left out, those with a loss that is not flat (1 for the logistic loss).
    calibration_, cross_fit_
        With ``probability``, as in ``SVC``.
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

    penalty: str
    loss: Any
    multi_class: str
    code: Any
    class_weight: Any

    def __init__(
        self,
        penalty: str = "l2",
        loss: Any = "squared_hinge",
        *,
        dual: Any = "auto",
        multi_class: str = "ovr",
        code: Any = "auto",
        C: float = 1.0,
        lam: float | None = None,
        lam_form: str = "mean",
        fit_intercept: Any = True,
        intercept_scaling: float = 1.0,
        solver: str = "auto",
        probability: Any = False,
        cv: Any = 5,
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
        checks.keep(self, locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
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
        items, labels = checks.training_data(draft, X, y)
        weights, given = checks.sample_weights(sample_weight, items.shape[0]), Given(X, y, sample_weight)
        if math.isinf(self.C) and self.lam is None:
            return fit_hard_margin(self, draft, given, items, labels, weights)
        classes = read_classes(self, labels, weights)
        rows = read_class_rows(self, items, labels, weights, classes, wants_probabilities(self))
        reduction = reduction_of(self, len(classes.names))
        warm_key = (self.multi_class, len(classes.names))
        jobs = (self._joint_jobs if is_joint(self) else self._jobs)(rows, reduction, warm_key)
        screen = self.penalty == "l1"
        plan = linear_plan(self, rows.X, jobs, bias_of(self), rows.costs, begun, warm_key, screen)

        def model(machines: list[Machine]) -> Attributes:
            w = np.vstack([machine.weights for machine in machines])
            return {
                "classes_": classes.names,
                "class_weight_": classes.factors,
                "reduction_": reduction,
                "coef_": w,
                "intercept_": biases_of(self, np.concatenate([machine.biases for machine in machines])),
                "margin_": margins_of(w, is_joint(self)),
                "_fitted_as": self.multi_class,
            }

        def more(fitted: Fitted) -> Attributes:
            loss = None if is_joint(self) else class_loss(self.loss)
            found = {"leave_one_out_bound_": open_share(rows, reduction, fitted, loss)}
            if not rows.folds.number:
                return found
            machines = linear_folds(fitted, rows.folds.number)
            divided = ClassFolds(rows.labels, rows.weights, rows.folds, classes.factors)
            return found | self._calibration(fitted, reduction, divided, machines)

        return fit(self, draft, given, plan, model, OF_WEIGHTS, more)

    def _refuse_combinations(self) -> None:
        """Errors and warnings for parameters that do not go together."""
        self._warn_idle_scaling(bias_of(self))
        if self.penalty == "l1" and not isinstance(class_loss(self.loss), SquaredHinge | Logistic):
            raise ValueError(f"LinearSVC: penalty='l1' takes loss 'squared_hinge' or 'logistic'; got {self.loss!r}.")
        if not is_joint(self):
            return
        if self.penalty != "l2":
            raise ValueError(f"LinearSVC: multi_class={self.multi_class!r} takes penalty='l2'; got {self.penalty!r}.")
        self._joint_loss()

    def _joint_loss(self) -> JointLoss:
        """scikit-learn's "crammer_singer" ignores its default loss "squared_hinge": LIBLINEAR's -s 4 has the hinge."""
        return joint_loss(self, named_square=self.multi_class != "crammer_singer")

    def _jobs(self, rows: ClassRows, reduction: Reduction, warm_key: tuple[Any, ...]) -> list[Job]:
        """A job for each machine of two sides."""
        tasks = reduction.tasks(rows.labels)
        starts = linear_starts(self, rows.X, [task.rows for task in tasks], rows.costs, warm_key, bias_of(self))
        loss, bias, penalty = class_loss(self.loss), bias_of(self), self.penalty

        def state(task: Task, kept: Any, design: Design) -> LinearProblem:
            signs, costs = task.signs[kept], task.of(rows.costs)[kept]
            return LinearProblem(design, signs, costs, loss, bias, penalty)  # type: ignore[arg-type]

        def job(task: Task, start: Point | None) -> Job:
            name, size = task.name if len(tasks) > 1 else "", task.size(len(rows.labels))
            folds = rows.folds.without_rows(partial(state, task), size, task.rows)
            return Job(task.rows, (size,), partial(state, task, slice(None)), name, start, folds=folds)

        return [job(task, start) for task, start in zip(tasks, starts, strict=True)]

    def _joint_jobs(self, rows: ClassRows, reduction: Reduction, warm_key: tuple[Any, ...]) -> list[Job]:
        """One job for all classes."""
        (start,) = linear_starts(self, rows.X, [None], rows.costs, warm_key, bias_of(self))
        learnt = JointRows(rows.labels, reduction.n_classes, rows.costs)
        return [linear_job(learnt, self._joint_loss(), start, rows.folds.each)]

    def decision_function(self, X: Any) -> Array:
        """w'x + b: one value for two classes, positive for ``classes_[1]``; else one per class.

        With "ovo" a class's value is its votes, with "codes" the bits that agree with its word; both with the summed
        decisions, squeezed into (-1/3, 1/3), to tell equal ones apart.
        """
        values = self._decisions(X)
        return values.ravel() if len(self.classes_) == 2 else self.reduction_.scores(values)

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes the largest value, ties to the lowest class index.

        A machine with ``probability`` predicts the most probable class, the largest entry of ``predict_proba``.
        """
        if hasattr(self, "calibration_"):
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        decisions = self._decisions(X)
        return self.classes_[self.reduction_.winners(decisions)]

    def _has_probabilities(self) -> bool:
        return wants_probabilities(self) or hasattr(self, "calibration_") or _has_own_probabilities(self)

    @available(has_probabilities, ADVICE + ", or take loss='logistic'")
    def predict_proba(self, X: Any) -> Array:
        """P(class | x): calibrated decisions (see ``probability``).

        Of the logistic loss without ``probability`` 1 / (1 + exp(-f)), with more classes scaled to sum to one.
        """
        check_is_fitted(self)
        if hasattr(self, "calibration_") or not _has_own_probabilities(self):
            return super().predict_proba(X)
        values = self._decisions(X)
        return probabilities(values, self.reduction_.winners(values))
