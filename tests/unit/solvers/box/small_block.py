"""A small regression problem as a block of the box QP, for tests of the loops."""

from functools import partial

import numpy as np

from maxmargin.kernels import RBF
from maxmargin.solvers.box.steps import Block, Groups, pair_steps

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
TARGETS = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=N)
K = RBF(1.0)(X)


def block(kink, bound=1.0, ridge=0.0):
    return Block(
        K, np.diag(K) + ridge, np.full(N, ridge), np.full(N, -bound), np.full(N, bound), np.full(N, float(kink))
    )


def one_group(n):
    return Groups(np.array([0, n]), np.zeros(1, bool))


def pairs(here, v, beta, tol, most, steps=pair_steps):
    """``pair_steps`` of one group, with the answers of ``single_steps``."""
    done, violation, stuck = steps(here, one_group(len(v)), v, beta, tol, most)
    return done, violation, stuck < 0


def both(steps):
    """A loop as it is compiled and as it is written, with the same arguments whether it has groups or not."""
    versions = (steps, getattr(steps, "py_func", steps))
    return [partial(pairs, steps=run) for run in versions] if steps is pair_steps else versions


def gradient(beta, ridge=0.0):
    return TARGETS - K @ beta - ridge * beta
