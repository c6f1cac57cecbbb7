"""The canonical problem of kernel machines by an independent solver (Clarabel, an interior-point method)."""

import clarabel
import numpy as np
from scipy import sparse


def optimum(problem, K) -> float:
    """The maximum of p'beta - 1/2 beta'(K + R) beta - kink'|beta| under the constraints, over (beta, |beta|)."""
    n, box = problem.n, problem.box
    quadratic = sparse.block_diag([K + np.diag(box.ridge), np.zeros((n, n))]).tocsc()
    eye, nothing = np.eye(n), np.zeros((n, n))
    groups = np.array([np.r_[problem.group == g, np.zeros(n)] for g in range(problem.n_groups)]).reshape(-1, 2 * n)
    rows, bounds = [groups, np.hstack([eye, -eye]), np.hstack([-eye, -eye])], [problem.totals, np.zeros(2 * n)]
    for sign, bound in ((1.0, box.upper), (-1.0, box.lower)):
        finite = np.isfinite(bound)
        rows.append(np.hstack([sign * eye, nothing])[finite])
        bounds.append(sign * bound[finite])
    limits = np.concatenate(bounds)
    cones = [clarabel.ZeroConeT(len(groups)), clarabel.NonnegativeConeT(len(limits) - len(groups))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    linear = np.concatenate([-box.p, box.kink + 1e-13])  # |beta| has a price, however small, so that it is bounded
    solver = clarabel.DefaultSolver(
        sparse.triu(quadratic).tocsc(), linear, sparse.csc_matrix(np.vstack(rows)), limits, cones, settings
    )
    return -solver.solve().obj_val
