"""What a fit leaves for the next one on the same rows: kernel rows, or the points where its machines ended.

(Kernel machines start from the multipliers of the fitted model, a public attribute; linear ones have none.)
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.rows import Array
from maxmargin.gram import Gram
from maxmargin.gram.sharing import SharedBlocks
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.points import copied
from maxmargin.problems.solution import Point


class KeptRows(NamedTuple):
    """The kernel matrix of a fit, and what it was made for."""

    gram: Gram
    blocks: SharedBlocks | None
    mark: bytes
    accuracy: float
    budget: int
    segments: tuple[slice, ...]

    def serves(self, kernel: Kernel, X: Any, accuracy: float, budget: float, segments: tuple[slice, ...]) -> bool:
        """Whether another fit would compute the same values, and is allowed as much memory."""
        same = (kernel, accuracy, segments) == (self.gram.kernel, self.accuracy, self.segments)
        if not (same and self.budget <= budget and fingerprint(X) == self.mark):
            return False
        own = self.gram.values.source.X  # may be an array of the caller, who has changed it since
        return own is X or fingerprint(own) == self.mark

    def release(self) -> None:
        """Give all memory back to the pool."""
        self.gram.release()
        if self.blocks:
            self.blocks.release()


def fingerprint(X: Any) -> bytes:
    """A hash of shape, type and content: the caller may change an array in place between two fits."""
    digest = hashlib.blake2b(f"{X.shape} {X.dtype}".encode())
    for part in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (copied(X),):
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


class KeptPoints(NamedTuple):
    """The points of linear machines, the costs of the rows, and a key that only fits of the same kind share."""

    points: list[Point]
    costs: Array
    warm_key: tuple[Any, ...]

    def starts(
        self, rows: list[Array | None], width: int, costs: Array, warm_key: tuple[Any, ...]
    ) -> list[Point] | None:
        """Where machines on these ``rows`` with ``width`` weights start; None where they are others than before.

        Multipliers grow with their costs, so that they stay within bounds.
        """
        n = len(costs)
        fits = (
            warm_key == self.warm_key
            and len(self.points) == len(rows)
            and len(self.costs) == n
            and self.points[0].v.shape[-1] == width
            and all(
                point.beta is None or len(point.beta) == (n if some is None else len(some))
                for point, some in zip(self.points, rows, strict=True)
            )
        )
        if not fits:
            return None
        factor = costs / self.costs
        return [
            Point(p.v, None if p.beta is None else (p.beta.T * (factor if some is None else factor[some])).T)
            for p, some in zip(self.points, rows, strict=True)
        ]
