"""Joint problems and independent answers that the tests share."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.gram import Gram
from maxmargin.losses.multiclass import JointLoss
from maxmargin.problems.design import Design
from maxmargin.problems.joint import KernelJoint, LinearJoint

JOINT_LOSSES = [JointLoss(maximum, squared) for maximum in (True, False) for squared in (False, True)]


def name_of(loss):
    """A short name for a test's id."""
    return ("maximum" if loss.maximum else "sum") + ("-squared" if loss.squared else "")


def blobs(n=40, d=3, k=4, seed=0, spread=1.2):
    """Overlapping classes, the first rows one of each."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return rng.normal(size=(k, d))[labels] + spread * rng.normal(size=(n, d)), labels


def linear_problem(X, labels, loss, C=1.0, scale=1.0):
    """A linear joint problem with costs C (a number or one per row)."""
    costs = np.broadcast_to(np.asarray(C, np.float64), (X.shape[0],)).copy()
    return LinearJoint(labels, int(labels.max()) + 1, costs, loss, Design(rows_of(X, X.dtype), scale))


def kernel_problem(X, labels, loss, kernel, C=1.0, **gram):
    """A joint problem on the kernel matrix of X."""
    costs = np.broadcast_to(np.asarray(C, np.float64), (len(labels),)).copy()
    return KernelJoint(labels, int(labels.max()) + 1, costs, loss, Gram(kernel, X, **gram))


def features_of(K):
    """Rows whose inner products are K, for a solver that knows no kernels."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def joint_optimum_by_clarabel(X, labels, costs, loss):
    """The optimal value as a conic program in weights and slacks: 1/2 ||W||^2 + sum_i c_i xi^p, xi >= 0, xi >= t.

    One slack per row for the maximum, one per row and other class for the sum. A bias is a column of X.
    """
    n, d = X.shape
    k = int(labels.max()) + 1
    pairs = [(i, j) for i in range(n) for j in range(k) if j != labels[i]]
    slacks = n if loss.maximum else len(pairs)
    total = k * d + slacks
    margins = sparse.lil_matrix((len(pairs), total))
    weights = np.zeros(slacks)
    for row, (i, j) in enumerate(pairs):
        slack = i if loss.maximum else row
        weights[slack] = costs[i]
        margins[row, j * d : (j + 1) * d] = X[i]  # w_j'x - w_y'x - xi <= -1
        margins[row, labels[i] * d : (labels[i] + 1) * d] = -X[i]
        margins[row, k * d + slack] = -1.0
    positive = sparse.hstack([sparse.csc_matrix((slacks, k * d)), -sparse.identity(slacks)])
    P = np.concatenate([np.ones(k * d), 2.0 * weights if loss.squared else np.zeros(slacks)])
    q = np.concatenate([np.zeros(k * d), np.zeros(slacks) if loss.squared else weights])
    A = sparse.csc_matrix(sparse.vstack([margins, positive]))
    b = np.concatenate([-np.ones(len(pairs)), np.zeros(slacks)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags(P)), q, A, b, [clarabel.NonnegativeConeT(len(b))], settings
    )
    return solver.solve().obj_val
