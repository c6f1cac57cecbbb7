"""Which solver for which linear problem, and why.

Measured on ten real sets at C = 0.01, 1 and 100 (docs/benchmarks.md). The Hessian of a narrow problem costs a few
passes over the rows, and Newton's method needs about ten of them however large C is. Coordinate descent needs no
Hessian but slows down with C: it comes first where its passes are cheap (sparse rows) or a Hessian is out of reach
(many features), and hands over to a second-order solver when its gap stops falling.
"""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.losses.base import compiled, has_curvature
from maxmargin.problems.linear import LinearProblem
from maxmargin.solvers.linear.descent import DENSE_WIDTH

SOLVERS = ("newton", "alm", "dual_cd", "gd", "sgd")
SMALL_ROWS = 1000  # problems that are solved to the end, beyond tol
EASY = 1.0  # C times the mean of ||x||^2: up to here coordinate descent needs few passes
COSTLY_WIDTH = 256  # weights from which on the Hessian of dense rows costs many passes
PATIENCE = 30.0
IMPATIENCE = 5.0  # enough for a good start of alm
WIDE_PATIENCE = 200.0
LAST_PATIENCE = 5000.0  # of coordinate descent where Newton's method came no further: it crawls, but seldom for long


class Leg(NamedTuple):
    """A solver, why it runs, and its patience: it hands over when its gap falls less than tenfold in so many passes."""

    solver: str
    reason: str
    patience: float = float("inf")


def choose(problem: LinearProblem, solver: str = "auto") -> list[Leg]:
    """The solvers to run one after the other. A solver that was asked for runs alone, or raises."""
    if solver != "auto":
        refusal = refuse(problem, solver)
        if refusal:
            raise ValueError(f"solver={solver!r} cannot be used here: {refusal}")
        return [Leg(solver, "as asked for")]
    shape = f"{problem.n} rows, {problem.d} weights"
    wide, sparse = problem.d > DENSE_WIDTH, problem.design.sparse
    if problem.penalty == "l1":
        return [Leg("newton", f"the l1 penalty: proximal Newton steps on the features that matter ({shape})")]
    if not compiled(problem.loss):
        if has_curvature(problem.loss):
            return [Leg("newton", f"a loss of your own with a second derivative ({shape})")]
        return [Leg("gd", f"a loss of your own without a second derivative ({shape})")]
    if problem.n <= SMALL_ROWS and wide and not has_curvature(problem.loss):
        return [Leg("alm", f"few rows, solved to the end ({shape})"), Leg("dual_cd", "alm stalled", LAST_PATIENCE)]
    if wide and not problem.loss.bounded_rows:
        return [
            Leg("newton", f"a smooth loss; its multipliers never rest ({shape})"),
            Leg("dual_cd", "newton stalled", LAST_PATIENCE),
        ]
    if wide:
        second = "newton" if has_curvature(problem.loss) else "alm"
        return [
            Leg("dual_cd", f"more features than a Hessian may have ({shape})", WIDE_PATIENCE),
            Leg(second, "dual_cd made too little progress"),
        ]
    if has_curvature(problem.loss):
        return [Leg("newton", f"a smooth loss and a small Hessian ({shape})"), Leg("alm", "newton stalled")]
    second = Leg("alm", f"a loss with a kink and small Newton systems ({shape})")
    cheap_passes = sparse or problem.d >= COSTLY_WIDTH
    if problem.n <= SMALL_ROWS or not cheap_passes:
        return [second, Leg("dual_cd", "alm stalled", LAST_PATIENCE)]
    easy = float(problem.costs.mean()) * float(problem.design.squared_norms().mean()) <= EASY
    if sparse and not easy:
        return [second, Leg("dual_cd", "alm stalled", LAST_PATIENCE)]
    if sparse:
        first = Leg("dual_cd", f"sparse rows and a small C make its passes cheap and few ({shape})", PATIENCE)
    else:
        first = Leg("dual_cd", f"a Hessian costs many of its passes ({shape})", PATIENCE if easy else IMPATIENCE)
    return [first, second._replace(reason="dual_cd made too little progress")]


def refuse(problem: LinearProblem, solver: str) -> str:
    """Why ``solver`` does not apply to ``problem``; empty where it does."""
    if solver not in SOLVERS:
        return f"choose 'auto' or one of {', '.join(map(repr, SOLVERS))}."
    if problem.penalty == "l1" and solver != "newton":
        return "the l1 penalty is solved by 'newton' (proximal) only."
    if solver == "newton" and not has_curvature(problem.loss):
        return "the loss has no second derivative; use 'alm' or 'dual_cd'."
    if solver in ("alm", "dual_cd", "sgd") and not compiled(problem.loss):
        return "it needs a built-in loss; for one of your own use 'newton' or 'gd'."
    return ""
