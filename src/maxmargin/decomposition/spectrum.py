"""The largest eigenpairs of a kernel matrix about the mean, A = H K H, and how far each of them is from one of A.

All of them or many: LAPACK on A in float64. A few: block Lanczos on products K V (``krylov``), with float32 values
where the kernel bounds their error. Whatever found them, one product in float64 follows, and what is reported is
worked out from that: residuals |A u - lambda u|, the trace, and the means of the rows of K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from maxmargin.core.blas import blas_held
from maxmargin.core.rows import Array
from maxmargin.decomposition.krylov import Goal, block_lanczos, block_power, ritz_of
from maxmargin.decomposition.matrices import Centred, KernelRows, Matrix
from maxmargin.decomposition.tall import combined, inner
from maxmargin.gram import Gram
from maxmargin.gram.budget import CHUNK_SHARE
from maxmargin.kernels import Linear

TOL32, TOL64 = 1e-6, 1e-10  # residuals that will do, relative to the largest eigenvalue, by the type of kernel values
SHARE = 0.3  # of the tolerance that float32 products must reach: the error of the values comes on top
STEPS = 60  # products, unless told otherwise
EXTRA = 10  # columns of a block beyond the pairs that are wanted
BASIS, LEAST_BASIS = 5, 3  # blocks that a basis holds,
MOST_COLUMNS = 600  # and columns, where three blocks have fewer: each step solves an eigenproblem of that size
SAMPLE = 512  # rows whose eigenvectors, extended to all rows, are the start
START_NOISE = 1e-3  # of random columns in the start: they keep its columns independent
# Up to here LAPACK gets one thread: 3,000 rows took 12 s, with two threads 53 s while others used the cores.
HELD_ROWS = 5000
# LAPACK for matrices up to this size, and where more than one pair in this many is wanted. RBF, 10 features, wide and
# narrow, ms: 10 pairs of 800 rows 144 and 123 (Lanczos 91 and 216), of 1,600 523 (106 and 166); 80 pairs of 1,600 rows
# 571 and 597 (590 and 1155); 160 pairs of 3,200 rows 5504 and 5680 (1422 and 6710).
DENSE_ROWS, DENSE_SHARE = 800, 20
LAST_RESORT = 5000  # rows up to which "auto" goes on with LAPACK where Lanczos did not come to its end


class Asked(NamedTuple):
    """What is wanted of the spectrum: how many ``pairs`` (None: all), with residuals of ``tol`` (0: chosen here)."""

    pairs: int | None
    tol: float = 0.0
    max_iter: int | None = None
    power: int | None = None  # iterations of the randomized solver
    seed: int = 0


class Eigenpairs(NamedTuple):
    """Eigenpairs of A = H K H, the largest first, with their residuals |A u - lambda u|.

    ``wanted`` is the residual that was asked for, infinity where the solver is not told one; ``steps`` are the blocks
    of columns that K was multiplied with, ``float32`` whether its values were that.
    """

    values: Array
    vectors: Array
    residuals: Array
    row_means: Array  # of K
    trace: float  # of A
    size: float  # of the largest value of K
    wanted: float = math.inf
    steps: int = 0
    float32: bool = False

    @property
    def found(self) -> bool:
        """Whether every residual is as small as was asked for."""
        return bool(self.residuals.max(initial=0.0) <= self.wanted)


Solver = Callable[[KernelRows, Asked], Eigenpairs]


def _count(rows: KernelRows, asked: Asked) -> int:
    n = rows.X.shape[0]
    return n if asked.pairs is None else min(asked.pairs, n)


def certified(A: Centred, U: Array, values: Array | None, count: int, n_jobs: int) -> Eigenpairs:
    """The pairs with what one product with K in float64 says of them.

    Without ``values`` they are made here, the best that there are in the space of the orthonormal U: U'A U = Y diag Y'.
    """
    K, n = A.matrix, A.matrix.n
    both = K.product(np.column_stack([A.about_mean(U), np.ones(n)]), exact=True)
    AU, sums = A.about_mean(both[:, :-1]), both[:, -1]
    if values is None:
        values, Y = ritz_of(inner(U, AU, n_jobs))
        values, U, AU = values[:count], *(combined(M, Y[:, :count], n_jobs) for M in (U, AU))
    trace = float(K.diagonal.sum()) - (float(sums.sum()) / n if A.centers else 0.0)
    residuals = np.linalg.norm(AU - U * values, axis=0)
    return Eigenpairs(values, _flipped(U), residuals, sums / n, trace, float(np.abs(K.diagonal).max()))


def _flipped(U: Array) -> Array:
    """The entry of largest size in each vector is positive (as scikit-learn's)."""
    largest = U[np.argmax(np.abs(U), axis=0), np.arange(U.shape[1])]
    return U * np.where(largest < 0, -1.0, 1.0)


# --- all of them -----------------------------------------------------------------------------------------------------


def dense(rows: KernelRows, asked: Asked) -> Eigenpairs:
    """LAPACK: of the rows themselves where K = X X' with fewer features than rows, otherwise of A in float64."""
    X, count = rows.X, _count(rows, asked)
    thin = isinstance(rows.kernel, Linear) and not sparse.issparse(X) and count <= X.shape[1] < X.shape[0]
    with blas_held() if X.shape[0] <= HELD_ROWS else nullcontext():
        if thin:
            K: Matrix = rows.matrix()
            values, U = _of_rows(rows.moved(), rows.center, count)
        else:
            K = stored = rows.stored()
            values, U = _of_matrix(stored.whole(), rows.center, count)
    found = certified(Centred(K, rows.center), U, values, count, rows.n_jobs)
    K.release()
    return found


def _of_rows(X: Array, center: bool, count: int) -> tuple[Array, Array]:
    """X = U S V' has X X' = U S^2 U'."""
    U, lengths, _ = linalg.svd(X - X.mean(axis=0) if center else X, full_matrices=False, overwrite_a=True)
    return lengths[:count] ** 2, U[:, :count]


def _of_matrix(K: Array, center: bool, count: int) -> tuple[Array, Array]:
    n = len(K)
    A = K.astype(np.float64)
    if center:
        means = A.mean(axis=0)
        A -= means
        A -= (means - means.mean())[:, None]
    how: dict[str, Any] = {"subset_by_index": (n - count, n - 1)} if count < n else {"driver": "evd"}
    values, U = linalg.eigh(A, overwrite_a=True, check_finite=False, **how)
    return values[::-1], U[:, ::-1]


# --- a few -----------------------------------------------------------------------------------------------------------


def lanczos(rows: KernelRows, asked: Asked) -> Eigenpairs:
    """Block Lanczos with float32 values where they serve, and with float64 values where those leave large residuals."""
    count, steps = _count(rows, asked), asked.max_iter or STEPS
    if 2 * (count + EXTRA) > rows.X.shape[0]:  # no room for blocks
        return dense(rows, asked)
    with blas_held():
        K = rows.matrix()
        rough = K.dtype == np.float32
        tol = asked.tol or (TOL32 if rough else TOL64)
        start = _start(Centred(K, rows.center), count, asked.seed)
        found = _searched(rows, K, start, Goal(count, tol, _noise(K), steps))
        if rough and not found.found and found.steps < steps:
            K.release()
            K = rows.matrix(float32=False)
            again = _searched(rows, K, found.vectors, Goal(count, tol, _noise(K), steps - found.steps))
            found = again._replace(steps=found.steps + again.steps)
        K.release()
    return found._replace(float32=rough)


def _noise(K: Matrix) -> float:
    """Size of the residuals that rounding leaves: products round values by u, as a matrix of norm 2 u sqrt(n) |K_ij|.

    (Measured on 10,000 rows of mnist in float32: residuals stay at 1.3e-7 of the largest eigenvalue; this says 2e-7.)
    """
    unit = 0.5 * float(np.finfo(K.dtype).eps)
    return 4.0 * unit * math.sqrt(K.n) * float(np.abs(K.diagonal).max())


def _searched(rows: KernelRows, K: Matrix, start: Array, goal: Goal) -> Eigenpairs:
    """One search, on one type of kernel values, and its proof."""
    A, rough, width = Centred(K, rows.center), K.dtype == np.float32, start.shape[1]
    affordable = rows.budget // CHUNK_SHARE // (16 * K.n)  # a column of the basis, and its product
    most = min(K.n, max(LEAST_BASIS * width, min(BASIS * width, MOST_COLUMNS, affordable)))
    aim = goal._replace(tol=goal.tol * (SHARE if rough else 0.5))
    pairs = block_lanczos(A.product, start, aim, most, rows.n_jobs)
    found = certified(A, pairs.vectors, None, goal.pairs, rows.n_jobs)
    wanted = goal.tol * float(np.abs(found.values).max(initial=0.0))
    return found._replace(wanted=wanted if rough else max(wanted, goal.noise), steps=pairs.steps)


def _start(A: Centred, count: int, seed: int) -> Array:
    """Random columns; beside them, of many rows, the eigenvectors of a sample, extended to all rows (Nystroem).

    Blocks are twice as wide where K is computed anew for every product: kernel values then cost more than the columns
    that they are multiplied with. (20 pairs of 10,000 rows of mnist: from random columns 7 products, or 6 with blocks
    of 50 instead of 30 columns; from a sample 6, or 5.)
    """
    K, rng = A.matrix, np.random.default_rng(seed)
    streamed = isinstance(K, Gram) and not K.pair_tiles().complete
    width = min(count * (1 + streamed) + EXTRA, K.n // 2)
    noise = A.about_mean(rng.normal(size=(K.n, width)))
    if not isinstance(K, Gram) or K.n < 4 * SAMPLE or width > SAMPLE // 2:
        return noise
    rows = np.sort(rng.choice(K.n, SAMPLE, replace=False))
    square = K.submatrix(rows)
    V = np.zeros((K.n, width))
    V[rows] = _of_matrix(square, A.centers, width)[1]
    K.give_back(square)
    extended = A.about_mean(K.many_scores(V))
    K.release()  # the rows of the sample
    lengths = np.linalg.norm(extended, axis=0)
    return extended / np.where(lengths > 0, lengths, 1.0) + START_NOISE / math.sqrt(K.n) * noise


def randomized(rows: KernelRows, asked: Asked) -> Eigenpairs:
    """A few power iterations on random columns: quick and rough, the residuals tell how rough."""
    count, n = _count(rows, asked), rows.X.shape[0]
    with blas_held():
        A = Centred(rows.matrix(), rows.center)
        start = np.random.default_rng(asked.seed).normal(size=(n, min(n, count + EXTRA)))
        power = asked.power if asked.power is not None else (7 if count < 0.1 * n else 4)
        steps = 1 + 2 * power  # an iteration is a product with A and one with A', which is A
        U = block_power(A.product, start, steps, rows.n_jobs)
        found = certified(A, U, None, count, rows.n_jobs)
        A.matrix.release()
    return found._replace(float32=A.matrix.dtype == np.float32, steps=steps)


def automatic(rows: KernelRows, asked: Asked) -> Eigenpairs:
    """LAPACK for small matrices and large parts of a spectrum, block Lanczos otherwise."""
    size = min(rows.X.shape) if isinstance(rows.kernel, Linear) else rows.X.shape[0]
    if size <= DENSE_ROWS or _count(rows, asked) > size // DENSE_SHARE:
        return dense(rows, asked)
    found = lanczos(rows, asked)
    return found if found.found or size > LAST_RESORT else dense(rows, asked)


SOLVERS: dict[str, Solver] = {"auto": automatic, "dense": dense, "arpack": lanczos, "randomized": randomized}
