"""A small regression problem as a block of the box QP, for tests of the loops."""

import numpy as np

from maxmargin.kernels import RBF
from maxmargin.solvers.box.steps import Block

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
TARGETS = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=N)
K = RBF(1.0)(X)


def block(kink, bound=1.0, ridge=0.0):
    return Block(
        K, np.diag(K) + ridge, np.full(N, ridge), np.full(N, -bound), np.full(N, bound), np.full(N, float(kink))
    )


def gradient(beta, ridge=0.0):
    return TARGETS - K @ beta - ridge * beta
