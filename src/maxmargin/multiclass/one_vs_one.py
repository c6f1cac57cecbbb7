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


def pair_decisions(partial: list[Array], n_classes: int) -> Array:
    """Decision values of all pairs from ``partial[c]`` = K(X, vectors of c) @ dual_coef[:, of c]', without biases."""
    columns = []
    for first, second in itertools.combinations(range(n_classes), 2):
        mine, theirs = slots(first, second)
        columns.append(partial[first][:, mine] + partial[second][:, theirs])
    return np.column_stack(columns)


def votes(decisions: Array, n_classes: int) -> Array:
    """Number of pairs won by each class."""
    won = np.zeros((len(decisions), n_classes))
    for column, (first, second) in enumerate(itertools.combinations(range(n_classes), 2)):
        for_first = decisions[:, column] > 0
        won[:, first] += for_first
        won[:, second] += ~for_first
    return won


def class_scores(decisions: Array, n_classes: int) -> Array:
    """One value per class whose order is that of the votes; equal votes are told apart by the summed decisions.

    The sum of decisions s is squeezed into (-1/3, 1/3) by s / (3 (|s| + 1)), as scikit-learn documents for
    decision_function_shape="ovr".
    """
    confidence = np.zeros((len(decisions), n_classes))
    for column, (first, second) in enumerate(itertools.combinations(range(n_classes), 2)):
        confidence[:, first] += decisions[:, column]
        confidence[:, second] -= decisions[:, column]
    return votes(decisions, n_classes) + confidence / (3.0 * (np.abs(confidence) + 1.0))
