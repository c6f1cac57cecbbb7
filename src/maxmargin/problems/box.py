"""The canonical problem of all kernel machines: one box-constrained quadratic program.

In signed multipliers beta:

    maximise   p'beta - 1/2 beta'(K + diag(ridge)) beta - sum_i kink_i |beta_i|
    subject to lower <= beta <= upper, and sum over group g of beta_i = total_g    (group -1: no constraint).

Its primal, by Fenchel duality with f = K beta, the multipliers b_g of the groups' constraints (the biases) and the loss
l_i(t) = max over the box of beta t - kink_i |beta| - ridge_i beta^2 / 2:

    minimise   1/2 ||w||^2 + sum_g b_g total_g + sum_i l_i(p_i - f_i - b_g(i)).

For the soft margin p = y, there is one group with total 0, and l_i is C_i max(0, 1 - y_i (f_i + b)) with ridge 0 and
bound C_i (p = 1 in the notes), or its square with ridge 1 / (2 C_i) and no bound (p = 2). ``models`` has the others.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.losses.box import Box
from maxmargin.problems.definiteness import Definiteness
from maxmargin.problems.feasible import feasible_point, fill, spread
from maxmargin.problems.solution import Certificate, Point

REFRESHED_ROWS = 4096  # rows that the certificate of a solve which was stopped recomputes in float64
TOLERATED = 1.0 + 1e-6  # the certificate's violation may exceed tol by its own rounding
TOTAL_SLACK = 1e-12  # of what the multipliers of a group can add up to: a total beyond that by less is rounding


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
    def values_computed(self) -> int:
        """How many kernel values were computed so far."""
        ...

    @property
    def value_ns(self) -> float:
        """About how many nanoseconds a kernel value takes."""
        ...

    @property
    def float64_error(self) -> float:
        """A bound on the relative error of float64 values, beyond that of usual arithmetic."""
        ...

    def view(self, index: Array) -> GramMatrix:
        """K[index][:, index], where ``index`` may repeat rows."""
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

    def submatrix(self, rows: Array, older: Array | None = None, places: Array = ..., up_to: int = 0) -> Array:
        """K among ``rows``, in borrowed memory; the first of them are at ``places`` in ``older``, K of other rows.

        ``up_to`` is how many rows the next of such matrices may have.
        """
        ...

    def rearranged(self, K: Array, order: Array) -> Array:
        """A matrix from ``submatrix`` with its rows and columns in another order, in borrowed memory."""
        ...

    def accumulate(
        self, rows: Array, weights: Array, out: Array, keep: Array | bool = True, below: Array | None = None
    ) -> None:
        """out += K[:, rows] @ weights; with ``below`` negative weights add to that. Writes: out, below.

        ``keep`` says which of the rows are likely to be wanted again.
        """
        ...

    def score_errors(self, sizes: Array, total: float) -> Array:
        """By how much scores of float32 kernel values may be off."""
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


class Survey(NamedTuple):
    """What is asked of all rows of a problem when it is stated, found in one pass.

    ``ordered``: bounds, kinks and ridges are as they must be. ``around_zero``: every multiplier may be zero. ``least``
    and ``most``: sums of the bounds.
    """

    ordered: bool
    around_zero: bool
    hard: bool
    first_group: int
    last_group: int
    least: float
    most: float


@jit(brief=True)
def survey(box, group):
    """See ``Survey``."""
    ordered, around_zero, hard, first, last, least, most = True, True, False, group[0], group[0], 0.0, 0.0
    for i in range(len(group)):
        lower, upper, kink, ridge = box.lower[i], box.upper[i], box.kink[i], box.ridge[i]
        ordered = ordered and lower <= upper and kink >= 0.0 and ridge >= 0.0
        around_zero = around_zero and lower <= 0.0 <= upper
        hard = hard or (upper - lower == np.inf and ridge == 0.0)
        first, last = min(first, group[i]), max(last, group[i])
        least += lower
        most += upper
    return Survey(ordered, around_zero, hard, first, last, least, most)


@dataclass(frozen=True)
class BoxQP:
    """See the module's formula.

    ``group`` holds the number of each row's group, ``totals`` what the multipliers of each group add up to.
    ``appended`` says that the kernel is K + 1, whose last feature is a constant 1: its weight sum(beta) is the bias.
    ``divided`` says that the machine is f divided by rho, half the difference of its two biases (nu-SVC): violations
    and norms are then told in units of the machine. ``note`` says what the problem had to change of what was asked for.
    """

    gram: GramMatrix
    box: Box
    group: Array
    totals: Array
    appended: bool = False
    divided: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        box, n = self.box, self.gram.n
        if any(part.shape != (n,) for part in (*box, self.group)):
            raise ValueError(f"A problem on {n} rows of a kernel matrix needs {n} entries of each part and {n} groups.")
        if not self._survey.ordered:
            raise ValueError("Bounds must have lower <= upper, and kinks and ridges must be >= 0, none of them NaN.")
        if not -1 <= self._survey.first_group <= self._survey.last_group < self.n_groups:
            raise ValueError(f"Groups are numbers from 0 to {self.n_groups - 1}, or -1 for rows without one.")
        for g, total in enumerate(self.totals):
            members = self.members(g)
            least, most = self._survey.least, self._survey.most
            if not self.one_for_all:
                least, most = float(self.lower[members].sum()), float(self.upper[members].sum())
            slack = TOTAL_SLACK * max(abs(total), min(abs(least), abs(most)))
            if not least - slack <= total <= most + slack:
                raise ValueError(
                    f"The multipliers of group {g} must add up to {total:g}, but their bounds allow {least:g} to "
                    f"{most:g} only."
                )

    @property
    def p(self) -> Array:
        """The linear term."""
        return self.box.p

    @property
    def lower(self) -> Array:
        """Least multipliers."""
        return self.box.lower

    @property
    def upper(self) -> Array:
        """Largest multipliers."""
        return self.box.upper

    @property
    def kink(self) -> Array:
        """The price of |beta|."""
        return self.box.kink

    @property
    def ridge(self) -> Array:
        """What is added to the diagonal of K."""
        return self.box.ridge

    @property
    def n(self) -> int:
        """Number of multipliers."""
        return len(self.p)

    @property
    def n_groups(self) -> int:
        """Number of constraints on sums of multipliers."""
        return len(self.totals)

    @cached_property
    def _survey(self) -> Survey:
        return survey(self.box, self.group)

    @cached_property
    def one_for_all(self) -> bool:
        """Whether all rows are in one group."""
        return self.n_groups == 1 and self._survey.first_group == self._survey.last_group == 0

    def by_row(self, biases: Array) -> Array | float:
        """What belongs to the group of each row; 0 without one."""
        if self.n_groups == 0:
            return 0.0
        return float(biases[0]) if self.one_for_all else np.append(biases, 0.0)[self.group]

    def members(self, g: int) -> Any:
        """What picks the rows of a group."""
        return slice(None) if self.one_for_all else self.group == g

    @property
    def passes(self) -> float:
        """Kernel values computed so far, in matrices."""
        return self.gram.values_computed / max(1, self.n) ** 2

    @cached_property
    def sign(self) -> Array:
        """beta = sign * alpha turns the notes' multipliers alpha >= 0 into signed ones: -1 where beta is never > 0."""
        return np.where((self.upper <= 0) & (self.lower < 0), -1.0, 1.0)

    @cached_property
    def largest(self) -> float:
        """max |K_ii|, which bounds all kernel values where K is positive semidefinite."""
        return largest_size(self.gram.diagonal)

    @property
    def hard(self) -> bool:
        """Whether some row allows no slack at all (C = infinity with the hinge)."""
        return self._survey.hard

    def start(self, near: Point | None = None) -> Point:
        """A feasible point near ``near``; without one, zero.

        In a group with another total, rows spread evenly over it are at their bounds until that is reached.
        """
        if near is not None:
            biases = np.zeros(self.n_groups) if near.biases is None else near.biases
            return Point(beta=feasible_point(self, near.beta), biases=biases)
        beta = np.zeros(self.n) if self._survey.around_zero else np.clip(0.0, self.lower, self.upper)
        for g, total in enumerate(self.totals):
            missing = total - beta[self.members(g)].sum()
            if missing:
                bound = self.upper if missing > 0 else self.lower
                fill(beta, bound, spread(np.flatnonzero(self.group == g)), missing)
        return Point(beta=beta, biases=np.zeros(self.n_groups))

    def unit(self, biases: Array) -> float:
        """What scores are divided by to be those of the machine; 0 where that is not a positive number."""
        return max(0.0, 0.5 * float(biases[1] - biases[0])) if self.divided else 1.0

    def point_of(self, alpha: Any) -> Point:
        """The notes' multipliers alpha >= 0 as a point."""
        alpha = np.asarray(alpha, np.float64)
        if alpha.shape != (self.n,) or not np.isfinite(alpha).all():
            raise ValueError(f"alpha must hold one finite multiplier for each of the {self.n} rows.")
        return Point(beta=self.sign * alpha)

    def optimality_error(self, certificate: Certificate) -> float:
        """The violation is held against ``tol``."""
        return certificate.violation / TOLERATED

    def proof_seconds(self, point: Callable[[], Point], elapsed: float) -> float:
        """The scores of the multipliers that are not zero, unless known, and some rows of them again in float64."""
        here = point()
        support, refreshed = int(np.count_nonzero(here.beta)), min(REFRESHED_ROWS, self.n)
        known = 0.0 if here.scores is None else self.gram.certificate_seconds(support, 0)
        return self.gram.certificate_seconds(support, refreshed) - known

    def bias_of(self, point: Point) -> float:
        """The bias of the machine: of its one group, 0 without one, the weight of the appended 1, NaN for several.

        A machine that is divided by rho has the mean of its two biases.
        """
        if self.appended:
            return float(point.beta.sum())
        if self.divided and point.biases is not None and self.unit(point.biases) > 0.0:
            return 0.5 * float(point.biases[0] + point.biases[1]) / self.unit(point.biases)
        if self.n_groups > 1:
            return math.nan
        return float(point.biases[0]) if self.n_groups and point.biases is not None else 0.0


def largest_size(values: Array) -> float:
    """max |x_i|; 0 of nothing."""
    return float(np.abs(values).max(initial=0.0))


def one_group(n: int, total: float = 0.0) -> tuple[Array, Array]:
    """All rows in one group, whose multipliers add up to ``total``: a free bias."""
    return np.zeros(n, np.int64), np.array([total])


def no_group(n: int) -> tuple[Array, Array]:
    """No constraint: no bias, or one that the kernel K + 1 brings."""
    return np.full(n, -1, np.int64), np.empty(0)
