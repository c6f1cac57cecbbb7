"""Machines without kernels: from parameters and rows to a plan, and from its machines to attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core.rows import Array
from maxmargin.estimators.plans.effort import effort_of
from maxmargin.estimators.plans.warm import afresh
from maxmargin.machines import Fitted, Job, LinearPlan
from maxmargin.machines.warm import KeptPoints
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Point, Solution


def cost_of(estimator: Any, weights: Array) -> float:
    """C, or what ``lam`` stands for: 1 / (n lam) for the mean loss (002), 1 / lam for the sum (001, 003)."""
    if estimator.lam is None:
        return float(estimator.C)
    return 1.0 / (estimator.lam * (float(weights.sum()) if estimator.lam_form == "mean" else 1.0))


def bias_entry(estimator: Any, bias: Bias) -> float:
    """The entry of the column that stands for the bias (``problems.design``)."""
    return {Bias.NONE: 0.0, Bias.FREE: 1.0, Bias.REGULARIZED: float(estimator.intercept_scaling)}[bias]


def linear_starts(
    estimator: Any, X: Any, rows: list[Array | None], costs: Array, warm_key: tuple[Any, ...], bias: Bias
) -> list[Point | None]:
    """Where machines on these ``rows`` of X start: where the last fit ended, if that is to be gone on from."""
    kept: KeptPoints | None = getattr(estimator, "_kept", None) if estimator.warm_start else None
    if kept is None:
        return [None] * len(rows)
    starts = kept.starts(rows, X.shape[1] + (bias is not Bias.NONE), costs, warm_key)
    if starts is None:
        afresh("the data have another shape or other classes")
        return [None] * len(rows)
    return list(starts)


def linear_plan(
    estimator: Any,
    X: Any,
    jobs: list[Job],
    bias: Bias,
    costs: Array,
    begun: float,
    warm_key: tuple[Any, ...] = (),
    screen: bool = False,
) -> LinearPlan:
    """The plan of ``jobs`` on these rows; see ``machines.plan`` for ``warm_key`` and ``screen``."""
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    return LinearPlan(
        X=X,
        jobs=jobs,
        scale=bias_entry(estimator, bias),
        effort=effort_of(estimator, begun, seed=seed, solver=estimator.solver),
        costs=costs,
        warm_key=warm_key,
        screen=screen,
        keep=estimator.warm_start,
    )


def linear_report(fitted: Fitted) -> dict[str, Any]:
    """Attributes that tell of the solve."""
    solutions = fitted.solutions
    chosen = {s.solver: s.reason for s in reversed(solutions)}  # of machines of different sizes the first one's reason
    report = {
        "n_iter_": max(s.iterations for s in solutions),
        "n_passes_": float(np.mean([s.passes for s in solutions])),
        "solver_": "; ".join(f"{name}: {reason}" for name, reason in chosen.items()),
    }
    return report if fitted.zero_features is None else report | {"zero_features_": fitted.zero_features}


def linear_promise(solutions: list[Solution]) -> str:
    """What a model that is kept nevertheless can promise."""
    return f"; its largest relative gap is {max(s.certificate.relative_gap for s in solutions):.2g}"
