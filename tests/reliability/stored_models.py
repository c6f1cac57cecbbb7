"""What the model that a fit stored is worth: its machines' values in long double, from fitted attributes and the data.

Attributes are taken as they are stored, in their own dtype: support vectors, coefficients, weights and biases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin import SVC, LinearSVR
from maxmargin.core.rows import as_dense
from maxmargin.kernels import Precomputed
from maxmargin.losses import SquaredHinge
from tests.reliability import long_double
from tests.reliability.long_double import Recomputed, wide

JOINT = ("crammer_singer", "weston_watkins")


def recomputed(model: Any, X: Any, y: Any, weights: Any = None) -> list[Recomputed]:
    """The values of every machine of a fitted SVC, LinearSVC or LinearSVR; of linear ones the primal value alone.

    Multipliers are no attribute of linear machines, so their dual value is the certificate's.
    """
    weights = np.ones(len(y)) if weights is None else weights
    parts = model.certificate_.parts or (model.certificate_,)
    if isinstance(model, LinearSVR):
        primal = _linear_primal(model, X, y, model.C * weights, model.coef_, _biases(model)[0])
        return [Recomputed(primal, parts[0].dual, np.nan)]
    labels = np.searchsorted(model.classes_, y)
    costs = model.C * model.class_weight_[labels] * weights
    if isinstance(model, SVC):
        return _kernel_machines(model, X, labels, costs)
    if model.multi_class in JOINT:
        given = (labels, costs, model.coef_, _biases(model), model.multi_class == JOINT[0], _squared(model))
        return [Recomputed(long_double.linear_joint_primal(X, *given), parts[0].dual, np.nan)]
    machines = zip(_sides(model, labels), model.coef_, _biases(model), parts, strict=True)
    return [
        Recomputed(_linear_primal(model, X[rows], signs[rows], costs[rows], w, b), part.dual, np.nan)
        for (rows, signs), w, b, part in machines
    ]


def _biases(model) -> Any:
    """One for each machine; a linear machine without a bias stores the number 0."""
    return np.broadcast_to(model.intercept_, (np.atleast_2d(model.coef_).shape[0],))


def _squared(model) -> bool:
    """Of a joint machine: a linear one of Crammer and Singer has the hinge whatever its loss is called."""
    named = isinstance(model, SVC) or model.multi_class != JOINT[0]
    return isinstance(model.loss, SquaredHinge) or (named and model.loss == "squared_hinge")


def _linear_primal(model, X, y, costs, w, b) -> float:
    bias_weight = b if model.fit_intercept == "regularized" else 0.0
    penalty, epsilon = getattr(model, "penalty", "l2"), getattr(model, "epsilon", 0.0)
    return long_double.linear_primal(X, y, costs, w, bias_weight, b, model.loss, penalty, epsilon)


def _sides(model, labels) -> list[tuple[Any, Any]]:
    """Rows and signs of every machine; pairs are positive for their first class, two classes for the second."""
    k = len(model.classes_)
    everyone = np.arange(len(labels))
    if k == 2:
        return [(everyone, np.where(labels == 1, 1.0, -1.0))]
    if model.multi_class == "codes":
        return [(everyone, word[labels]) for word in model.reduction_.book.T]
    if model.multi_class == "ovr":
        return [(everyone, np.where(labels == c, 1.0, -1.0)) for c in range(k)]
    return [(np.flatnonzero((labels == a) | (labels == b)), np.where(labels == a, 1.0, -1.0)) for a, b in _pairs(k)]


def _pairs(k: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(k) for b in range(a + 1, k)]


# --- kernel machines -------------------------------------------------------------------------------------------------


def _kernel_machines(model, X, labels, costs) -> list[Recomputed]:
    cross, inner = _kernel_values(model, X)
    if model.multi_class in JOINT:
        return [_joint(model, labels, costs, cross, inner)]
    linear, regularized = model.kernel == "linear", model.fit_intercept == "regularized"
    found = []
    for number, (rows, signs) in enumerate(_sides(model, labels)):
        coef = wide(_coefficients(model, labels[model.support_], number))
        scores, square, bias = cross[rows] @ coef, coef @ inner @ coef, wide(model.intercept_[number])
        decisions = wide(X)[rows] @ wide(as_dense(model.coef_)[number]) + bias if linear else scores + bias
        if regularized:
            scores, square = scores + coef.sum(), square + coef.sum() ** 2
        beta = np.zeros(len(labels), np.longdouble)
        beta[model.support_] = coef
        given = (signs[rows], costs[rows], beta[rows], scores, square, decisions, model.fit_intercept is True)
        found.append(long_double.box_machine(model.loss, *given))
    return found


def _kernel_values(model, X) -> tuple[Any, Any]:
    """Kernel values of all rows with the stored support vectors, and of these among themselves."""
    if isinstance(model.kernel_, Precomputed):
        cross = wide(X)[:, model.support_]
        return cross, cross[model.support_]
    X, vectors = wide(X), model.support_vectors_
    vectors = wide(vectors.toarray() if hasattr(vectors, "toarray") else vectors)
    if model.kernel == "linear" and model.fit_intercept is True and model.multi_class not in JOINT:
        # A linear machine with a free bias does not depend on the origin, which sum(beta) = 0 would have to cancel.
        X, vectors = X - X.mean(axis=0), vectors - X.mean(axis=0)
    return long_double.kernel_matrix(model.kernel_, X, vectors), long_double.kernel_matrix(model.kernel_, vectors)


def _coefficients(model, labels, number) -> Any:
    """One machine's coefficients of the support vectors with these class indices; of pairs in scikit-learn's layout.

    There the coefficients of a class's vectors in its pair with another one lie in the row of that one.
    """
    coef, k = as_dense(model.dual_coef_), len(model.classes_)
    if k == 2 or model.multi_class != "ovo":
        return coef[number]
    a, b = _pairs(k)[number]
    return np.where(labels == a, coef[b - 1], np.where(labels == b, coef[a], 0.0))


def _joint(model, labels, costs, cross, inner) -> Recomputed:
    """Two classes are stored as one: w_1 = -w_0 is half of what is shown."""
    coef, biases = wide(as_dense(model.dual_coef_)).T, wide(model.intercept_)
    if len(model.classes_) == 2:
        coef, biases = np.hstack([-coef, coef]) / 2.0, np.concatenate([-biases, biases]) / 2.0
    square = np.sum(coef * (inner @ coef))
    if model.fit_intercept:
        square = square + np.sum(coef.sum(axis=0) ** 2)
    B = np.zeros((len(labels), coef.shape[1]), np.longdouble)
    B[model.support_] = coef
    return long_double.joint_machine(
        labels, costs, B, square, cross @ coef + biases, model.multi_class == JOINT[0], _squared(model)
    )
