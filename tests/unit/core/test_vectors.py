"""Vectors in compiled loops: what NumPy's expressions give."""

import numpy as np

from maxmargin.core.vectors import clear, copied, dot, joined, nonzeros, number_of_nonzeros, put, walk

A, B = np.array([1.0, 0.0, -2.5]), np.array([0.5, 4.0, 2.0])


def test_they_are_what_they_say():
    out = np.empty(3)
    put(A, out)
    np.testing.assert_array_equal(out, A)
    walk(A, 0.5, B, out)
    np.testing.assert_array_equal(out, A + 0.5 * B)
    clear(out)
    np.testing.assert_array_equal(out, np.zeros(3))
    assert dot(A, B) == A @ B
    assert number_of_nonzeros(A) == 2
    np.testing.assert_array_equal(nonzeros(A), [0, 2])
    assert len(nonzeros(A[:0])) == 0


def test_copies_are_new():
    again, both = copied(A), joined(A, B[:2])
    assert not np.shares_memory(again, A)
    np.testing.assert_array_equal(again, A)
    np.testing.assert_array_equal(both, [1.0, 0.0, -2.5, 0.5, 4.0])
    np.testing.assert_array_equal(joined(A[:0], B), B)
