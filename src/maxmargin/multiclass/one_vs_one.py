"""One versus one: a machine for every pair of classes, and a vote.

Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...; a decision value of pair (i, j) above zero is a vote for i,
otherwise for j. Ties in the vote go to the lowest class index. Coefficients are laid out as in LIBSVM: the support
vectors are grouped by class, and column s of ``dual_coef`` (k - 1 rows) holds the coefficients of support vector s of
class c in its k - 1 machines, against the other classes in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from maxmargin.calibration import coupled
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.multiclass.reduction import Task, sides, squeezed


class OneVsOne:
    """A task for every pair of classes on the rows of the two. Positive is the first; of two classes the second."""

    unit = "pairs of classes"

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.pairs = list(itertools.combinations(range(n_classes), 2))

    def tasks(self, labels: Array) -> Sequence[Task]:
        """All pairs, each on its own rows."""
        if self.n_classes == 2:  # a positive decision is classes_[1] everywhere in scikit-learn
            return [Task(None, sides(labels, np.array([False, True])), "pair 1/1")]
        return PairTasks(labels, self.pairs, self.n_classes)

    def scores(self, decisions: Array) -> Array:
        """Votes; equal ones are told apart by the summed decisions."""
        if self.n_classes == 2:
            return np.column_stack([-np.ravel(decisions), np.ravel(decisions)])
        return class_scores(decisions, self.n_classes)

    def winners(self, decisions: Array) -> Array:
        """Most votes; of equal ones the larger summed decisions, then the lowest class index."""
        if self.n_classes == 2:
            return (decisions.ravel() >= 0).astype(np.intp)
        return np.argmax(self.scores(decisions), axis=1)

    def leads(self, decisions: Array) -> Array:
        """The smallest decision of its pairs in favour of each class."""
        if self.n_classes == 2:
            return self.scores(decisions)
        leads = np.full((len(decisions), self.n_classes), np.inf)
        for number, (first, second) in enumerate(self.pairs):
            leads[:, first] = np.minimum(leads[:, first], decisions[:, number])
            leads[:, second] = np.minimum(leads[:, second], -decisions[:, number])
        return leads

    def probabilities(self, shares: Array) -> Array:
        """Those of the pairs, coupled."""
        if self.n_classes == 2:
            return np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
        return coupled(shares, self.n_classes)


class PairTasks(Sequence[Task]):
    """The tasks of all pairs, made when they are asked for: of 200 classes there are 19,900."""

    def __init__(self, labels: Array, pairs: list[tuple[int, int]], n_classes: int) -> None:
        self._labels, self._pairs = labels, pairs
        order = np.argsort(labels, kind="stable")
        self._rows = np.split(order, np.searchsorted(labels[order], np.arange(1, n_classes)))

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, number: Any) -> Any:
        first, second = self._pairs[number]
        rows = np.sort(np.concatenate((self._rows[first], self._rows[second])))
        signs = partial(_signs, self._labels, rows, first)
        return Task(rows, signs, f"pair {range(len(self))[number] + 1}/{len(self)}")


def _signs(labels: Array, rows: Array, first: int) -> Array:
    return np.where(labels[rows] == first, 1.0, -1.0)


def rounds(n_classes: int) -> list[int]:
    """An order of all pairs in which neighbours mostly share no class: the rounds of a tournament (circle method)."""
    number = {pair: k for k, pair in enumerate(itertools.combinations(range(n_classes), 2))}
    seats = list(range(n_classes + n_classes % 2))  # with an odd number of classes one rests
    order = []
    for _ in range(len(seats) - 1):
        for a, b in zip(seats[: len(seats) // 2], reversed(seats), strict=False):
            if max(a, b) < n_classes:
                order.append(number[min(a, b), max(a, b)])
        seats[1:] = [seats[-1], *seats[1:-1]]
    return order


def slots(first: int, second: int) -> tuple[int, int]:
    """Rows of ``dual_coef`` where pair (first, second) keeps the coefficients of first's and of second's vectors."""
    return second - 1, first


def put(beta: Array, pair: tuple[int, int], edges: Array, coef: Array) -> None:
    """Enter the multipliers of a pair; class c has the rows from ``edges_c`` to ``edges_c+1``. Writes: coef."""
    (a, b), (first, second) = pair, slots(*pair)
    middle = edges[a + 1] - edges[a]
    coef[first, edges[a] : edges[a + 1]], coef[second, edges[b] : edges[b + 1]] = beta[:middle], beta[middle:]


def join(betas: Iterable[Array], edges: Array) -> Array:
    """The multipliers of every pair in one matrix, ``dual_coef`` of all rows."""
    coef = np.zeros((len(edges) - 2, edges[-1]))
    for pair, beta in zip(itertools.combinations(range(len(edges) - 1), 2), betas, strict=True):
        put(beta, pair, edges, coef)
    return coef


def split(coef: Array, edges: Array) -> list[Array]:
    """The multipliers of each pair: the inverse of ``join``."""
    return [
        np.concatenate((coef[b - 1, edges[a] : edges[a + 1]], coef[a, edges[b] : edges[b + 1]]))
        for a, b in itertools.combinations(range(len(edges) - 1), 2)
    ]


def pair_weights(coef: Any, X: Any, edges: Array) -> Array:
    """sum_i beta_i x_i of every pair, from all coefficients and the rows that they belong to."""
    sums = [np.asarray(coef[:, a:b] @ X[a:b]) for a, b in itertools.pairwise(edges)]
    return np.stack([sums[a][b - 1] + sums[b][a] for a, b in itertools.combinations(range(len(sums)), 2)])


def pair_decisions(sums: Array, biases: Array) -> Array:
    """Decision values (rows, pairs) from ``sums[c]`` = dual_coef[:, of c] @ K(vectors of c, X)."""
    decisions = np.empty((sums.shape[2], len(biases)))
    _decide(sums, biases, decisions)
    return decisions


@jit()
def _decide(sums, biases, out):
    """Pair (a, b) reads row b - 1 of a's coefficients and row a of b's (see ``slots``). Writes: out.

    Some rows at a time: what is read lies apart by pairs, what is written by rows, and both stay in the cache.
    """
    for first in range(0, out.shape[0], 16):
        last, pair = min(first + 16, out.shape[0]), 0
        for a in range(sums.shape[0]):
            for b in range(a + 1, sums.shape[0]):
                for i in range(first, last):
                    out[i, pair] = sums[a, b - 1, i] + sums[b, a, i] + biases[pair]
                pair += 1


@jit()
def votes(decisions, n_classes, zero_is_first=False):
    """Number of pairs won by each class; a decision of zero is for the second one, or for the first."""
    won = np.zeros((len(decisions), n_classes))
    for i in range(len(decisions)):
        pair = 0
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                first = decisions[i, pair] > 0 or (zero_is_first and decisions[i, pair] == 0)
                won[i, a if first else b] += 1.0
                pair += 1
    return won


def class_scores(decisions: Array, n_classes: int) -> Array:
    """One value per class whose order is that of the votes; equal votes are told apart by the summed decisions.

    The sum of decisions s is squeezed into (-1/3, 1/3) by s / (3 (|s| + 1)), as scikit-learn documents for
    decision_function_shape="ovr"; there a decision of zero is a vote for the first class.
    """
    confidence = _confidence(decisions, n_classes)
    return votes(decisions, n_classes, True) + squeezed(confidence)


@jit()
def _confidence(decisions, n_classes):
    """Sum of the decisions for each class minus those against it."""
    total = np.zeros((len(decisions), n_classes))
    for i in range(len(decisions)):
        pair = 0
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                total[i, a] += decisions[i, pair]
                total[i, b] -= decisions[i, pair]
                pair += 1
    return total
