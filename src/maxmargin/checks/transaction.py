"""A fit that fails changes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


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
