"""Kernels of vectors, one similarity per class."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import InitVar, dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core.jit import double_power_of_two, jit, larger, power_of_two, smaller
from maxmargin.core.rows import Array, CsrRows
from maxmargin.kernels.base import Kernel, as_matrix
from maxmargin.kernels.points import Vectors

FLOAT32_UNIT = 2.0**-24
FLOAT64_UNIT = 2.0**-53


def _need(gamma: float | None, name: str) -> float:
    if gamma is None:
        raise ValueError(f"{name} was left without a width: give gamma, or use it in an estimator that chooses one.")
    return gamma


def _width(gamma: float | None, name: str) -> None:
    if gamma is not None and not 0 <= gamma < math.inf:
        raise ValueError(f"{name} needs a finite gamma >= 0, got {gamma}.")


LOG2_E = math.log2(math.e)
# Taylor coefficients ln(2)^k / k! of 2^f: on |f| <= 1/2 the first one left out is below 2^-27.
POWERS = tuple(np.float32(math.log(2.0) ** k / math.factorial(k)) for k in range(8))
POWERS64 = tuple(math.log(2.0) ** k / math.factorial(k) for k in range(14))  # the next one is below 2^-60


@jit(reductions=True)
def gaussian64(products, left, right, scale):
    """products_ij <- 2^(-scale max(|a_i|^2 + |b_j|^2 - 2 a_i'b_j, 0)), all float64. Writes: products.

    As ``gaussian32``; 2.2 ns a value, where exponents and np.exp take 6. The rounding of the exponent is a share of
    it, as that of the distance is.
    """
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 = POWERS64
    for i in range(products.shape[0]):
        own = left[i]
        for j in range(products.shape[1]):
            x = larger(-scale * larger(own + right[j] - 2.0 * products[i, j], 0.0), -1022.0)
            k = np.int32(x - 0.5)
            f = x - np.float64(k)
            high = c7 + f * (c8 + f * (c9 + f * (c10 + f * (c11 + f * (c12 + f * c13)))))
            power = c0 + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * (c6 + f * high))))))
            products[i, j] = power * double_power_of_two(k)


@jit(reductions=True)
def gaussian32(products, left, right, scale):
    """products_ij <- 2^min(scale a_i'b_j - left_i - right_j, 0), all float32. Writes: products.

    2^x = 2^k 2^f with k the nearest integer: one vectorised pass, where exponents and np.exp are two that take three
    times as long. Below 2^-126 it stays there, so no value is denormal.
    """
    c0, c1, c2, c3, c4, c5, c6, c7 = POWERS
    half, least, none = np.float32(0.5), np.float32(-126.0), np.float32(0.0)
    for i in range(products.shape[0]):
        own = left[i]
        for j in range(products.shape[1]):
            x = smaller(larger(scale * products[i, j] - own - right[j], least), none)
            k = np.int32(x - half)
            f = x - np.float32(k)
            power = c0 + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * (c5 + f * (c6 + f * c7))))))
            products[i, j] = power * power_of_two(k)


class ProductKernel(Kernel):
    """A kernel of a'b, |a|^2 and |b|^2: abstract, says only ``from_products`` and ``diagonal``."""

    @property
    def uses_products(self) -> bool:
        return True

    def pairwise(self, A: Vectors, B: Vectors) -> Array:
        return self.from_products(A.products(B), A, B)


class InnerProductKernel(ProductKernel):
    """A function of x'z alone: abstract, says only ``of``."""

    @abstractmethod
    def of(self, products: Array) -> Array:
        """The kernel of inner products, which it may overwrite."""

    def from_products(self, products: Array, A: Vectors, B: Vectors) -> Array:
        return self.of(products)

    def diagonal(self, A: Vectors) -> Array:
        return self.of(A.squares.copy())


@dataclass(frozen=True)
class Linear(InnerProductKernel):
    """K(x, z) = x'z."""

    @property
    def definite(self) -> bool:
        return True

    def of(self, products: Array) -> Array:
        return products

    def feature_map(self, X: Any) -> Array:
        """phi(x) = x."""
        return _dense(X)


@dataclass(frozen=True)
class Polynomial(InnerProductKernel):
    """K(x, z) = (gamma x'z + coef0)^degree; with gamma = coef0 = 1 the notes' (x'z + 1)^d."""

    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if self.degree < 0 or int(self.degree) != self.degree:
            raise ValueError(f"Polynomial needs an integer degree >= 0, got {self.degree}.")

    @property
    def definite(self) -> bool | None:
        return True if self.coef0 >= 0 and (self.gamma is None or self.gamma >= 0) else None

    def resolved(self, gamma: float) -> Kernel:
        return replace(self, gamma=gamma) if self.gamma is None else self

    def of(self, products: Array) -> Array:
        products *= products.dtype.type(_need(self.gamma, "Polynomial"))
        products += products.dtype.type(self.coef0)
        return _integer_power(products, self.degree)

    def feature_map(self, X: Any) -> Array:
        """phi with phi(x)'phi(z) = (gamma x'z + coef0)^degree, in C(d + degree, degree) dimensions.

        One feature per monomial prod_k x_k^{m_k} of total degree |m| <= degree, weighted by the square root of
        degree! / ((degree - |m|)! prod m_k!) gamma^|m| coef0^(degree - |m|) (the multinomial theorem).
        """
        X = _dense(X)
        gamma, degree = _need(self.gamma, "Polynomial"), int(self.degree)
        if not self.definite:
            raise ValueError(f"{self!r} has no real feature map: gamma and coef0 must be >= 0.")
        columns = []
        for chosen in itertools.combinations_with_replacement(range(X.shape[1] + 1), degree):
            powers = np.bincount(chosen, minlength=X.shape[1] + 1)  # position 0 stands for the constant
            ways = math.factorial(degree) / math.prod(math.factorial(m) for m in powers)
            weight = ways * self.coef0 ** powers[0] * gamma ** (degree - powers[0])
            columns.append(math.sqrt(weight) * np.prod(X ** powers[1:], axis=1))
        return np.column_stack(columns)


def _dense(X: Any) -> Array:
    X = as_matrix(X)
    return np.asarray(X.toarray() if sparse.issparse(X) else X, np.float64)


def _integer_power(base: Array, degree: float) -> Array:
    """base^degree in place, by multiplication for the usual small integers: np.power is 20 times slower."""
    if degree == 2:
        return np.square(base, out=base)
    if degree == 3:
        return np.multiply(np.square(base), base, out=base)
    return np.power(base, degree, out=base)


class DistanceKernel(Kernel):
    """A kernel exp(-gamma distance): abstract, says only the distance."""

    gamma: float | None

    @property
    def translation_invariant(self) -> bool:
        return True

    @property
    def definite(self) -> bool:
        return True

    def resolved(self, gamma: float) -> Kernel:
        return replace(self, gamma=gamma) if self.gamma is None else self  # type: ignore[type-var]

    def diagonal(self, A: Vectors) -> Array:
        return np.ones(len(A))


@dataclass(frozen=True)
class RBF(DistanceKernel, ProductKernel):
    """K(x, z) = exp(-gamma ||x - z||^2), or by the notes' width sigma: exp(-||x - z||^2 / (2 sigma^2))."""

    gamma: float | None = None
    sigma: InitVar[float | None] = None

    def __post_init__(self, sigma: float | None) -> None:
        _width(self.gamma, "RBF")
        if sigma is None:
            return
        if self.gamma is not None:
            raise ValueError("Give gamma or sigma, not both: gamma = 1 / (2 sigma^2).")
        if not sigma > 0:
            raise ValueError(f"RBF needs a width sigma > 0, got {sigma}.")
        object.__setattr__(self, "gamma", 0.5 / sigma**2)

    def from_products(self, products: Array, A: Vectors, B: Vectors) -> Array:
        gamma = _need(self.gamma, "RBF")
        if products.dtype == np.float32:
            scale = gamma * LOG2_E
            left, right = (scale * A.squares).astype(np.float32), (scale * B.squares).astype(np.float32)
            gaussian32(products, left, right, np.float32(2.0 * scale))
            return products
        gaussian64(products, A.squares, B.squares, gamma * LOG2_E)
        return products

    def pairwise(self, A: Vectors, B: Vectors) -> Array:
        if not (A.cancels or B.cancels):
            return super().pairwise(A, B)
        exponents = A.squared_distances(B)
        exponents *= exponents.dtype.type(-_need(self.gamma, "RBF"))
        return np.exp(exponents, out=exponents)

    def float32_errors(self, A: Vectors, longest: float | None = None) -> Array:
        return self._errors(A, FLOAT32_UNIT, longest)

    def float64_error(self, A: Vectors) -> float:
        """Of values by inner products; those by differences are as good as any."""
        return 0.0 if A.cancels else float(self._errors(A, FLOAT64_UNIT).max(initial=0.0))

    def _errors(self, A: Vectors, u: float, longest: float | None = None) -> Array:
        """The error of the exponent gamma ||x - z||^2, which exp turns into relative error, and that of exp itself.

        With u = 2^-24 or 2^-53 the inner product is off by sqrt(d) u |x||z| with high probability (Higham and Mary,
        SIAM J. Sci. Comput. 41, 2019); norms and sums add their rounding. Only points z with K(x, z) > u count, and
        those are no longer than |x| + sqrt(ln(1 / u) / gamma).
        """
        gamma = _need(self.gamma, "RBF")
        x = np.sqrt(A.squares)
        reach = math.sqrt(-math.log(u) / gamma) if gamma > 0 else math.inf
        z = np.minimum(x + reach, x.max(initial=0.0) if longest is None else longest)
        rounding = 3.0 * A.squares + 8.0 * x * z + 2.0 * z**2
        return u * (gamma * (2.0 * math.sqrt(storage.width(A.rows)) * x * z + rounding) + 4.0)


@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    """K(x, z) = exp(-gamma ||x - z||_1)."""

    gamma: float | None = None

    def __post_init__(self) -> None:
        _width(self.gamma, "Laplacian")

    def pairwise(self, A: Vectors, B: Vectors) -> Array:
        distances = A.l1_distances(B)
        distances *= distances.dtype.type(-_need(self.gamma, "Laplacian"))
        return np.exp(distances, out=distances)

    def float64_error(self, A: Vectors) -> float:
        """Of moved rows, and of sparse ones, whose distances are ||z||_1 plus what stored entries change of it."""
        if A.cancels:
            return 0.0
        sums: Any = np.sqrt(storage.width(A.rows) * A.squares)  # ||x||_1 is at most that
        if isinstance(A.rows, CsrRows):
            sums = np.asarray(abs(storage.as_csr(A.rows)).sum(axis=1))
        return FLOAT64_UNIT * _need(self.gamma, "Laplacian") * 4.0 * float(sums.max(initial=0.0))


@dataclass(frozen=True)
class Sigmoid(InnerProductKernel):
    """K(x, z) = tanh(kappa x'z + theta). Not positive semidefinite for every kappa and theta: see ``mercer``."""

    kappa: float | None = None
    theta: float = 0.0

    def resolved(self, gamma: float) -> Kernel:
        return replace(self, kappa=gamma) if self.kappa is None else self

    def of(self, products: Array) -> Array:
        products *= products.dtype.type(_need(self.kappa, "Sigmoid"))
        products += products.dtype.type(self.theta)
        return np.tanh(products, out=products)
