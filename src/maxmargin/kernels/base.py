"""What a kernel is, and how kernels combine.

A kernel compares every point of A with every point of B: ``kernel.block(A, B)`` is the matrix K(a_i, b_j). Kernels of
vectors that depend on a'b, |a|^2 and |b|^2 alone say so with ``uses_products``: they turn a tile of inner products
into kernel values in place, and a composed kernel makes the tile once for all its parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core.rows import Array
from maxmargin.core.sparsity import sparse_rows, usual_row
from maxmargin.kernels.points import ChosenRows, Points, as_objects, copied, far_centre, holds_objects, vectors

# Relative error of kernel values from which on they are worked out by differences. Points whose float32 values serve
# a tolerance of 1e-3 have errors below 2e-12 in float64, so what is fast stays fast.
CANCELLATION = 4e-12
STAYING_SHARE = 0.01  # of the accuracy asked for: rows with smaller errors are not moved


class Kernel(ABC):
    """A similarity K(x, z) = phi(x)' phi(z).

    Kernels support ``k1 + k2``, ``k1 * k2``, ``3 * k``, ``k + 1`` and ``k.normalized()``. Calling one on data gives its
    Gram matrix: ``RBF(gamma=0.5)(X, Z)``.
    """

    @property
    def uses_products(self) -> bool:
        """Whether ``from_products`` is all that the kernel needs."""
        return False

    @property
    def translation_invariant(self) -> bool:
        """Whether K(x + c, z + c) = K(x, z): such kernels may be evaluated on moved data."""
        return False

    @property
    def of_positions(self) -> bool:
        """Whether the data are kernel values themselves, and a point is a position in their matrix."""
        return False

    @property
    def of_objects(self) -> bool:
        """Whether the kernel compares things other than vectors of numbers."""
        return False

    @property
    def definite(self) -> bool | None:
        """True where K is positive semidefinite on all data (Mercer); None where that depends."""
        return None

    @abstractmethod
    def pairwise(self, A: Any, B: Any) -> Array:
        """K(a_i, b_j) for all pairs."""

    @abstractmethod
    def diagonal(self, A: Any) -> Array:
        """K(a_i, a_i) in float64."""

    def from_products(self, products: Array, A: Any, B: Any) -> Array:
        """K from the tile a_i' b_j, which it may overwrite."""
        raise TypeError(f"{type(self).__name__} is not a function of inner products.")

    def block(self, A: Any, B: Any, out: Array | None = None) -> Array:
        """K(a_i, b_j) for prepared points, through one tile of inner products where the kernel allows it.

        ``out`` is memory that the tile may use; the values returned may or may not be in it.
        """
        if not self.uses_products or A.cancels or B.cancels:
            return self.pairwise(A, B)
        return self.from_products(A.products(B, out), A, B)

    def prepare(self, X: Any, dtype: Any = np.float64, centre: Array | None = None) -> Points:
        """The points of ``X`` in the form that this kernel compares."""
        points = vectors(X, dtype, centre)
        cancels = dtype == np.float64 and self.float64_error(points) > CANCELLATION
        return replace(points, cancels=True) if cancels else points

    def placed(self, X: Any) -> tuple[Points, Array | None]:
        """The points of ``X`` in float64, and the centre from which they and all others are seen.

        None where they are so far apart, in widths of the kernel, that moving them would round away what tells near
        ones apart: their differences are worked out from the numbers as given.
        """
        X = copied(X)
        centre = far_centre(X) if self.translation_invariant and X.shape[0] else None
        points: Any = self.prepare(X, np.float64, centre)
        if centre is None or not points.cancels:
            return points, centre
        return replace(vectors(X, np.float64), cancels=True), None

    def roughly_placed(self, X: Any, accuracy: float = 0.0, sparsely: bool = True) -> tuple[Points, Array | None]:
        """The points of ``X`` in float32, and the centre from which they and all others are seen.

        That is the usual row, which leaves sparse ones, where these pay and ``sparsely`` allows it; else their mean,
        None where they may stay where they are: near it, or with errors far below ``accuracy`` as they are.
        """
        if not (self.translation_invariant and X.shape[0]):
            return self.prepare(copied(X), np.float32), None
        usual = usual_row(X) if sparsely else None
        if usual is not None:
            array, index = (X.array, X.index) if isinstance(X, ChosenRows) else (X, np.arange(len(X)))
            return self.prepare(sparse_rows(array, index, usual), np.float32), usual
        X = copied(X)
        centre = far_centre(X)
        if centre is not None and accuracy > 0 and isinstance(X, np.ndarray) and X.dtype == np.float32:
            points = self.prepare(X, np.float32)
            errors = self.float32_errors(points)
            if errors is not None and errors.max() <= STAYING_SHARE * accuracy:
                return points, None  # moved rows would be a copy of all of them
        return self.prepare(X, np.float32, centre), centre

    def float64_error(self, A: Any) -> float:
        """A bound on the relative error of float64 values between points of A, beyond that of usual arithmetic."""
        return 0.0

    def rows(self, X: Any, index: Array) -> Any:
        """Training data of some rows only."""
        return X[index]

    def float32_errors(self, A: Any, longest: float | None = None) -> Array | None:
        """Bounds on the relative error of float32 values, one for each point; None where there are none.

        ``longest`` is the length of the longest point that they are compared with, if those are others than A.

        Of values below 2^-24 the error may be that of 2^-24. A kernel with such bounds has no values below zero.
        """
        return None

    def resolved(self, gamma: float) -> Kernel:
        """The same kernel with every width that was left open set to ``gamma``."""
        return self

    def __call__(self, X: Any, Z: Any | None = None) -> Array:
        A, B = self._both(X, Z)
        return self.block(A, B)

    def _both(self, X: Any, Z: Any | None) -> tuple[Points, Points]:
        """Both sides prepared, about a common centre where the kernel allows it."""
        A, centre = self.placed(as_matrix(X))
        return A, A if Z is None else self.prepare(as_matrix(Z), np.float64, centre)

    def distances(self, X: Any, Z: Any | None = None) -> Array:
        """Distances in feature space: ||phi(x) - phi(z)||^2 = K(x, x) + K(z, z) - 2 K(x, z)."""
        own, other, cross = self._geometry(X, Z)
        return np.sqrt(np.maximum(own[:, None] + other[None, :] - 2.0 * cross, 0.0))

    def angles(self, X: Any, Z: Any | None = None) -> Array:
        """Angles in feature space, in radians: cos = K(x, z) / sqrt(K(x, x) K(z, z))."""
        own, other, cross = self._geometry(X, Z)
        return np.arccos(np.clip(cross / np.sqrt(np.outer(own, other)), -1.0, 1.0))

    def _geometry(self, X: Any, Z: Any | None) -> tuple[Array, Array, Array]:
        A, B = self._both(X, Z)
        return self.diagonal(A), self.diagonal(B), self.block(A, B)

    def normalized(self) -> Kernel:
        """K(x, z) / sqrt(K(x, x) K(z, z)): every point has length one in feature space."""
        return Normalized(self)

    def __add__(self, other: Kernel | float) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else Shifted(self, float(other))

    def __mul__(self, other: Kernel | float) -> Kernel:
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, float(other))

    __radd__ = __add__
    __rmul__ = __mul__


def as_matrix(X: Any) -> Any:
    """Lists of numbers become arrays, sparse matrices of any form CSR; everything else is left to the kernel."""
    if sparse.issparse(X):
        return sparse.csr_array(X)
    if isinstance(X, np.ndarray):
        return X
    return as_objects(X) if holds_objects(X) else np.asarray(X, np.float64)


@dataclass(frozen=True)
class Composed(Kernel):
    """A kernel made of kernels: it has every property that all of its parts have."""

    def __post_init__(self) -> None:
        if len({(part.of_positions, part.of_objects) for part in self.parts}) > 1:
            raise ValueError(
                "Only kernels of one kind combine: of vectors, of given kernel values, or functions of objects. "
                f"Got {' and '.join(repr(part) for part in self.parts)}."
            )

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels it is made of."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Kernel))

    @property
    def uses_products(self) -> bool:
        return all(part.uses_products for part in self.parts)

    @property
    def translation_invariant(self) -> bool:
        return all(part.translation_invariant for part in self.parts)

    @property
    def of_positions(self) -> bool:
        return any(part.of_positions for part in self.parts)

    @property
    def of_objects(self) -> bool:
        return any(part.of_objects for part in self.parts)

    @property
    def definite(self) -> bool | None:
        return True if all(part.definite for part in self.parts) else None

    def prepare(self, X: Any, dtype: Any = np.float64, centre: Array | None = None) -> Points:
        if self.of_positions or self.of_objects:
            return self.parts[0].prepare(X, dtype, centre)
        return super().prepare(X, dtype, centre)

    def float64_error(self, A: Any) -> float:
        return max(part.float64_error(A) for part in self.parts)

    def rows(self, X: Any, index: Array) -> Any:
        return self.parts[0].rows(X, index)

    def resolved(self, gamma: float) -> Kernel:
        chosen = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{k: v.resolved(gamma) for k, v in chosen.items() if isinstance(v, Kernel)})


@dataclass(frozen=True)
class Sum(Composed):
    """K1 + K2: the feature vectors are joined."""

    left: Kernel
    right: Kernel

    def pairwise(self, A: Any, B: Any) -> Array:
        total = self.left.block(A, B)
        total += self.right.block(A, B)
        return total

    def from_products(self, products: Array, A: Any, B: Any) -> Array:
        total = self.left.from_products(products.copy(), A, B)
        total += self.right.from_products(products, A, B)
        return total

    def diagonal(self, A: Any) -> Array:
        return self.left.diagonal(A) + self.right.diagonal(A)

    def float32_errors(self, A: Any, longest: float | None = None) -> Array | None:
        left, right = (part.float32_errors(A, longest) for part in self.parts)
        return None if left is None or right is None else np.maximum(left, right)


@dataclass(frozen=True)
class Product(Composed):
    """K1 * K2: the feature space is the tensor product."""

    left: Kernel
    right: Kernel

    def pairwise(self, A: Any, B: Any) -> Array:
        product = self.left.block(A, B)
        product *= self.right.block(A, B)
        return product

    def from_products(self, products: Array, A: Any, B: Any) -> Array:
        product = self.left.from_products(products.copy(), A, B)
        product *= self.right.from_products(products, A, B)
        return product

    def diagonal(self, A: Any) -> Array:
        return self.left.diagonal(A) * self.right.diagonal(A)

    def float32_errors(self, A: Any, longest: float | None = None) -> Array | None:
        left, right = (part.float32_errors(A, longest) for part in self.parts)
        return None if left is None or right is None else left + right

    def float64_error(self, A: Any) -> float:
        return sum(part.float64_error(A) for part in self.parts)


@dataclass(frozen=True)
class Scaled(Composed):
    """factor * K with factor > 0."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise ValueError(f"A kernel can only be scaled by a positive number, got {self.factor}.")

    def pairwise(self, A: Any, B: Any) -> Array:
        return self._scale(self.kernel.block(A, B))

    def from_products(self, products: Array, A: Any, B: Any) -> Array:
        return self._scale(self.kernel.from_products(products, A, B))

    def _scale(self, K: Array) -> Array:
        K *= K.dtype.type(self.factor)
        return K

    def diagonal(self, A: Any) -> Array:
        return self.factor * self.kernel.diagonal(A)

    def float32_errors(self, A: Any, longest: float | None = None) -> Array | None:
        return self.kernel.float32_errors(A, longest)


@dataclass(frozen=True)
class Shifted(Composed):
    """K + constant with constant >= 0: K + 1 is the regularised bias (every point gets one more feature, 1)."""

    kernel: Kernel
    constant: float

    def __post_init__(self) -> None:
        if not 0 <= self.constant < np.inf:
            raise ValueError(f"A kernel can only be shifted by a number >= 0, got {self.constant}.")

    def pairwise(self, A: Any, B: Any) -> Array:
        return self._shift(self.kernel.block(A, B))

    def from_products(self, products: Array, A: Any, B: Any) -> Array:
        return self._shift(self.kernel.from_products(products, A, B))

    def _shift(self, K: Array) -> Array:
        K += K.dtype.type(self.constant)
        return K

    def diagonal(self, A: Any) -> Array:
        return self.kernel.diagonal(A) + self.constant

    def float32_errors(self, A: Any, longest: float | None = None) -> Array | None:
        return self.kernel.float32_errors(A, longest)


@dataclass(frozen=True)
class Normalized(Composed):
    """K(x, z) / sqrt(K(x, x) K(z, z)); points of length zero keep similarity zero."""

    kernel: Kernel

    def __post_init__(self) -> None:
        if self.of_positions:
            raise ValueError("Precomputed values hold no K(z, z) of new points: normalise the matrix itself instead.")

    def pairwise(self, A: Any, B: Any) -> Array:
        return self._normalise(self.kernel.block(A, B), A, B)

    def from_products(self, products: Array, A: Any, B: Any) -> Array:
        return self._normalise(self.kernel.from_products(products, A, B), A, B)

    def _normalise(self, K: Array, A: Any, B: Any) -> Array:
        K /= self._lengths(A)[:, None].astype(K.dtype)
        K /= self._lengths(B)[None, :].astype(K.dtype)
        return K

    def _lengths(self, A: Any) -> Array:
        squares = self.kernel.diagonal(A)
        return np.sqrt(np.where(squares > 0, squares, 1.0))

    def diagonal(self, A: Any) -> Array:
        return (self.kernel.diagonal(A) > 0).astype(np.float64)

    def float32_errors(self, A: Any, longest: float | None = None) -> Array | None:
        errors = self.kernel.float32_errors(A, longest)
        return None if errors is None else 2.0 * errors

    def float64_error(self, A: Any) -> float:
        return 2.0 * self.kernel.float64_error(A)
