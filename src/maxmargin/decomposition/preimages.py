"""Back from components to rows: which row has the given components, or nearly so.

Components y stand for a point of feature space, rho = mean + sum_c y_c v_c = sum_i g_i phi(x_i), and few such points
are the image of a row. With the Gaussian kernel the row z whose image is nearest is searched for; for other kernels a
regression on the training rows has to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from maxmargin.core import limits
from maxmargin.core.blas import blas_held
from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map
from maxmargin.decomposition.projection import Projection
from maxmargin.kernels import RBF, Kernel
from maxmargin.kernels.points import Points

CHUNK = 256  # points that are brought back together,
CHUNK_VALUES = 1 << 21  # or fewer, so that their kernel values take 16 MB
STEPS = 200
NEIGHBOURS = 8  # training rows that are tried as starts, beside their mean
LEAST_STEP = 2.0**-10  # share of the way to the fixed point
STILL = 1e-14  # gamma |z - z'|^2 of a point that no longer moves


class Preimages:
    """Rows z that maximise s(z) = sum_i g_i k(z, x_i), the same as minimising ||phi(z) - rho||^2 = const - 2 s(z).

    At a maximum z = sum_i g_i k(z, x_i) x_i / s(z): from a start near by, z is moved towards the right side (Mika et
    al., NIPS 1998). That is the direction of the gradient wherever s > 0, so a step that would lower s is halved, and
    z is never worse than its start.
    """

    def __init__(self, kernel: RBF, X: Any, components: Array, along: Projection) -> None:
        assert kernel.gamma is not None, "its width was set when it was fitted"
        self._kernel, self._X, self._components, self._coef = kernel, X, components, along.coef
        self._constant = 1.0 / X.shape[0] if along.centred else 0.0
        self._points, self._centre = kernel.placed(X)
        self._gamma = kernel.gamma

    def find(self, Y: Array, n_jobs: int) -> Array:
        """A row for each row of components."""
        out = np.empty((len(Y), self._X.shape[1]))
        step = max(1, min(CHUNK, CHUNK_VALUES // self._X.shape[0]))

        def chunk(first: int) -> None:
            part = slice(first, first + step)
            g = Y[part] @ self._coef + self._constant
            out[part] = self._climbed(g, self._started(g, Y[part]))

        with blas_held():
            thread_map(chunk, range(0, len(Y), step), n_jobs)
        return out

    def _started(self, g: Array, Y: Array) -> Array:
        """The best of the training rows whose components are nearest, and of the mean of these rows."""
        squares = np.einsum("ij,ij->i", self._components, self._components)
        apart = squares - 2.0 * Y @ self._components.T
        count = min(NEIGHBOURS, len(squares))
        near = np.argpartition(apart, count - 1, axis=1)[:, :count]
        nearest = near[np.arange(len(Y)), np.argmin(np.take_along_axis(apart, near, 1), axis=1)]
        best = self._rows(nearest)
        height = self._weights(g, best).sum(axis=1)
        others = [self._rows(near[:, k]) for k in range(count)]
        for Z in (np.mean(others, axis=0), *others):
            found = self._weights(g, Z).sum(axis=1)
            better = found > height
            best[better], height[better] = Z[better], found[better]
        return best

    def _rows(self, index: Array) -> Array:
        rows = self._X[index]
        return np.array(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)

    def _weights(self, g: Array, Z: Array) -> Array:
        """g_i k(z, x_i)."""
        points: Points = self._kernel.prepare(Z, np.float64, self._centre)
        return g * self._kernel.block(points, self._points)

    def _climbed(self, g: Array, Z: Array) -> Array:
        """Steps towards the fixed point, each point by itself. Writes: Z."""
        weights = self._weights(g, Z)
        height, share = weights.sum(axis=1), np.ones(len(Z))
        moving = np.flatnonzero(height > 0)
        for _ in range(STEPS):
            if not len(moving):
                break
            limits.checkpoint()
            way = np.asarray(weights[moving] @ self._X) / height[moving, None] - Z[moving]
            step = share[moving, None] * way
            ahead = self._weights(g[moving], Z[moving] + step)
            higher = ahead.sum(axis=1) > height[moving]
            taken = moving[higher]
            Z[taken] += step[higher]
            weights[taken], height[taken] = ahead[higher], ahead[higher].sum(axis=1)
            share[moving] = np.where(higher, np.minimum(2.0 * share[moving], 1.0), 0.5 * share[moving])
            still = self._gamma * np.einsum("ij,ij->i", way, way) < STILL
            moving = moving[~still & (share[moving] > LEAST_STEP)]
        return Z


def ridge(kernel: Kernel, components: Array, X: Array, alpha: float) -> Array:
    """Coefficients (K + alpha I)^(-1) X of the regression of rows on components (Bakir, Weston, Schoelkopf 2004)."""
    K = kernel(components)
    K.flat[:: len(K) + 1] += alpha
    try:
        return linalg.solve(K, X.astype(np.float64), assume_a="pos", overwrite_a=True)
    except linalg.LinAlgError:
        raise ValueError(
            f"The regression that learns the way back needs K + alpha I to be positive definite, and with {kernel!r} "
            f"and alpha={alpha} it is not: raise alpha, or use another kernel."
        ) from None
