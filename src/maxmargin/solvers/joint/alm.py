"""The augmented Lagrangian (``solvers.lagrangian``) of linear joint machines: a weight vector per class."""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.joint import inside
from maxmargin.core.threads import thread_map
from maxmargin.losses.multiclass import sums_of_terms
from maxmargin.problems.joint import LinearJoint
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point
from maxmargin.solvers.contract import Options
from maxmargin.solvers.joint.coordinate import ROUGH_TOL
from maxmargin.solvers.joint.descent import PIECE_ROWS, JointDescent
from maxmargin.solvers.lagrangian import FIRST, KNOWN, AugmentedLagrangian
from maxmargin.solvers.linear.descent import DENSE_WIDTH
from maxmargin.solvers.sample import large_enough, solved_sample

MOST_NUMBERS = 1 << 25  # of the matrices of all classes: 256 MB
ROWS_A_WEIGHT, LEAST_ROWS = 1.5, 512  # of a sample that gives a start (letter has 2, and takes 15 instead of 22 steps)


class JointALM(AugmentedLagrangian):
    """State and steps of one solve."""

    def __init__(self, problem: LinearJoint, start: Point, options: Options) -> None:
        assert start.beta is not None
        self.old = inside(problem, start.beta)
        self.sigma = FIRST * (KNOWN if self.old.any() else 1.0)
        V = start.v.copy()
        if not (V.any() or self.old.any()) and large_enough(problem, ROWS_A_WEIGHT, LEAST_ROWS):
            sample = solved_sample(JointALM, problem, options)
            if sample:  # with no multipliers sigma alone says by how much scores may be off
                V, self.sigma = sample.descent.v, sample.sigma
        # The certificate is in float64; tol leaves room for what rounding does to steps.
        rough = problem.design.dtype == np.float32 and options.tol >= ROUGH_TOL and problem.n > SMALL_ROWS
        self._begin(problem, options, JointDescent(problem, V, lambda: (self.sigma, self.old), rough))

    @classmethod
    def refuses(cls, problem: LinearJoint) -> str:
        """Why it does not apply to ``problem``; empty where it does."""
        d = problem.design.d
        if d <= DENSE_WIDTH and problem.n_classes * d**2 <= MOST_NUMBERS:
            return ""
        return (
            f"it factors a matrix of the weights of each class, of which there may be {DENSE_WIDTH}; "
            f"those of all classes may have {MOST_NUMBERS} entries, not {problem.n_classes} x {d}^2"
        )

    def _terms(self) -> tuple[float, float, float]:
        problem, descent = self.problem, self.descent
        terms = problem.loss, problem.labels, problem.costs, descent.z, descent.beta

        def part(first: int) -> tuple[float, float, float]:
            return sums_of_terms(*terms, first, min(first + PIECE_ROWS, problem.n))

        sums = thread_map(part, range(0, problem.n, PIECE_ROWS), problem.design.n_jobs)
        losses, conjugates, rows = np.sum(sums, axis=0)
        return float(losses), float(conjugates), float(rows)
