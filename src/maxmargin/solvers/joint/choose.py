"""Which solvers for which joint machine, and why."""

from __future__ import annotations

from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.solvers.contract import Solver, Stage
from maxmargin.solvers.joint.blocks import JointBlocks
from maxmargin.solvers.joint.coordinate import JointCD
from maxmargin.solvers.joint.interior import JointInterior, affordable, work
from maxmargin.solvers.joint.linear_blocks import LinearBlocks

# Steps of blocks on few rows that may pass before the violation is halved: beside another solver, and alone. Alone they
# are slow, not stuck, where rows and classes are many (1,000 rows of five classes: 75 bursts from 0.5 to 0.4).
HURRY, PATIENCE = 2, 40
# Passes of coordinate descent that may go by before the gap is a tenth: with another solver to come, and without.
HANDOVER, ENDLESS = 300.0, 20_000.0
QUICK_WORK = 1e8  # multiplications to build a Newton system: up to here 20 of them take less than a second

# Solvers of linear joint machines that may be asked for by name.
NAMED: dict[str, type[Solver]] = {JointCD.name: JointCD}


def named(problem: LinearJoint) -> dict[str, Stage]:
    """What each of them does alone."""
    return {name: Stage(cls, "as asked for", ENDLESS) for name, cls in NAMED.items()}


def linear_stages(problem: LinearJoint) -> list[Stage]:
    """The solvers to run one after the other."""
    shape = f"{problem.n} rows, {problem.n_classes} classes of {problem.design.d} weights"
    descent = Stage(JointCD, f"a joint machine ({shape})", ENDLESS)
    few, newton = problem.n <= SMALL_ROWS, affordable(problem)
    patience = {"patience": HURRY if newton else PATIENCE}
    blocks = Stage(LinearBlocks, f"few rows, solved to the end ({shape})", settings=patience)
    other = blocks if few else descent
    if not newton:
        return [other]
    interior = Stage(JointInterior, f"small Newton systems ({shape})")
    if few or work(problem) <= QUICK_WORK:
        return [interior, other]
    reason = f"{JointCD.name} made too little progress"
    return [descent._replace(patience=HANDOVER), interior._replace(reason=reason), descent]


def kernel_stages(problem: KernelJoint) -> list[Stage]:
    """Blocks, which end most problems sooner; where they do not, interior points, and blocks for the last digits."""
    reason = f"a joint machine with a kernel ({problem.n} rows)"
    if not affordable(problem):
        return [Stage(JointBlocks, reason, settings={"patience": PATIENCE})]
    blocks = Stage(JointBlocks, reason, settings={"patience": HURRY})
    interior = Stage(JointInterior, f"{JointBlocks.name} made too little progress")
    return [blocks, interior, blocks._replace(reason="the last digits")]
