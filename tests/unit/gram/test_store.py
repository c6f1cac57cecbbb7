"""Rows that were computed and kept."""

import numpy as np

from maxmargin.gram import Gram
from maxmargin.kernels import RBF

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))
FULL = RBF(0.3)(X)


def test_counters_and_eviction():
    gram = Gram(RBF(0.3), X, budget=8 * N * 450)
    room = gram.capacity
    assert 300 < room < 400
    gram.stored(np.arange(200))
    gram.stored(np.arange(100, room))
    assert gram.counters == (room, 100, 0)
    gram.stored(np.arange(room, room + 80))  # the oldest 80 of the rows 0..99 make room
    assert gram.counters == (room + 80, 100, 80)
    slots = gram.stored(np.arange(100, room))
    assert gram.counters == (room + 80, room, 80)
    np.testing.assert_allclose(gram.stored_values[slots], FULL[100:room], atol=1e-12)


def test_rows_stored_out_of_order_do_not_make_a_whole_matrix():
    gram = Gram(RBF(0.3), X)
    gram.stored(np.arange(N)[::-1])
    np.testing.assert_allclose(gram.whole(), FULL, atol=1e-12)
    np.testing.assert_allclose(gram.stored_values[gram.stored(np.array([7, 3]))], FULL[[7, 3]], atol=1e-12)
