"""Problems of up to some thousand rows with float32 kernel values, solved and proved by a few compiled calls.

What ``solvers.box.smo`` and ``certificates.box`` do for one working set of all rows, without what they ask of any
problem: pairs in float32, scores summed in float64 with bounds on what float32 values made of them, and a proof in
which every row that could matter was worked out in float64. What tol does not hold for is left to the loop (``drive``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING, unsettled, values_of
from maxmargin.certificates.kkt import extremes, gradient
from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.core.vectors import clear, joined, walk
from maxmargin.losses.box import Box
from maxmargin.problems.box import BoxQP
from maxmargin.problems.feasible import BALANCE_SLACK
from maxmargin.problems.solution import Solution
from maxmargin.solvers.box.smo import AIM, STEP_ROUNDING, whole_pays
from maxmargin.solvers.box.steps import Block, Groups, Quarters, pair_steps, place_of, whole
from maxmargin.solvers.contract import Options
from maxmargin.solvers.small.box import Goal, Outcome, goal_of, is_plain, solution_of
from maxmargin.solvers.small.pairs import joined_box

ROW_STEPS, MORE_STEPS = 100, 1000  # pair steps for each row, and beside those
REASON = "all rows in one working set, in float32"


class Rough(NamedTuple):
    """What float32 values came to: the box, multipliers, and the scores that those sum up to.

    ``sizes`` are the sums of the sizes of all terms of the scores. Violation and objective are those at the start.
    """

    box: Box
    beta: Array
    f: Array
    sizes: Array
    steps: int
    first_violation: float
    first_objective: float


@jit()
def solve_all(K, diagonal, box, beta, aim):
    """``Rough`` of all rows, which are one group, from the feasible ``beta`` to the violation ``aim``. Writes: beta."""
    block = Block(K, diagonal + box.ridge, box.ridge, box.lower, box.upper, box.kink, whole())
    return run_pairs(block, box, beta, aim)


@jit()
def solve_pair(within, between, memory, pair, classes, aim):
    """``Rough`` of classes (a, b), with values ``within`` both of them and ``between`` them, to the violation ``aim``.

    ``memory`` has room for the rows of the matrix that are needed. Writes: memory.
    """
    (a, b), edges = pair, classes.edges
    first, second = slice(edges[a], edges[a + 1]), slice(edges[b], edges[b + 1])
    box, n, m = joined_box(classes.sides, first, second), between.shape[0], between.shape[1]
    K = memory[: (n + m) ** 2].reshape((n + m, n + m))
    parts = Quarters(within[0], between, within[1], np.full(n + m, -1), np.zeros(1, np.int64))
    place_of(parts, 0, K)  # steps begin with a move of nothing along the first row
    curvature = joined(classes.diagonal[first], classes.diagonal[second])
    walk(curvature, 1.0, box.ridge, curvature)
    block = Block(K, curvature, box.ridge, box.lower, box.upper, box.kink, parts)
    return run_pairs(block, box, np.zeros(n + m), aim)


@jit()
def run_pairs(block, box, beta, aim):
    """``Rough``, by pair steps on a block of all rows. Writes: beta."""
    n, f, sizes = len(beta), np.zeros(len(beta)), np.zeros(len(beta))
    add_scores(block, beta, f, sizes)
    v = gradient(box, f, beta)
    high, low, _, objective, _ = extremes(v, beta, box)
    everything, rough = Groups(np.array([0, n]), np.zeros(1, np.bool_)), v.astype(np.float32)
    steps, _, _ = pair_steps(block, everything, rough, beta, aim, ROW_STEPS * n + MORE_STEPS)
    clear(f)
    clear(sizes)
    add_scores(block, beta, f, sizes)
    return Rough(box, beta, f, sizes, steps, max(high - low, 0.0), objective)


@jit(reductions=True)
def add_scores(block, beta, f, sizes):
    """f += K beta and sizes += K |beta| in float64, by the rows of multipliers that are not zero. Writes: f, sizes."""
    places, lazy = block.parts.places, len(block.parts.places) > 0
    for i in range(len(beta)):
        if beta[i] != 0.0:
            weight, size, row = beta[i], abs(beta[i]), block.K[places[i] if lazy else i]
            for t in range(len(f)):
                f[t] += weight * row[t]
                sizes[t] += size * row[t]


@jit(brief=True)
def doubtful(box, beta, f, error):
    """Whether the term of each row in the gap may be other than zero, with the bias that these scores give."""
    t, bias = np.empty(len(f)), extremes(gradient(box, f, beta), beta, box)[2]
    for i in range(len(f)):
        t[i] = box.p[i] - f[i] - bias
    return unsettled(t, error, beta, box)


@jit(brief=True)
def judge(rough, f, total, rounding, goal):
    """The ``Outcome`` of scores f, each off by at most ``rounding``, of multipliers that must add up to ``total``."""
    box, beta, held, t, error = rough.box, rough.beta, 0.0, np.empty(len(f)), np.empty(len(f))
    highest, lowest, bias, _, size = extremes(gradient(box, f, beta), beta, box)
    for i in range(len(f)):
        held += beta[i]
        t[i], error[i] = box.p[i] - f[i] - bias, rounding
    violation, imbalance = max(highest - lowest, 0.0) + 2.0 * rounding, abs(held - total)
    values = values_of(box, beta, f, t, error)
    solved = violation <= goal.proved and values.square >= -2.0 * values.doubt
    solved = solved and imbalance <= BALANCE_SLACK * (size + abs(total))
    begun = rough.first_violation, rough.first_objective
    return Outcome(solved, rough.steps, begun[0], begun[1], violation, bias, highest, imbalance, values)


def refreshed(rough: Rough, error: Array, exact: Callable[[Array], Array]) -> Array | None:
    """The scores, with every row that could matter worked out in float64 by ``exact(rows)``; None where one was wrong.

    All other rows have no share in the gap, whatever their scores are within ``error``. Writes: error.
    """
    f = rough.f
    while True:
        rows = np.flatnonzero(doubtful(rough.box, rough.beta, f, error))
        if not len(rows):
            return f
        fresh = exact(rows)
        if (np.abs(fresh - f[rows]) > error[rows]).any():
            return None
        f[rows], error[rows] = fresh, 0.0


def proved(rough: Rough, error: Array, exact: Callable[[Array], Array], total: float, goal: Goal) -> Outcome | None:
    """The outcome where it is solved. ``goal.rounding`` is for kernel values as large as they are. Writes: error."""
    f = refreshed(rough, error, exact)
    if f is None:
        return None
    out = judge(rough, f, total, goal.rounding * float(np.abs(rough.beta).sum()), goal)
    return out if out.solved else None


def rough_solution(problem: BoxQP, options: Options) -> Solution | None:
    """The solution of a problem whose rows are best taken all at once; None where the loop has to solve it."""
    if not _applies(problem, options):
        return None
    begun, gram, start, total = limits.now(), problem.gram, problem.start(options.start), float(problem.totals[0])
    goal = goal_of(options.tol, gram.float64_error, to_the_end=False)
    with blas_held():
        rough = solve_all(gram.whole(), gram.diagonal, problem.box, start.beta, AIM * options.tol)
        size = float(np.abs(rough.beta).sum())
        error = gram.score_errors(rough.sizes, size) + FLOAT64_ROUNDING * problem.largest * size
        goal = goal._replace(rounding=goal.rounding * problem.largest)
        out = proved(rough, error, lambda rows: gram.exact_scores(rough.beta, rows), total, goal)
    return None if out is None else solution_of(problem, rough.beta, out, limits.now() - begun, REASON)


def _applies(problem: BoxQP, options: Options) -> bool:
    """Whether there is one free bias, float32 carries tol, and the whole matrix is one working set."""
    gram = problem.gram
    if not (gram.dtype == np.float32 and is_plain(problem) and options.free and not options.to_the_end):
        return False
    fits = problem.n <= gram.working_rows and whole_pays(problem.n, gram.value_ns, options.working_rows)
    width = problem.upper - problem.lower
    reach = 1.0 if np.isinf(width).any() else float(np.median(width))
    return fits and STEP_ROUNDING * (1.0 + reach) <= options.tol and gram.definiteness(np.empty(0, np.int64)).definite
