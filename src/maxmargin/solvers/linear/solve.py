"""Solves linear problems: the solvers that ``choose`` names, driven by ``pursuit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.certificates.linear import certify_linear
from maxmargin.losses.base import total
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Point, Solution, Status, Trace
from maxmargin.solvers.choose import Leg, choose
from maxmargin.solvers.linear.alm import ALM
from maxmargin.solvers.linear.coordinate import DualCD
from maxmargin.solvers.linear.gd import GradientDescent
from maxmargin.solvers.linear.l1 import ProximalNewton
from maxmargin.solvers.linear.newton import Newton
from maxmargin.solvers.linear.sgd import AveragedSGD
from maxmargin.solvers.pursuit import Aim, LinearOptions, pursue

_MADE: dict[str, Callable[..., Any]] = {
    "newton": Newton,
    "alm": ALM,
    "dual_cd": DualCD,
    "gd": GradientDescent,
    "sgd": AveragedSGD,
}


def solve_linear(problem: LinearProblem, solver: str = "auto", options: LinearOptions | None = None) -> Solution:
    """Solve ``problem`` to a certified relative gap of ``tol``, or say how far it got."""
    options, legs = options or LinearOptions(), choose(problem, solver)
    flat = flat_fit(problem)
    if total(problem.loss, problem.y, problem.costs, np.full(problem.n, flat.v[-1] if problem.free_bias else 0.0)) == 0:
        proof = certify_linear(problem, flat)
        if proof.relative_gap <= options.tol:
            reason = "zero weights have no loss"
            return Solution(flat, Status.CONVERGED, proof, Trace(), 0, "none", reason, problem.design.passes)

    def make(leg: Leg, start: Point) -> Any:
        made = ProximalNewton if problem.penalty == "l1" else _MADE[leg.solver]
        extra = {"seed": options.seed} if leg.solver in ("dual_cd", "sgd") else {}
        return made(problem, start, options.tol, **extra)

    aim = Aim(
        n=problem.n,
        zero=Point(np.zeros(problem.d)),
        at_zero=total(problem.loss, problem.y, problem.costs, np.zeros(problem.n)),
        make=make,
        certify=lambda point: certify_linear(problem, point),
        passes=lambda: problem.design.passes,
        short=lambda proof: proof.relative_gap,
        proof_seconds=lambda elapsed: 4.0 * elapsed / max(problem.design.passes, 4.0),  # two passes, and as much again
    )
    return pursue(aim, legs, options)


def flat_fit(problem: LinearProblem) -> Point:
    """Zero weights, and the middle of the targets as the bias where that is free.

    Where this has no loss it is the optimum, 0. No gap is small beside that, so it must be met exactly: a solver ends
    a rounding above.
    """
    v = np.zeros(problem.d)
    if problem.free_bias:
        v[-1] = 0.5 * float(problem.y.min()) + 0.5 * float(problem.y.max())
    return Point(v, np.zeros(problem.n))
