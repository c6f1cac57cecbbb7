"""Linear machines of few rows and features, from zero weights to the last digits in one compiled call.

The steps are those of ``solvers.linear.newton`` and ``alm``: Newton steps on 1/2 v'Rv + sum_i h_i(z_i), z = Av, where
h_i is the loss itself if it is smooth, and else what the augmented Lagrangian makes of it with multipliers ``old`` and
a penalty sigma. There a step takes a quarter of a millisecond of Python whatever the size, here some microseconds.
Nothing is sampled, shared or restarted: where these steps do not end at a proof, the loop (``drive``) begins anew.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from maxmargin.certificates.linear import prove_linear
from maxmargin.core import limits
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, dense_rows
from maxmargin.core.vectors import clear, copied, dot, number_of_nonzeros, put, walk
from maxmargin.losses.base import compiled, dual_steps, fenchel_young_of, has_curvature, multipliers_of
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Point, Progress, Solution, Status, Trace
from maxmargin.solvers.contract import Options
from maxmargin.solvers.descent import LINE_SEARCH_STEPS
from maxmargin.solvers.drive import ROUNDED
from maxmargin.solvers.lagrangian import DAMPING, GROWTH, INNER, QUICK, SOFTER, STUCK
from maxmargin.solvers.linear.alm import ALM
from maxmargin.solvers.linear.newton import Newton

MOST_WEIGHTS = 64  # beyond, LAPACK's factors are faster than a plain loop, and steps take longer than their Python
MOST_STEPS = 200
LAST_DIGITS = 1e-12  # of the objective: what the gap of such a machine must come down to, or to rounding
PASSES = 4.0  # over the rows in a step, about
DONE = 1e-24  # of the objective: weights are then right to twelve digits
# Steps in which the error must halve, at the last digits and before: what is left then is rounding, or out of reach.
PATIENCE, NEWTON_PATIENCE, FAR_PATIENCE = 6, 2, 40
REASON = "few rows and weights, to the last digits in one go"


class Narrow(NamedTuple):
    """A machine: rows A with the constant of the bias, targets, costs, and 1 for every weight that the norm counts.

    ``squares`` are the sums of c_i A_ik^2 over the rows.
    """

    A: Array
    y: Array
    c: Array
    ridge: Array
    squares: Array


class State(NamedTuple):
    """Weights v with scores z = Av, multipliers beta, curvatures kappa, q = A'beta, and multipliers of the penalty."""

    v: Array
    z: Array
    beta: Array
    kappa: Array
    q: Array
    old: Array


class Penalty(NamedTuple):
    """Of the augmented Lagrangian: sigma, infinite where the loss itself is smooth, and since which step it holds."""

    sigma: float
    since: int


@jit()
def solve_narrow(machine, loss, sigma, state):
    """Newton steps until they bring nothing: their number, and relative gaps at the start and the end. Writes: state.

    ``sigma`` is the first penalty, infinite where the loss itself is smooth. State ends at the best point seen.
    """
    penalty, best, first, last, length, step = Penalty(sigma, 0), math.inf, 0.0, 0, 1.0, 0
    v, beta = copied(state.v), copied(state.beta)
    fill(machine, loss, sigma, state)
    damping = first_damping(sigma, state)
    while step < MOST_STEPS:
        inner, rows, primal = judge(machine, loss, state)
        rows = rows if sigma < math.inf else 0.0  # of a smooth loss, whose multipliers are exact, it is rounding
        error = (inner + rows) / max(abs(primal), 1e-300)
        first = error if step == 0 else first
        last = step if error < 0.5 * best else last
        if error < best:
            best = error
            put(state.v, v)
            put(state.beta, beta)
        near = best <= LAST_DIGITS
        patience = FAR_PATIENCE if not near else PATIENCE if sigma < math.inf else NEWTON_PATIENCE
        if not DONE < error < math.inf or step - last >= patience:
            break
        solved = inner <= INNER * rows or length == 0.0
        if sigma < math.inf and (solved or step - penalty.since >= STUCK):
            penalty = next_penalty(penalty, solved, step, state)
            fill(machine, loss, penalty.sigma, state)
            damping = first_damping(sigma, state)
        length = move(machine, loss, penalty.sigma, state, direction(machine, state, damping))
        damping = next_damping(damping, length)
        step += 1
    put(v, state.v)
    put(beta, state.beta)
    return step, first, best


@jit()
def look(machine, loss, sigma, state):
    """Multipliers and curvatures at the scores. Writes: state.beta, kappa."""
    if sigma < math.inf:
        dual_steps(loss, machine.y, machine.c, state.z, state.old, sigma, state.beta, state.kappa)
    else:
        multipliers_of(loss, machine.y, machine.c, state.z, state.beta, state.kappa)


@jit()
def fill(machine, loss, sigma, state):
    """Multipliers and curvatures at the scores, and q = A'beta. Writes: state.beta, kappa and q."""
    look(machine, loss, sigma, state)
    A, beta = machine.A, state.beta
    clear(state.q)
    for i in range(len(beta)):
        if beta[i] != 0.0:
            for k in range(A.shape[1]):
                state.q[k] += beta[i] * A[i, k]


@jit()
def judge(machine, loss, state):
    """The parts of the gap: 1/2 ||v - q||^2 with what a free bias leaves, and that of the rows; the primal value."""
    losses, _, rows, _ = fenchel_young_of(loss, machine.y, machine.c, state.z, state.beta)
    inner, primal = 0.0, losses
    for k in range(len(state.v)):
        v, q = state.v[k], state.q[k]
        inner += 0.5 * (v - q) ** 2 if machine.ridge[k] > 0.0 else abs(q) * (1.0 + abs(v))
        primal += 0.5 * machine.ridge[k] * v * v
    return inner, rows, primal


@jit()
def next_penalty(penalty, solved, step, state):
    """Multipliers of a smooth problem that is solved become those of the next; one that is not is softened.

    Writes: state.old.
    """
    if not solved:
        return Penalty(SOFTER * penalty.sigma, step)
    put(state.beta, state.old)
    grows = number_of_nonzeros(state.kappa) > 3 * len(state.v) or step - penalty.since <= QUICK
    return Penalty(penalty.sigma * (GROWTH if grows else 1.0), step)


@jit()
def first_damping(sigma, state):
    """Of a new smooth problem: the fewer rows curve, the less of it. Losses that are smooth need none."""
    return DAMPING * number_of_nonzeros(state.kappa) / len(state.z) if sigma < math.inf else 0.0


@jit()
def next_damping(damping, length):
    """Less after a full step, more after a short one (Levenberg and Marquardt)."""
    if length > 0.1:
        return damping * (0.1 if length >= 0.9 else 0.5 if length >= 0.5 else 2.0)
    return max(10.0 * damping, 1e-8)


@jit()
def direction(machine, state, damping):
    """-H^-1 g with H = R + A' diag(kappa) A, damped along the diagonal that it would have if every row curved."""
    A, kappa, d = machine.A, state.kappa, len(state.v)
    H, most, largest, usual = np.zeros((d, d)), 0.0, 0.0, 0.0
    for i in range(len(kappa)):
        most, largest = max(most, kappa[i] / machine.c[i]), max(largest, kappa[i])
        usual += machine.c[i] / len(kappa)
        if kappa[i] > 0.0:
            for p in range(d):
                weight = kappa[i] * A[i, p]
                for q in range(p + 1):
                    H[p, q] += weight * A[i, q]
    damping = damping if most > 0.0 else max(damping, 1.0)
    most, largest = (most, largest) if most > 0.0 else (1.0, usual)
    right = np.empty(d)
    for p in range(d):
        H[p, p] += max(machine.ridge[p], 1e-3 * largest * (machine.ridge[p] == 0.0))
        H[p, p] += damping * most * machine.squares[p]
        right[p] = state.q[p] - machine.ridge[p] * state.v[p]
    solve_definite(H, right)
    return right


@jit()
def solve_definite(H, right):
    """x of H x = right by Cholesky's factor, from the lower triangle. Writes: H, and right, which becomes x.

    Columns are brought to one size first; where rounding leaves no factor, NaN.
    """
    d = len(right)
    size = np.empty(d)
    for p in range(d):
        size[p] = 1.0 / math.sqrt(H[p, p])
    for p in range(d):
        right[p] *= size[p]
        for q in range(p + 1):
            here = H[p, q] * size[p] * size[q]
            for k in range(q):
                here -= H[p, k] * H[q, k]
            H[p, q] = math.sqrt(here) if p == q else here / H[q, q]
    for p in range(d):
        for k in range(p):
            right[p] -= H[p, k] * right[k]
        right[p] /= H[p, p]
    for p in range(d - 1, -1, -1):
        for k in range(p + 1, d):
            right[p] -= H[k, p] * right[k]
        right[p] /= H[p, p]
    for p in range(d):
        right[p] *= size[p]


@jit()
def move(machine, loss, sigma, state, dv):
    """Go along dv to where the slope of the objective is nearly zero: the step length, 0 where there is no descent.

    See ``solvers.linear.descent``. Writes: state.
    """
    z, v, dz, found = copied(state.z), copied(state.v), product(machine.A, dv), False
    linear, quadratic = 0.0, 0.0
    for k in range(len(dv)):
        linear += dv[k] * machine.ridge[k] * v[k]
        quadratic += dv[k] * machine.ridge[k] * dv[k]
    begin = linear - dot(dz, state.beta)
    if not begin < 0.0:
        return 0.0
    low, at_low, high, at_high, t = 0.0, begin, math.inf, math.inf, 1.0
    for turn in range(LINE_SEARCH_STEPS):
        walk(z, t, dz, state.z)
        look(machine, loss, sigma, state)
        here = linear + t * quadratic - dot(dz, state.beta)
        if 0.5 * begin <= here <= -0.1 * begin:
            found = True
            break
        if here < 0.0:
            low, at_low = t, here
        else:
            high, at_high = t, here
        if high == math.inf:
            t *= 4.0
        else:
            t = 0.5 * (low + high) if turn % 2 else low - at_low * (high - low) / (at_high - at_low)
    t = t if found or low == 0.0 else low
    walk(v, t, dv, state.v)
    put(product(machine.A, state.v), state.z)
    fill(machine, loss, sigma, state)
    return t


@jit(reductions=True)
def product(A, v):
    """A v."""
    out = np.empty(A.shape[0])
    for i in range(A.shape[0]):
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * v[k]
        out[i] = total
    return out


def narrow_solution(problem: LinearProblem, options: Options) -> Solution | None:
    """The solution of a problem with few rows and weights; None where the loop has to solve it."""
    if not _applies(problem, options):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not solved
        return _solved(problem, options)


def _solved(problem: LinearProblem, options: Options) -> Solution | None:
    begun, start = limits.now(), problem.start(options.start)
    smooth, machine = has_curvature(problem.loss), _machine(problem)
    n, sigma = problem.n, math.inf if smooth else ALM.first_sigma(problem, start)
    old = np.zeros(n) if start.beta is None else start.beta.copy()
    z = product(machine.A, start.v)
    state = State(start.v.copy(), z, np.zeros(n), np.zeros(n), np.zeros(problem.d), old)
    steps, first, last = solve_narrow(machine, problem.loss, sigma, state)
    proof = prove_linear(problem, Point(state.v, None if smooth else state.beta))
    certificate = proof.certificate
    if not (last <= LAST_DIGITS or certificate.gap <= ROUNDED * certificate.rounding):
        return None
    if not problem.optimality_error(certificate) <= options.tol:
        return None
    history = Trace(
        [
            Progress(0, 0.0, first, math.nan),
            Progress(steps, limits.now() - begun, certificate.relative_gap, certificate.primal),
        ]
    )
    name = Newton.name if smooth else ALM.name
    passes = PASSES * steps + problem.passes
    return Solution(proof.point, Status.CONVERGED, certificate, history, steps, name, REASON, passes, proof.scores)


def _machine(problem: LinearProblem) -> Narrow:
    A, ridge = np.full((problem.n, problem.d), problem.design.scale), np.ones(problem.d)
    A[:, : problem.design.features] = dense_rows(problem.design.rows).values
    if problem.free_bias:
        ridge[-1] = 0.0
    return Narrow(A, problem.y, problem.costs, ridge, problem.costs @ (A * A))


def _applies(problem: LinearProblem, options: Options) -> bool:
    """Whether the problem is small, its loss compiled and its norm l2, and nobody watches or limits the solve."""
    small = problem.n <= SMALL_ROWS and problem.d <= MOST_WEIGHTS
    return small and problem.penalty == "l2" and compiled(problem.loss) and options.free
