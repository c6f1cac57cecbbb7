"""Clarabel (Goulart and Chen 2024): an interior-point method for conic programs, in Rust."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from maxmargin.solvers.external.standard import Answer, PackageSolver, StandardForm

ACCURACY = 1e-11  # beyond what it is sure to reach: it then returns the best that it has
MOST_ITERATIONS = 200


class Clarabel(PackageSolver):
    """Rows of A are cones: equal bounds one of zeros, every other finite bound a nonnegative number."""

    name: ClassVar[str] = "clarabel"
    package: ClassVar[str] = "clarabel"

    def ask(self, package: Any, form: StandardForm, most: float, seconds: float) -> Answer:
        same = form.l == form.u
        above, below = ~same & np.isfinite(form.u), ~same & np.isfinite(form.l)
        A = sparse.vstack([form.A[same], form.A[above], -form.A[below]], format="csc")
        b = np.concatenate([form.u[same], form.u[above], -form.l[below]])
        cones = [package.ZeroConeT(int(same.sum())), package.NonnegativeConeT(int(above.sum() + below.sum()))]
        settings = package.DefaultSettings()
        settings.verbose, settings.time_limit = False, seconds
        settings.max_iter = int(min(most, MOST_ITERATIONS))
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
        found = package.DefaultSolver(form.P, form.q, A, b, cones, settings).solve()
        y = np.zeros(len(form.l))
        y[same] = found.z[: same.sum()]
        return Answer(np.array(found.x), y, found.iterations)
