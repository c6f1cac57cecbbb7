"""How far a fit may go, from the parameters that all estimators with a solver have."""

from __future__ import annotations

import math
from typing import Any

from maxmargin.core.threads import effective_jobs
from maxmargin.machines import Effort
from maxmargin.solvers.contract import Options, SolverChoice


def effort_of(estimator: Any, begun: float, solver: SolverChoice = "auto", **how: Any) -> Effort:
    """``begun`` is when the fit began: its time limit counts from there. ``how`` is what not all estimators have."""
    return Effort(
        Options(tol=estimator.tol, max_iter=estimator.max_iter, interrupt=estimator.interrupt, **how),
        deadline=math.inf if estimator.time_limit is None else begun + estimator.time_limit,
        n_jobs=effective_jobs(estimator.n_jobs),
        solver=solver,
    )
