"""Methods that an estimator has only with some parameters, and otherwise an error that says what to do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any


class Available:
    """A method that is there only where ``holds(estimator)``; ``hasattr`` says so, as scikit-learn's tools expect."""

    def __init__(self, method: Callable[..., Any], holds: Callable[[Any], bool], advice: str) -> None:
        functools.update_wrapper(self, method)  # type: ignore[arg-type]
        self._method, self._holds, self._advice = method, holds, advice

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None:
            return self._method
        if not self._holds(estimator):
            name = owner.__name__
            raise AttributeError(
                f"This {name} has no {self._method.__name__}: {self._advice.format(name=name)}.",
                name=self._method.__name__,
                obj=estimator,
            )
        return MethodType(self._method, estimator)


def available(holds: Callable[[Any], bool], advice: str) -> Callable[[Callable[..., Any]], Any]:
    """``advice`` says what to do where the method is missing; {name} in it is the name of the estimator."""
    return lambda method: Available(method, holds, advice)
