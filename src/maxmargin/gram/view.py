"""Rows of a kernel matrix in another order, some of them several times, without storing any twice.

K' = E K E' where row i of E has a one at index_i. So K'b = E (K (E'b)): multipliers of equal rows are added up, the
base answers for each of its rows once, and the answers are spread over the view.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.gram.budget import Plan, Residence
from maxmargin.problems.box import GramMatrix
from maxmargin.problems.definiteness import Definiteness


class Base(GramMatrix, Protocol):
    """What a view asks of the matrix it stands on."""

    residence: Residence

    @property
    def n_jobs(self) -> int:
        """Threads that compute."""
        ...

    def release(self) -> None:
        """Give all memory back."""
        ...

    def score_errors(self, sizes: Array, total: float, index: Any = slice(None)) -> Array:
        """By how much scores of the rows in ``index`` may be off."""
        ...


class View:
    """K[index][:, index] of a ``base`` K, where ``index`` may repeat rows. ``plan`` says what fits into the budget.

    Its memory is borrowed from the base, which tells it when that is taken back (``forget``).
    """

    def __init__(self, base: Base, index: Array, plan: Plan) -> None:
        self.base, self._index = base, index
        self.diagonal = base.diagonal[index]
        self.residence, _, self.working_rows = plan
        self._most = int(np.bincount(index).max(initial=0))  # times that a row is repeated
        self._whole: Array | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self._index)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of kernel values."""
        return self.base.dtype

    @property
    def n_jobs(self) -> int:
        """Threads that compute."""
        return self.base.n_jobs

    @property
    def values_computed(self) -> int:
        """Kernel values that the base computed since this was last set to zero."""
        return self.base.values_computed

    @property
    def value_ns(self) -> float:
        """About how many nanoseconds a kernel value takes on one thread."""
        return self.base.value_ns

    @property
    def float64_error(self) -> float:
        """A bound on the relative error of float64 values, beyond that of usual arithmetic."""
        return self.base.float64_error

    def give_back(self, array: Array) -> None:
        """End of use of a matrix from ``submatrix``."""
        self.base.give_back(array)

    def forget(self) -> None:
        """The memory that was borrowed is no longer this view's; what is asked for later is worked out again."""
        self._whole = None

    def view(self, index: Array) -> GramMatrix:
        """Some of these rows, some of them several times: a view of the base."""
        return self.base.view(self._index[index])

    # --- what solvers ask --------------------------------------------------------------------------------------------

    def whole(self) -> Array:
        """All values, gathered once; do not write. Only where they fit the budget."""
        if self._whole is None:
            if self.base.residence is Residence.WHOLE:
                self._whole = self.base.rearranged(self.base.whole(), self._index)
            else:
                self._whole = self.submatrix(np.arange(self.n))
        return self._whole

    def submatrix(self, rows: Array, older: Array | None = None, places: Array = NO_ROWS, up_to: int = 0) -> Array:
        """K' among ``rows``, as ``Gram.submatrix``: the first are at ``places`` in ``older``, K' of other rows."""
        chosen, first, position = _distinct(self._index[rows])
        # Rows of the base come in the order in which the view has them, so those that ``older`` knows come first.
        known = int(np.count_nonzero(first < len(places)))
        K = self.base.submatrix(chosen, older, places[first[:known]], up_to)
        if len(chosen) == len(rows):
            return K
        spread = self.base.rearranged(K, position)
        self.base.give_back(K)
        return spread

    def rearranged(self, K: Array, order: Array) -> Array:
        """A matrix from ``submatrix`` with its rows and columns in another order, in borrowed memory."""
        return self.base.rearranged(K, order)

    def accumulate(
        self, rows: Array, weights: Array, out: Array, keep: Array | bool = True, below: Array | None = None
    ) -> None:
        """out += K'[:, rows] @ weights in float64, as ``Gram.accumulate``. Writes: out, below."""
        added, sums = self._on_base(rows, weights), np.zeros((2, self.base.n))
        support = np.flatnonzero(added)
        if isinstance(keep, np.ndarray):  # of equal rows one that is wanted again counts
            wanted = np.zeros(self.base.n, bool)
            np.logical_or.at(wanted, self._index[rows], keep)
            keep = wanted[support]
        self.base.accumulate(support, added[support], sums[0], keep, None if below is None else sums[1])
        out += sums[0][self._index]
        if below is not None:
            below += sums[1][self._index]

    def score_errors(self, sizes: Array, total: float) -> Array:
        """By how much scores of float32 kernel values may be off, as ``Gram.score_errors``."""
        return self.base.score_errors(sizes, total, self._index)

    def _on_base(self, rows: Array | slice, weights: Array) -> Array:
        """Weights for every row of the base: those of equal rows are added up."""
        added = np.zeros((self.base.n, *weights.shape[1:]))
        np.add.at(added, self._index[rows], weights)
        return added

    # --- what certificates ask ---------------------------------------------------------------------------------------

    def scores(self, beta: Array, exact: bool = False) -> tuple[Array, Array]:
        """f = K' beta, and a bound on the error of each value that comes from float32 kernel values."""
        scores, errors = self.base.scores(self._on_base(slice(None), beta), exact)
        return scores[self._index], errors[self._index]

    def exact_scores(self, beta: Array, rows: Array) -> Array:
        """(K' beta)_i in float64 for the given rows; beta may have several columns."""
        chosen, position = np.unique(self._index[rows], return_inverse=True)
        return self.base.exact_scores(self._on_base(slice(None), beta), chosen)[position]

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Estimated time of ``scores`` with this many nonzero multipliers and of some rows of ``exact_scores``."""
        return self.base.certificate_seconds(min(n_support, self.base.n), min(refreshed, self.base.n))

    def definiteness(self, prefer: Array) -> Definiteness:
        """Of the base, whose definiteness the view inherits."""
        return self.base.definiteness(np.unique(self._index[prefer]))

    def smallest_eigenvalue(self) -> float:
        """A bound from below, which holds with equality where the view has every row of the base equally often.

        |E'b|^2 is at most |b|^2 times the largest number of repetitions; a matrix with repeated rows is singular.
        """
        smallest = self.base.smallest_eigenvalue()
        return smallest if self._most <= 1 else min(0.0, self._most * smallest)


def _distinct(values: Array) -> tuple[Array, Array, Array]:
    """Each value once, in the order of its first place; these places; and for every value where it went."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return values[first[order]], first[order], rank[inverse]
