"""Small problems with one free bias, from their start to their proof in one compiled call.

The loop (``drive``) takes a millisecond of Python for a problem that pairs solve in microseconds: cross-validation,
bagging and pairs of many classes are made of those. So pairs run here to the last digits on the whole matrix, in
float64, and the numbers of the certificate are worked out beside them, by the formulas of ``certificates.box`` from
scores that are summed afresh. What is not solved by then (ill-conditioned problems, for which there are Newton steps
and interior points) is left to the loop.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING, Values, values_of
from maxmargin.certificates.kkt import extremes, gradient
from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.core.jit import jit
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.core.vectors import clear
from maxmargin.problems.box import TOLERATED, BoxQP
from maxmargin.problems.feasible import BALANCE_SLACK, sums
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Certificate, Point, Progress, Solution, Status, Trace
from maxmargin.solvers.box.smo import AIM, SMALL_GOAL, SMALL_STEPS, SMO
from maxmargin.solvers.box.steps import Block, Groups, apply_change, pair_steps, whole
from maxmargin.solvers.contract import Options

# Pair steps for each row, and beside those: what the loop gives pairs before Newton steps follow. A tenth of 4,000
# random small problems is not solved by then.
ROW_STEPS, MORE_STEPS = 10, 1000
REASON = "a small problem, to the last digits in one go"


class Goal(NamedTuple):
    """The violation that pairs try for and the largest that is good enough beside rounding, and that of a proof.

    ``rounding`` is by how much a score is off, for kernel values of at most 1 and multipliers whose sizes add up to 1.
    """

    aim: float
    enough: float
    proved: float
    rounding: float


class Outcome(NamedTuple):
    """How pairs ended: ``solved`` or not; violation and objective before them, and the violation that is proved.

    ``highest`` is the largest slope upwards, ``imbalance`` by how much rounding keeps the multipliers from their total.
    Numbers, or arrays of them for many problems.
    """

    solved: Any
    steps: Any
    first_violation: Any
    first_objective: Any
    violation: Any
    bias: Any
    highest: Any
    imbalance: Any
    values: Values


@jit()
def solve_whole(K, diagonal, box, total, beta, goal):
    """The ``Outcome`` of pairs from the feasible ``beta`` on all rows, which are one group. Writes: beta."""
    n, largest, f = len(beta), 0.0, np.zeros(len(beta))
    for i in range(n):
        largest = max(largest, abs(diagonal[i]))
    apply_change(K, -beta, f)
    v = gradient(box, f, beta)
    high, low, _, objective, _ = extremes(v, beta, box)
    block = Block(K, diagonal + box.ridge, box.ridge, box.lower, box.upper, box.kink, whole())
    everything = Groups(np.array([0, n]), np.zeros(1, np.bool_))
    steps, _, _ = pair_steps(block, everything, v, beta, goal.aim, ROW_STEPS * n + MORE_STEPS)
    clear(f)
    apply_change(K, -beta, f)
    held, size = sums(beta)
    rounding, error = FLOAT64_ROUNDING * largest * size, np.full(n, goal.rounding * largest * size)
    highest, lowest, bias, _, _ = extremes(gradient(box, f, beta), beta, box)
    left, imbalance = max(highest - lowest, 0.0), abs(held - total)
    violation = left + 2.0 * goal.rounding * largest * size
    values = values_of(box, beta, f, box.p - f - bias, error)
    solved = left <= max(goal.enough, rounding) and violation <= goal.proved and values.square >= -2.0 * values.doubt
    solved = solved and imbalance <= BALANCE_SLACK * (size + abs(total))
    return Outcome(solved, steps, max(high - low, 0.0), objective, violation, bias, highest, imbalance, values)


def goal_of(tol: float, float64_error: float, to_the_end: bool = True) -> Goal:
    """What problems are solved to: the last digits, or ``tol``."""
    aim, enough = (SMALL_STEPS, min(SMALL_GOAL, tol)) if to_the_end else (AIM * tol, tol)
    return Goal(aim, enough, tol * TOLERATED, FLOAT64_ROUNDING + float64_error)


def small_solution(problem: BoxQP, options: Options) -> Solution | None:
    """The solution of a small problem with one free bias; None where the loop has to solve it."""
    if not _applies(problem, options):
        return None
    begun, gram, start = limits.now(), problem.gram, problem.start(options.start)
    goal = goal_of(options.tol, gram.float64_error)
    with blas_held():
        K = gram.whole()
    found = solve_whole(K, gram.diagonal, problem.box, float(problem.totals[0]), start.beta, goal)
    return solution_of(problem, start.beta, found, limits.now() - begun, REASON) if found.solved else None


def solution_of(problem: BoxQP, beta: Array, found: Outcome, seconds: float, reason: str) -> Solution:
    """The solution of a problem that is solved."""
    edge = found.highest if math.isfinite(found.highest) else found.bias
    point = Point(beta=beta, biases=np.array([found.bias]), edges=np.array([edge]))
    certificate = certificate_of(found)
    history = history_of(found, certificate.dual, seconds)
    return Solution(point, Status.CONVERGED, certificate, history, found.steps, SMO.name, reason, problem.passes)


def certificate_of(found: Outcome) -> Certificate:
    """The certificate of a problem that is solved; of many, with arrays of numbers."""
    values = found.values
    dual, gap = values.dual, values.gap + abs(found.bias) * found.imbalance
    return Certificate(dual + gap, dual, gap, found.violation, found.bias, values.norm, 0.0, values.rounding)


def history_of(found: Outcome, dual: float, seconds: float) -> Trace:
    """The start and the end."""
    first = Progress(0, 0.0, found.first_violation, found.first_objective)
    return Trace([first, Progress(found.steps, seconds, found.violation, dual)])


def is_plain(problem: BoxQP) -> bool:
    """Whether there is one free bias, and nothing that the loop would have to tell of the problem."""
    return problem.one_for_all and not (problem.hard or problem.divided or problem.note)


def _applies(problem: BoxQP, options: Options) -> bool:
    """Whether the problem is small, with one free bias and a definite matrix, and the solve has no other limits."""
    small = problem.n <= SMALL_ROWS if options.to_the_end is None else options.to_the_end
    if not (small and is_plain(problem) and options.free):
        return False
    gram = problem.gram
    return gram.dtype == np.float64 and problem.n <= gram.working_rows and gram.definiteness(NO_ROWS).definite
