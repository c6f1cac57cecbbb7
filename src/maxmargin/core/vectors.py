"""Vectors in compiled loops, written out.

Numba takes 3 s to compile ``x[:] = y`` (it has a message for vectors of different length), and 0.3 s for most other
expressions of arrays; once more in every loop that calls the one that has them.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.jit import jit


@jit()
def put(values, out):
    """out = values. Writes: out."""
    for i in range(len(out)):
        out[i] = values[i]


@jit()
def clear(out):
    """out = 0. Writes: out."""
    for i in range(len(out)):
        out[i] = 0.0


@jit()
def copied(values):
    """A vector of float64 with these values."""
    out = np.empty(len(values))
    put(values, out)
    return out


@jit()
def joined(first, second):
    """The values of two vectors, one after the other, in float64."""
    out = np.empty(len(first) + len(second))
    for i in range(len(first)):
        out[i] = first[i]
    for i in range(len(second)):
        out[len(first) + i] = second[i]
    return out


@jit()
def walk(start, length, along, out):
    """out = start + length along. Writes: out."""
    for i in range(len(out)):
        out[i] = start[i] + length * along[i]


@jit(reductions=True)
def dot(a, b):
    """a'b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@jit()
def number_of_nonzeros(values):
    """How many values are not zero."""
    count = 0
    for i in range(len(values)):
        count += values[i] != 0.0
    return count


@jit(brief=True)
def nonzeros(values):
    """The places of values that are not zero, ascending: in a fifth of the time that ``np.flatnonzero`` takes."""
    out, count = np.empty(len(values), np.int64), 0
    for i in range(len(values)):
        out[count] = i
        count += values[i] != 0.0
    return out[:count]
