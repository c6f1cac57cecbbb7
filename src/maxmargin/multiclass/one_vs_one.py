"""One versus one: a machine for every pair of classes, and a vote.

Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...; a decision value of pair (i, j) above zero is a vote for i,
otherwise for j. Ties in the vote go to the lowest class index. Coefficients are laid out as in LIBSVM: the support
vectors are grouped by class, and column s of ``dual_coef`` (k - 1 rows) holds the coefficients of support vector s of
class c in its k - 1 machines, against the other classes in order.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from maxmargin.core.jit import kernel
from maxmargin.core.rows import Array


class Task(NamedTuple):
    """Two classes: the rows that belong to either, and +1 for ``second``, -1 for ``first``."""

    first: int
    second: int
    rows: Array
    signs: Array


def tasks(labels: Array, n_classes: int) -> list[Task]:
    """All pairs of classes. ``labels`` are class indices."""
    made = []
    for first, second in itertools.combinations(range(n_classes), 2):
        rows = np.flatnonzero((labels == first) | (labels == second))
        made.append(Task(first, second, rows, np.where(labels[rows] == second, 1.0, -1.0)))
    return made


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


def direction(n_classes: int) -> float:
    """Two classes: a positive decision is ``second`` (scikit-learn's classes_[1]). More: it is ``first``."""
    return 1.0 if n_classes == 2 else -1.0


def join(tasks: list[Task], betas: list[Array], n: int, n_classes: int) -> Array:
    """The multipliers of every pair in one matrix, ``dual_coef`` of all n rows."""
    coef = np.zeros((n_classes - 1, n))
    for task, beta in zip(tasks, betas, strict=True):
        coef[np.where(task.signs < 0, *slots(task.first, task.second)), task.rows] = direction(n_classes) * beta
    return coef


def split(coef: Array, tasks: list[Task], n_classes: int) -> list[Array]:
    """The multipliers of each pair: the inverse of ``join``."""
    return [
        direction(n_classes) * coef[np.where(task.signs < 0, *slots(task.first, task.second)), task.rows]
        for task in tasks
    ]


def pair_decisions(sums: Array, biases: Array) -> Array:
    """Decision values (rows, pairs) from ``sums[c]`` = dual_coef[:, of c] @ K(vectors of c, X)."""
    decisions = np.empty((sums.shape[2], len(biases)))
    _decide(sums, biases, decisions)
    return decisions


@kernel()
def _decide(sums, biases, out):
    """Pair (a, b) reads row b - 1 of a's coefficients and row a of b's (see ``slots``). Writes: out."""
    for i in range(out.shape[0]):
        pair = 0
        for a in range(sums.shape[0]):
            for b in range(a + 1, sums.shape[0]):
                out[i, pair] = sums[a, b - 1, i] + sums[b, a, i] + biases[pair]
                pair += 1


@kernel()
def votes(decisions, n_classes):
    """Number of pairs won by each class."""
    won = np.zeros((len(decisions), n_classes))
    for i in range(len(decisions)):
        pair = 0
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                won[i, a if decisions[i, pair] > 0 else b] += 1.0
                pair += 1
    return won


def class_scores(decisions: Array, n_classes: int) -> Array:
    """One value per class whose order is that of the votes; equal votes are told apart by the summed decisions.

    The sum of decisions s is squeezed into (-1/3, 1/3) by s / (3 (|s| + 1)), as scikit-learn documents for
    decision_function_shape="ovr".
    """
    confidence = _confidence(decisions, n_classes)
    return votes(decisions, n_classes) + confidence / (3.0 * (np.abs(confidence) + 1.0))


@kernel()
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
