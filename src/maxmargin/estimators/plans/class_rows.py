"""Rows and classes that a linear classifier learns from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin import checks
from maxmargin.core.rows import Array
from maxmargin.estimators.plans.classes import Classes, share_of
from maxmargin.estimators.plans.folds import Folds, given_folds, no_folds, own_folds
from maxmargin.estimators.plans.linear import cost_of
from maxmargin.estimators.plans.reductions import is_joint, refuse_zero_weights
from maxmargin.losses.base import is_flat
from maxmargin.machines import Fitted
from maxmargin.machines.linear import merged
from maxmargin.machines.scoring import linear_decisions
from maxmargin.multiclass import Reduction


class ClassRows(NamedTuple):
    """Rows of weight above zero, of classes of weight above zero: class indices, weights, costs and folds."""

    X: Any
    labels: Array
    weights: Array
    costs: Array
    folds: Folds


def read_class_rows(estimator: Any, X: Any, y: Array, weights: Array, classes: Classes, with_folds: bool) -> ClassRows:
    """What a linear classifier learns from. Where rows are few, equal ones are merged, unless ``cv`` divides them."""
    labels = classes.of_rows
    divided = with_folds and not checks.integer(estimator.cv)
    folds = given_folds(estimator.cv, X, y, True) if divided else no_folds(len(y))
    if is_joint(estimator):
        refuse_zero_weights(estimator, classes.factors[labels[weights > 0]])
    used = np.flatnonzero(weights * classes.factors[labels])
    if not len(used):
        raise ValueError(f"class_weight={estimator.class_weight!r} leaves no row to learn from: all weights are zero.")
    if len(used) < len(y):
        X, labels, weights = X[used], labels[used], weights[used]
        folds = folds._replace(of_rows=folds.of_rows[used])
    if not divided:
        X, labels, weights = merged(X, labels, weights)
        folds = no_folds(len(labels))
    if with_folds and not divided:
        folds = own_folds(int(estimator.cv), len(labels), labels, estimator.random_state)
    return ClassRows(X, labels, weights, cost_of(estimator, weights) * classes.factors[labels] * weights, folds)


def open_share(rows: ClassRows, reduction: Reduction, fitted: Fitted, loss: Any) -> float:
    """The share of the weight of rows whose loss is not flat in some machine: only those can be missed when left out.

    ``loss`` is that of machines with two sides, None for a joint one, whose loss is flat for a lead of 1. Without a
    proof nothing is known of a row.
    """
    open_rows = np.zeros(len(rows.labels), bool)
    if loss is None:
        (machine,) = fitted.machines
        scores = linear_decisions(rows.X, machine.weights, machine.biases)
        open_rows = reduction.leads(scores)[np.arange(len(rows.labels)), rows.labels] < 1.0
    else:
        for task, solution in zip(reduction.tasks(rows.labels), fitted.solutions, strict=True):
            some = slice(None) if task.rows is None else task.rows
            open_rows[some] |= solution.scores is None or ~is_flat(loss, task.signs, solution.scores)
    return share_of(rows.weights, open_rows)
