"""OSQP (Stellato et al. 2020): an operator-splitting method, with a polish on the bounds that it found to hold."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from maxmargin.solvers.external.standard import Answer, PackageSolver, StandardForm

ACCURACY = 1e-9
MOST_ITERATIONS = 100_000
LONGEST = 1e10  # seconds: it takes no infinite limit


class OSQP(PackageSolver):
    """Its own form is the standard one."""

    name: ClassVar[str] = "osqp"
    package: ClassVar[str] = "osqp"

    def ask(self, package: Any, form: StandardForm, most: float, seconds: float) -> Answer:
        program = package.OSQP()
        limits = {"max_iter": int(min(most, MOST_ITERATIONS)), "time_limit": min(max(seconds, 1e-6), LONGEST)}
        accuracy = {"eps_abs": ACCURACY, "eps_rel": ACCURACY, "polishing": True}
        program.setup(form.P, form.q, form.A, form.l, form.u, verbose=False, **limits, **accuracy)
        found = program.solve(raise_error=False)
        return Answer(np.array(found.x), np.array(found.y), found.info.iter)
