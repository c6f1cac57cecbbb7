"""The duality gap of a linear machine at any point (v, beta): a function of problem and point alone, in float64.

For the l2 penalty, with q = A'beta and sum(beta) = 0 where the bias is free,

    primal - dual = 1/2 ||v - q||^2 + sum_i c_i l(z_i) + conjugate_i(beta_i) + beta_i z_i,

and every term is >= 0. For smooth losses and beta = -c l'(z) only the first is left: half the squared norm of the
gradient. For l1, beta is scaled until ||A'beta||_inf <= 1; then primal - dual = ||v||_1 - v'q plus the same sum.

z = Av and q are sums of products and rounded like those: each term enters with the largest value that it can have for
all z and q within that rounding. With unscaled features and a large C that is most of the gap, and it must not look
proved.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from maxmargin.certificates.proof import prove
from maxmargin.core.rows import Array
from maxmargin.losses.base import fenchel_young, largest_terms, multipliers
from maxmargin.problems.linear import LinearProblem
from maxmargin.problems.solution import Certificate, Point, Proof

HALF_UNIT = 0.5 * float(np.finfo(np.float64).eps)


@prove.register
def prove_linear(problem: LinearProblem, point: Point, *, exact: bool = False, seconds: float = math.inf) -> Proof:
    """Primal, dual, gap and violation of ``point``; without valid multipliers those of its scores are taken, -c l'(z).

    ``violation`` is the largest entry of |v - A'beta| (for l1: of how far beta was from its bound) or the largest
    share of a row in the gap per unit of cost, whichever is larger. Every sum is float64 and nothing can be left out:
    ``exact`` and ``seconds`` change nothing.
    """
    z, sizes = problem.design.scores_and_sizes(point.v)
    beta = point.beta
    if beta is None or not np.isfinite(fenchel_young(problem.loss, problem.y, problem.costs, z, beta)[1]):
        beta = row_multipliers(problem, z)  # none, or outside of their domain after a change of data
    beta, moved = balanced(problem, beta)
    q, q_sizes = problem.design.combine_and_sizes(beta)
    if problem.penalty == "l1":  # also the true q, which is known to within its rounding, must keep the bound
        largest = np.abs(q) + rounding(problem.n, q_sizes)
        excess = max(1.0, float(largest[problem.penalized].max(initial=0.0)))
        beta, q, q_sizes, moved = beta / excess, q / excess, q_sizes / excess, max(moved, 1.0 - 1.0 / excess)
    losses, conjugates, computed, worst = fenchel_young(problem.loss, problem.y, problem.costs, z, beta)
    error = rounding(problem.d, sizes)
    rows = max(computed, largest_terms(problem.loss, problem.y, problem.costs, z, beta, error))
    # A free bias leaves b sum(beta), which rounding keeps from zero.
    unbalanced = abs(float(point.v[-1] * q[-1])) if problem.free_bias else 0.0
    v, q = point.v[problem.penalized], q[problem.penalized]
    q_error = rounding(problem.n, q_sizes)[problem.penalized]
    if problem.penalty == "l1":
        norm = float(np.abs(v).sum())
        primal, dual = norm + losses, -conjugates
        gap, violation = max(0.0, norm - float(v @ q)) + computed, max(worst, moved)
        doubt = float(np.abs(v) @ q_error)
    else:
        primal, dual = 0.5 * float(v @ v) + losses, -0.5 * float(q @ q) - conjugates
        gap, violation = 0.5 * float((v - q) @ (v - q)) + computed, max(worst, float(np.abs(v - q).max(initial=0.0)))
        doubt = float((np.abs(q) + np.abs(v - q)) @ q_error) + 0.5 * float(q_error @ q_error)
    doubt += rows - computed
    w = point.v[: problem.design.features]
    certificate = Certificate(
        primal=primal,
        dual=dual,
        gap=gap + unbalanced + doubt,
        violation=violation,
        bias=problem.bias_of(point),
        norm=float(np.linalg.norm(w)),
        moved=moved,
        rounding=doubt,
    )
    return Proof(point, certificate, z)


def rounding(terms: int, sizes: Array) -> Array:
    """How far a sum of this many products is off, ``sizes`` being the sum of their absolute values.

    sqrt(terms) u with high probability (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), and 4 u more to be safe.
    """
    return (4.0 + np.sqrt(terms)) * HALF_UNIT * sizes


def row_multipliers(problem: LinearProblem, z: Array) -> Array:
    """beta = -c l'(z)."""
    beta, kappa = np.empty(len(z)), np.empty(len(z))
    multipliers(problem.loss, problem.y, problem.costs, z, beta, kappa)
    return beta


def balanced(problem: LinearProblem, beta: Array) -> tuple[Array, float]:
    """Multipliers with sum(beta) = 0 where the bias is free: the heavier side is scaled down, which every loss allows.

    Also returns by how much, as a share.
    """
    if not problem.free_bias:
        return beta, 0.0
    above, below = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if above == below:
        return beta, 0.0
    share = min(above, below) / max(above, below)
    heavier = beta > 0 if above > below else beta < 0
    return np.where(heavier, beta * share, beta), 1.0 - share


class Losses(Protocol):
    """Of a problem, what its rows pay."""

    @property
    def y(self) -> Array: ...

    @property
    def costs(self) -> Array: ...

    @property
    def loss(self) -> Any: ...


def best_bias(problem: Losses, z: Array, precision: float = 1e-15) -> float:
    """The b that minimises sum_i c_i l(y_i, z_i + b), by bisection of its slope -sum_i beta_i(b).

    Known to a share ``precision`` of itself, or of 1 where it is smaller.
    """
    beta, unused, moved = np.empty(len(z)), np.empty(len(z)), np.empty(len(z))

    def excess(b: float) -> float:
        multipliers(problem.loss, problem.y, problem.costs, np.add(z, b, out=moved), beta, unused)
        return float(beta.sum())

    step, b = 1.0, 0.0
    rising = excess(0.0)
    if rising == 0.0:
        return 0.0
    direction = 1.0 if rising > 0 else -1.0
    while excess(direction * step) * direction > 0 and step < 1e12:
        b, step = direction * step, 4.0 * step
    low, high = sorted((b, direction * step))
    while high - low > precision * max(abs(low), abs(high), 1.0):
        b = 0.5 * (low + high)
        if b in (low, high):
            break
        low, high = (b, high) if excess(b) > 0 else (low, b)
    return 0.5 * (low + high)
