"""Why a solver of linear machines does not apply to a problem; empty where it does."""

from __future__ import annotations

from maxmargin.losses.base import compiled, has_curvature
from maxmargin.problems.linear import LinearProblem


def needs_l2(problem: LinearProblem) -> str:
    """Of solvers that know the l2 penalty only."""
    return "the l1 penalty is solved by 'newton' (proximal) only." if problem.penalty == "l1" else ""


def needs_curvature(problem: LinearProblem) -> str:
    """Of solvers that use second derivatives."""
    return "" if has_curvature(problem.loss) else "the loss has no second derivative to go by; use 'alm' or 'dual_cd'."


def needs_compiled_loss(problem: LinearProblem) -> str:
    """Of solvers whose loops call the loss."""
    return (
        "" if compiled(problem.loss) else "it needs a built-in loss; for one of your own use 'newton', 'gd' or 'sgd'."
    )
