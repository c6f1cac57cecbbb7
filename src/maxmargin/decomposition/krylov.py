"""The largest eigenpairs of a symmetric matrix A from products A V with blocks of columns.

A is asked for nothing else, so it need not be stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from maxmargin.core.rows import Array
from maxmargin.decomposition.tall import combined, inner, orthonormal

Product = Callable[[Array], Array]
STALL = 3  # steps in which residuals near the limit of rounding must have been halved


class RitzPairs(NamedTuple):
    """Approximate eigenpairs, the largest first: values, orthonormal vectors, |A u - theta u|, and steps taken."""

    values: Array
    vectors: Array
    residuals: Array
    steps: int


class Goal(NamedTuple):
    """When to stop: ``pairs`` have residuals of at most ``tol`` times the largest value, or after ``steps`` products.

    Residuals of the size of ``noise`` are rounding in the products: there it ends when they fall no further.
    """

    pairs: int
    tol: float
    noise: float
    steps: int

    def met(self, worst: list[float], largest: float) -> bool:
        """Whether the history of the largest residual has come to its end."""
        if worst[-1] <= max(self.tol * largest, self.noise) or len(worst) >= self.steps:
            return True
        return worst[-1] <= 10 * self.noise and len(worst) > STALL and worst[-1] > 0.5 * worst[-1 - STALL]


class Basis:
    """Orthonormal columns Q of a space, A Q, and T = Q'A Q, in memory for ``most`` columns."""

    def __init__(self, n: int, most: int, n_jobs: int) -> None:
        self._Q, self._AQ = np.empty((n, most)), np.empty((n, most))
        self._T, self.size, self._n_jobs = np.empty((most, most)), 0, n_jobs

    @property
    def columns(self) -> Array:
        """Q."""
        return self._Q[:, : self.size]

    @property
    def room(self) -> int:
        """Columns that may still be added."""
        return self._Q.shape[1] - self.size

    def extend(self, W: Array, AW: Array) -> None:
        """Add columns, orthonormal to the others. Sets: all."""
        old, new = self.size, self.size + W.shape[1]
        self._Q[:, old:new], self._AQ[:, old:new], self.size = W, AW, new
        corner = inner(self._Q[:, :new], AW, self._n_jobs)
        self._T[:new, old:new], self._T[old:new, :new] = corner, corner.T

    def ritz(self) -> tuple[Array, Array]:
        """T = Y diag(theta) Y', the largest theta first."""
        return ritz_of(self._T[: self.size, : self.size])

    def pairs(self, values: Array, Y: Array) -> tuple[Array, Array]:
        """Vectors Q y and residuals A Q y - theta Q y."""
        U = combined(self.columns, Y, self._n_jobs)
        return U, combined(self._AQ[:, : self.size], Y, self._n_jobs) - U * values

    def restart(self, values: Array, Y: Array) -> None:
        """Keep the space of some Ritz vectors alone. Sets: all."""
        Q, AQ = (combined(A[:, : self.size], Y, self._n_jobs) for A in (self._Q, self._AQ))
        self.size = Y.shape[1]
        self._Q[:, : self.size], self._AQ[:, : self.size] = Q, AQ
        self._T[: self.size, : self.size] = np.diag(values)


def ritz_of(T: Array) -> tuple[Array, Array]:
    """T = Y diag(theta) Y', the largest theta first; T is symmetric up to rounding."""
    values, Y = linalg.eigh(0.5 * (T + T.T))
    return values[::-1], Y[:, ::-1]


def block_lanczos(product: Product, start: Array, goal: Goal, most: int, n_jobs: int) -> RitzPairs:
    """Rayleigh and Ritz on the spaces span(V, A V, A^2 V, ...), thick restarts where ``most`` columns are full.

    The next block are the residuals of the best pairs in the space, all of whose columns stay orthonormal: in exact
    arithmetic they span with it the same space as the next power of A. Pairs that were found ask for no further
    product.
    """
    width = start.shape[1]
    basis, worst = Basis(len(start), most, n_jobs), []
    W = orthonormal(start, None, n_jobs)
    while True:
        basis.extend(W, product(W))
        values, Y = basis.ritz()
        here = min(width, basis.size)
        U, R = basis.pairs(values[:here], Y[:, :here])
        residuals, largest = np.linalg.norm(R, axis=0), float(np.abs(values).max())
        worst.append(float(residuals[: goal.pairs].max()))
        left = residuals > 0.1 * goal.tol * largest
        found = goal.met(worst, largest) or not left.any()
        if not found and basis.room < int(left.sum()):
            kept = max(width, most // 2)
            basis.restart(values[:kept], Y[:, :kept])
        if not found:
            W = orthonormal(R[:, left], basis.columns, n_jobs)
            found = not W.shape[1]
        if found:
            k = min(goal.pairs, here)
            return RitzPairs(values[:k], U[:, :k], residuals[:k], len(worst))


def block_power(product: Product, start: Array, steps: int, n_jobs: int) -> Array:
    """The space A^steps V, orthonormal after every product (Halko, Martinsson and Tropp, SIAM Review 53, 2011)."""
    Q = orthonormal(start, None, n_jobs)
    for _ in range(steps):
        Q = orthonormal(product(Q), None, n_jobs)
    return Q
