"""Newton steps for a weight vector per class: conjugate gradients, preconditioned by the matrices of the classes.

Only rows that curve are read: whose multipliers change with their scores. Near the solution those are few, and a class
sees the rows that have it, so the matrices of the classes by themselves are most of the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.core import limits
from maxmargin.core.rows import Array, CsrRows, as_csr, take_rows
from maxmargin.core.threads import thread_map
from maxmargin.losses.multiclass import Penalized, bend_rows, bends_of, shift_rows
from maxmargin.problems.design import FULL, ROUGH, Design
from maxmargin.problems.joint import LinearJoint
from maxmargin.solvers.cholesky import factor, solution
from maxmargin.solvers.contract import OVERFLOW, Overflow
from maxmargin.solvers.descent import Descent

PIECE_ROWS = 8192  # of products, and of work on all rows
KEPT_BYTES = 1 << 26  # of the rows that curve, copied once for all products of a step
CG_STEPS = 100
MANY_PRODUCTS = 12  # of a step: then the next one makes new matrices of the classes
ROWS_A_WEIGHT = 4  # of a class, that its matrix is made of
INVERTED = 64  # weights up to which the classes' matrices are made and inverted all at once
OUTER_NUMBERS = 1 << 21  # of outer products of rows at a time


class JointDescent(Descent):
    """A point V (classes, weights) with its scores (rows, classes), multipliers and A'B.

    ``penalty`` says sigma and the multipliers that the smooth problem is built on. ``rough`` products are float32.
    """

    problem: LinearJoint

    def __init__(self, problem: LinearJoint, V: Array, penalty: Callable[[], tuple[float, Array]], rough: bool) -> None:
        self.problem, self.penalty, self._form = problem, penalty, ROUGH if rough else FULL
        super().__init__(V, self._scores(V) if V.any() else problem.zeros())
        self.ridge = np.ones(V.shape)
        self._curves = np.zeros(problem.n, np.bool_)
        self._squares = problem.design.column_squares(np.arange(problem.n), problem.costs)
        self._classes: _Classes | None = None
        self.refresh()

    @property
    def curved(self) -> int:
        return int(np.count_nonzero(self._curves))

    def restart(self) -> None:
        """From now on products are float64. Sets: z, beta, q."""
        self._form = FULL
        super().restart()

    def _scores(self, v: Array) -> Array:
        return self.problem.design.scores_of_several(v, self._form)

    def _combined(self, beta: Array) -> Array:
        return self.problem.design.combine_several(beta, self._form)

    def _fill(self, z: Array) -> None:
        """Sets: beta, and which rows curve."""
        n, terms, old = self.problem.n, self._terms(), self.penalty()[1]

        def part(first: int) -> None:
            shift_rows(terms, z, old, first, min(first + PIECE_ROWS, n), self.beta, self._curves)

        thread_map(part, range(0, n, PIECE_ROWS), self.problem.design.n_jobs)

    def _terms(self) -> Penalized:
        problem = self.problem
        return Penalized(problem.loss, problem.labels, problem.costs, self.penalty()[0])

    def move(self, dv: Array) -> float:
        """See ``Descent``. Where rounded products know no descent, exact ones may."""
        length = super().move(dv)
        if length == 0.0 and self._form is ROUGH:
            self.restart()
        return length

    def stationarity(self, q: Array) -> float:
        off = self.v - q
        return 0.5 * float(np.vdot(off, off))

    def direction(self, *, accuracy: float) -> Array:
        terms = self._terms()
        ridge = 1.0 + self.damping * terms.sigma * self._squares  # a share of what all rows together could curve by
        bent = _Bent(self.problem.design, terms, self.beta, np.flatnonzero(self._curves), self._form.dtype)
        if self._classes is None:
            self._classes = _Classes(bent, ridge)
        x, products = _by_gradients(bent, ridge, self._classes, -self.gradient, accuracy)
        if products > MANY_PRODUCTS or not x.any():  # an inverse that rounding made indefinite leads nowhere
            self._classes = None
        return x


class _Bent:
    """The rows that curve at a point: what they add to the Hessian."""

    def __init__(self, design: Design, terms: Penalized, B: Array, index: Array, dtype: type) -> None:
        self.design, self.index, self._dtype = design, index, dtype
        self.labels, self._active = terms.labels[index], np.empty((len(index), B.shape[1]))
        self._size, self._weight = np.empty((2, len(index)))
        bends_of(terms, B, index, self._active, self._size, self._weight)
        self._pieces = [slice(first, first + PIECE_ROWS) for first in range(0, len(index), PIECE_ROWS)]
        keeps = np.dtype(dtype).itemsize * len(index) * self.design.d <= KEPT_BYTES
        self._kept = [self.rows(piece) for piece in self._pieces] if keeps else None

    def product(self, D: Array) -> Array:
        """Their part of the Hessian times D."""

        def part(number: int) -> Array:
            piece = self._pieces[number]
            X = self._kept[number] if self._kept else self.rows(piece)
            change = (X @ D.T.astype(X.dtype, copy=False)).astype(np.float64, copy=False)
            bend_rows(self.labels[piece], self._active[piece], self._size[piece], self._weight[piece], change)
            return change.T.astype(X.dtype, copy=False) @ X

        self.design.passes += len(self.index) / max(1, self.design.n)
        total = np.zeros(D.shape)
        for product in thread_map(part, range(len(self._pieces)), self.design.n_jobs):
            total += product
        return total

    def diagonal(self) -> Array:
        """How much each class curves by itself in each of the rows; a row for each class."""
        count, size, weight = self._active.sum(axis=1), self._size, self._weight
        own = (self._active * (size * (1.0 - weight))[:, None]).T.copy()
        own[self.labels, np.arange(len(size))] = size * count * (1.0 - weight * count)
        return own

    def rows(self, some: slice | Array) -> Array:
        """Some of the rows as a matrix, with their constant."""
        index, design = self.index[some], self.design
        X = np.full((len(index), design.d), design.scale, self._dtype)
        chosen = take_rows(design.rows, index)
        X[:, : design.features] = as_csr(chosen).toarray() if isinstance(chosen, CsrRows) else chosen.values
        return X


class _Classes:
    """The matrices of the classes by themselves, from evenly spaced rows: the solutions of their systems."""

    def __init__(self, bent: _Bent, ridge: Array) -> None:
        diagonal, d = bent.diagonal(), len(ridge)
        self._inverses: Array | None = None
        self._factors: list[Array] = []
        if d > INVERTED:
            self._factors = [self._factor(bent, curvatures, ridge) for curvatures in diagonal]
            return
        stride = max(1, len(bent.index) // (ROWS_A_WEIGHT * d * len(diagonal)))
        matrices = np.zeros((len(diagonal), d * d))
        step = max(1, OUTER_NUMBERS // (d * d)) * stride
        for first in range(stride // 2, len(bent.index), step):
            limits.checkpoint()
            some = np.arange(first, min(first + step, len(bent.index)), stride)
            X = bent.rows(some).astype(np.float64, copy=False)
            matrices += diagonal[:, some] @ (X[:, :, None] * X[:, None, :]).reshape(len(some), d * d)
        whole = stride * matrices.reshape(-1, d, d) + np.diag(ridge)
        try:
            self._inverses = np.linalg.inv(whole)
        except np.linalg.LinAlgError:  # rounding left none
            self._factors = [_factored(H, np.diagonal(H)) for H in whole]

    def solve(self, R: Array) -> Array:
        """The solution of each class's system for its row of R."""
        if self._inverses is not None:
            return np.matmul(self._inverses, R[:, :, None])[:, :, 0]
        return np.stack([solution(L, r) for L, r in zip(self._factors, R, strict=True)])

    @staticmethod
    def _factor(bent: _Bent, curvatures: Array, ridge: Array) -> Array:
        limits.checkpoint()
        own = np.flatnonzero(curvatures)
        stride = max(1, len(own) // (ROWS_A_WEIGHT * len(ridge)))
        own = own[stride // 2 :: stride]
        X = bent.rows(own)
        X *= np.sqrt(stride * curvatures[own])[:, None]
        H = (X.T @ X).astype(np.float64, copy=False)
        return _factored(H, np.diagonal(H) + ridge)


def _factored(H: Array, diagonal: Array) -> Array:
    """The factor of H with another diagonal."""
    L = factor(H, diagonal)
    if L is None:
        raise Overflow(OVERFLOW)
    return L


def _by_gradients(bent: _Bent, ridge: Array, classes: _Classes, r: Array, accuracy: float) -> tuple[Array, int]:
    """H^-1 r by preconditioned conjugate gradients; also the number of products with H. Writes: r."""
    x = np.zeros(r.shape)
    s = classes.solve(r)
    p, rs = s.copy(), float(np.vdot(r, s))
    goal = accuracy**2 * rs
    for done in range(CG_STEPS):
        if rs <= goal:
            return x, done
        limits.checkpoint()
        Hp = ridge * p + bent.product(p)
        step = rs / float(np.vdot(p, Hp))
        x += step * p
        r -= step * Hp
        s = classes.solve(r)
        rs, before = float(np.vdot(r, s)), rs
        p = s + (rs / before) * p
    return x, CG_STEPS
