"""An interior-point method for the box QP: some 20 steps, however large C is and however the data are scaled.

With the multipliers as sums of parts x (``parts``), the problem is

    minimise  1/2 beta'(K + R) beta - p'beta + sum cost x
    subject to  beta = offset + sum sign x,   x >= 0,   s := width - x >= 0,   E'beta = totals,

and with multipliers z of x >= 0, y of s >= 0 and the biases b of the sums, its optimality conditions are

    f = (K + R) beta,   sign (f + E b - p) + cost = z - y,   E'beta = totals,   x z = 0,   s y = 0.

Newton's method solves these equations, with shares of mu in place of the last zeros, by the predictor and corrector of
Mehrotra (SIAM J. Optim. 2, 1992). f is an unknown of its own: at the start it is zero, as are the biases, so that z and
y have the size of the targets, whatever the size of C. A system is reduced to the multipliers (``systems``):

    (K + R + diag(D)) d_beta + E d_b = right-hand side,    1 / D = sum of 1 / (z / x + y / s) over a row's parts,

so the two parts of a multiplier with a kink cost nothing more.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING, in_units
from maxmargin.certificates.kkt import gradient, objective_and_size, standing_of
from maxmargin.core.rows import Array
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP
from maxmargin.problems.feasible import feasible_point
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.box.parts import movable, parts_of
from maxmargin.solvers.box.systems import (
    INDEFINITE,
    MOST_WHOLE,
    Bordered,
    Matrix,
    definite,
    has_no_matrix,
    matrix_of,
    too_large,
)
from maxmargin.solvers.contract import Options, Solver, refused
from maxmargin.solvers.pace import SLIGHTLY
from maxmargin.solvers.snapping import snapped, unit_of

TO_THE_BOUND = 0.99  # of the way to the first part or multiplier that would be zero
SHORT = 1e-8  # steps below this make no progress any more
CENTRED = 1e-8  # of the unit of the slopes: with a smaller mu the point is next to the solution
IDLE, IDLE_FAR = 4, 15  # steps next to it whose violation is not smaller by a tenth, within tol and beyond


class State(NamedTuple):
    """Parts x, their distances s to the width, their multipliers z and y, the scores f and the biases b.

    A part without a width has s = 1 and y = 0, which stay. ``loose`` are the multipliers without parts, else zero.
    """

    x: Array
    s: Array
    z: Array
    y: Array
    f: Array
    b: Array
    loose: Array

    def moved(self, by: State, length: float) -> State:
        """The state a step further."""
        return State(*(here + length * change for here, change in zip(self, by, strict=True)))


class Residuals(NamedTuple):
    """How far the linear conditions are from holding: f + E b - p, those of the parts, the scores and the sums."""

    rows: Array
    parts: Array
    scores: Array
    sums: Array


class Program:
    """The quadratic program of the module's formula, and steps of Newton's method on its conditions."""

    def __init__(self, box: Box, border: Array, totals: Array, matrix: Matrix, unit: float) -> None:
        self.box, self.border, self.totals, self.matrix, self.unit = box, border, totals, matrix, unit
        self.parts = parts_of(box)
        self.bounded = self.parts.bounded
        self.loose = np.bincount(self.parts.row, minlength=len(box.p)) == 0
        self.middle = self._middle()
        # Products x z and s y are compared as shares of these. Where they were the widths, or one number for all, costs
        # that differ by a factor of a million stalled.
        width = np.where(self.bounded, self.parts.width, self.middle)
        self.sizes = np.sqrt(width * np.exp(np.mean(np.log(width)))) if len(width) else width

    def _middle(self) -> Array:
        """The middle of their range; where there is none, what changes slopes by their unit, or what sums need."""
        parts, ridge = self.parts, self.box.ridge[self.parts.row]
        needed = self.border @ (np.abs(self.totals) / self.border.sum(axis=0))
        usual = self.unit / np.where(self.bounded, 1.0, ridge)  # positive where there is no bound
        return np.where(self.bounded, 0.5 * parts.width, np.maximum(usual, needed[parts.row]))

    def start(self) -> State:
        """In the middle, with no scores and no biases."""
        x, parts, bounded = self.middle, self.parts, self.bounded
        slopes = parts.cost - parts.sign * self.box.p[parts.row]
        z = np.maximum(slopes, 0.0) + self.unit
        y = np.where(bounded, np.maximum(-slopes, 0.0) + self.unit, 0.0)
        none = np.zeros(len(self.box.p))
        return State(x, np.where(bounded, x, 1.0), z, y, none, np.zeros(len(self.totals)), none)

    def beta(self, state: State) -> Array:
        """The multipliers."""
        return self.parts.offset + self.parts.joined(state.x) + state.loose

    def slopes(self, state: State) -> Array:
        """p - f - E b."""
        return self.box.p - state.f - self.border @ state.b

    def mu(self, state: State) -> float:
        """The mean of the products that are zero at the optimum, as shares of their sizes."""
        count = len(state.x) + np.count_nonzero(self.bounded)
        return float(np.sum((state.x * state.z + state.s * state.y) / self.sizes)) / max(1, count)

    def newton_step(self, state: State) -> tuple[State, float]:
        """Predictor and corrector: the state they lead to, and the length of the step, 0 where there is none."""
        off, system = self._residuals(state), _System(self, state)
        if not system.bordered.solvable:
            return state, 0.0
        z_gap, y_gap = -state.x * state.z, -state.s * state.y
        ahead = self._direction(system, off, z_gap, y_gap)
        mu = self.mu(state)
        reached = self.mu(state.moved(ahead, min(1.0, self._room(state, ahead))))
        # The less the predictor achieves, the nearer to the middle.
        centre = self.sizes * (mu * (reached / mu) ** 3 if mu > 0.0 else 0.0)
        step = self._direction(
            system, off, z_gap + centre - ahead.x * ahead.z, y_gap + self.bounded * centre - ahead.s * ahead.y
        )
        length = min(1.0, TO_THE_BOUND * self._room(state, step))
        moved = state.moved(step, length)
        return (moved, length) if all(np.isfinite(part).all() for part in moved) else (state, 0.0)

    def _residuals(self, state: State) -> Residuals:
        beta, parts, rows = self.beta(state), self.parts, -self.slopes(state)
        return Residuals(
            rows,
            parts.sign * rows[parts.row] + parts.cost - state.z + state.y,
            state.f - self.matrix.times(beta) - self.box.ridge * beta,
            self.totals - self.border.T @ beta,
        )

    def _direction(self, system: _System, off: Residuals, z_target: Array, y_target: Array) -> State:
        """The step that makes the linear conditions hold and changes x z and s y by their targets, to first order."""
        state, parts = system.state, self.parts
        pull = z_target / state.x - y_target / state.s - off.parts
        # All pulls of a row as one; with a single part it is the pull itself, to the last digit.
        joint = np.where(self.loose, -off.rows, parts.joined(system.share * pull))
        beta, b = system.bordered.solve(joint + off.scores, off.sums)
        x = (pull - parts.sign * joint[parts.row]) * system.ease + parts.sign * system.share * beta[parts.row]
        s = np.where(self.bounded, -x, 0.0)
        z, y = (z_target - state.z * x) / state.x, (y_target - state.y * s) / state.s
        return State(x, s, z, y, joint - system.D * beta - self.border @ b, b, np.where(self.loose, beta, 0.0))

    def _room(self, state: State, step: State) -> float:
        """How far along ``step`` the first of what must stay positive is zero."""
        both = zip(state[:4], step[:4], strict=True)
        return min(float(np.min(-here[by < 0.0] / by[by < 0.0], initial=np.inf)) for here, by in both)


class _System:
    """The matrix of a Newton step at a state. ``ease`` is 1 / (z / x + y / s), ``share`` its share of the row's sum."""

    def __init__(self, program: Program, state: State) -> None:
        parts, self.state = program.parts, state
        self.ease = 1.0 / (state.z / state.x + state.y / state.s)
        total = np.where(program.loose, 1.0, parts.added(self.ease))
        self.share = self.ease / total[parts.row]
        self.D = np.where(program.loose, 0.0, 1.0 / total)
        self.bordered = Bordered(program.matrix, program.box.ridge + self.D, program.border)


class InteriorPoint(Solver):
    """State and steps of one solve. It starts in the middle: a point near its bounds is no help to this method.

    ``optimality_error`` (the violation), ``point`` and ``objective`` are those of the best step so far, at first of the
    start, because the last steps end in rounding. ``whole_rows`` is up to how many rows K is factored as it is.
    """

    name: ClassVar[str] = "interior_point"
    idle_steps: ClassVar[float] = 40.0

    def __init__(self, problem: BoxQP, start: Point, options: Options, whole_rows: int = MOST_WHOLE) -> None:
        self.problem, self.options = problem, options
        self.movable = movable(problem)
        rows, box, group, totals, _, _ = self.movable
        matrix = matrix_of(problem, rows, options.tol, whole_rows)
        if matrix is None:
            raise refused(self.name, too_large(problem) if definite(problem) else INDEFINITE)
        present = np.unique(group[group >= 0])
        border = (group[:, None] == present).astype(np.float64)
        unit = unit_of(box, problem.gram.diagonal[rows] + box.ridge)
        self.program = Program(box, border, totals[present], matrix, unit)
        self.state = self.program.start()
        self._rounding, self._idle = FLOAT64_ROUNDING * problem.largest, 0
        self._keep(start.beta)

    @classmethod
    def refuses(cls, problem: BoxQP) -> str:
        """K is indefinite, or too large for a factor. Others may be found to be so when they are factored."""
        return has_no_matrix(problem)

    @property
    def point(self) -> Point:
        """The multipliers, and the biases that belong to them."""
        return Point(beta=self._beta, biases=self._biases)

    def refine(self, goal: float, proof: Proof) -> None:
        """Every step works everything out afresh."""

    def step(self, most: float = np.inf) -> None:
        """One predictor and corrector."""
        self.state, length = self.program.newton_step(self.state)
        self.iterations += 1
        better = self._keep(self._at_bounds())
        near = self.program.mu(self.state) <= CENTRED * self.program.unit
        self._idle = self._idle + 1 if near and not better else 0
        settled = near and self.optimality_error <= self._rounding * float(np.abs(self._beta).sum())
        patience = IDLE if self.optimality_error <= self.options.tol else IDLE_FAR
        self.exhausted = self._idle > patience or settled or length < SHORT

    def _at_bounds(self) -> Array:
        """The multipliers of the state, feasible, and at the bounds that they tend to."""
        program, (rows, box, group, totals, held, _) = self.program, self.movable
        beta = held.copy()
        here, t = program.beta(self.state), program.slopes(self.state)
        beta[rows] = snapped(box, group, totals, here, t, program.unit)
        return feasible_point(self.problem, beta)

    def _keep(self, beta: Array) -> bool:
        """Whether ``beta`` is better by a tenth. Sets, where it is the best: optimality_error, objective, point."""
        problem, (rows, box, group, _, _, value) = self.problem, self.movable
        some = beta[rows]
        v = gradient(box, self.program.matrix.times(some), some)
        at = standing_of(some, v, box, group, problem.n_groups)
        violation = in_units(at.violation, problem.unit(at.biases))
        better = violation < SLIGHTLY * self.optimality_error
        if violation < self.optimality_error or self.iterations == 0:
            self._beta, self._biases, self.optimality_error = beta, at.biases, violation
            self.objective = value + objective_and_size(box.p, box.kink, v, some)[0]
        return better
