"""A fit is a transaction: everything is worked out first, and the attributes are set at once, at the end.

draft = checks.draft(self)                      # what validation notes down goes there, not to the estimator
rows, y = checks.training_data(draft, X, y, ...)
...                                             # whatever fails here changes nothing
checks.commit(self, draft, {"coef_": w, ...})   # the one place that sets fitted attributes
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

Estimator = TypeVar("Estimator")
OF_VALIDATION = ("n_features_in_", "feature_names_in_")  # what scikit-learn's validation notes down


def draft(estimator: Estimator) -> Estimator:
    """A shallow copy with the parameters of ``estimator`` and what its last fit saw, for validation to write on."""
    return copy.copy(estimator)


def note_features(draft: Any, X: Any) -> None:
    """Sets: what scikit-learn's validation notes down of rows without names."""
    draft.n_features_in_ = X.shape[1]
    vars(draft).pop("feature_names_in_", None)


def refuse_unfitted(estimator: Any) -> None:
    """An error before the first fit. (scikit-learn's check takes a quarter of the time of a prediction of one row.)"""
    if "_fitted_names" not in vars(estimator):
        check_is_fitted(estimator)


def commit(estimator: Any, draft: Any, fitted: Mapping[str, Any]) -> None:
    """Sets: the fitted attributes, all of them in one step; those of an earlier fit that are not among them go.

    The new dictionary is ready before it takes the place of the old one: Ctrl-C finds one model or the other.
    """
    seen = {name: vars(draft)[name] for name in OF_VALIDATION if name in vars(draft)}
    before = vars(estimator).get("_fitted_names", ())
    kept = {name: value for name, value in vars(estimator).items() if name not in before}
    names = {"_fitted_names": (*seen, *fitted)}
    estimator.__dict__ = kept | seen | dict(fitted) | names
