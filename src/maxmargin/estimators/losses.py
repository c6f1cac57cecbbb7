"""The losses that a parameter can name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from maxmargin.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.losses.power_hinge import simplest

CLASS_LOSSES: dict[str, Callable[[], Any]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "huber_hinge": HuberHinge,
}
NUMBER_LOSSES: dict[str, Callable[[float], Any]] = {  # of epsilon
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
    "huber": partial(Huber, 1.0),
}


def class_loss(given: Any) -> Any:
    """The loss of labels that a parameter names or is."""
    return simplest(CLASS_LOSSES[given]() if isinstance(given, str) else given)


def number_loss(given: Any, epsilon: float) -> Any:
    """The loss of numbers that a parameter names or is; an object has its own epsilon."""
    return NUMBER_LOSSES[given](float(epsilon)) if isinstance(given, str) else given
