"""Pairs of small classes, many of them in one compiled call: the rows of a class come one after the other.

A pair of classes is the box QP of its rows with one free bias. Its matrix is put together from the values between the
two classes, which are in a tile, and those within each of them, which all its pairs share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.jit import jit
from maxmargin.core.rows import Array
from maxmargin.core.vectors import joined, put
from maxmargin.losses.box import Box
from maxmargin.solvers.small.box import Outcome, Values, solve_whole


class Sides(NamedTuple):
    """The box of each row where its class is the first of a pair, and where it is the second."""

    first: Box
    second: Box


class Classes(NamedTuple):
    """Class c has the rows from ``edges_c`` to ``edges_c+1``; ``diagonal`` holds K_ii.

    Kernel values ``within`` each class are one matrix after the other, that of class c from ``places_c`` on.
    """

    edges: Array
    diagonal: Array
    sides: Sides
    within: Array
    places: Array


class Span(NamedTuple):
    """Classes from ``begin`` on, up to the one before ``end``."""

    begin: int
    end: int


class Found(NamedTuple):
    """What becomes of the pairs: coefficients as in ``multiclass.one_vs_one``, and for each pair a row of ``numbers``.

    Those are the fields of its ``Outcome``, that of ``values`` one by one; of a pair that is not solved all are zero.
    """

    coef: Array
    numbers: Array

    @property
    def outcomes(self) -> Outcome:
        """The outcomes of all pairs, an array in each field."""
        columns, others = list(self.numbers.T), len(Outcome._fields) - 1
        return Outcome._make([*columns[:others], Values._make(columns[others:])])


NUMBERS = len(Outcome._fields) - 1 + len(Values._fields)


@jit()
def keep_within(K, span, classes):
    """Keep the values within each class of a span, whose rows K is of. Writes: classes.within."""
    edges, origin = classes.edges, classes.edges[span.begin]
    for c in range(span.begin, span.end):
        first, size, place = edges[c] - origin, edges[c + 1] - edges[c], classes.places[c]
        for i in range(size):
            for j in range(size):
                classes.within[place + i * size + j] = K[first + i, first + j]


@jit()
def solve_pairs(K, rows, columns, classes, goal, found):
    """All pairs (a, b), a < b, with a in the span ``rows`` and b in ``columns``; K is between them. Writes: found."""
    edges, k = classes.edges, len(classes.edges) - 1
    for a in range(rows.begin, rows.end):
        for b in range(max(a + 1, columns.begin), columns.end):
            n, m = edges[a + 1] - edges[a], edges[b + 1] - edges[b]
            if n == 0 or m == 0:
                continue
            first, second = slice(edges[a], edges[a + 1]), slice(edges[b], edges[b + 1])
            box, beta = joined_box(classes.sides, first, second), np.zeros(n + m)
            diagonal = joined(classes.diagonal[first], classes.diagonal[second])
            square = K if len(K) == n + m and rows.begin == columns.begin else np.empty((n + m, n + m))
            if len(square) < len(K) or rows.begin != columns.begin:
                join(K, edges[a] - edges[rows.begin], edges[b] - edges[columns.begin], a, b, classes, square)
            out = solve_whole(square, diagonal, box, 0.0, beta, goal)
            if out.solved:
                put(beta[:n], found.coef[b - 1, first])
                put(beta[n:], found.coef[a, second])
                note(out, found.numbers[a * (2 * k - a - 1) // 2 + b - a - 1])


@jit()
def joined_box(sides, first, second):
    """The box of a pair of classes with these rows."""
    one, other = sides.first, sides.second
    return Box(
        joined(one.p[first], other.p[second]),
        joined(one.lower[first], other.lower[second]),
        joined(one.upper[first], other.upper[second]),
        joined(one.kink[first], other.kink[second]),
        joined(one.ridge[first], other.ridge[second]),
    )


@jit()
def join(K, row, column, a, b, classes, out):
    """out = [[K_aa, K_ab], [K_ab', K_bb]], with K_ab at (row, column) in K. Writes: out."""
    n, m = classes.edges[a + 1] - classes.edges[a], classes.edges[b + 1] - classes.edges[b]
    one, other = classes.places[a], classes.places[b]
    for i in range(n):
        for j in range(n):
            out[i, j] = classes.within[one + i * n + j]
        for j in range(m):
            out[i, n + j] = out[n + j, i] = K[row + i, column + j]
    for i in range(m):
        for j in range(m):
            out[n + i, n + j] = classes.within[other + i * m + j]


@jit()
def note(out, row):
    """An ``Outcome`` as numbers. Writes: row."""
    row[0], row[1], row[2], row[3] = out.solved, out.steps, out.first_violation, out.first_objective
    row[4], row[5], row[6], row[7] = out.violation, out.bias, out.highest, out.imbalance
    square, doubt, concave, terms, worst = out.values
    row[8], row[9], row[10], row[11], row[12] = square, doubt, concave, terms, worst
