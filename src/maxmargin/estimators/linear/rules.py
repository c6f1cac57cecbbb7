"""What the parameters of linear machines must be."""

from __future__ import annotations

from typing import Any

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.losses import CustomLoss, Huber, HuberHinge
from maxmargin.losses.base import compiled, sound
from maxmargin.solvers.linear.choose import NAMED


def is_loss(of_labels: bool, *names: str) -> Rule:
    """One of the named losses, or a loss object; built-in ones are either for labels or for numbers."""
    kind = "labels" if of_labels else "numbers"
    words = (
        f"one of {', '.join(map(repr, names))}, a loss of maxmargin.losses for {kind}, or an object with the methods "
    )
    words += "of CustomLoss, value(y, z) and slope(y, z)"

    def holds(value: Any) -> bool:
        if isinstance(value, str):
            return value in names
        if compiled(value):
            return value.one_sided == of_labels and sound(value) and _has_width(value)
        return not isinstance(value, type) and isinstance(value, CustomLoss)

    return Rule(words, holds)


def _has_width(loss: Any) -> bool:
    """Whether the parabola of a Huber loss has a width; without one it is another loss."""
    return not isinstance(loss, Huber | HuberHinge) or loss[0] > 0


LINEAR_RULES: dict[str, Rule] = checks.COMMON_RULES | {
    "C": Rule("a finite number > 0", lambda v: checks.positive(v) and checks.number(v)),
    "lam": Rule("a number > 0, or None", lambda v: v is None or (checks.positive(v) and checks.number(v))),
    "lam_form": checks.one_of("mean", "sum"),
    "intercept_scaling": Rule("a number > 0", lambda v: checks.positive(v) and checks.number(v)),
    "penalty": checks.one_of("l2", "l1"),
    "solver": checks.one_of("auto", *NAMED),
}
