"""Rows that occur more than once.

A row of weight 2 and two rows of weight 1 are the same problem, so equal rows of one class are solved as one row with
the sum of their costs. Groups come in an order that depends on the content of the rows alone: the solver then takes the
same path for every order of the rows, which also fixes the answer of problems that have several (indefinite kernels).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core.jit import kernel
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
    """Groups of rows of ``X`` that are equal and have the same label, in an order given by their content."""
    _, first, group = np.unique(_contents(X, labels), return_index=True, return_inverse=True)
    return _grouped(first, group, weights)


def find_twins_among_many(X: Any, labels: Array, weights: Array) -> Twins:
    """As ``find_twins``, in the order in which the groups occur: rows are compared only where their hashes agree."""
    if sparse.issparse(X):
        X = _canonical(X)
        bits, like = _bits(X.data), _alike_sparse
        hashes = np.empty(X.shape[0], np.uint64)
        hash_sparse(bits, X.indices, X.indptr, _multipliers(X.shape[1]), hashes)
        parts = (bits, X.indices, X.indptr)
    else:
        bits, like = _bits(X), _alike_dense
        hashes = np.empty(len(X), np.uint64)
        hash_dense(bits, _multipliers(X.shape[1]), hashes)
        parts = (bits,)
    hashes ^= labels.astype(np.uint64) * _multipliers(1)[0]
    order = np.argsort(hashes, kind="stable")
    leader = np.empty(len(order), np.int64)
    like(order, hashes, labels, *parts, leader)
    first, group = np.unique(leader, return_inverse=True)
    return _grouped(first, group, weights)


def _grouped(first: Array, group: Array, weights: Array) -> Twins:
    total = np.bincount(group, weights=weights)
    return Twins(first, group, weights / total[group])


def by_class(twins: Twins, labels: Array) -> Twins:
    """The same groups, those of the first class first. ``labels`` belong to the groups."""
    order = np.argsort(labels, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Twins(twins.first[order], place[twins.group], twins.share)


def _multipliers(count: int) -> Array:
    """Odd numbers for sum_k bits_k m_k mod 2^64 (multilinear hashing); zeros add nothing, so sparse equals dense."""
    return np.random.default_rng(0).integers(0, 2**63, count, np.uint64) * np.uint64(2) + np.uint64(1)


def _bits(values: Array) -> Array:
    """The numbers as unsigned integers; adding zero makes -0.0 and 0.0 the same."""
    plain = np.ascontiguousarray(values) + values.dtype.type(0)
    return plain.view(np.uint32 if plain.itemsize == 4 else np.uint64)


@kernel()
def folded(bits):
    """The upper half laid over the lower one: round numbers in float64 have nothing but zeros there."""
    return bits ^ (bits >> np.uint64(32))


@kernel()
def hash_dense(bits, multipliers, hashes):
    """hashes_i = sum_k folded(bits_ik) multipliers_k mod 2^64. Writes: hashes."""
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for k in range(bits.shape[1]):
            total += folded(np.uint64(bits[i, k])) * multipliers[k]
        hashes[i] = total


@kernel()
def hash_sparse(bits, indices, indptr, multipliers, hashes):
    """As ``hash_dense`` for the rows of a CSR matrix. Writes: hashes."""
    for i in range(len(hashes)):
        total = np.uint64(0)
        for k in range(indptr[i], indptr[i + 1]):
            total += folded(np.uint64(bits[k])) * multipliers[indices[k]]
        hashes[i] = total


@kernel()
def _alike_dense(order, hashes, labels, bits, leader):
    """leader_i = the first row that equals row i; rows come in ``order`` of their hashes. Writes: leader."""
    begin = 0
    for place in range(len(order)):
        i = order[place]
        if hashes[i] != hashes[order[begin]]:
            begin = place
        one = order[begin]
        same = labels[i] == labels[one]
        k = 0
        while same and k < bits.shape[1]:
            same = bits[i, k] == bits[one, k]
            k += 1
        leader[i] = one if same else i  # a collision: the row stays for itself


@kernel()
def _alike_sparse(order, hashes, labels, bits, indices, indptr, leader):
    """As ``_alike_dense`` for the rows of a CSR matrix in canonical form. Writes: leader."""
    begin = 0
    for place in range(len(order)):
        i = order[place]
        if hashes[i] != hashes[order[begin]]:
            begin = place
        one = order[begin]
        same = labels[i] == labels[one] and indptr[i + 1] - indptr[i] == indptr[one + 1] - indptr[one]
        a, b = indptr[i], indptr[one]
        while same and a < indptr[i + 1]:
            same = bits[a] == bits[b] and indices[a] == indices[b]
            a += 1
            b += 1
        leader[i] = one if same else i


def _canonical(X: Any) -> Any:
    """Sorted columns, no stored zeros."""
    X = X.copy()
    X.eliminate_zeros()
    X.sort_indices()
    return X


def _contents(X: Any, labels: Array) -> Array:
    """Label and row as one sequence of bytes each; adding 0.0 makes -0.0 and 0.0 the same."""
    if sparse.issparse(X):
        X = _canonical(X)
        edges = zip(labels, X.indptr[:-1], X.indptr[1:], strict=True)
        rows = [
            label.tobytes() + X.indices[a:b].tobytes() + X.data[a:b].astype(np.float64).tobytes()
            for label, a, b in edges
        ]
        return np.array([row.hex() for row in rows])  # text: arrays of bytes would drop zeros at the end
    whole = np.column_stack([labels.astype(np.float64), np.asarray(X, np.float64) + 0.0])
    return np.ascontiguousarray(whole).view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel()
