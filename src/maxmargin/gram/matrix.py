"""The kernel matrix of the training rows, within a memory budget: what solvers and certificates ask of it.

Rows are computed when they are first needed (``computing``) and kept in a store (``store``) while the budget lasts
(``budget``); what does not fit is computed again (the least recently used goes first), or streamed in blocks that are
used and thrown away. A matrix of some of the rows (``part``) shares the points and, within each class, the values of
this one (``sharing``).
"""

from __future__ import annotations

import copy
from typing import Any
from weakref import WeakSet

import numpy as np

from maxmargin.core import limits
from maxmargin.core.pages import touch
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.gram import definiteness as mercer
from maxmargin.gram.budget import CHUNK_SHARE, Residence, base_budget, default_budget, plan, view_plan
from maxmargin.gram.computing import KernelValues, PairTiles, in_parts
from maxmargin.gram.loans import Loans
from maxmargin.gram.sharing import SharedBlocks
from maxmargin.gram.source import Source
from maxmargin.gram.store import SUM_ROWS, Keeping, RowCounters, RowStore, Sums
from maxmargin.gram.tiles import gather, gather_into, mirror
from maxmargin.gram.timing import Rate
from maxmargin.gram.view import View
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import Precomputed
from maxmargin.kernels.points import Points
from maxmargin.problems.definiteness import Definiteness

FLOAT64_FACTOR = 4.0  # the price of a float64 kernel value in float32 ones, for time limits: rather too high
PICK_NS = 3.0  # picking single values from stored rows takes about this long: cheaper ones are computed again
CHEAP_NS = 1.0  # rows of cheaper values are stored when they are asked for again
EXPENSIVE_NS = 3.0  # float32 rows of cheaper values are stored when computing them again has cost as much
SUM_SECONDS = 3e-10  # of adding a stored value to a sum, until it is measured


class Gram:
    """K_ij = kernel(x_i, x_j), computed in tiles on ``n_jobs`` threads and held within ``budget`` bytes.

    Kernel values are float32 where there are many rows and their relative error stays well below ``accuracy``;
    otherwise, and always with ``accuracy=0``, float64.
    """

    def __init__(
        self, kernel: Kernel, X: Any, accuracy: float = 0.0, budget: int | None = None, n_jobs: int = 1
    ) -> None:
        budget = default_budget() if budget is None else budget
        square: int = 8 * X.shape[0] ** 2
        if kernel.of_objects and X.shape[0] <= mercer.ALL_ROWS and 2 * square <= budget:
            # All values will be wanted, for the test of definiteness if for nothing else; each call may take long.
            points = kernel.prepare(X)
            kernel, X = Precomputed(), kernel.block(points, points)
            budget -= square
        source = Source(kernel, X, accuracy, budget)
        # The points, and as much again for the rows they were made of where equal ones were merged, are memory too.
        budget = max(budget // 2, budget - 2 * source.nbytes)
        self._set(KernelValues(source, [slice(0, len(source.points))], n_jobs), budget, None)

    def _set(self, values: KernelValues, budget: int, shared: SharedBlocks | None) -> None:
        """Sets: every attribute."""
        self._values, self.budget, self._shared = values, budget, shared
        self.kernel, self.dtype = values.kernel, values.dtype
        self.diagonal = values.source.diagonal[values.index]
        self._plan = plan(values.n, self.dtype.itemsize, budget, picked=self.kernel.of_objects)
        self.residence, self.capacity, self.working_rows = self._plan
        self._loans = Loans()
        self._views: WeakSet[View] = WeakSet()
        self._store: RowStore | None = None
        self._tiles: PairTiles | None = None
        self._sum_rate = Rate(SUM_SECONDS, unknown=self.kernel.of_objects)
        self._definite: Definiteness | None = None
        self.hesitant = True  # whether only those rows are stored that this solve is likely to ask for again

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._values.n

    @property
    def n_jobs(self) -> int:
        """Threads that compute."""
        return self._values.n_jobs

    @n_jobs.setter
    def n_jobs(self, n_jobs: int) -> None:
        self._values.n_jobs = n_jobs

    @property
    def values_computed(self) -> int:
        """Kernel values computed since this was last set to zero."""
        return self._values.count

    @values_computed.setter
    def values_computed(self, count: int) -> None:
        self._values.count = count

    @property
    def values(self) -> KernelValues:
        """What computes."""
        return self._values

    @property
    def points(self) -> Points:
        """The points of all segments, in the precision of the tiles."""
        return self._values.source.points

    @property
    def complete(self) -> bool:
        """Whether all of K is stored."""
        return self._store is not None and self._store.complete

    @property
    def counters(self) -> RowCounters:
        """What the row store did."""
        return self._store.counters if self._store else RowCounters(0, 0, 0)

    @property
    def float64_error(self) -> float:
        """A bound on the relative error of float64 values, beyond that of usual arithmetic."""
        return self._values.source.float64_error

    @property
    def value_ns(self) -> float:
        """About how many nanoseconds a kernel value takes on one thread."""
        return self._values.source.value_ns

    # --- other matrices of the same points ---------------------------------------------------------------------------

    def part(self, segments: list[slice], budget: int, shared: SharedBlocks | None = None) -> Gram:
        """The matrix of the rows in ``segments``; values among the rows of one segment are shared by all parts."""
        some = Gram.__new__(Gram)
        some._set(KernelValues(self._values.source, segments, self.n_jobs), budget, shared)
        return some

    def beside(self) -> Gram:
        """The same matrix for another thread: it reads these rows, all of them stored, and has memory of its own."""
        other = copy.copy(self)
        other._loans, other._values, other._sum_rate = Loans(), self._values.alone(), copy.copy(self._sum_rate)
        other._views, other._tiles = WeakSet(), None
        return other

    def view(self, index: Array) -> View:
        """K[index][:, index], where ``index`` may repeat rows: each of them is computed and stored once.

        Working sets of the view have their place in the budget: where the rows of this matrix would fill it, the view
        stands on a matrix of its own that stores fewer. Kernel values count here, and the memory of views is given back
        with that of this matrix.
        """
        base, index, size = self, np.asarray(index, np.int64), self.dtype.itemsize
        allowed = base_budget(len(index), self._plan, self.n, size, self.budget)
        if allowed < self.budget:
            if self._store is not None:  # what the test of definiteness stored would be beside the budget
                values, self._store = self._store.values, None
                self.give_back(values)
            base = Gram.__new__(Gram)
            base._set(self._values, allowed, self._shared)
            base._definite = self._definite
        made = View(base, index, view_plan(len(index), base._plan, base.n, size, self.budget))
        self._views.add(made)
        return made

    # --- memory ------------------------------------------------------------------------------------------------------

    def borrow(self, shape: tuple[int, int], room: int = 0) -> Array:
        """Working memory for kernel values, the beginning of memory for ``room`` of them."""
        return self._loans.take(shape, self.dtype, room)

    def give_back(self, array: Array) -> None:
        """End of use of memory from ``borrow``."""
        self._loans.give_back(array)

    def tidy(self) -> None:
        """Give working sets, tiles and all that views have back to the pool; the stored rows stay."""
        self._tiles = None
        for view in self._views:
            view.forget()
            if view.base is not self:
                view.base.release()
        self._loans.give_back_all(but=self._store.values if self._store else None)

    def release(self) -> None:
        """Give all memory back to the pool; rows asked for later are computed again."""
        self._store = None
        self.tidy()

    def _rows(self) -> RowStore:
        if self._store is None:
            self._store = RowStore(self.borrow((self.capacity, self.n)))
        return self._store

    # --- what solvers ask --------------------------------------------------------------------------------------------

    def whole(self) -> Array:
        """All of K; the store itself, so do not write. Only where it fits the budget."""
        store = self._rows()
        if not store.complete:
            store.clear()
            touch(store.values[: self.n], self.n_jobs)
            if self._shared is None or not self._shared.fill_whole(store.values, self._values, self.part):
                self._values.fill_square(store.values, slice(None))
            store.hold_all()
        return store.values

    def submatrix(self, rows: Array, older: Array | None = None, places: Array = NO_ROWS, up_to: int = 0) -> Array:
        """K among ``rows``, in borrowed memory. ``up_to`` is how many rows the next of such matrices may have.

        Where the first rows are at ``places`` in ``older``, a matrix of other rows, their values are copied from there;
        those between them and the others come from the row store where it has them.
        """
        known, n = len(places), len(rows)
        K = self.borrow((n, n), up_to**2)
        touch(K, self.n_jobs)
        if self.kernel.of_objects and self.capacity:  # the user's function is expensive: call it for whole rows, once
            gather(self._rows().values, self.stored(rows), rows, K, 0, n)
            return K
        if self._store is not None and self._store.complete and self.value_ns > PICK_NS:
            values = self._store.values
            in_parts(lambda a, b: gather(values, rows, rows, K, a, b), n, self.n_jobs)
            return K
        if older is not None and known:
            in_parts(lambda a, b: gather(older, places, places, K, a, b), known, self.n_jobs)
        if known and self._store is not None and self.value_ns > PICK_NS:
            self._fill_between(K, rows, known)
            self._values.fill_square(K, rows, known)
        else:
            self._values.fill_square(K, rows, known, border=True)
        return K

    def rearranged(self, K: Array, order: Array) -> Array:
        """K[order][:, order] of a matrix K, in borrowed memory; ``order`` may repeat rows."""
        out = self.borrow((len(order), len(order)))
        in_parts(lambda a, b: gather(K, order, order, out, a, b), len(order), self.n_jobs)
        return out

    def _fill_between(self, K: Array, rows: Array, known: int) -> None:
        """K between the first ``known`` rows and the others, both ways, from stored rows where there are. Writes: K."""
        n, others, slots = len(rows), rows[known:], self._rows().slot_of[rows[:known]]
        held, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(held):
            values, found = self._rows().values, slots[held]
            in_parts(lambda a, b: gather_into(values, found, others, K, held, known, a, b), len(held), self.n_jobs)
        if len(missing):
            self._values.fill_block(rows[missing], others, K, missing, known)
        in_parts(lambda a, b: mirror(K, a, b, known, n), known, self.n_jobs)

    @property
    def stored_values(self) -> Array:
        """The memory of the row store, one row per slot."""
        return self._rows().values

    def stored(self, rows: Array) -> Array:
        """Slots of ``rows`` in the store, computing those that are missing."""
        store = self._rows()
        missing = store.missing(rows)
        if len(missing):
            self._store_rows(missing)
        return store.slot_of[rows]

    def _store_rows(self, rows: Array) -> Array:
        """Compute rows into the store; their slots."""
        store = self._rows()
        slots = store.claim(rows, self.n_jobs)
        if self._shared is None:
            self._values.fill_rows(rows, store.values, slots)
        else:
            self._shared.fill_rows(rows, store.values, slots, self._values, self.part)
        store.publish(rows, slots)
        return slots

    def accumulate(
        self, rows: Array, weights: Array, out: Array, keep: Array | bool = True, below: Array | None = None
    ) -> None:
        """out += K[:, rows] @ weights in float64; with ``below`` negative weights add to that. Writes: out, below.

        ``keep`` says, for all rows or each, whether it is likely to be wanted again: then it is stored where that pays.
        """
        sums = Sums(out, below)
        if not self.capacity:
            self._values.add_rows(rows, weights, sums)
            return
        store = self._rows()
        held = store.slot_of[rows] >= 0
        if held.any():
            self._add_stored(store.slot_of[rows[held]], weights[held], sums)
        if keep is False:
            self._values.add_rows(rows[~held], weights[~held], sums)
            return
        missing, rest, wanted = store.missing(rows), weights[~held], np.broadcast_to(keep, rows.shape)[~held]
        wanted = wanted | (self._shared is not None)  # other pairs of classes will want them
        pays = np.flatnonzero(store.worth_storing(missing, wanted, self._keeping, self.value_ns))
        pays = pays[: max(0, store.allowed - int(np.count_nonzero(held)))]
        if self._shared is not None and len(pays):
            self._add_stored(self._store_rows(missing[pays]), rest[pays], sums)
            missing, rest, pays = np.delete(missing, pays), np.delete(rest, pays), NO_ROWS
        slots = np.full(len(missing), -1) if len(pays) else NO_ROWS
        slots[pays] = store.claim(missing[pays], self.n_jobs, store.allowed)
        self._values.add_rows(missing, rest, sums, store.values, slots)
        store.publish(missing[pays], slots[pays])

    @property
    def _keeping(self) -> Keeping:
        """When rows are stored. Memory costs more than cheap values, but pairs share rows, and proofs of float64 do."""
        if not self.hesitant:
            return Keeping.ALL
        if self.value_ns < EXPENSIVE_NS and self.dtype == np.float32 and self._shared is None:
            return Keeping.RENTED
        return Keeping.ASKED_AGAIN if self.value_ns <= CHEAP_NS else Keeping.WANTED

    def _add_stored(self, slots: Array, weights: Array, sums: Sums) -> None:
        begun = limits.now()
        self._rows().add(slots, weights, sums, self.n_jobs)
        self._sum_rate.learn(begun, len(slots) * self.n)

    def accumulate_many(self, rows: Array, weights: Array, out: Array) -> None:
        """out += K[:, rows] @ weights for several columns, by BLAS; rows are kept where possible. Writes: out."""
        some = weights.astype(self.dtype)
        for begin in range(0, len(rows), SUM_ROWS):
            group = slice(begin, begin + SUM_ROWS)
            if len(rows[group]) > self.capacity:
                self._values.add_many(rows[group], some[group], out)
            else:
                self._rows().add_many(self.stored(rows[group]), some[group], out, self.n_jobs)

    def pair_tiles(self) -> PairTiles:
        """The upper half of K for products, as much of it as the budget holds beside working memory."""
        if self._tiles is None:
            self._tiles = PairTiles(self._values, self.budget - self.budget // CHUNK_SHARE)
            self._tiles.keep_in(self.borrow((1, self._tiles.size)))
        return self._tiles

    def product(self, V: Array, exact: bool = False) -> Array:
        """K V for several columns, summed in float64; with ``exact`` also its kernel values are float64."""
        tiles = PairTiles(self._values, exact=True) if exact and self.dtype != np.float64 else self.pair_tiles()
        out = np.zeros(V.shape)
        tiles.add_product(V, out)
        return out

    # --- what certificates ask ---------------------------------------------------------------------------------------

    def scores(self, beta: Array, exact: bool = False) -> tuple[Array, Array]:
        """f = K beta, and a bound on the error of each value that comes from float32 kernel values."""
        support = np.flatnonzero(beta)
        if exact and self.dtype != np.float64:
            return self.exact_scores(beta, np.arange(self.n)), np.zeros(self.n)
        # Kernels with float32 tiles are nonnegative, so sum_j |beta_j| K_ij bounds what the relative error can do.
        above, below = np.zeros((2, self.n))
        self.accumulate(support, beta[support], above, keep=False, below=below)
        if self.dtype == np.float64:
            return above + below, np.zeros(self.n)
        return above + below, self.score_errors(above - below, float(np.abs(beta).sum()))

    def score_errors(self, sizes: Array, total: float, index: Any = slice(None)) -> Array:
        """By how much scores (of the rows in ``index``) of float32 kernel values may be off; see ``Source``."""
        return self._values.source.score_errors(self._values.index[index], sizes, total)

    def many_scores(self, B: Array, exact: bool = False) -> Array:
        """F = K B for several columns of multipliers; with ``exact`` in float64 whatever the type of the tiles."""
        if exact and self.dtype != np.float64:
            return self.exact_scores(B, np.arange(self.n))
        scores, support = np.zeros(B.shape), np.flatnonzero(B.any(axis=1))
        self.accumulate_many(support, B[support], scores)
        return scores

    def exact_scores(self, beta: Array, rows: Array) -> Array:
        """(K beta)_i in float64 for the given rows, from the data themselves; beta may have several columns."""
        return self._values.exact_scores(beta, rows)

    def certificate_seconds(self, n_support: int, refreshed: int) -> float:
        """Estimated time of ``scores`` with this many nonzero multipliers and of some rows of ``exact_scores``."""
        missing = max(0, n_support - (self._store.held if self._store else 0))
        value, sum_ = self._values.rate.seconds, self._sum_rate.seconds
        seconds = self.n * (missing * value + (n_support - missing) * sum_)
        if self.dtype == np.float64:
            return seconds
        return seconds + FLOAT64_FACTOR * refreshed * n_support * value

    def definiteness(self, prefer: Array) -> Definiteness:
        """Whether K is positive semidefinite: known for the kernel, else tested, on a sample if there are many rows."""
        if self.kernel.definite:
            return Definiteness(True)
        if self._definite is None:
            self._definite = mercer.definiteness_of(self._exact_sample(prefer), self.n)
        return self._definite

    def smallest_eigenvalue(self) -> float:
        """Of K; estimated from a sample where there are many rows."""
        return mercer.smallest_eigenvalue(self._exact_sample(NO_ROWS), self.n)

    def _exact_sample(self, prefer: Array) -> Array:
        """K among all rows or a sample of them, in float64."""
        rows = mercer.sample(self.n, prefer)
        if self.dtype == np.float64 and len(rows) == self.n and self.residence is Residence.WHOLE:
            limits.checkpoint()
            return self.whole()  # the solver will want the same values
        return self._values.exact_square(rows)
