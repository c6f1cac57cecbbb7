"""Decision values of new points: tiles of BLAS, exponential and BLAS against all support vectors, on the pool.

A kernel value is computed once for all pairs of classes. Where the fit used float32 tiles, so does this: the error they
make stays as far below ``tol`` as there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core.blas import blas_held_for
from maxmargin.core.buffers import scratch
from maxmargin.core.equal_rows import find_equal_among_many
from maxmargin.core.rows import Array, as_dense
from maxmargin.core.threads import thread_map
from maxmargin.gram.source import FLOAT32_SHARE
from maxmargin.gram.tiles import add_rows
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.points import Entries, Points, Vectors, narrow
from maxmargin.multiclass import one_vs_one as ovo

ROWS = 512
MOST_ROWS = 2048
PARTS = 4  # at least this many pieces of work, so that threads end together
TILE = ROWS * 512  # values of a tile: 1 MB in float32, which stays in the L2 cache
PREPARED = 1 << 18  # numbers of X up to which all points are made ready at once, before they are divided
FEW_VALUES = 1 << 17  # kernel values that are there before another thread wakes up
MERGED = 1000  # support vectors from which equal ones are looked for


class Expansion(NamedTuple):
    """What decides: sum_i dual_coef_mi k(vector_i, x).

    Where pairs of classes share coefficients the vectors are grouped by class, ``n_support`` of each, and a group's
    sums are kept apart; None is one group. ``vectors`` are positions where points come as rows of kernel values.
    ``dual_coef`` may be sparse. ``float32`` is whether the fit used float32 tiles.
    """

    kernel: Kernel
    vectors: Any
    n_support: Array | None
    dual_coef: Any
    tol: float
    float32: bool

    @property
    def counts(self) -> Array:
        """Vectors in each group."""
        return np.array([self.dual_coef.shape[1]]) if self.n_support is None else self.n_support


class Scorer(ABC):
    """An expansion made ready for many points."""

    def __init__(self, expansion: Expansion) -> None:
        self.expansion, self.coef = expansion, as_dense(expansion.dual_coef).copy()
        self._given = self.coef

    @abstractmethod
    def sums(self, X: Any, n_jobs: int) -> Array:
        """dual_coef of group g @ K(vectors of group g, X), as an array (groups, rows of dual_coef, points)."""

    def decisions(self, X: Any, biases: Array, n_jobs: int) -> Array:
        """A column for each machine: sums, and biases."""
        return self.joined(self.sums(X, n_jobs), biases)

    def joined(self, sums: Array, biases: Array) -> Array:
        """Decisions of the sums of all groups."""
        if self.expansion.n_support is None:
            return sums[0].T + biases
        return ovo.pair_decisions(np.ascontiguousarray(sums), biases)

    def serves(self, expansion: Expansion) -> bool:
        """Whether this was made of ``expansion``; coefficients may have been changed in place."""
        same = all(a is b for a, b in zip(expansion, self.expansion, strict=True))
        return same and np.array_equal(as_dense(expansion.dual_coef), self._given)


def scorer_of(expansion: Expansion) -> Scorer:
    """Makes an expansion ready."""
    return PositionScorer(expansion) if expansion.kernel.of_positions else VectorScorer(expansion)


def linear_decisions(X: Any, weights: Array, biases: Array) -> Array:
    """w'x + b, a column for each row of weights; both may be sparse."""
    return np.asarray(as_dense(X @ weights.T)) + biases


class PositionScorer(Scorer):
    """Points come as rows of kernel values."""

    def sums(self, X: Any, n_jobs: int) -> Array:
        """See ``Scorer``."""
        kernel, support, coef = self.expansion.kernel, self.expansion.vectors, self.coef
        out = np.zeros((len(self.expansion.counts), len(coef), X.shape[0]))
        edges = np.cumsum([0, *self.expansion.counts])
        for first in range(0, X.shape[0], ROWS):
            part = slice(first, first + ROWS)
            block = kernel.block(kernel.prepare(X[part]), Entries(X, support))
            for c, (a, b) in enumerate(pairwise(edges)):
                out[c, :, part] += coef[:, a:b] @ block[:, a:b].T
        return out


class RoughPoints(NamedTuple):
    """Points in float32, and for which of them that is too rough."""

    points: Points
    doubtful: Array


class VectorScorer(Scorer):
    """Points and support vectors are vectors or objects."""

    def __init__(self, expansion: Expansion) -> None:
        super().__init__(expansion)
        vectors, counts, coef = expansion.vectors, expansion.counts, self.coef
        if len(coef.T) > MERGED and not expansion.kernel.of_objects:
            vectors, counts, coef = _merged(vectors, counts, coef)
        self.kernel, self.vectors = expansion.kernel, vectors
        self.edges = np.cumsum([0, *counts])
        self.coef = coef
        # Of one machine they are summed in float64, by the loop that fits use: another would have to be loaded first.
        self.rough_coef = coef if len(coef) == 1 else coef.astype(np.float32)
        self._narrow = sparse.issparse(vectors) and narrow(storage.rows_of(sparse.csr_array(vectors), np.float64))
        self.rough, self._centre = self._rough() if expansion.float32 else (None, None)
        self._longest = 0.0 if self.rough is None else float(np.sqrt(self.rough.squares.max(initial=0.0)))

    @cached_property
    def exact(self) -> tuple[Points, Array | None]:
        """The support vectors in float64, and from where they are seen; made when first asked for."""
        return self.kernel.placed(self._form(self.vectors))

    def _rough(self) -> tuple[Vectors | None, Array | None]:
        """The support vectors in float32, where that has an error bound, and from where they are seen."""
        points, centre = self.kernel.roughly_placed(self._form(self.vectors))
        if not isinstance(points, Vectors) or self.kernel.float32_errors(points) is None:
            return None, None
        return points, centre

    def sums(self, X: Any, n_jobs: int) -> Array:
        """See ``Scorer``."""
        out = np.empty((len(self.edges) - 1, len(self.coef), X.shape[0]))

        def keep(part: slice, sums: Array) -> None:
            out[:, :, part] = sums

        self._for_parts(X, n_jobs, keep)
        return out

    def decisions(self, X: Any, biases: Array, n_jobs: int) -> Array:
        """See ``Scorer``. The sums of all points, 52 MB for 10,000 of letter, are never in memory together."""
        out = np.empty((X.shape[0], len(self.coef) if self.expansion.n_support is None else len(biases)))

        def keep(part: slice, sums: Array) -> None:
            out[part] = self.joined(sums, biases)

        self._for_parts(X, n_jobs, keep)
        return out

    def _for_parts(self, X: Any, n_jobs: int, keep: Callable[[slice, Array], None]) -> None:
        """Calls ``keep`` with some points and their sums, which last until it returns."""
        n, shape = X.shape[0], (len(self.edges) - 1, len(self.coef))
        alone = self.kernel.of_objects or n * self.coef.shape[1] <= FEW_VALUES  # the user's functions: from one thread
        step = min(max(ROWS, TILE // max(1, self.coef.shape[1])), MOST_ROWS, max(64, -(-n // PARTS)))

        known = self._roughly(X) if self.rough is not None and X.shape[0] * X.shape[1] <= PREPARED else None

        def chunk(first: int) -> None:
            part = slice(first, min(first + step, n))
            sums = scratch("sums", (*shape, part.stop - first), np.float64)
            rough = None if known is None else RoughPoints(known.points.take(part), known.doubtful[part])
            keep(part, self._sums_of(X[part], rough, sums))

        with blas_held_for(float(n) * self.coef.shape[1] * X.shape[1] if X.ndim == 2 else math.inf):
            thread_map(chunk, range(0, n, step), 1 if alone else n_jobs)

    def _roughly(self, X: Any) -> RoughPoints:
        """Points in float32, and for which of them that is too rough."""
        points = self.kernel.prepare(self._form(X), np.float32, self._centre)
        errors = self.kernel.float32_errors(points, self._longest)
        assert errors is not None
        return RoughPoints(points, errors > FLOAT32_SHARE * self.expansion.tol)

    def _sums_of(self, X: Any, known: RoughPoints | None, out: Array) -> Array:
        """Of some points, which may be ``known`` in float32. Writes: out, (classes, machines, points)."""
        out[...] = 0.0
        if self.rough is None:
            rows = np.arange(X.shape[0])
        else:
            known = known or self._roughly(X)
            _add(self.kernel, self.rough, known.points, self.edges, self.rough_coef, out)
            rows = np.flatnonzero(known.doubtful)
        if len(rows):
            sums = np.zeros((*out.shape[:2], len(rows)))
            vectors, centre = self.exact
            points = self.kernel.prepare(self._form(X[rows]), np.float64, centre)
            _add(self.kernel, vectors, points, self.edges, self.coef, sums)
            out[:, :, rows] = sums
        return out

    def _form(self, X: Any) -> Any:
        """Both sides dense, or both sparse where the support vectors are sparse and wide."""
        if sparse.issparse(self.vectors) and not self._narrow:
            return sparse.csr_array(X)
        return X.toarray() if sparse.issparse(X) else X


def _add(kernel: Kernel, vectors: Points, points: Points, edges: Array, coef: Array, out: Array) -> None:
    """Writes: out, (classes, machines, points)."""
    step = max(1, TILE // max(1, len(points)))
    for first in range(0, len(vectors), step):
        some = vectors.take(slice(first, first + step))
        if isinstance(some, Vectors):
            K = kernel.block(some, points, scratch("tile", (len(some), len(points)), some.dtype))
        else:  # the user's function gets the new points first, as in scikit-learn
            K = np.ascontiguousarray(kernel.block(points, some).T, np.float64)
        for c, (a, b) in enumerate(pairwise(edges)):
            begin, end = max(a, first), min(b, first + step)
            if begin >= end:
                continue
            if len(coef) == 1:  # summed in float64
                add_rows(K, np.arange(begin - first, end - first), coef[0, begin:end], out[c, 0], 0, len(points))
            else:
                out[c] += coef[:, begin:end] @ K[begin - first : end - first]


def _merged(vectors: Any, counts: Array, coef: Array) -> tuple[Any, Array, Array]:
    """Equal support vectors of a class as one, with the sum of their coefficients."""
    labels = np.repeat(np.arange(len(counts)), counts)
    equal = find_equal_among_many(vectors, labels, np.ones(len(labels)))
    if len(equal.first) == len(labels):
        return vectors, counts, coef
    total = np.zeros((len(coef), len(equal.first)))
    np.add.at(total.T, equal.group, coef.T)
    return vectors[equal.first], np.bincount(labels[equal.first], minlength=len(counts)), total
