"""Rows that occur more than once.

A row of weight 2 and two rows of weight 1 are the same problem, so equal rows of one class are solved as one row with
the sum of their costs. Groups come in an order that depends on the content of the rows alone: the solver then takes the
same path for every order of the rows, which also fixes the answer of problems that have several (indefinite kernels).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.core import rows as storage
from maxmargin.core.jit import jit
from maxmargin.core.rows import Array, DenseRows, Rows, read_only, row_hash, rows_equal

WIDE = 1000  # features from which on rows are compared by their hashes
CHECKED_AT_ONCE = 1 << 20
SAMPLE = 2048  # rows, about, that tell whether many are equal
MOST_DIFFERENT = 0.9  # of them: below, all equal rows of a linear machine are merged


class EqualRows(NamedTuple):
    """``first``: one row of each group; ``group``: the group of each row; ``share``: its part of the group's weight."""

    first: Array
    group: Array
    share: Array


def all_different(n: int) -> EqualRows:
    """Every row for itself, in the given order."""
    return EqualRows(np.arange(n), np.arange(n), np.ones(n))


def find_equal(X: Any, labels: Array, weights: Array) -> EqualRows:
    """Groups of rows of ``X`` that are equal and have the same label, in an order given by their content.

    That is the order of their bytes. Wide rows would take long to sort and to copy, so they come in the order of their
    hashes (500 rows of 100,000 features: 7.5 s by bytes in memory that was not touched before).
    """
    if X.shape[1] > WIDE:
        first, group, hashes = groups(X, labels)
        return by_class(_grouped(first, group, weights), hashes[first])
    _, first, group = np.unique(_contents(X, labels), return_index=True, return_inverse=True)
    return _grouped(first, group, weights)


def find_equal_among_many(X: Any, labels: Array, weights: Array) -> EqualRows:
    """As ``find_equal``, in the order in which the groups occur: rows are compared only where their hashes agree."""
    return _grouped(*groups(X, labels)[:2], weights)


def many_are_equal(X: Any, targets: Array) -> bool:
    """Whether a sample of the rows has so many equal ones, with equal targets, that finding all of them pays.

    Of more rows a larger share is equal than of a sample: of w8a 15 % of the sample, 30 % of all rows.
    """
    some = np.arange(0, X.shape[0], max(1, X.shape[0] // SAMPLE))
    labels = np.unique(targets[some], return_inverse=True)[1]
    return len(groups(X[some], labels)[0]) < MOST_DIFFERENT * len(some)


def groups(X: Any, labels: Array) -> tuple[Array, Array, Array]:
    """The first row of each group of equal ones, the group of each row, and the hashes of the rows."""
    n = X.shape[0]
    rows = _bits(_canonical(X) if sparse.issparse(X) else X)
    hashes, first, group = np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(n, np.int64)
    hash_rows(rows, _multipliers(X.shape[1]), hashes)
    hashes ^= labels.astype(np.uint64) * _multipliers(1)[0]
    table = np.zeros(1 << (2 * n).bit_length(), np.int32 if n < 2**31 else np.int64)
    number = number_groups(rows, hashes, labels, table, first, group)
    return first[:number], group, hashes


def _grouped(first: Array, group: Array, weights: Array) -> EqualRows:
    total = np.bincount(group, weights=weights)
    return EqualRows(first, group, weights / total[group])


def by_class(equal: EqualRows, labels: Array) -> EqualRows:
    """The same groups, those of the first class first. ``labels``, or other keys to sort by, belong to the groups."""
    order = np.argsort(labels, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return EqualRows(equal.first[order], place[equal.group], equal.share)


def _multipliers(count: int) -> Array:
    """Odd numbers for sum_k bits_k m_k mod 2^64 (multilinear hashing); zeros add nothing, so sparse equals dense."""
    return np.random.default_rng(0).integers(0, 2**63, count, np.uint64) * np.uint64(2) + np.uint64(1)


def _bits(X: Any) -> Rows:
    """Rows with their numbers as unsigned integers; where there is a -0.0, adding zero makes it 0.0.

    Only then: a copy of w8a as a dense array is 60 MB of new memory (15 ms, and 50 to 300 in the first fit).
    """
    rows = storage.rows_of(X, X.dtype)
    values = rows.values if isinstance(rows, DenseRows) else rows.data
    unsigned = np.dtype(f"u{values.itemsize}")
    negative_zero = unsigned.type(1 << (8 * values.itemsize - 1))
    parts = np.array_split(values.view(unsigned), 1 + values.size // CHECKED_AT_ONCE)
    zeros = any((part == negative_zero).any() for part in parts)
    bits = (values + values.dtype.type(0) if zeros else values).view(unsigned)
    return read_only(DenseRows(bits) if isinstance(rows, DenseRows) else rows._replace(data=bits))


@jit()
def hash_rows(rows, multipliers, hashes):
    """hashes_i = sum_k folded bits_ik multipliers_k mod 2^64. Writes: hashes."""
    for i in range(len(hashes)):
        hashes[i] = row_hash(rows, i, multipliers)


@jit()
def number_groups(rows, hashes, labels, table, first, group):
    """Number groups of equal rows as they occur; how many there are. Writes: table, first, group.

    ``table`` is a hash table of zeros with open addressing, its size a power of two: group g is stored as g + 1.
    """
    number, last = 0, np.uint64(len(table) - 1)
    for i in range(len(hashes)):
        place = (hashes[i] ^ (hashes[i] >> np.uint64(32))) & last
        while True:
            g = table[place] - 1
            if g < 0:
                first[number], group[i] = i, number
                number += 1
                table[place] = number
                break
            one = first[g]
            if hashes[i] == hashes[one] and labels[i] == labels[one] and rows_equal(rows, i, one):
                group[i] = g
                break
            place = (place + np.uint64(1)) & last
    return number


def _canonical(X: Any) -> Any:
    """Sorted columns, no stored zeros."""
    if X.has_canonical_format and np.count_nonzero(X.data) == len(X.data):
        return X
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
