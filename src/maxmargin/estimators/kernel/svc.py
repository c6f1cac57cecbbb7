"""The support vector classifier with kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.callback import with_callbacks

from maxmargin import checks
from maxmargin.certificates import distances
from maxmargin.checks import Rule
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.estimators.fitting import OF_KERNELS, fit
from maxmargin.estimators.kernel.machine import KERNEL_RULES, KernelMachine
from maxmargin.estimators.plans.classes import Classes, ClassTasks, in_pairs, read_classes
from maxmargin.estimators.plans.kernel import Rows, expansion, kernel_plan, read_rows, usual_bound_of
from maxmargin.estimators.plans.reductions import (
    JOINT,
    bias_of,
    is_joint,
    joint_loss,
    reduction_of,
    refuse_zero_weights,
)
from maxmargin.estimators.plans.reductions import RULES as MULTICLASS_RULES
from maxmargin.estimators.plans.warm import last_class_coefficients
from maxmargin.estimators.progress import Attributes, Given
from maxmargin.kernels.choice import takes_objects, takes_positions
from maxmargin.losses import Hinge, HuberHinge, Logistic, SquaredHinge
from maxmargin.losses.curved import is_loss_of_kernels
from maxmargin.machines import Job, Machine
from maxmargin.machines.joint import kernel_job
from maxmargin.machines.plan import as_solved
from maxmargin.machines.refusals import refuse_indefinite_hard_margin, refuse_inseparable
from maxmargin.models import soft_margin
from maxmargin.multiclass import Reduction, Task
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.box import Bias, BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.solution import Progress

_LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "huber_hinge": HuberHinge(), "logistic": Logistic()}
_RULES: dict[str, Rule] = (
    KERNEL_RULES
    | MULTICLASS_RULES
    | {
        "C": Rule("a number > 0, or infinity for the hard margin", checks.positive),
        "loss": Rule(
            f"one of {', '.join(map(repr, _LOSSES))}, or a loss of maxmargin.losses for labels",
            lambda loss: loss in _LOSSES if isinstance(loss, str) else is_loss_of_kernels(loss, of_labels=True),
        ),
        "decision_function_shape": checks.one_of("ovr", "ovo"),
        "break_ties": Rule("True or False", checks.boolean),
    }
)


class SVC(ClassifierMixin, KernelMachine):
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
    shrinking : bool, default=True
        Leave rows that look settled at a bound out of the working sets. The end is always tested on all rows. Joint
        machines always do.
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
        it beyond ``tol``. Also draws the random code.
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
    reduction_ : Reduction
        How the machines' decisions become a class (``maxmargin.multiclass``); ``reduction_.book`` is the code.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, n_iter_, class_weight_, shape_fit_
        As in scikit-learn's SVC. With "ovr", "codes" and joint machines ``dual_coef_`` has a row of coefficients and
        ``intercept_`` a bias for each machine or class.
    coef_ : ndarray
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

    classes_: Array
    class_weight_: Array
    reduction_: Reduction
    _fitted_as: str  # the multi_class of the last fit

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
        shrinking: bool = True,
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
        verbose: int = 0,
        callback: Callable[[Progress], bool | None] | None = None,
        interrupt: str = "raise",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.loss = loss
        self.multi_class = multi_class
        self.code = code
        self.fit_intercept = fit_intercept
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.interrupt = interrupt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a bias these decision functions vanish at the origin, or far from all rows: no weights can make one
        # class win everywhere, which scikit-learn expects of good scores.
        tags.classifier_tags.poor_score = Bias.of(self.fit_intercept) is Bias.NONE and self.kernel not in (
            "rbf",
            "laplacian",
        )
        return tags

    # --- fitting -----------------------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows; the (n, n) matrix of kernel values for "precomputed"; any objects for a kernel function.
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 that multiply C: a weight of 2 is the same as having the row twice.

        Returns
        -------
        SVC
            The fitted estimator.
        """
        begun = limits.now()
        checks.check_parameters(self, _RULES)
        if self.decision_function_shape == "ovo" and self.multi_class != "ovo":
            raise ValueError(
                f"SVC: decision_function_shape='ovo' needs multi_class='ovo': {self.multi_class!r} has no pairs of "
                "classes."
            )
        draft = checks.draft(self)
        items, labels = checks.training_data(draft, X, y, takes_objects(self.kernel), takes_positions(self.kernel))
        weights = checks.sample_weights(sample_weight, items.shape[0])
        classes = read_classes(self, labels, weights)
        rows = read_rows(self, items, weights, classes.of_rows, grouped=len(classes.names) > 2)
        tasks = ClassTasks(reduction_of(self, len(classes.names)), rows.target_ids, classes.names)
        costs = self._costs(rows, classes)
        start = rows.merged(last_class_coefficients(self, rows.shape, classes.names, tasks.reduction))
        jobs = (self._joint_jobs if is_joint(self) else self._jobs)(rows, tasks, costs, start)
        usual_bound = usual_bound_of(self._loss(), costs)
        plan = kernel_plan(self, rows, jobs, bias_of(self), usual_bound, begun, tasks.segments)

        def model(machines: list[Machine]) -> Attributes:
            return {
                "classes_": classes.names,
                "class_weight_": classes.factors,
                "reduction_": tasks.reduction,
                "_fitted_as": self.multi_class,
            } | expansion(rows, tasks.coefficients(machines), machines, by_target=True)

        return fit(self, draft, Given(X, y, sample_weight), plan, model, OF_KERNELS)

    def _costs(self, rows: Rows, classes: Classes) -> Array:
        """C_i of the different rows."""
        shares = classes.factors[rows.target_ids] * rows.weights
        return np.multiply(self.C, shares, out=np.zeros(len(shares)), where=shares > 0)  # infinity times zero is zero

    def _loss(self) -> Any:
        return _LOSSES[self.loss] if isinstance(self.loss, str) else self.loss

    def _jobs(self, rows: Rows, tasks: ClassTasks, costs: Array, start: Array | None) -> list[Job]:
        """A job for each machine of two sides."""
        kernel, loss, bias, hard = rows.kernel, self._loss(), bias_of(self), bool(np.isinf(costs).any())

        def state(task: Task, gram: Any) -> BoxQP | KernelProblem:
            if hard:
                refuse_indefinite_hard_margin(gram, kernel)
            return soft_margin(gram, task.signs, costs if task.rows is None else costs[task.rows], loss, bias)

        def finish(sides: str) -> Callable[..., Any]:
            return partial(refuse_inseparable, sides=sides, kernel=kernel) if hard else as_solved

        return tasks.jobs(state, start, finish)

    def _joint_jobs(self, rows: Rows, tasks: ClassTasks, costs: Array, start: Array | None) -> list[Job]:
        """One job for all classes."""
        if np.isinf(costs).any():
            raise ValueError(
                f"SVC: multi_class={self.multi_class!r} needs a finite C; the hard margin is solved with 'ovo', "
                "'ovr' and 'codes'."
            )
        refuse_zero_weights(self, costs)
        n_classes = tasks.reduction.n_classes
        return [kernel_job(rows.target_ids, n_classes, costs, joint_loss(self), rows.kernel, bias_of(self), start)]

    # --- using the machine -------------------------------------------------------------------------------------------

    def _groups(self) -> Array | None:
        return self.n_support_ if in_pairs(self.reduction_) else None

    def decision_function(self, X: Any) -> Array:
        """Decision values: w'phi(x) + b for two classes, positive for ``classes_[1]``.

        For more classes, one value per class; with ``decision_function_shape="ovo"`` one per pair of classes, in the
        order (0, 1), (0, 2), ..., positive for the first of the pair.
        """
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return decisions.ravel()
        return decisions if self.decision_function_shape == "ovo" else self.reduction_.scores(decisions)

    def predict(self, X: Any) -> Array:
        """Labels: f >= 0 is ``classes_[1]``; with more classes most votes, the largest score or the nearest word.

        Ties go to the lowest class index; with codes, and with ``break_ties`` among votes, first to the larger scores.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        decisions = self._decisions(X)
        if in_pairs(self.reduction_) and not self.break_ties:
            return self.classes_[np.argmax(ovo.votes(decisions, len(self.classes_)), axis=1)]
        return self.classes_[self.reduction_.winners(decisions)]

    def distance(self, X: Any) -> Array:
        """Distance of points to the hyperplane, |w'phi(x) + b| / ||w||; a column per machine."""
        decisions = self._decisions(X)
        if self._fitted_as in JOINT and len(self.classes_) > 2:
            raise ValueError(
                f"SVC: a joint machine (multi_class={self._fitted_as!r}) has no hyperplane per class, only boundaries "
                "between two; use decision_function."
            )
        return distances(decisions.ravel() if len(self.classes_) == 2 else decisions, 1.0 / np.asarray(self.margin_))
