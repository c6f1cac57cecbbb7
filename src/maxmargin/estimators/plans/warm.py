"""Warm starts: what a fit goes on from, and what does not travel with the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.core.rows import Array, as_dense


class KeepsForNextFit:
    """An estimator that keeps ``_kept`` for its next fit: pickles and copies leave it out."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}


def afresh(reason: str) -> None:
    """Say why a fit does not go on from the last one."""
    checks.warn_user(f"warm_start: {reason}; this fit starts afresh.")


def last_coefficients(estimator: Any, shape: tuple[int, ...], others: str = "rows") -> Array | None:
    """``dual_coef_`` of the last fit of a kernel machine, a column for each row that it was given.

    None where there was none, or where its data were of another shape.
    """
    if not estimator.warm_start or not hasattr(estimator, "dual_coef_"):
        return None
    if estimator.shape_fit_ != shape:
        afresh(f"the data have other {others} (shape {shape}, before {estimator.shape_fit_})")
        return None
    coef = np.zeros((estimator.dual_coef_.shape[0], shape[0]))
    coef[:, estimator.support_] = as_dense(estimator.dual_coef_)
    return coef


def last_class_coefficients(estimator: Any, shape: tuple[int, ...], classes: Array, reduction: Any) -> Array | None:
    """``last_coefficients`` of a classifier, None also where its classes or machines were others."""
    if not estimator.warm_start or not hasattr(estimator, "dual_coef_"):
        return None
    if not np.array_equal(estimator.classes_, classes):
        afresh(f"the data have other rows or classes (shape {shape}, before {estimator.shape_fit_})")
        return None
    if estimator._fitted_as != estimator.multi_class:
        afresh(f"the last fit was multi_class={estimator._fitted_as!r}")
        return None
    before, now = (getattr(way, "book", None) for way in (estimator.reduction_, reduction))
    if not np.array_equal(before, now):  # type: ignore[arg-type]
        afresh("the last fit had another code")
        return None
    return last_coefficients(estimator, shape, "rows or classes")
