"""Rows that occur more than once.

A row of weight 2 and two rows of weight 1 are the same problem, so equal rows of one class are solved as one row with
the sum of their costs. Groups come in an order that depends on the content of the rows alone: the solver then takes the
same path for every order of the rows, which also fixes the answer of problems that have several (indefinite kernels).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.rows import Array


class Twins(NamedTuple):
    """``first``: one row of each group; ``group``: the group of each row; ``share``: its part of the group's weight."""

    first: Array
    group: Array
    share: Array


def no_twins(n: int) -> Twins:
    """Every row for itself, in the given order."""
    return Twins(np.arange(n), np.arange(n), np.ones(n))


def find_twins(X: Any, labels: Array, weights: Array) -> Twins:
    """Groups of rows of ``X`` that are equal and have the same label."""
    keys = [f"{label:08d}".encode() + content for label, content in zip(labels, _contents(X), strict=True)]
    ordered = {key: position for position, key in enumerate(sorted(set(keys)))}
    group = np.array([ordered[key] for key in keys])
    first = np.full(len(ordered), -1)
    first[group[::-1]] = np.arange(len(keys))[::-1]
    total = np.bincount(group, weights=weights)
    return Twins(first, group, weights / total[group])


def _contents(X: Any) -> list[bytes]:
    """Each row as bytes; adding 0.0 makes -0.0 and 0.0 the same."""
    if sparse.issparse(X):
        X = X.copy()
        X.eliminate_zeros()
        X.sort_indices()
        edges = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
        return [X.indices[a:b].tobytes() + X.data[a:b].astype(np.float64).tobytes() for a, b in edges]
    return [row.tobytes() for row in np.asarray(X, np.float64) + 0.0]
