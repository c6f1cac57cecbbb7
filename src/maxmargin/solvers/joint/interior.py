"""An interior-point method for joint machines: some 20 steps, however large C is and however the data are scaled.

Rows l_i in few columns (``turned``; of a kernel matrix its eigenvectors) are short of the margin by t_ij = 1 +
l_i'(w_j - w_y) for the classes j other than their label y. With slacks xi, one per row for the maximum and one per row
and class for the sum, the machine is the quadratic program

    minimise  1/2 ||W||^2 + sum c xi (or c xi^2)    subject to    s_ij := xi - t_ij >= 0,    xi >= 0,

whose multipliers a of the first constraints and z of the second (squares need no second) satisfy at the optimum

    W = L'B,    sum of a + z = c  (or sum of a = 2 c xi),    a_ij s_ij = 0,    z xi = 0,

B the matrix with -a_ij and the rows' sums of a (``losses.multiclass``). Newton's method solves these equations, with
c mu in place of the last zeros, by the predictor and corrector of Mehrotra (1992). A system is reduced to the weights:

    (I + sum_i G_i (x) l_i l_i') dW = right-hand side,

G_i = diag(D) - D D' / sum D for the maximum, where D = a / s for the other classes and D_y = z / xi (or 2 c) stands for
"no slack"; for the sum every class has a budget of its own, a spring between s_j and s_y. Because B sums to zero in
every row, so does W, and classes need one direction less than there are (``contrasts``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.certificates.joint import inside, terms
from maxmargin.core.rows import Array
from maxmargin.problems.joint import JointProblem, KernelJoint, LinearJoint
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.cholesky import factor, solution
from maxmargin.solvers.contract import OVERFLOW, Options, Overflow, Solver
from maxmargin.solvers.joint.turned import Turned, turned

MOST_UNKNOWNS = 1500  # weights of a Newton system: its matrix takes 18 MB, its factor a tenth of a second
MOST_WORK = 1e10  # multiplications to build a system, or to turn the rows: about a second
MOST_ENTRIES = 1e7  # of the rows with their zeros: turning takes several copies of 80 MB
TO_THE_BOUND = 0.99  # of the way to the first multiplier or slack that would be zero
CORRECTIONS = 3  # solves with one factor, each for the residual of the one before
SHORT = 1e-8  # steps below this make no progress any more
NEAR = 0.5  # a gap that says something: before, the weights and the multipliers belong to different machines
IDLE, IDLE_FAR = 6, 40  # steps without a smaller gap after which rounding is all that moves, near the end and before
ROUNDED, SETTLED = 1e-15, 1e-10  # a relative gap and a violation below which there is nothing to gain
TINY = 1e-300
RANK = 1e-15  # of the largest eigenvalue of a kernel matrix: the others are rounding


class State(NamedTuple):
    """Weights W (r, k), slacks xi, s and a of the other classes (n, k - 1), and z of the slacks, zero for squares."""

    W: Array
    xi: Array
    s: Array
    a: Array
    z: Array

    def moved(self, by: State, length: float) -> State:
        """The state a step further."""
        return State(*(here + length * change for here, change in zip(self, by, strict=True)))


def work(problem: JointProblem) -> float:
    """Multiplications to build a Newton system."""
    return problem.n * _unknowns(problem) ** 2


def affordable(problem: JointProblem) -> bool:
    """Whether Newton systems of this problem are small enough, can be worked out, and its kernel matrix may be kept."""
    if isinstance(problem, LinearJoint):
        n, d = problem.n, problem.design.d
        small = n * d <= MOST_ENTRIES and n * d * min(n, d) <= MOST_WORK
        fits = small and bool(np.isfinite(problem.design.squared_norms().sum()))
    else:
        fits = isinstance(problem, KernelJoint) and problem.n <= problem.gram.working_rows
    return fits and _unknowns(problem) <= MOST_UNKNOWNS and work(problem) <= MOST_WORK


def _unknowns(problem: JointProblem) -> int:
    columns = min(problem.design.d, problem.n + 1) if isinstance(problem, LinearJoint) else problem.n
    return columns * (problem.n_classes - 1)


def eigenrows(K: Array) -> Array:
    """Rows L with L L' = K, without the columns that are rounding."""
    try:
        values, vectors = np.linalg.eigh(K.astype(np.float64))
    except np.linalg.LinAlgError as problem:
        raise Overflow("the eigenvectors of the kernel matrix cannot be worked out") from problem
    kept = values > max(RANK, float(np.finfo(K.dtype).eps)) * max(values[-1], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


class JointInterior(Solver):
    """State and steps of one solve. It starts in the middle: a point near its bounds is no help to this method.

    ``optimality_error`` is what of a certificate is held against tol, the relative gap of a linear machine or the
    violation of another; it, ``point`` and ``objective`` are those of the best step so far, because the last ones end
    in rounding.
    """

    name = "interior"

    def __init__(self, problem: JointProblem, start: Point, options: Options) -> None:
        self.problem, self.options, self.linear = problem, options, isinstance(problem, LinearJoint)
        if isinstance(problem, LinearJoint):
            self.turned = turned(problem.design)
        else:
            assert isinstance(problem, KernelJoint)
            K = problem.gram.submatrix(np.arange(problem.n))
            try:
                self.turned = Turned(eigenrows(K), np.empty((0, 0)))
            finally:
                problem.gram.give_back(K)
        self.program = Program(problem, self.turned.rows)
        self.state = self.program.start()
        self.W, self.B = self.state.W, problem.zeros()
        self.objective, self._best_at = -np.inf, 0
        self._judge()

    @property
    def point(self) -> Point:
        """The weights of a linear machine, a row per class, and the multipliers."""
        if self.linear:
            return Point(np.ascontiguousarray((self.turned.basis @ self.W).T), self.B)
        return Point(self.B, self.B)

    def refine(self, goal: float, proof: Proof) -> None:
        """Every step works everything out afresh."""

    def step(self, most: float = np.inf) -> None:
        """One predictor and corrector."""
        self.state, length = self.program.newton_step(self.state)
        self.iterations += 1
        self._judge()
        idle = self.iterations - self._best_at > (IDLE if self.optimality_error < NEAR else IDLE_FAR)
        self.exhausted = idle or length < SHORT or self.optimality_error <= (ROUNDED if self.linear else SETTLED)

    def _judge(self) -> None:
        """Sets, where the state is the best so far: W, B, optimality_error, objective."""
        rows = self.turned.rows
        for snapped in (True, False) if self.linear else (True,):
            B = self.program.multipliers(self.state, snapped)
            Q = rows.T @ B
            W = self.state.W if self.linear else Q
            losses, conjugates, gaps, worst = terms(self.problem, rows @ W, B)
            primal, off = 0.5 * float(np.vdot(W, W)) + losses, W - Q
            gap = (0.5 * float(np.vdot(off, off)) + gaps) / max(primal, TINY) if self.linear else worst
            if gap < self.optimality_error:
                self.W, self.B, self.optimality_error, self._best_at = W, B, gap, self.iterations
                self.objective = -0.5 * float(np.vdot(Q, Q)) - conjugates


class Program:
    """The quadratic program of ``problem`` on the rows L, and steps of Newton's method on its conditions."""

    def __init__(self, problem: JointProblem, L: Array) -> None:
        self.problem, self.L = problem, L
        self.loss, self.k = problem.loss, problem.n_classes
        self.labels, self.costs = problem.labels[:, None], problem.costs[:, None]
        self.others = np.array([np.delete(np.arange(self.k), y) for y in range(self.k)])[problem.labels]
        self.contrasts = np.linalg.qr(np.column_stack([np.ones(self.k), np.eye(self.k)[:, 1:]]))[0][:, 1:]

    def start(self) -> State:
        """No weights, slacks of 2, so that all s are 1, and multipliers in the middle of their range."""
        n, others, squared = len(self.L), self.k - 1, self.loss.squared
        xi = np.full((n, 1 if self.loss.maximum else others), 2.0)
        budget = (2.0 * xi if squared else 0.5 * np.ones_like(xi)) * self.costs
        a = np.broadcast_to(budget / (others if self.loss.maximum else 1), (n, others)).copy()
        z = np.zeros_like(xi) if squared else self.costs - budget
        return State(np.zeros((self.L.shape[1], self.k)), xi, np.ones((n, others)), a, z)

    def multipliers(self, state: State, snapped: bool) -> Array:
        """B. Snapped, multipliers that are nearer to a bound than their slack is to zero are at the bound.

        Near is meant in units of the margin and of the largest multiplier, each as a share of its row's cost. An
        interior point has no multiplier at a bound, and optimality conditions would take each for a free one.
        """
        a, largest = state.a, self.costs * np.max(state.a / self.costs)
        if snapped:
            a = np.where(a < largest * state.s, 0.0, a)
        if snapped and not self.loss.squared:
            spent = self.budgets(a)
            full = (state.z < largest * state.xi) & (spent > 0.0)
            a = np.where(full, a * (self.costs / np.where(full, spent, 1.0)), a)
        return inside(self.problem, self.signed(a))

    def newton_step(self, state: State) -> tuple[State, float]:
        """Predictor and corrector: the state they lead to, and the length of the step."""
        system, off = _System(self, state), self._residuals(state)
        products, slack_products = state.a * state.s, state.z * state.xi
        ahead = self._direction(system, off, -products, -slack_products)
        mu = self._mu(state)
        mu_ahead = self._mu(state.moved(ahead, min(1.0, self._room(state, ahead))))
        centre = self.costs * mu * (mu_ahead / mu) ** 3  # the less the predictor achieves, the nearer to the middle
        step = self._direction(
            system, off, centre - products - ahead.a * ahead.s, centre - slack_products - ahead.z * ahead.xi
        )
        length = min(1.0, TO_THE_BOUND * self._room(state, step))
        return state.moved(step, length), length

    def differences(self, W: Array) -> Array:
        """l_i'(w_j - w_y) for the other classes j."""
        scores = self.L @ W
        return np.take_along_axis(scores, self.others, 1) - np.take_along_axis(scores, self.labels, 1)

    def signed(self, a: Array) -> Array:
        """B: -a for the other classes, the sum for the row's own."""
        B = np.empty((len(a), self.k))
        np.put_along_axis(B, self.others, -a, 1)
        np.put_along_axis(B, self.labels, a.sum(axis=1, keepdims=True), 1)
        return B

    def budgets(self, a: Array) -> Array:
        """What the multipliers of one slack add up to."""
        return a.sum(axis=1, keepdims=True) if self.loss.maximum else a

    def of_the_others(self, a: Array) -> Array:
        """For each multiplier what the others of its slack add up to: without the digits that a difference loses."""
        return a @ (1.0 - np.eye(self.k - 1)) if self.loss.maximum else np.zeros_like(a)

    def _residuals(self, state: State) -> State:
        """How far the linear conditions are from holding, in the places of W, xi and s."""
        spent = self.budgets(state.a)
        off_slacks = spent - 2.0 * self.costs * state.xi if self.loss.squared else spent + state.z - self.costs
        off_margins = state.s - state.xi + 1.0 + self.differences(state.W)
        return State(state.W - self.L.T @ self.signed(state.a), off_slacks, off_margins, state.a, state.z)

    def _direction(self, system: _System, off: State, a_target: Array, z_target: Array) -> State:
        """The step that makes the linear conditions hold and changes a s and z xi by their targets, to first order."""
        state, squared = system.state, self.loss.squared
        pull = a_target / state.s + system.D * off.s
        slack_pull = off.xi if squared else z_target / state.xi + off.xi
        W = system.solve(self.L.T @ self.signed(system.shared_out(pull, slack_pull)) - off.W)
        pull = pull + system.D * self.differences(W)
        a = system.shared_out(pull, slack_pull)
        xi = (self.budgets(pull) + slack_pull) / system.total
        z = np.zeros_like(xi) if squared else (z_target - state.z * xi) / state.xi
        return State(W, xi, (a_target - state.s * a) / state.a, a, z)

    def _mu(self, state: State) -> float:
        """The mean of the products that are zero at the optimum, as shares of their rows' costs."""
        count = state.a.size + (0 if self.loss.squared else state.z.size)
        return (float(np.sum(state.a * state.s / self.costs)) + float(np.sum(state.z * state.xi / self.costs))) / count

    def _room(self, state: State, step: State) -> float:
        """How far along ``step`` the first of what must stay positive is zero."""
        bounded = [(state.a, step.a), (state.s, step.s)]
        bounded += [] if self.loss.squared else [(state.z, step.z), (state.xi, step.xi)]
        return min(float(np.min(-here[by < 0.0] / by[by < 0.0], initial=np.inf)) for here, by in bounded)


class _System:
    """The matrix H = I + sum_i G_i (x) l_i l_i' with G_i = N_i'N_i at a state, its factor, and solutions.

    Near the end rows of weight 1e15 and of almost none meet, so the system is solved again for the residual.
    """

    def __init__(self, program: Program, state: State) -> None:
        self.program, self.state = program, state
        self.D = state.a / state.s
        self.slack_D = 2.0 * program.costs + 0.0 * state.xi if program.loss.squared else state.z / state.xi
        self.total = program.budgets(self.D) + self.slack_D
        self.rest = program.of_the_others(self.D) + self.slack_D
        self.N = (self._shared() if program.loss.maximum else self._separate()) @ program.contrasts
        self.factor = self._factor()

    def shared_out(self, pull: Array, slack_pull: Array) -> Array:
        """Changes of a: pull - D (all pulls of its budget) / total, written so that no digits cancel."""
        return (self.rest * pull - self.D * (self.program.of_the_others(pull) + slack_pull)) / self.total

    def solve(self, right: Array) -> Array:
        """The solution dW of H dW = right."""
        L, U = self.program.L, self.program.contrasts
        target = right @ U
        found = np.zeros_like(target)
        for _ in range(CORRECTIONS):
            stretched = self.N @ (L @ found)[:, :, None]
            back = (self.N.transpose(0, 2, 1) @ stretched)[:, :, 0]
            rest = target - found - L.T @ back
            found += solution(self.factor, rest.T.ravel()).reshape(rest.T.shape).T
        return found @ U.T

    def _shared(self) -> Array:
        """N for one budget per row: sqrt(D_j) (e_j - D / sum D), the label's D that of the slack."""
        program, k = self.program, self.program.k
        D = np.empty((len(self.D), k))
        np.put_along_axis(D, program.others, self.D, 1)
        np.put_along_axis(D, program.labels, self.slack_D, 1)
        root, total = np.sqrt(D), self.total
        N = -root[:, :, None] * (D / total)[:, None, :]
        N[:, np.arange(k), np.arange(k)] = root * ((D @ (1.0 - np.eye(k))) / total)  # 1 - D_j / sum D would cancel
        return N

    def _separate(self) -> Array:
        """N for a budget per class: sqrt(D_j D_slack / (D_j + D_slack)) (e_j - e_y)."""
        program = self.program
        root = np.sqrt(self.D * (self.slack_D / self.total))[:, :, None]
        N = np.zeros((*self.D.shape, program.k))
        np.put_along_axis(N, program.others[:, :, None], root, 2)
        np.put_along_axis(N, np.broadcast_to(program.labels[:, :, None], root.shape), -root, 2)
        return N

    def _factor(self) -> Array:
        rows, contrasts = self.program.L, self.program.k - 1
        r = rows.shape[1]
        G = self.N.transpose(0, 2, 1) @ self.N
        H = np.empty((contrasts, r, contrasts, r))
        for p in range(contrasts):
            for q in range(p + 1):
                H[q, :, p, :] = (rows * G[:, q, p, None]).T @ rows  # the upper triangle is enough
        H = H.reshape(contrasts * r, contrasts * r)
        L = factor(H, 1.0 + np.diag(H))
        if L is None:
            raise Overflow(OVERFLOW)
        return L
