"""Parameters of estimators: what each must be, in words and as a test."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from maxmargin.core.rows import Array


class Rule(NamedTuple):
    """What a parameter must be, in words and as a test; ``names`` are the words that it may be."""

    words: str
    holds: Callable[[Any], bool]
    names: tuple[str, ...] = ()


def keep(estimator: Any, given: dict[str, Any]) -> None:
    """Sets: the parameters of a constructor, whose ``locals()`` are given, as they are and under their own names."""
    vars(estimator).update({name: value for name, value in given.items() if name not in ("self", "__class__")})


def positive(value: Any) -> bool:
    """A number above zero; infinity counts."""
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value) and float(value) > 0


def integer(value: Any) -> bool:
    """An integer of any kind but bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def boolean(value: Any) -> bool:
    """True or False, also NumPy's."""
    return isinstance(value, bool | np.bool_)


def number(value: Any) -> bool:
    """A finite real number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def numbers(value: Any) -> Array | None:
    """The value as an array of float64, or None if it is none: text, also of digits, truth values, ragged lists."""
    try:
        values = np.asarray(value)
    except ValueError:
        return None
    return values.astype(np.float64) if values.dtype.kind in "iuf" else None


def one_of(*options: Any) -> Rule:
    """One of a few values, most of them words."""
    named = ", ".join(repr(option) for option in options)
    words = tuple(option for option in options if isinstance(option, str))

    def holds(value: Any) -> bool:
        if isinstance(value, str):
            return value in words
        return any(value is option for option in options)  # an array compared with a word is no truth value

    return Rule(f"one of {named}", holds, words)


POSITIVE = Rule("a finite number > 0", lambda value: positive(value) and number(value))
NOT_NEGATIVE = Rule("a finite number >= 0", lambda value: number(value) and value >= 0)
SHARE = Rule("a number above 0 and at most 1", lambda value: number(value) and 0 < value <= 1)
CLASS_WEIGHT = Rule(
    "a dict of class: weight, 'balanced' or None",
    lambda value: value == "balanced" if isinstance(value, str) else value is None or isinstance(value, Mapping),
    ("balanced",),
)

# Parameters that several estimators have, with one meaning.
COMMON_RULES: dict[str, Rule] = {
    "fit_intercept": Rule(
        "True, False or 'regularized'", lambda v: boolean(v) or (isinstance(v, str) and v == "regularized")
    ),
    "tol": Rule("a number > 0", positive),
    "max_iter": Rule("-1 (no limit) or an integer >= 0", lambda v: integer(v) and v >= -1),
    "time_limit": Rule("a number of seconds > 0, or None", lambda v: v is None or positive(v)),
    "warm_start": Rule("True or False", boolean),
    "n_jobs": Rule("an integer or None", lambda v: v is None or integer(v)),
    "verbose": Rule("True, False or an integer", lambda v: boolean(v) or integer(v)),
    "callback": Rule("a function or None", lambda v: v is None or callable(v)),
    "interrupt": one_of("raise", "keep"),
}


def check_parameters(estimator: Any, rules: dict[str, Rule]) -> None:
    """Check every parameter against its rule."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        if not rule.holds(value):
            raise InvalidParameterError(
                f"{type(estimator).__name__}: {name} must be {rule.words}; got {value!r}.{_meant(value, rule.names)}"
            )


def _meant(value: Any, names: tuple[str, ...]) -> str:
    """A question where a word is misspelt."""
    near = difflib.get_close_matches(value.lower(), names, 1) if isinstance(value, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""
