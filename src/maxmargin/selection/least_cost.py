"""The cost below which an l1-penalised machine has no weights: where a path of C may begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.certificates.linear import best_bias, rounding, row_multipliers
from maxmargin.checks import Rule
from maxmargin.estimators.linear.linear_svc import LinearSVC
from maxmargin.estimators.linear.rules import LINEAR_RULES
from maxmargin.estimators.plans.linear import bias_entry
from maxmargin.estimators.plans.reductions import reduction_of
from maxmargin.losses import Logistic, SquaredHinge
from maxmargin.problems.box import Bias
from maxmargin.problems.design import design_of
from maxmargin.problems.linear import LinearProblem

_LOSSES = {"squared_hinge": SquaredHinge(), "logistic": Logistic(), "log": Logistic()}
_RULES = {name: LINEAR_RULES[name] for name in ("fit_intercept", "intercept_scaling")} | {
    "loss": Rule(
        f"one of {', '.join(map(repr, _LOSSES))}",
        lambda loss: loss in _LOSSES if isinstance(loss, str) else isinstance(loss, SquaredHinge | Logistic),
        tuple(_LOSSES),
    )
}


def l1_min_c(
    X: Any, y: Any, *, loss: Any = "squared_hinge", fit_intercept: Any = True, intercept_scaling: float = 1.0
) -> float:
    """The smallest C from which on ``LinearSVC(penalty="l1")`` can have a weight that is not zero.

    Without weights the scores are the bias b, and the optimality conditions of the l1 penalty are

        |C sum_i x_ij l'(y_i, b)| <= 1    for every feature j,

    so the first one fails at C = 1 / max_j |sum_i x_ij l'(y_i, b)|. A free b is at its own optimum, whatever C is; one
    that is part of the norm is zero, and counts as a feature; without one it is zero.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels. More than two classes are machines of one versus the rest; the smallest C of any counts.
    loss : {"squared_hinge", "logistic", "log"}, default="squared_hinge"
        That of the machine; "log" is scikit-learn's word for "logistic".
    fit_intercept : True, False or "regularized", default=True
        As in ``LinearSVC``. "regularized" gives the number of ``sklearn.svm.l1_min_c(fit_intercept=True)``.
    intercept_scaling : float, default=1.0
        The constant feature of the regularised bias.

    Returns
    -------
    float
        The smallest C.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import LinearSVC, l1_min_c
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> least = l1_min_c(X, y)
    >>> [bool(LinearSVC(penalty="l1", C=C).fit(X, y).coef_.any()) for C in (0.99 * least, 1.01 * least)]
    [False, True]
    """
    machine = LinearSVC(loss=loss, penalty="l1", fit_intercept=fit_intercept, intercept_scaling=intercept_scaling)
    checks.check_parameters(machine, _RULES)
    rows, given = checks.training_data(machine, X, y)
    names, labels = np.unique(given, return_inverse=True)
    checks.at_least_two(names, "l1_min_c")
    bias = Bias.of(fit_intercept)
    design = design_of(rows, bias_entry(machine, bias))
    chosen = _LOSSES[loss] if isinstance(loss, str) else loss
    costs = np.ones(design.n)
    tasks = reduction_of(machine, len(names)).tasks(labels)
    steepest = max(_steepest(LinearProblem(design, task.signs, costs, chosen, bias, "l1")) for task in tasks)
    if steepest == 0.0:
        raise ValueError("l1_min_c: no feature lowers the loss, so the weights are zero whatever C is.")
    return 1.0 / steepest


def _steepest(problem: LinearProblem) -> float:
    """max_j |sum_i a_ij l'(y_i, b)| over what the norm counts; 0 where it is rounding."""
    z = np.zeros(problem.n)
    z += best_bias(problem, z) if problem.free_bias else 0.0
    sums, sizes = problem.design.combine_and_sizes(row_multipliers(problem, z))
    size, known = np.abs(sums)[problem.penalized], rounding(problem.n, sizes)[problem.penalized]
    return float(np.max(size[size > known], initial=0.0))
