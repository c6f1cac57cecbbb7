"""Solves joint machines: blocks of rows with kernels, coordinate descent without, driven by ``pursuit``."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.joint import certify_joint, terms
from maxmargin.core.joint import JointProblem, KernelJoint, LinearJoint
from maxmargin.core.linear import LinearSolution, Point
from maxmargin.solvers.choose import Leg
from maxmargin.solvers.dual.joint_kernel import JointBlocks
from maxmargin.solvers.dual.joint_linear import JointCD
from maxmargin.solvers.pursuit import Aim, LinearOptions, pursue


def solve_joint(problem: JointProblem, options: LinearOptions) -> LinearSolution:
    """Solve ``problem`` to ``tol``: the relative gap of a linear machine, the violation of one with kernels."""
    no_weights = np.zeros((problem.n_classes, problem.design.d)) if isinstance(problem, LinearJoint) else problem.zeros()
    zero = Point(no_weights, problem.zeros())
    at_zero = terms(problem, problem.zeros(), problem.zeros())[0]
    if isinstance(problem, LinearJoint):
        design = problem.design
        aim = Aim(
            n=problem.n,
            zero=zero,
            at_zero=at_zero,
            make=lambda _, start: JointCD(problem, start, options.tol, options.seed),
            certify=lambda point: certify_joint(problem, point),
            passes=lambda: design.passes,
            short=lambda proof: proof.relative_gap,
        )
        shape = f"{problem.n} rows, {problem.n_classes} classes of {design.d} weights"
        return pursue(aim, [Leg("dual_cd", f"a joint machine ({shape})")], options)
    assert isinstance(problem, KernelJoint)
    gram = problem.gram
    aim = Aim(
        n=problem.n,
        zero=zero,
        at_zero=at_zero,
        make=lambda _, start: JointBlocks(problem, start, options.tol),
        certify=lambda point: certify_joint(problem, point),
        passes=lambda: gram.values_computed / max(1, problem.n) ** 2,
        short=lambda proof: proof.violation,
    )
    return pursue(aim, [Leg("blocks", f"a joint machine with a kernel ({problem.n} rows)")], options)
