"""Level 5: parameters, data and weights of users are checked, and fitted attributes set, here alone."""

from maxmargin.checks.classes import at_least_two, stream_classes
from maxmargin.checks.data import (
    DENSE,
    DENSE_OF_ANY_NUMBERS,
    Layout,
    component_data,
    feature_label,
    first_entry,
    further_data,
    non_negative,
    prediction_data,
    regression_data,
    training_data,
    unlabelled_data,
    unlabelled_training_data,
)
from maxmargin.checks.parameters import (
    COMMON_RULES,
    Rule,
    boolean,
    check_parameters,
    integer,
    keep,
    number,
    numbers,
    one_of,
    positive,
)
from maxmargin.checks.transaction import commit, draft
from maxmargin.checks.warnings import warn_user
from maxmargin.checks.weights import class_costs, finite_total, sample_weights, weighted

__all__ = [
    "COMMON_RULES",
    "DENSE",
    "DENSE_OF_ANY_NUMBERS",
    "Layout",
    "Rule",
    "at_least_two",
    "boolean",
    "check_parameters",
    "class_costs",
    "commit",
    "component_data",
    "draft",
    "feature_label",
    "finite_total",
    "first_entry",
    "further_data",
    "integer",
    "keep",
    "non_negative",
    "number",
    "numbers",
    "one_of",
    "positive",
    "prediction_data",
    "regression_data",
    "sample_weights",
    "stream_classes",
    "training_data",
    "unlabelled_data",
    "unlabelled_training_data",
    "warn_user",
    "weighted",
]
