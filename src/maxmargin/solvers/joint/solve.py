"""Solves joint machines: blocks of rows, coordinate descent or interior points, driven by ``pursuit``."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.certificates.joint import certify_joint, terms
from maxmargin.core.rows import Array
from maxmargin.problems.definiteness import Definiteness
from maxmargin.problems.joint import JointProblem, KernelJoint, LinearJoint
from maxmargin.problems.solution import Point, Solution
from maxmargin.solvers.choose import SMALL_ROWS, Leg
from maxmargin.solvers.joint.blocks import JointBlocks
from maxmargin.solvers.joint.coordinate import JointCD
from maxmargin.solvers.joint.interior import JointInterior, affordable, work
from maxmargin.solvers.pursuit import Aim, LinearOptions, pursue

# Steps of blocks on few rows that may pass before the violation is halved: beside another solver, and alone. Alone they
# are slow, not stuck, where rows and classes are many (1,000 rows of five classes: 75 bursts from 0.5 to 0.4).
HURRY, PATIENCE = 2, 40
# Passes of coordinate descent that may go by before the gap is a tenth: with another solver to come, and without.
HANDOVER, ENDLESS = 300.0, 20_000.0
QUICK_WORK = 1e8  # multiplications to build a Newton system: up to here 20 of them take less than a second


class StoredGram:
    """A kernel matrix of few rows, all of it in memory."""

    n_jobs = 1
    values_computed = 0
    float64_error = 0.0

    def __init__(self, K: Array) -> None:
        self._K = K
        self.diagonal, self.working_rows = np.diagonal(K).copy(), len(K)

    def submatrix(self, rows: Array, older: Array | None = None, places: Array | None = None) -> Array:
        """K among ``rows``."""
        return self._K[np.ix_(rows, rows)]

    def give_back(self, array: Array) -> None:
        """Nothing was borrowed."""

    def accumulate_many(self, rows: Array, weights: Array, out: Array) -> None:
        """out += K[:, rows] @ weights. Writes: out."""
        out += self._K[:, rows] @ weights

    def many_scores(self, B: Array, exact: bool = False) -> Array:
        """K B."""
        return self._K @ B

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Next to nothing."""
        return 0.0

    def definiteness(self, prefer: Array) -> Definiteness:
        """A matrix of inner products is positive semidefinite."""
        return Definiteness(True)


class LinearBlocks(JointBlocks):
    """A linear machine of few rows, solved to the end on the matrix of its rows' inner products."""

    def __init__(self, problem: LinearJoint, start: Point, tol: float, patience: float) -> None:
        gram = StoredGram(problem.design.outer_gram())
        on_gram = KernelJoint(problem.labels, problem.n_classes, problem.costs, problem.loss, gram)
        super().__init__(on_gram, start, tol, patience)
        self.design = problem.design

    @property
    def point(self) -> Point:
        """The weights, a row per class, and the multipliers."""
        return Point(np.stack([self.design.combine(column) for column in np.ascontiguousarray(self.B.T)]), self.B)


def solve_joint(problem: JointProblem, options: LinearOptions, solver: str = "auto") -> Solution:
    """Solve ``problem`` to ``tol``: the relative gap of a linear machine, the violation of one with kernels."""
    if isinstance(problem, LinearJoint):
        return _solve_linear(problem, options, _linear_legs(problem, solver))
    assert isinstance(problem, KernelJoint)
    return _solve_kernel(problem, options, _kernel_legs(problem))


def _solve_linear(problem: LinearJoint, options: LinearOptions, legs: list[Leg]) -> Solution:
    design, k = problem.design, problem.n_classes  # a certificate reads the rows once for each class, and back
    few = problem.n <= SMALL_ROWS

    def make(leg: Leg, start: Point) -> Any:
        if leg.solver == "interior":
            return JointInterior(problem)
        if leg.solver == "blocks":
            return LinearBlocks(problem, start, options.tol, _patience(legs))
        return JointCD(problem, start, options.tol, options.seed)

    aim = Aim(
        n=problem.n,
        zero=Point(np.zeros((k, design.d)), problem.zeros()),
        at_zero=terms(problem, problem.zeros(), problem.zeros())[0],
        make=make,
        certify=lambda point: certify_joint(problem, point),
        passes=lambda: design.passes,
        short=lambda proof: proof.relative_gap,
        proof_seconds=lambda elapsed: 0.0 if few else 4.0 * k * elapsed / max(design.passes, 4.0 * k),
    )
    return pursue(aim, legs, options)


def _linear_legs(problem: LinearJoint, solver: str) -> list[Leg]:
    """The solvers to run one after the other; one that was asked for runs alone."""
    shape = f"{problem.n} rows, {problem.n_classes} classes of {problem.design.d} weights"
    descent = Leg("dual_cd", f"a joint machine ({shape})", ENDLESS)
    if solver != "auto":
        return [descent]
    few = problem.n <= SMALL_ROWS
    other = Leg("blocks", f"few rows, solved to the end ({shape})") if few else descent
    if not affordable(problem):
        return [other]
    interior = Leg("interior", f"small Newton systems ({shape})")
    if few or work(problem) <= QUICK_WORK:
        return [interior, other]
    return [descent._replace(patience=HANDOVER), interior._replace(reason="dual_cd made too little progress"), descent]


def _kernel_legs(problem: KernelJoint) -> list[Leg]:
    """Blocks, which end most problems sooner; where they do not, interior points, and blocks for the last digits."""
    blocks = Leg("blocks", f"a joint machine with a kernel ({problem.n} rows)")
    if not affordable(problem):
        return [blocks]
    return [blocks, Leg("interior", "blocks made too little progress"), blocks._replace(reason="the last digits")]


def _patience(legs: list[Leg]) -> int:
    return PATIENCE if len(legs) == 1 else HURRY


def _solve_kernel(problem: KernelJoint, options: LinearOptions, legs: list[Leg]) -> Solution:
    gram = problem.gram

    def make(leg: Leg, start: Point) -> Any:
        if leg.solver == "interior":
            return JointInterior(problem)
        return JointBlocks(problem, start, options.tol, _patience(legs))

    aim = Aim(
        n=problem.n,
        zero=Point(problem.zeros(), problem.zeros()),
        at_zero=terms(problem, problem.zeros(), problem.zeros())[0],
        make=make,
        certify=lambda point: certify_joint(problem, point),
        passes=lambda: gram.values_computed / max(1, problem.n) ** 2,
        short=lambda proof: proof.violation,
        proof_seconds=lambda _: gram.certificate_seconds(problem.n, problem.n),
    )
    return pursue(aim, legs, options)
