"""The duality gap of a linear machine at any point (v, beta): a function of problem and point alone, in float64.

For the l2 penalty, with q = A'beta and sum(beta) = 0 where the bias is free,

    primal - dual = 1/2 ||v - q||^2 + sum_i c_i l(z_i) + conjugate_i(beta_i) + beta_i z_i,

and every term is >= 0. For smooth losses and beta = -c l'(z) only the first is left: half the squared norm of the
gradient. For l1, beta is scaled until ||A'beta||_inf <= 1; then primal - dual = ||v||_1 - v'q plus the same sum.

A user's loss may have no conjugate. Then there is no dual value, but strong convexity bounds the gap (``by_slopes``).

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
from maxmargin.losses.base import fenchel_young, has_conjugate, largest_terms, multipliers, total
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
    if not has_conjugate(problem.loss):
        return by_slopes(problem, point.v)
    z, sizes = problem.design.scores_and_sizes(point.v)
    beta = point.beta
    if beta is None or not np.isfinite(fenchel_young(problem.loss, problem.y, problem.costs, z, beta)[1]):
        beta = row_multipliers(problem, z)  # none, or outside of their domain after a change of data
    beta, moved = balanced(problem, beta)
    q_error = np.zeros(problem.d)
    if problem.penalty == "l2":
        q = problem.design.combine(beta)
    else:  # also the true q, which is known to within its rounding, must keep the bound
        q, q_sizes = problem.design.combine_and_sizes(beta)
        q_error = rounding(problem.n, q_sizes)
        excess = max(1.0, float((np.abs(q) + q_error)[problem.penalized].max(initial=0.0)))
        beta, q, q_error, moved = beta / excess, q / excess, q_error / excess, max(moved, 1.0 - 1.0 / excess)
    losses, conjugates, computed, worst = fenchel_young(problem.loss, problem.y, problem.costs, z, beta)
    error = rounding(problem.d, sizes)
    rows = max(computed, largest_terms(problem.loss, problem.y, problem.costs, z, beta, error))
    # A free bias leaves b sum(beta), which rounding keeps from zero.
    unbalanced = abs(float(point.v[-1] * q[-1])) if problem.free_bias else 0.0
    v, q, q_error = (part[problem.penalized] for part in (point.v, q, q_error))
    if problem.penalty == "l1":
        norm = float(np.abs(v).sum())
        primal, dual = norm + losses, -conjugates
        gap, violation = max(0.0, norm - float(v @ q)) + computed, max(worst, moved)
        doubt = float(np.abs(v) @ q_error)
    else:
        primal, dual = 0.5 * float(v @ v) + losses, -0.5 * float(q @ q) - conjugates
        gap, violation = 0.5 * float((v - q) @ (v - q)) + computed, max(worst, float(np.abs(v - q).max(initial=0.0)))
        doubt = doubt_of_sums(problem, point.v, beta, sizes, float(np.linalg.norm(v - q)))
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


def doubt_of_sums(problem: LinearProblem, v: Array, beta: Array, sizes: Array, off: float) -> float:
    """What q = A'beta adds to the gap by its rounding; ``sizes`` are |A| |v|, and ``off`` is ||v - q||."""
    bias = abs(problem.bias_of(Point(v)))
    # ``sizes`` leave out the bias where it is the only term; the norm leaves it out where it is free.
    counted = np.maximum(sizes - bias, 0.0) if problem.free_bias else np.maximum(sizes, bias)
    return doubt_of_products(problem.n, float(np.abs(beta) @ counted), problem.design.combined_bound(beta), off)


def doubt_of_products(n: int, pull: float, spread: float, off: float) -> float:
    """What q = A'beta of n rows adds to the gap by its rounding e, |e| <= u s with s = |A|'|beta|.

    The gap is off by at most (|q| + |v - q|)'|e| + 1/2 ||e||^2, where ``off`` is ||v - q||. No pass over the rows is
    needed to bound it: |v|'s is the ``pull`` |beta|'(|A| |v|), whose last factor the scores have, and ||s|| at most the
    ``spread`` (``Design.combined_bound``).
    """
    u = float(rounding(n, np.ones(1))[0])
    return u * (pull + 2.0 * off * spread) + 0.5 * (u * spread) ** 2


NO_DUAL = "the loss has no conjugate, so there is no dual value; strong convexity bounds the gap"
NO_BIAS = "the loss has no conjugate, and no bias is best: nothing bounds the gap"


def by_slopes(problem: LinearProblem, v: Array) -> Proof:
    """The certificate of weights from the slopes of the losses alone: P is strongly convex in what the norm counts.

    With beta = -c l'(z) and q = A'beta, v - q is a subgradient of P at v, so for all v'

        P(v') >= P(v) + (v - q)'(v' - v) + 1/2 ||v' - v||^2 >= P(v) - 1/2 ||v - q||^2.

    The norm does not count a free bias. For two biases b_1 <= b_2 around the best one, where the multipliers add up to
    e_1 >= 0 and -e_2 <= 0, the mean of both inequalities with the weights e_2 and e_1 has no slope in the bias:

        P(w', b') >= mean of P(w, b_k) - 1/2 ||w - q||^2 - (b_2 - b_1) e_1 e_2 / (e_1 + e_2),    q = X'(mean of beta_k).

    The bias of the point becomes the better one of the two.
    """
    z, sizes = problem.design.scores_and_sizes(v)
    v, beta, spread = v.copy(), row_multipliers(problem, z), 0.0
    if problem.free_bias:
        move, beta, spread = _without_slope_in_bias(problem, z)
        z, v[-1] = z + move, v[-1] + move
    q, q_sizes = problem.design.combine_and_sizes(beta)
    w, q, q_error = (part[problem.penalized] for part in (v, q, rounding(problem.n, q_sizes)))
    off = np.abs(w - q)
    doubt = (
        float(off @ q_error) + 0.5 * float(q_error @ q_error) + _rounded(problem, z, beta, rounding(problem.d, sizes))
    )
    primal = 0.5 * float(w @ w) + total(problem.loss, problem.y, problem.costs, z)
    certificate = Certificate(
        primal=primal,
        dual=math.nan,
        gap=0.5 * float(off @ off) + spread + doubt,
        violation=float(off.max(initial=0.0)),
        bias=problem.bias_of(Point(v)),
        norm=float(np.linalg.norm(v[: problem.design.features])),
        rounding=doubt,
        reason="" if not math.isfinite(primal) else NO_DUAL if math.isfinite(spread) else NO_BIAS,
    )
    return Proof(Point(v), certificate, z)


def _without_slope_in_bias(problem: LinearProblem, z: Array) -> tuple[float, Array, float]:
    """The better of two biases around the best one, the mean of their multipliers, which adds up to zero, and a spread.

    That is (b_2 - b_1) e_1 e_2 / (e_1 + e_2), infinite where there is no best bias.
    """
    first, second = around_best_bias(problem, z)
    betas = [row_multipliers(problem, z + b) for b in (first, second)]
    losses = [total(problem.loss, problem.y, problem.costs, z + b) for b in (first, second)]
    better = first if losses[0] <= losses[1] else second
    above, below = float(betas[0].sum()), -float(betas[1].sum())
    if above < 0.0 or below < 0.0:
        return better, betas[0], math.inf
    if above == 0.0:
        return first, betas[0], 0.0
    share = below / (above + below)
    return better, share * betas[0] + (1.0 - share) * betas[1], (second - first) * share * above


def _rounded(problem: LinearProblem, z: Array, beta: Array, error: Array) -> float:
    """What the losses and their slopes may be off by where z_i is off by error_i: a loss is convex, so at an end."""
    y, c, value = problem.y, problem.costs, problem.loss.value
    most = np.maximum(value(y, z - error), value(y, z + error)) - value(y, z)
    return float(c @ np.maximum(most, 0.0)) + float(np.abs(beta) @ error)


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
    """The b that minimises sum_i c_i l(y_i, z_i + b), to a share ``precision`` of itself, or of 1 if it is smaller."""
    low, high = around_best_bias(problem, z, precision)
    return 0.5 * (low + high)


def around_best_bias(problem: Losses, z: Array, precision: float = 1e-15) -> tuple[float, float]:
    """Two biases below and above the best one, by bisection of the slope -sum_i beta_i(b); as near as ``precision``."""
    beta, unused, moved = np.empty(len(z)), np.empty(len(z)), np.empty(len(z))

    def excess(b: float) -> float:
        multipliers(problem.loss, problem.y, problem.costs, np.add(z, b, out=moved), beta, unused)
        return float(beta.sum())

    step, b = 1.0, 0.0
    rising = excess(0.0)
    if rising == 0.0:
        return 0.0, 0.0
    direction = 1.0 if rising > 0 else -1.0
    while excess(direction * step) * direction > 0 and step < 1e12:
        b, step = direction * step, 4.0 * step
    low, high = sorted((b, direction * step))
    while high - low > precision * max(abs(low), abs(high), 1.0):
        b = 0.5 * (low + high)
        if b in (low, high):
            break
        low, high = (b, high) if excess(b) > 0 else (low, b)
    return low, high
