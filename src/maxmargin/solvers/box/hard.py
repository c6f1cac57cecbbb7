"""The hard margin: no slack, so no bound on the multipliers, and a dual that rises without end where nothing separates.

Solved with bounds that never bind. Under a bound c on alpha the soft margin is solved; if no multiplier reaches c, its
solution is the hard margin's. If some do, either c was too small, or no hyperplane separates the classes. The second is
proved by weights alpha / c, corrected so that ||sum alpha y phi(x)|| vanishes (``certificates.separation``): as c grows
alpha / c tends to such weights, and a Newton step removes what is left. Without a proof, c is raised.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.certificates.box import evaluate, feasible_point
from maxmargin.certificates.separation import separates
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP
from maxmargin.problems.solution import Point, Solution, Status, Trace
from maxmargin.solvers.box.newton import polish
from maxmargin.solvers.box.old_drive import Options, run
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.box.steps import Block, pair_steps, single_steps

FIRST_BOUND = 1e2  # times 1 / max K_ii: alpha has the size of 1 / margin^2
GROWTH = 1e8  # classes that overlap are mostly found out under the first bound; then go for the solution at once
ATTEMPTS = 20


def solve_hard(problem: BoxQP, solver: SMO, options: Options) -> Solution:
    """The hard margin's solution, or status infeasible with weights that prove it."""
    begun = limits.now()
    bound = FIRST_BOUND / max(float(np.max(problem.gram.diagonal)), np.finfo(float).tiny)
    last, trace, iterations = GROWTH**2 * bound, Trace(), 0
    while True:
        limited = replace(problem, lower=np.maximum(problem.lower, -bound), upper=np.minimum(problem.upper, bound))
        passed, guess = limits.now() - begun, options.guess
        left = replace(
            options,
            guess=None if guess is None else feasible_point(limited, guess),
            max_iter=options.max_iter if options.max_iter < 0 else options.max_iter - iterations,
            time_limit=None if options.time_limit is None else max(0.0, options.time_limit - passed),
        )
        solution = run(limited, solver, left)
        trace, iterations = Trace((*trace, *solution.trace)), iterations + solution.iterations
        certificate, scores = evaluate(problem, solution.beta)
        found = solution._replace(certificate=certificate, trace=trace, iterations=iterations)
        at_bound = np.abs(solution.beta) >= bound
        if solution.status not in (Status.CONVERGED, Status.STALLED) or not at_bound.any():
            return found
        weights = vanishing_weights(problem, solution.beta, bound, scores)
        if not separates(problem, weights, problem.gram.scores(weights, exact=True)[0]):
            return found._replace(point=Point(beta=weights), status=Status.INFEASIBLE)
        if bound >= last:
            return found._replace(status=Status.STALLED)
        options, bound = replace(options, guess=solution.beta), GROWTH * bound


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
    sign, size = np.sign(beta[support]), np.abs(beta[support])
    least = np.where(size >= bound, 0.5 * bound, 0.0)
    ends = np.stack([sign * least, sign * 2.0 * bound])
    block = Block(K, np.diag(K).copy(), np.zeros(len(support)), ends.min(axis=0), ends.max(axis=0))
    v, moved = -scores[support], beta[support]
    steps = pair_steps if problem.balanced else single_steps
    weights = beta.copy()
    for _ in range(ATTEMPTS):
        limits.checkpoint()
        polish(block, v, moved, problem.balanced)
        weights[support] = moved
        if not separates(problem, weights, problem.gram.scores(weights, exact=True)[0]):
            break
        steps(block, v, moved, 0.0, 10 * len(support))
    return weights
