"""From ``multi_class`` and ``code`` to a reduction, or to the loss of a joint machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.core.rows import Array
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.losses.multiclass import JointLoss
from maxmargin.losses.power_hinge import simplest
from maxmargin.multiclass import OneVsOne, OneVsRest, OutputCodes, Reduction
from maxmargin.multiclass.output_codes import code_book
from maxmargin.problems.box import Bias

JOINT = ("crammer_singer", "weston_watkins")
CODES = ("auto", "exhaustive", "random", "bits")

RULES: dict[str, Rule] = {
    "multi_class": checks.one_of("ovo", "ovr", *JOINT, "codes"),
    "code": Rule(
        f"one of {', '.join(map(repr, CODES))}, or a matrix of +1 and -1 with a row per class",
        lambda v: v in CODES if isinstance(v, str) else isinstance(v, np.ndarray | list | tuple),
    ),
}


def is_joint(estimator: Any) -> bool:
    """Whether all classes are learned in one problem."""
    return getattr(estimator, "multi_class", None) in JOINT


def refuse_zero_weights(estimator: Any, costs: Array) -> None:
    """An error where a class has weight zero: a joint machine has a weight vector for each class."""
    if not costs.all():
        raise ValueError(
            f"{type(estimator).__name__}: multi_class={estimator.multi_class!r} needs class weights > 0; leave the "
            "rows of a class that should not count out of the data."
        )


def bias_of(estimator: Any) -> Bias:
    """What ``fit_intercept`` asks for; a joint machine's bias is always part of the norm."""
    bias = Bias.of(estimator.fit_intercept)
    return Bias.REGULARIZED if bias is Bias.FREE and is_joint(estimator) else bias


def joint_loss(estimator: Any, named_square: bool = True) -> JointLoss:
    """The loss of a joint machine; an error for what it does not take.

    ``named_square`` is whether the name "squared_hinge" asks for the square, as ``SquaredHinge()`` always does.
    """
    loss = simplest(estimator.loss)
    square = isinstance(loss, SquaredHinge) or (named_square and loss == "squared_hinge")
    if not (square or isinstance(loss, Hinge) or loss in ("hinge", "squared_hinge")):
        raise ValueError(
            f"{type(estimator).__name__}: multi_class={estimator.multi_class!r} takes loss 'hinge' or 'squared_hinge'; "
            f"got {estimator.loss!r}."
        )
    return JointLoss(estimator.multi_class == "crammer_singer", square)


def reduction_of(estimator: Any, n_classes: int) -> Reduction:
    """How decisions become classes. Two classes are one machine; a joint machine has a score per class."""
    if n_classes == 2 or estimator.multi_class == "ovo":
        return OneVsOne(n_classes)
    if estimator.multi_class == "codes":
        given = estimator.random_state
        return OutputCodes(code_book(estimator.code, n_classes, None if given is None else check_random_state(given)))
    return OneVsRest(n_classes)
