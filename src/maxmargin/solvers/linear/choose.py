"""Which solvers for which linear machine, and why.

Measured on ten real sets at C = 0.01, 1 and 100 (docs/benchmarks.md). The Hessian of a narrow problem costs a few
passes over the rows, and Newton's method needs about ten of them however large C is. Coordinate descent needs no
Hessian but slows down with C: it comes first where C is small or a Hessian is out of reach (many features), and hands
over to a second-order solver when its gap stops falling.
"""

from __future__ import annotations

from maxmargin.losses.base import compiled, has_curvature
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.solvers.contract import Solver, Stage
from maxmargin.solvers.linear.alm import ALM
from maxmargin.solvers.linear.coordinate import DualCD
from maxmargin.solvers.linear.descent import DENSE_WIDTH
from maxmargin.solvers.linear.gd import GradientDescent
from maxmargin.solvers.linear.l1 import ProximalNewton
from maxmargin.solvers.linear.newton import Newton
from maxmargin.solvers.linear.sgd import AveragedSGD

# Of hardness, C times the mean of ||x||^2: up to here coordinate descent needs few passes. So it does on wide dense
# rows with a smooth loss (mnist, C = 0.01, 0.9: squared hinge 0.79 instead of 3.4 s, logistic loss 0.96 instead of 5.1
# s). There it often gains beyond this bound (mnist at 4.4: 1.8 instead of 3.8 s), but not where features are correlated
# (20,000 x 500 of rank 40: 0.09 instead of 0.06 s at 1, 0.24 instead of 0.07 s at 4).
EASY = 1.0
VERY_EASY = 0.03  # the same: up to here so few that they are worth it even where Newton systems are small
COSTLY_WIDTH = 256  # weights from which on the Hessian of dense rows costs many passes
PATIENCE = 30.0
IMPATIENCE = 5.0  # passes that are enough for a good start of alm
WIDE_PATIENCE = 200.0
LAST_PATIENCE = 5000.0  # of coordinate descent where Newton's method came no further: it crawls, but seldom for long

# Solvers that may be asked for by name; the l1 penalty has a Newton's method of its own.
NAMED: dict[str, type[Solver]] = {cls.name: cls for cls in (Newton, ALM, DualCD, GradientDescent, AveragedSGD)}
NAMED_L1 = NAMED | {ProximalNewton.name: ProximalNewton}


def named(problem: LinearProblem) -> dict[str, Stage]:
    """What each of them does alone."""
    classes = NAMED_L1 if problem.penalty == "l1" else NAMED
    return {name: Stage(cls, "as asked for") for name, cls in classes.items()}


def stages(problem: LinearProblem) -> list[Stage]:
    """The solvers to run one after the other."""
    shape = f"{problem.n} rows, {problem.d} weights"
    wide, sparse = problem.d > DENSE_WIDTH, problem.design.sparse
    if problem.penalty == "l1":
        return [Stage(ProximalNewton, f"the l1 penalty: proximal Newton steps on the features that matter ({shape})")]
    if not compiled(problem.loss):
        if has_curvature(problem.loss):
            return [Stage(Newton, f"a loss of your own with a second derivative ({shape})")]
        return [Stage(GradientDescent, f"a loss of your own without a second derivative ({shape})")]
    if wide and not problem.loss.bounded_rows:
        return [
            Stage(Newton, f"a smooth loss; its multipliers never rest ({shape})"),
            Stage(DualCD, "newton stalled", LAST_PATIENCE),
        ]
    if wide:
        second = Newton if has_curvature(problem.loss) else ALM
        return [
            Stage(DualCD, f"more features than a Hessian may have ({shape})", WIDE_PATIENCE),
            Stage(second, "dual_cd made too little progress"),
        ]
    if has_curvature(problem.loss):
        newton = [Stage(Newton, f"a smooth loss and a small Hessian ({shape})"), Stage(ALM, "newton stalled")]
        if sparse or problem.d < COSTLY_WIDTH or problem.n <= SMALL_ROWS or problem.hardness > EASY:
            return newton
        first = Stage(DualCD, f"a Hessian costs many of its passes, a small C makes them few ({shape})", PATIENCE)
        return [first, newton[0]._replace(reason="dual_cd made too little progress"), newton[1]]
    second = Stage(ALM, f"a loss with a kink and small Newton systems ({shape})")
    alone = [second, Stage(DualCD, "alm stalled", LAST_PATIENCE)]
    if problem.n <= SMALL_ROWS:
        return alone
    hardness = problem.hardness
    if hardness <= (EASY if sparse else VERY_EASY):
        first = Stage(DualCD, f"a small C makes its passes few ({shape})", PATIENCE)
    elif not sparse and problem.d >= COSTLY_WIDTH:
        patience = PATIENCE if hardness <= EASY else IMPATIENCE
        first = Stage(DualCD, f"a Hessian costs many of its passes ({shape})", patience)
    else:
        return alone
    return [first, second._replace(reason="dual_cd made too little progress")]
