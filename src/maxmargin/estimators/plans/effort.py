"""How far a fit may go, from the parameters that all estimators with a solver have."""

from __future__ import annotations

import math
from typing import Any

from maxmargin.core.threads import effective_jobs
from maxmargin.machines import Effort


def effort_of(estimator: Any, begun: float, **how: Any) -> Effort:
    """``begun`` is when the fit began: its time limit counts from there. ``how`` is what not all estimators have."""
    return Effort(
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        deadline=math.inf if estimator.time_limit is None else begun + estimator.time_limit,
        n_jobs=effective_jobs(estimator.n_jobs),
        interrupt=estimator.interrupt,
        **how,
    )
