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

Estimator = TypeVar("Estimator")
OF_VALIDATION = ("n_features_in_", "feature_names_in_")  # what scikit-learn's validation notes down


def draft(estimator: Estimator) -> Estimator:
    """A shallow copy with the parameters of ``estimator`` and what its last fit saw, for validation to write on."""
    return copy.copy(estimator)


def commit(estimator: Any, draft: Any, fitted: Mapping[str, Any]) -> None:
    """Sets: the fitted attributes, all of them in one step; those of an earlier fit that are not among them go.

    The new dictionary is ready before it takes the place of the old one: Ctrl-C finds one model or the other.
    """
    seen = {name: vars(draft)[name] for name in OF_VALIDATION if name in vars(draft)}
    before = vars(estimator).get("_fitted_names", ())
    kept = {name: value for name, value in vars(estimator).items() if name not in before}
    names = {"_fitted_names": (*seen, *fitted)}
    estimator.__dict__ = kept | seen | dict(fitted) | names
