"""The support vector classifier with kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.estimators.kernel.classifier import CLASSIFIER_RULES, KernelClassifier
from maxmargin.estimators.kernel.machine import KERNEL_RULES
from maxmargin.estimators.losses import CLASS_LOSSES, class_loss
from maxmargin.estimators.plans.classes import Classes, ClassTasks
from maxmargin.estimators.plans.folds import Folds
from maxmargin.estimators.plans.kernel import Rows, usual_bound_of
from maxmargin.estimators.plans.reductions import RULES as MULTICLASS_RULES
from maxmargin.estimators.plans.reductions import bias_of, is_joint, joint_loss, refuse_zero_weights
from maxmargin.estimators.progress import Attributes
from maxmargin.estimators.uncertain import LOG_ODDS, is_logistic
from maxmargin.losses.box import box_of, has_box
from maxmargin.losses.curved import is_loss_of_kernels
from maxmargin.losses.power_hinge import simplest
from maxmargin.machines import Job
from maxmargin.machines.joint import JointRows, kernel_job
from maxmargin.machines.plan import as_solved
from maxmargin.machines.refusals import refuse_indefinite_hard_margin, refuse_inseparable
from maxmargin.models import soft_margin
from maxmargin.multiclass import Task
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.solution import Progress, Solution
from maxmargin.solvers.small.pairs import Sides

_RULES: dict[str, Rule] = (
    KERNEL_RULES
    | MULTICLASS_RULES
    | CLASSIFIER_RULES
    | {
        "C": Rule("a number > 0, or infinity for the hard margin", checks.positive),
        "loss": Rule(
            f"one of {', '.join(map(repr, CLASS_LOSSES))}, or a loss of maxmargin.losses for labels",
            lambda loss: loss in CLASS_LOSSES if isinstance(loss, str) else is_loss_of_kernels(loss, of_labels=True),
            tuple(CLASS_LOSSES),
        ),
    }
)


class SVC(KernelClassifier):
    """Support vector classifier with kernels, solved to a certificate of optimality.

    For two classes y in {-1, +1} it minimises

        1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w'phi(x_i) + b))^p,

    p = 1 for ``loss="hinge"`` and p = 2 for ``loss="squared_hinge"``, through its dual: 0 <= alpha_i <= C_i for the
    hinge; alpha_i >= 0 with the kernel K + I / (2C) for its square. More classes are many such machines or one
    joint one (``multi_class``).

    Parameters
    ----------
    C : float, default=1.0
        Cost of slack; C_i is C times the weights of the row and its class. ``float("inf")`` is the hard margin: no
        slack at all, and an error where no hyperplane separates the classes.
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"}, Kernel or callable, default="rbf"
        The similarity. A callable either maps two collections to their matrix of kernel values, as in scikit-learn, or
        compares two single objects; it may compare anything, such as strings, and is called from one thread. See
        ``maxmargin.kernels``.
    degree : int, default=3
        Degree of the polynomial kernel (gamma x'z + coef0)^degree.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf", "poly", "sigmoid" and "laplacian". "scale" is 1 / (d var(X)) with the variance weighted by
        ``sample_weight``; "auto" is 1 / d.
    coef0 : float, default=0.0
        The constant in "poly" and "sigmoid".
    loss : {"hinge", "squared_hinge", "huber_hinge", "logistic"} or loss object, default="hinge"
        The slack itself, its square, a hinge whose corner is a parabola of half width 1/2, or log(1 + exp(-y f)); or a
        loss of ``maxmargin.losses``, such as ``PowerHinge(1.5)``, the slack to the power p. Powers and the logistic
        loss need a positive semidefinite kernel. Joint machines take the first two.
    multi_class : {"ovo", "ovr", "crammer_singer", "weston_watkins", "codes"}, default="ovo"
        Three classes and more: a machine for every pair of classes and a vote; for every class against the rest; one
        joint machine with the maximum over the other classes in its loss, or with their sum
        (``maxmargin.losses.multiclass``); or a machine for every bit of a code. Ties go to the lowest class index.
    code : {"auto", "exhaustive", "random", "bits"} or array of shape (n_classes, n_bits), default="auto"
        The words of +1 and -1 for ``multi_class="codes"``: all ways to split the classes, 10 log2(k) random ones, the
        class index in binary, or your own. "auto" is "exhaustive" up to seven classes, else "random".
    fit_intercept : True, False or "regularized", default=True
        A free bias b; none; or one that is part of the norm, ||w||^2 + b^2 (the notes' appended 1). Joint machines take
        True as "regularized": free biases would couple all rows.
    solver : {"auto", "smo", "interior_point"} or Solver, default="auto"
        How the quadratic program is solved: "auto" chooses, a name or an object of ``maxmargin.solvers`` (``Clarabel``,
        ``OSQP``, or your own) runs alone. The same certificate judges all of them.
    shrinking : bool, default=True
        Leave rows that look settled at a bound out of the working sets. The end is always tested on all rows. Joint
        machines always do.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether ``predict_proba`` and ``predict_set`` are learned: the machine is fitted again without each of ``cv``
        folds (on the same kernel matrix), and Platt's sigmoid (True, "sigmoid") or a rising step function ("isotonic")
        turns decisions on unseen rows into probabilities; those of pairs of classes are coupled. Predictions are then
        the most probable classes. "deprecated", scikit-learn's default, is False. The logistic loss has probabilities
        without it, 1 / (1 + exp(-f)).
    cv : int, splitter or list of (train, test) rows, default=5
        The folds for ``probability``. With a number, equal rows stay in one fold, and each class is spread over all.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the decision function. Problems of up to 1,000 rows
        are solved to about 1e-9, or to what rounding allows, whatever this says.
    cache_size : float, default=None
        Megabytes for kernel values; None is a quarter of the memory that the process may still take (what is free, and
        what limits of containers and of the address space leave), and at most 1024. The data, copies of them and the
        interpreter come on top.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    max_iter : int, default=-1
        Most iterations of the solver, -1 for no limit.
    time_limit : float, default=None
        Seconds for the whole fit, certificate included. A fit that runs out of time keeps its best model;
        where no time is left for its proof either, ``certificate_`` holds NaN and says so. A call of your own kernel
        function is not interrupted, and a limit that passes before the values of few objects are known leaves a model
        without support vectors.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For ``multi_class="ovo"`` and three classes or more: one value per class, or one per pair of classes.
    break_ties : bool, default=False
        For ``multi_class="ovo"``: predict the largest decision value of "ovr" instead of the first class with most
        votes.
    warm_start : bool, default=False
        Start from the multipliers of the last fit, on the same rows and classes; kernel rows of that fit are used
        again where data, kernel and tol are the same, and stay in memory for the next one.
    random_state : int, RandomState or None, default=None
        Order in which tied rows enter the first working set; None spreads them evenly. The solution does not depend on
        it beyond ``tol``. Also draws the random code, and the folds for ``probability``.
    n_jobs : int, default=None
        Threads; None is all cores. Results do not depend on it (they may, within ``tol``, on ``cache_size``).
    verbose : int, default=0
        Above zero, print a line per step of the solver.
    callback : callable, default=None
        Called with a ``Progress`` at the start and after every step; return True to stop. Pairs of classes call it
        from their threads.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit: raise KeyboardInterrupt, and leave the model of the last fit as it was; or keep the
        best model so far with status interrupted.

    Attributes
    ----------
    certificate_ : Certificate
        Primal and dual value, duality gap and violation, recomputed from the model; ``certificate_.parts`` holds one
        per machine.
    status_ : Status
        How the fit ended (the worst of all machines).
    trace_ : Trace or list of Trace
        History of the solver, one for each machine.
    margin_ : float or ndarray
        1 / ||w||, one for each machine; of a joint machine of several classes with the norm of all its weights.
    leave_one_out_bound_ : float
        The notes' bound on the leave-one-out error: the share of the rows that are support vectors, by their weight.
    calibration_ : list of Sigmoid or Isotonic
        With ``probability``: what turns each machine's decisions into probabilities; ``probA_`` and ``probB_`` are
        scikit-learn's names for the sigmoids' numbers.
    cross_fit_ : CrossFit
        With ``probability``: the machines without each fold, their certificates, and how badly they fit its rows.
    reduction_ : Reduction
        How the machines' decisions become a class (``maxmargin.multiclass``); ``reduction_.book`` is the code.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, n_iter_, class_weight_, shape_fit_
        As in scikit-learn's SVC. With "ovr", "codes" and joint machines ``dual_coef_`` has a row of coefficients and
        ``intercept_`` a bias for each machine or class. Sparse where X is.
    coef_ : ndarray or CSR matrix
        The weights w of the linear kernel.
    kernel_ : Kernel
        The kernel with its width.
    kernel_values_ : int
        Number of kernel values that the fit computed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> float(model.certificate_.relative_gap) < 1e-6
    True
    """

    C: float
    loss: Any

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: Any = "hinge",
        multi_class: str = "ovo",
        code: Any = "auto",
        fit_intercept: Any = True,
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

    def _check(self) -> None:
        checks.check_parameters(self, _RULES)
        if self.decision_function_shape == "ovo" and self.multi_class != "ovo":
            raise ValueError(
                f"SVC: decision_function_shape='ovo' needs multi_class='ovo': {self.multi_class!r} has no pairs of "
                "classes."
            )

    def _costs(self, rows: Rows, classes: Classes) -> Array:
        """C_i."""
        shares = classes.factors[rows.target_ids] * rows.weights
        return np.multiply(self.C, shares, out=np.zeros(len(shares)), where=shares > 0)  # infinity times zero is zero

    def _more(self, solutions: list[Solution]) -> Attributes:
        return {"calibration_": [LOG_ODDS] * len(solutions)} if is_logistic(self) else {}

    def _usual_bound(self, costs: Array) -> float:
        return usual_bound_of(class_loss(self.loss), costs)

    def _sides(self, costs: Array) -> Sides | None:
        loss, ones = simplest(class_loss(self.loss)), np.ones(len(costs))
        if bias_of(self) is not Bias.FREE or np.isinf(costs).any() or not has_box(loss, of_labels=True):
            return None
        return Sides(box_of(loss, ones, costs, of_labels=True), box_of(loss, -ones, costs, of_labels=True))

    def _jobs(self, rows: Rows, tasks: ClassTasks, costs: Array, start: Array | None, folds: Folds) -> Sequence[Job]:
        if is_joint(self):
            return [self._joint_job(rows, tasks.reduction.n_classes, costs, start, folds)]
        kernel, loss, bias, hard = rows.kernel, class_loss(self.loss), bias_of(self), bool(np.isinf(costs).any())

        def state(task: Task, costs: Array, gram: Any) -> BoxQP | KernelProblem:
            if hard:
                refuse_indefinite_hard_margin(gram, kernel)
            return soft_margin(gram, task.signs, costs, loss, bias)

        def finish(sides: str) -> Callable[..., Any]:
            return partial(refuse_inseparable, sides=sides, kernel=kernel) if hard else as_solved

        return tasks.jobs(state, costs, start, finish, folds)

    def _joint_job(self, rows: Rows, n_classes: int, costs: Array, start: Array | None, folds: Folds) -> Job:
        """One job for all classes."""
        if np.isinf(costs).any():
            raise ValueError(
                f"SVC: multi_class={self.multi_class!r} needs a finite C; the hard margin is solved with 'ovo', "
                "'ovr' and 'codes'."
            )
        refuse_zero_weights(self, costs)
        learnt = JointRows(rows.target_ids, n_classes, costs)
        return kernel_job(learnt, joint_loss(self), rows.kernel, bias_of(self), start, folds.each)
