"""The hard margin: no slack, so no bound on the multipliers, and a dual that rises without end where nothing separates.

Solved with bounds that never bind. Under a bound c on alpha the soft margin is solved; if no multiplier reaches c, its
solution is the hard margin's. If some do, either c was too small, or no hyperplane separates the classes. The second is
proved by weights alpha / c, corrected so that ||sum alpha y phi(x)|| vanishes (``certificates.separation``): as c grows
alpha / c tends to such weights, and a Newton step removes what is left. Without a proof, c is raised.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.certificates.box import prove_box
from maxmargin.certificates.separation import separates
from maxmargin.core import limits
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import STOPS, Point, Solution, Status, Trace, ended_by, unproved
from maxmargin.solvers.box.groups import take_steps
from maxmargin.solvers.box.newton import polish
from maxmargin.solvers.box.steps import Block
from maxmargin.solvers.contract import Options, Stage, continued
from maxmargin.solvers.drive import NO_TIME, run

FIRST_BOUND = 1e2  # times 1 / max K_ii: alpha has the size of 1 / margin^2
GROWTH = 1e8  # classes that overlap are mostly found out under the first bound; then go for the solution at once
ATTEMPTS = 20


def solve_hard(problem: BoxQP, stages: list[Stage], options: Options) -> Solution:
    """The hard margin's solution, or status infeasible with weights that prove it."""
    begun = limits.now()
    bound = FIRST_BOUND / max(float(np.max(problem.gram.diagonal)), np.finfo(float).tiny)
    last, trace, iterations = GROWTH**2 * bound, Trace(), 0
    while True:
        solution = run(_limited(problem, bound), stages, _what_is_left(options, begun, trace, iterations))
        trace, iterations = trace.then(solution.trace), iterations + solution.iterations
        last_moment = _last_moment(options.time_limit, begun)
        found, scores = _of_the_hard_margin(problem, solution, last_moment)
        found = found._replace(trace=trace, iterations=iterations)
        at_bound = np.abs(solution.beta) >= bound
        if found.status not in (Status.CONVERGED, Status.STALLED) or not at_bound.any():
            return found
        try:
            with limits.limits(last_moment):
                weights = vanishing_weights(problem, solution.beta, bound, scores)
                separable = separates(problem, weights, problem.gram.scores(weights, exact=True)[0])
        except STOPS as stop:
            return found._replace(status=ended_by(stop, options.keeps))
        if not separable:
            return found._replace(point=Point(beta=weights, biases=found.point.biases), status=Status.INFEASIBLE)
        if bound >= last:
            return found._replace(status=Status.STALLED)
        options, bound = replace(options, start=solution.point), GROWTH * bound


def _of_the_hard_margin(problem: BoxQP, solution: Solution, last_moment: float) -> tuple[Solution, Array]:
    """A solution of the limited problem with the certificate that it has for the hard margin, and its scores."""
    try:
        with limits.unlimited(), limits.limits(last_moment):  # what was interrupted is proved all the same
            point, certificate, scores = prove_box(problem, solution.point)
    except limits.OutOfTime:
        unknown = unproved(NO_TIME, bias=problem.bias_of(solution.point), norm=solution.certificate.norm)
        return solution._replace(certificate=unknown, status=Status.TIME_LIMIT), NO_ROWS
    return solution._replace(point=point, certificate=certificate), scores


def _last_moment(time_limit: float | None, begun: float) -> float:
    """When the whole solve must end."""
    return np.inf if time_limit is None else limits.last_moment(begun + time_limit, time_limit)


def _limited(problem: BoxQP, bound: float) -> BoxQP:
    """The soft margin whose multipliers are at most ``bound``."""
    box = problem.box
    return replace(problem, box=box._replace(lower=np.maximum(box.lower, -bound), upper=np.minimum(box.upper, bound)))


def _what_is_left(options: Options, begun: float, trace: Trace, iterations: int) -> Options:
    """The same options for another attempt."""
    limit, most = options.time_limit, options.max_iter
    return replace(
        options,
        watch=continued(options.watch, trace),
        max_iter=most if most < 0 else most - iterations,
        time_limit=None if limit is None else max(0.0, limit - (limits.now() - begun)),
    )


def vanishing_weights(problem: BoxQP, beta: Array, bound: float, scores: Array) -> Array:
    """``beta`` moved so as to minimise ||sum beta phi(x)||, with at least half of each that was at its bound.

    -1/2 ||sum beta phi||^2 has the gradient -scores: the same steps as for the machine, without the linear term.
    """
    support = np.flatnonzero(beta)
    if len(support) > problem.gram.working_rows:
        return beta
    picked = problem.gram.submatrix(support)
    K = np.array(picked, np.float64)
    problem.gram.give_back(picked)
    sign, size, nothing = np.sign(beta[support]), np.abs(beta[support]), np.zeros(len(support))
    least = np.where(size >= bound, 0.5 * bound, 0.0)
    ends = np.stack([sign * least, sign * 2.0 * bound])
    block = Block(K, np.diag(K).copy(), nothing, ends.min(axis=0), ends.max(axis=0), nothing)
    v, moved, group = -scores[support], beta[support], problem.group[support]
    weights = beta.copy()
    for _ in range(ATTEMPTS):
        limits.checkpoint()
        polish(block, v, moved, group)
        weights[support] = moved
        if not separates(problem, weights, problem.gram.scores(weights, exact=True)[0]):
            break
        take_steps(block, group, problem.n_groups, v, moved, 0.0, 10 * len(support))
    return weights
