"""Linear systems of interior points, with one matrix and several right-hand sides:

    [K + diag(D)   E] [x]   [r]
    [E'            0] [b] = [t],        E_ig = 1 where row i is in group g.

K is held as it is (``Whole``), or as G G' with few columns (``LowRank``). Near the end D spans thirty orders of
magnitude, so what a first solution leaves is solved for again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.problems.box import BoxQP, largest_size
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.solvers.box.low_rank import low_rank, needs_more, values_among
from maxmargin.solvers.cholesky import factor, solution

MOST_WHOLE = 4000  # rows of a matrix that is factored as it is: half a second each time, and 128 MB
MOST_COLUMNS, FEW = 500, 4  # of a factor of low rank: at most this many, and this many rows for each of them
COPIES = 4  # of such a factor that there are at a time
ERROR_SHARE = 1e-4  # of the tolerance: what scores may be off by because of a low rank
ROUNDING = 1e-14  # of the largest K_ii: a factor of low rank comes no nearer
LAST_DIGITS, LOOSEST = 1e-9, 1.0  # tolerances: of small problems, which are solved to the end, and the largest of all
SOLUTIONS = 3  # with one factor, each for what the one before has left
ACCURATE = 1e-12  # of the right-hand side: what is left is not worth another one
SPARE = 10  # rows that are kept beside as many as G has columns

INDEFINITE = "it needs a positive semidefinite kernel matrix, which this one is not. Use solver='smo'."

Inverse = Callable[[Array], Array]


class Matrix(Protocol):
    """K of a problem's rows."""

    def times(self, x: Array) -> Array:
        """K x."""
        ...

    def inverse(self, D: Array) -> Inverse | None:
        """What makes (K + diag(D))^-1 r of r, where r may have several columns; None where no factor exists."""
        ...


class Whole:
    """K in memory: a Cholesky factor of n rows."""

    def __init__(self, K: Array) -> None:
        self.K, self._diagonal = K, np.diag(K).copy()

    def times(self, x: Array) -> Array:
        return self.K @ x

    def inverse(self, D: Array) -> Inverse | None:
        L = factor(self.K, self._diagonal + D)
        return None if L is None else lambda right: solution(L, right)


class LowRank:
    """K = G G' with few columns: a factor of that size, by the formula of Sherman, Morrison and Woodbury.

    It divides by D, and multipliers that end between their bounds have next to none. So the rows F with the least D for
    their size, about as many as G has columns, are kept as unknowns, and only the others, B, are eliminated. With w =
    G'x and H = I + G_B' D_B^-1 G_B,

        (D_F + G_F H^-1 G_F') x_F = r_F - G_F H^-1 G_B' D_B^-1 r_B,
        H w = G_B' D_B^-1 r_B + G_F' x_F,        x_B = D_B^-1 (r_B - G_B w).

    All rows eliminated, unscaled features at C = 1,000 ended with a violation of 300; with these kept, of 1e-5.
    """

    def __init__(self, G: Array) -> None:
        self.G, self._sizes = G, np.einsum("ij,ij->i", G, G)

    def times(self, x: Array) -> Array:
        return self.G @ (self.G.T @ x)

    def inverse(self, D: Array) -> Inverse | None:
        kept, others = self._divided(D)
        G_F, root = self.G[kept], np.sqrt(D[others, None])
        scaled = self.G[others] / root
        H = scaled.T @ scaled
        outer = factor(H, 1.0 + np.diag(H))
        if outer is None:
            return None
        S = G_F @ solution(outer, G_F.T)
        inner = factor(S, np.diag(S) + D[kept]) if len(kept) else S
        if inner is None:
            return None

        def inverse(right: Array) -> Array:
            columns = right.reshape(len(D), -1)
            x, known = np.empty_like(columns), scaled.T @ (columns[others] / root)
            if len(kept):
                x[kept] = solution(inner, columns[kept] - G_F @ solution(outer, known))
                known = known + G_F.T @ x[kept]
            x[others] = (columns[others] / root - scaled @ solution(outer, known)) / root
            return x.reshape(right.shape)

        return inverse

    def _divided(self, D: Array) -> tuple[Array, Array]:
        """The rows F and B."""
        kept, most = np.zeros(len(D), bool), min(self.G.shape[1] + SPARE, len(D))
        with np.errstate(divide="ignore"):  # rows of zeros are never kept
            ratio = D / self._sizes
        least = np.argpartition(ratio, most - 1)[:most] if most else NO_ROWS
        kept[least] = ratio[least] < 1.0
        return np.flatnonzero(kept), np.flatnonzero(~kept)


class Bordered:
    """The system of the module's formula; ``solvable`` is whether there are factors of it."""

    def __init__(self, matrix: Matrix, D: Array, border: Array) -> None:
        self._matrix, self._D, self._border = matrix, D, border
        self._inverse = matrix.inverse(D)
        self._columns, self._small = border, None
        if self._inverse is not None and border.shape[1]:
            self._columns = self._inverse(border)
            products = border.T @ self._columns
            self._small = factor(products, np.diag(products))

    @property
    def solvable(self) -> bool:
        """Whether ``solve`` may be asked."""
        return self._inverse is not None and (self._small is not None or not self._border.shape[1])

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        """x and b for r = ``right`` and t = ``sums``."""
        x, b, rest, missing = np.zeros(len(right)), np.zeros(len(sums)), right, sums
        enough, size = ACCURATE * largest_size(right), np.inf
        for _ in range(SOLUTIONS):
            by, biases = self._solution(rest, missing)
            rest = right - self._matrix.times(x + by) - self._D * (x + by) - self._border @ (b + biases)
            if not largest_size(rest) < size:  # a factor that rounding has spoilt
                break
            x, b, size = x + by, b + biases, largest_size(rest)
            missing = sums - self._border.T @ x
            if size <= enough:
                break
        return x, b

    def _solution(self, right: Array, sums: Array) -> tuple[Array, Array]:
        assert self._inverse is not None
        x = self._inverse(right)
        if self._small is None:
            return x, sums
        b = solution(self._small, self._border.T @ x - sums)
        return x - self._columns @ b, b


def matrix_of(problem: BoxQP, rows: Array, tol: float, whole_rows: int = MOST_WHOLE) -> Matrix | None:
    """K among ``rows``: of low rank where few columns are enough, as it is where it is small; None for any other."""
    if not definite(problem):
        return None
    exacting = problem.n <= SMALL_ROWS or problem.divided
    most, error = _most_columns(problem), _error(problem, min(tol, LAST_DIGITS) if exacting else tol)
    G = None if needs_more(problem.gram, most, error) else low_rank(problem.gram, most, error)
    if G is not None:
        return LowRank(G if len(rows) == problem.n else G[rows])
    if len(rows) > min(whole_rows, problem.gram.working_rows):
        return None
    return Whole(values_among(problem.gram, rows))


def definite(problem: BoxQP) -> bool:
    """Whether the kernel matrix is positive semidefinite."""
    return problem.gram.definiteness(NO_ROWS).definite


def has_no_matrix(problem: BoxQP) -> str:
    """Why ``matrix_of`` has none, as far as a sample of the rows can tell; empty where it cannot."""
    if not definite(problem):
        return INDEFINITE
    if problem.n <= min(MOST_WHOLE, problem.gram.working_rows):
        return ""
    return too_large(problem) if needs_more(problem.gram, _most_columns(problem), _error(problem, LOOSEST)) else ""


def too_large(problem: BoxQP) -> str:
    """Why there is no matrix where it is not the kernel's fault."""
    return (
        f"the kernel matrix of these {problem.n} rows cannot be written with {_most_columns(problem)} columns, and "
        f"others are factored up to {MOST_WHOLE} rows and within the memory for kernel values. Use solver='smo'."
    )


def _most_columns(problem: BoxQP) -> int:
    """Of a factor of low rank: few beside the rows, and its copies have no more values than working sets may have."""
    return max(1, min(MOST_COLUMNS, problem.n // FEW, problem.gram.working_rows**2 // (COPIES * problem.n)))


def _error(problem: BoxQP, tol: float) -> float:
    """Of a value of K: small enough for scores to be off by far less than ``tol``, and no smaller than rounding."""
    largest = float(np.sum(np.maximum(np.abs(problem.lower), np.abs(problem.upper))))  # that sum |beta| can be
    return max(ERROR_SHARE * tol / max(largest, np.finfo(float).tiny), ROUNDING * problem.largest)
