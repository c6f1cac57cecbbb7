"""A fit is a transaction: everything is worked out first, and the attributes are set at once, at the end.

draft = checks.draft(self)                      # what validation notes down goes there, not to the estimator
rows, y = checks.training_data(draft, X, y, ...)
...                                             # whatever fails here changes nothing
checks.commit(self, draft, {"coef_": w, ...})   # the one place that sets fitted attributes
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])
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


def all_or_nothing(fit: Method) -> Method:
    """Decorates ``fit`` and ``partial_fit``: one that fails or is interrupted leaves the estimator as it was.

    That includes what scikit-learn's validation sets. The attributes are those of before, not copies of them: a fit
    makes new arrays, and writes into none that it finds.
    """

    @functools.wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(estimator))
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            estimator.__dict__ = before  # in one step: Ctrl-C may come twice
            raise

    return guarded  # type: ignore[return-value]
