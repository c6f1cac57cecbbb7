"""Machines for two classes that make one for ten (note 002): what each of them gets wrong."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC


def trainer(machines: list[LinearSVC]) -> Any:
    """A way to train that keeps the machines in ``machines``."""

    def train(X: Array, signs: Array) -> Any:
        machines.append(LinearSVC(loss="hinge", C=1.0).fit(X, signs))
        return machines[-1].decision_function

    return train


def of(y: Array) -> Array:
    """The four bits of each label, a row per bit."""
    return np.array([(y >> bit & 1) == 1 for bit in range(4)])


def errors_of_machines(name: str, signs: Array, y: Array) -> Array:
    """Share of the examples that concern a machine which it gets wrong."""
    if name == "one versus one":
        pairs = list(combinations(range(10), 2))
        return np.array(
            [np.mean((said != (y == p))[(y == p) | (y == q)]) for said, (p, q) in zip(signs, pairs, strict=True)]
        )
    truth = of(y) if name == "bits" else y == np.arange(10)[:, None]
    return np.mean(signs != truth, axis=1)


def tied_votes(signs: Array) -> int:
    """Examples for which two classes share the most votes."""
    votes = np.zeros((10, signs.shape[1]))
    for said, (p, q) in zip(signs, combinations(range(10), 2), strict=True):
        votes[p] += said
        votes[q] += ~said
    return int(np.sum((votes == votes.max(axis=0)).sum(axis=0) > 1))
