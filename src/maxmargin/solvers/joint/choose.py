"""Which solvers for which joint machine, and why."""

from __future__ import annotations

from maxmargin.problems.joint import KernelJoint, LinearJoint
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.solvers.contract import Solver, Stage
from maxmargin.solvers.joint.alm import JointALM
from maxmargin.solvers.joint.blocks import JointBlocks
from maxmargin.solvers.joint.coordinate import JointCD
from maxmargin.solvers.joint.interior import JointInterior, affordable, work
from maxmargin.solvers.joint.linear_blocks import LinearBlocks

# Steps of blocks on few rows that may pass before the violation is halved: beside another solver, and alone. Alone they
# are slow, not stuck, where rows and classes are many (1,000 rows of five classes: 75 bursts from 0.5 to 0.4).
HURRY, PATIENCE = 2, 40
# Passes of coordinate descent that may go by before the gap is a tenth: with the augmented Lagrangian to come, whose
# steps cost tens of passes for up to COSTLY_WIDTH weights of a class and hundreds beyond (mnist), and without.
HANDOVER, PATIENT_HANDOVER, ENDLESS = 80.0, 1000.0, 20_000.0
COSTLY_WIDTH = 400
MANY_ROWS = 10.0  # for each weight: classes then overlap, and the augmented Lagrangian needs no help to begin with
QUICK_WORK = 1e8  # multiplications to build a Newton system: up to here 20 of them take less than a second

# Solvers of linear joint machines that may be asked for by name.
NAMED: dict[str, type[Solver]] = {cls.name: cls for cls in (JointCD, JointALM)}


def named(problem: LinearJoint) -> dict[str, Stage]:
    """What each of them does alone."""
    return {name: Stage(cls, "as asked for", ENDLESS) for name, cls in NAMED.items()}


def linear_stages(problem: LinearJoint) -> list[Stage]:
    """The solvers to run one after the other."""
    shape = f"{problem.n} rows, {problem.n_classes} classes of {problem.design.d} weights"
    descent = Stage(JointCD, f"a joint machine ({shape})", ENDLESS)
    few, newton = problem.n <= SMALL_ROWS, affordable(problem)
    if few:
        patience = {"patience": HURRY if newton else PATIENCE}
        descent = Stage(LinearBlocks, f"few rows, solved to the end ({shape})", settings=patience)
    interior = [Stage(JointInterior, f"small Newton systems ({shape})")] if newton else []
    if few or (newton and work(problem) <= QUICK_WORK):
        return [*interior, descent]
    if JointALM.refuses(problem):
        return [descent]
    if problem.n >= MANY_ROWS * problem.n_weights:
        first = [Stage(JointALM, f"a joint machine of many rows ({shape})")]
    else:
        reason = f"{JointCD.name} made too little progress"
        patience = HANDOVER if problem.design.d <= COSTLY_WIDTH else PATIENT_HANDOVER
        first = [descent._replace(patience=patience), Stage(JointALM, reason)]
    return [*first, *(stage._replace(reason=f"{JointALM.name} stalled") for stage in [*interior, descent])]


def kernel_stages(problem: KernelJoint) -> list[Stage]:
    """Blocks, which end most problems sooner; where they do not, interior points, and blocks for the last digits."""
    reason = f"a joint machine with a kernel ({problem.n} rows)"
    if not affordable(problem):
        return [Stage(JointBlocks, reason, settings={"patience": PATIENCE})]
    blocks = Stage(JointBlocks, reason, settings={"patience": HURRY})
    interior = Stage(JointInterior, f"{JointBlocks.name} made too little progress")
    return [blocks, interior, blocks._replace(reason="the last digits")]
