"""Level 2: support vector models as problems: targets, costs and parameters in, a problem out, and back."""

from maxmargin.models.classifier import soft_margin
from maxmargin.models.nu import class_margin, largest_nu, nu_classifier, nu_regression, tube
from maxmargin.models.one_class import one_class
from maxmargin.models.regressor import regression
from maxmargin.models.svdd import ball, svdd
from maxmargin.problems.box import Bias

__all__ = [
    "Bias",
    "ball",
    "class_margin",
    "largest_nu",
    "nu_classifier",
    "nu_regression",
    "one_class",
    "regression",
    "soft_margin",
    "svdd",
    "tube",
]
