"""Loops over tiles and rows of kernel values."""

from __future__ import annotations

from maxmargin.core.jit import jit


@jit()
def scatter(tile, out, slots, first):
    """out[slots_a, first + b] = tile_ab for slots that are not negative. Writes: out."""
    for a in range(tile.shape[0]):
        if slots[a] < 0:
            continue
        row = out[slots[a], first : first + tile.shape[1]]
        for b in range(tile.shape[1]):
            row[b] = tile[a, b]


@jit()
def scatter_across(tile, out, slots, first):
    """out[slots_a, first + b] = tile_ba. Writes: out."""
    side = 16  # this many rows of the tile stay in the L1 cache while their columns are read
    for edge in range(0, tile.shape[0], side):
        stop = min(edge + side, tile.shape[0])
        for a in range(tile.shape[1]):
            row = out[slots[a], first + edge : first + stop]
            for b in range(stop - edge):
                row[b] = tile[edge + b, a]


@jit()
def place_both(tile, matrix, first, begin):
    """matrix[first + a, begin + b] = matrix[begin + b, first + a] = tile_ab. Writes: matrix.

    The tile is read while it is in the L2 cache, sixteen of its rows from L1, and each write is a cache line.
    """
    side = 16
    for edge in range(0, tile.shape[0], side):
        stop = min(edge + side, tile.shape[0])
        for a in range(edge, stop):
            row = matrix[first + a, begin : begin + tile.shape[1]]
            for b in range(tile.shape[1]):
                row[b] = tile[a, b]
        for b in range(tile.shape[1]):
            row = matrix[begin + b, first + edge : first + stop]
            for a in range(stop - edge):
                row[a] = tile[edge + a, b]


@jit()
def mirror(matrix, first, middle, begin, last):
    """matrix[b, a] = matrix[a, b] for first <= a < middle and begin <= b < last. Writes: matrix."""
    side = 32  # both sides of a 32 x 32 tile stay in the L1 cache
    for a_edge in range(first, middle, side):
        for b_edge in range(begin, last, side):
            for b in range(b_edge, min(b_edge + side, last)):
                for a in range(a_edge, min(a_edge + side, middle)):
                    matrix[b, a] = matrix[a, b]


@jit()
def gather(matrix, rows, columns, out, start, stop):
    """out_ab = matrix[rows_a, columns_b] for start <= a < stop. Writes: out."""
    for a in range(start, stop):
        row = matrix[rows[a]]
        for b in range(len(columns)):
            out[a, b] = row[columns[b]]


@jit()
def gather_into(matrix, rows, columns, out, places, first, start, stop):
    """out[places_a, first + b] = matrix[rows_a, columns_b] for start <= a < stop. Writes: out."""
    for a in range(start, stop):
        row, target = matrix[rows[a]], out[places[a], first:]
        for b in range(len(columns)):
            target[b] = row[columns[b]]


@jit()
def copy_rows(matrix, rows, out, slots, first):
    """out[slots_a, first + b] = matrix[rows_a, b]. Writes: out."""
    for a in range(len(rows)):
        row = matrix[rows[a]]
        target = out[slots[a], first : first + len(row)]
        for b in range(len(row)):
            target[b] = row[b]


@jit()
def assemble(first, second, between, out):
    """out = [[first, between], [between', second]]. Writes: out."""
    n, m = between.shape
    side = 32  # both sides of a 32 x 32 tile stay in the L1 cache
    for a in range(n):
        for b in range(n):
            out[a, b] = first[a, b]
        for b in range(m):
            out[a, n + b] = between[a, b]
    for edge in range(0, m, side):
        for a_edge in range(0, n, side):
            for b in range(edge, min(edge + side, m)):
                for a in range(a_edge, min(a_edge + side, n)):
                    out[n + b, a] = between[a, b]
    for a in range(m):
        for b in range(m):
            out[n + a, n + b] = second[a, b]


@jit(reductions=True)
def add_rows(matrix, rows, weights, out, first, last):
    """out_j += sum_a weights_a matrix[rows_a, j] for first <= j < last, in float64. Writes: out.

    Four rows at a time: out is read and written once for all of them.
    """
    sums = out[first:last]
    whole = len(rows) // 4 * 4
    for a in range(0, whole, 4):
        w0, w1, w2, w3 = weights[a], weights[a + 1], weights[a + 2], weights[a + 3]
        r0, r1 = matrix[rows[a], first:last], matrix[rows[a + 1], first:last]
        r2, r3 = matrix[rows[a + 2], first:last], matrix[rows[a + 3], first:last]
        for j in range(len(sums)):
            sums[j] += w0 * r0[j] + w1 * r1[j] + w2 * r2[j] + w3 * r3[j]
    for a in range(whole, len(rows)):
        weight, row = weights[a], matrix[rows[a], first:last]
        for j in range(len(sums)):
            sums[j] += weight * row[j]
