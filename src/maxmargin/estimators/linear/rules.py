"""What the parameters of linear machines must be."""

from __future__ import annotations

from typing import Any

from maxmargin import checks
from maxmargin.checks import Rule
from maxmargin.losses import CustomLoss, HuberHinge
from maxmargin.losses.base import compiled, sound
from maxmargin.solvers.linear.choose import NAMED


def is_loss(of_labels: bool, *names: str, custom: bool = True) -> Rule:
    """One of the named losses, or a loss object; built-in ones are either for labels or for numbers."""
    kind = "labels" if of_labels else "numbers"
    words = f"one of {', '.join(map(repr, names))}, a loss of maxmargin.losses for {kind}"
    words += ", or an object with the methods of CustomLoss" if custom else ""

    def holds(value: Any) -> bool:
        if isinstance(value, str):
            return value in names
        if compiled(value):
            return (
                value.one_sided == of_labels and sound(value) and not (isinstance(value, HuberHinge) and value.h == 0)
            )
        return custom and not isinstance(value, type) and isinstance(value, CustomLoss)

    return Rule(words, holds)


LINEAR_RULES: dict[str, Rule] = checks.COMMON_RULES | {
    "C": Rule("a finite number > 0", lambda v: checks.positive(v) and checks.number(v)),
    "lam": Rule("a number > 0, or None", lambda v: v is None or (checks.positive(v) and checks.number(v))),
    "lam_form": checks.one_of("mean", "sum"),
    "intercept_scaling": Rule("a number > 0", lambda v: checks.positive(v) and checks.number(v)),
    "penalty": checks.one_of("l2", "l1"),
    "solver": checks.one_of("auto", *NAMED),
}
