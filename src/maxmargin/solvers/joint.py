"""Solves joint machines: blocks of rows with kernels, coordinate descent without, driven by ``pursuit``."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.joint import certify_joint, terms
from maxmargin.core.joint import JointProblem, KernelJoint, LinearJoint
from maxmargin.core.linear import LinearSolution, Point
from maxmargin.core.rows import Array
from maxmargin.solvers.choose import SMALL_ROWS, Leg
from maxmargin.solvers.dual.joint_kernel import JointBlocks
from maxmargin.solvers.dual.joint_linear import JointCD
from maxmargin.solvers.pursuit import Aim, LinearOptions, pursue


class StoredGram:
    """A kernel matrix of few rows, all of it in memory."""

    n_jobs = 1
    values_computed = 0

    def __init__(self, K: Array) -> None:
        self._K = K
        self.diagonal, self.working_rows = np.diagonal(K).copy(), len(K)

    def submatrix(self, rows: Array, older: Array | None = None, places: Array | None = None) -> Array:
        """K among ``rows``."""
        return self._K[np.ix_(rows, rows)]

    def give_back(self, array: Array) -> None:
        """Nothing was borrowed."""

    def accumulate_many(self, rows: Array, weights: Array, out: Array) -> None:
        """Out += K[:, rows] @ weights. Writes: out."""
        out += self._K[:, rows] @ weights

    def many_scores(self, B: Array, exact: bool = False) -> Array:
        """K B."""
        return self._K @ B

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Next to nothing."""
        return 0.0

    def definiteness(self, prefer: Array) -> tuple[bool, str]:
        """A matrix of inner products is positive semidefinite."""
        return True, ""


class LinearBlocks(JointBlocks):
    """A linear machine of few rows, solved to the end on the matrix of its rows' inner products."""

    def __init__(self, problem: LinearJoint, start: Point, tol: float) -> None:
        gram = StoredGram(problem.design.outer_gram())
        super().__init__(KernelJoint(problem.labels, problem.n_classes, problem.costs, problem.loss, gram), start, tol)
        self.design = problem.design

    @property
    def point(self) -> Point:
        """The weights, a row per class, and the multipliers."""
        return Point(np.stack([self.design.combine(column) for column in np.ascontiguousarray(self.B.T)]), self.B)


def solve_joint(problem: JointProblem, options: LinearOptions, solver: str = "auto") -> LinearSolution:
    """Solve ``problem`` to ``tol``: the relative gap of a linear machine, the violation of one with kernels.

    Coordinate descent for a linear machine that is large or asks for it, else blocks of rows.
    """
    no_weights = (
        np.zeros((problem.n_classes, problem.design.d)) if isinstance(problem, LinearJoint) else problem.zeros()
    )
    zero = Point(no_weights, problem.zeros())
    at_zero = terms(problem, problem.zeros(), problem.zeros())[0]
    if isinstance(problem, LinearJoint):
        design, k = problem.design, problem.n_classes  # a certificate reads the rows once for each class, and back
        few = problem.n <= SMALL_ROWS and solver == "auto"
        aim = Aim(
            n=problem.n,
            zero=zero,
            at_zero=at_zero,
            make=lambda leg, start: (
                LinearBlocks(problem, start, options.tol)
                if leg.solver == "blocks"
                else JointCD(problem, start, options.tol, options.seed)
            ),
            certify=lambda point: certify_joint(problem, point),
            passes=lambda: design.passes,
            short=lambda proof: proof.relative_gap,
            proof_seconds=lambda elapsed: 0.0 if few else 4.0 * k * elapsed / max(design.passes, 4.0 * k),
        )
        shape = f"{problem.n} rows, {problem.n_classes} classes of {design.d} weights"
        leg = (
            Leg("blocks", f"few rows, solved to the end ({shape})")
            if few
            else Leg("dual_cd", f"a joint machine ({shape})")
        )
        return pursue(aim, [leg], options)
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
        proof_seconds=lambda _: gram.certificate_seconds(problem.n, problem.n),
    )
    return pursue(aim, [Leg("blocks", f"a joint machine with a kernel ({problem.n} rows)")], options)
