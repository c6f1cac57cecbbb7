"""The canonical problem of all kernel machines: one box-constrained quadratic program.

In signed multipliers beta_i = sign_i alpha_i:

    maximise   p' beta - 1/2 beta' (K + diag(ridge)) beta
    subject to lower <= beta <= upper, and sum(beta) = 0 where the bias is free.

Its primal, by Fenchel duality with f = K beta and the loss l_i(t) = max_{lower <= b <= upper} b t - ridge_i b^2 / 2:

    minimise   1/2 ||w||^2 + sum_i l_i(p_i - f_i - b).

For the soft margin p = y, and l_i is C_i max(0, 1 - y_i (f_i + b)) with ridge 0 and bound C_i (p = 1 in the notes), or
C_i max(0, 1 - y_i (f_i + b))^2 with ridge 1 / (2 C_i) and no bound (p = 2).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.problems.definiteness import Definiteness


class Loss(enum.Enum):
    """The exponent of the slack: hinge is p = 1, squared hinge is p = 2."""

    HINGE = "hinge"
    SQUARED_HINGE = "squared_hinge"


class Bias(enum.Enum):
    """A free b; none; or b as the weight of a feature 1 that the kernel K + 1 appends: ||w||^2 + b^2 is paid."""

    FREE = "free"
    NONE = "none"
    REGULARIZED = "regularized"

    @classmethod
    def of(cls, fit_intercept: bool | str) -> Bias:
        """What an estimator's ``fit_intercept`` asks for: True, False or "regularized"."""
        if isinstance(fit_intercept, str):
            return cls(fit_intercept)
        return cls.FREE if fit_intercept else cls.NONE


class GramMatrix(Protocol):
    """What solvers and certificates may ask of the kernel matrix K."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def diagonal(self) -> Array:
        """K_ii in float64."""
        ...

    @property
    def working_rows(self) -> int:
        """How many rows a solver may work on together within the memory budget."""
        ...

    @property
    def value_ns(self) -> float:
        """About how many nanoseconds a kernel value takes."""
        ...

    @property
    def float64_error(self) -> float:
        """A bound on the relative error of float64 values, beyond that of usual arithmetic."""
        ...

    def give_back(self, array: Array) -> None:
        """End of use of a matrix from ``submatrix``."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of kernel values."""
        ...

    def whole(self) -> Array:
        """All of K, where ``working_rows`` allows it; read only."""
        ...

    def submatrix(self, rows: Array, older: Array | None = None, places: Array = ...) -> Array:
        """K among ``rows``, in borrowed memory; the first of them are at ``places`` in ``older``, K of other rows."""
        ...

    def accumulate(self, rows: Array, weights: Array, out: Array) -> None:
        """out += K[:, rows] @ weights. Writes: out."""
        ...

    def scores(self, beta: Array, exact: bool = False) -> tuple[Array, Array]:
        """f = K beta and a bound on the error of each value."""
        ...

    def exact_scores(self, beta: Array, rows: Array) -> Array:
        """(K beta)_i in float64 for the given rows."""
        ...

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Estimated time of ``scores`` with this many nonzero multipliers and of some rows of ``exact_scores``."""
        ...

    def smallest_eigenvalue(self) -> float:
        """Of K; of a sample of its rows where there are many."""
        ...

    def definiteness(self, prefer: Array) -> Definiteness:
        """Whether K is positive semidefinite and symmetric, and how far that was checked."""
        ...


@dataclass(frozen=True)
class BoxQP:
    """See the module's formula. ``sign`` turns the notes' multipliers alpha >= 0 into beta.

    ``note`` says what the problem had to change of what was asked for.
    """

    gram: GramMatrix
    sign: Array
    p: Array
    lower: Array
    upper: Array
    ridge: Array
    bias: Bias
    note: str = ""

    @property
    def balanced(self) -> bool:
        """Whether sum(beta) = 0 must hold: the multiplier of that constraint is the free bias."""
        return self.bias is Bias.FREE

    @property
    def n(self) -> int:
        """Number of multipliers."""
        return len(self.p)

    @property
    def hard(self) -> bool:
        """Whether some row allows no slack at all (C = infinity with the hinge)."""
        return bool(np.any(np.isinf(self.upper - self.lower) & (self.ridge == 0)))


def soft_margin(gram: GramMatrix, y: Array, C: Array | float, loss: Loss = Loss.HINGE, bias: Bias = Bias.FREE) -> BoxQP:
    """The support vector classifier: labels ``y`` in {-1, +1}, a cost ``C`` for all rows or each (inf: hard margin).

    For a regularised bias ``gram`` is that of the kernel K + 1.

    With an indefinite kernel the squared hinge has no maximum unless K + diag(ridge) is positive semidefinite, so there
    the ridge is raised to minus the smallest eigenvalue: the same machine with a smaller C.
    """
    y = np.asarray(y, np.float64)
    if y.shape != (gram.n,) or not np.all(np.abs(y) == 1.0):
        raise ValueError(f"y must hold one label -1 or +1 for each of the {gram.n} rows.")
    C = np.broadcast_to(np.asarray(C, np.float64), y.shape)
    if not np.all(C >= 0):
        raise ValueError("C must be >= 0 for every row (infinity for the hard margin).")
    bound, ridge, note = C, np.zeros(len(y)), ""
    if loss is Loss.SQUARED_HINGE:
        bound = np.where(C > 0, np.inf, 0.0)
        ridge = np.divide(0.5, C, out=ridge, where=C > 0)
        if not gram.definiteness(np.empty(0, np.int64)).definite:
            needed = -gram.smallest_eigenvalue()
            if needed > ridge.min():
                note = f"to be solvable, 1/(2C) was raised to {needed:.3g}, minus the smallest eigenvalue"
            ridge = np.maximum(ridge, needed)
    return BoxQP(
        gram=gram,
        sign=y,
        p=y,
        lower=np.where(y < 0, -bound, 0.0),
        upper=np.where(y > 0, bound, 0.0),
        ridge=ridge,
        bias=bias,
        note=note,
    )
