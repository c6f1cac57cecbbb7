"""Compiled loops over tiles and rows of kernel values."""

import numpy as np

from maxmargin.gram.tiles import (
    add_rows,
    assemble,
    copy_rows,
    gather,
    gather_into,
    mirror,
    scatter,
    scatter_across,
)


def test_loops_equal_their_python_text():
    rng = np.random.default_rng(0)
    store, tile = rng.normal(size=(4, 6)).astype(np.float32), rng.normal(size=(2, 3)).astype(np.float32)
    slots, columns = np.array([2, 0]), np.array([5, 1, 3])
    square, other = rng.normal(size=(2, 2)), rng.normal(size=(3, 3))
    calls = [
        (gather, (store, slots, columns), (2, 3), (0, 2)),
        (gather_into, (store, slots, columns), (3, 5), (np.array([2, 1]), 1, 0, 2)),
        (scatter, (tile,), (4, 6), (slots, 2)),
        (scatter_across, (tile.T.copy(),), (4, 6), (slots, 2)),
        (copy_rows, (store, slots), (4, 8), (np.array([3, 1]), 2)),
        (assemble, (square, other, rng.normal(size=(2, 3))), (5, 5), ()),
    ]
    for loop, before, shape, after in calls:
        outs = [np.zeros(shape, np.float32) for _ in range(2)]
        loop(*before, outs[0], *after)
        getattr(loop, "py_func", loop)(*before, outs[1], *after)
        np.testing.assert_array_equal(*outs)
        assert outs[0].any()
    sums = [np.ones(6) for _ in range(2)]
    add_rows(store, slots, np.array([0.5, -2.0]), sums[0], 1, 5)
    getattr(add_rows, "py_func", add_rows)(store, slots, np.array([0.5, -2.0]), sums[1], 1, 5)
    np.testing.assert_allclose(*sums, rtol=1e-12)
    assert sums[0][0] == sums[0][5] == 1.0
    matrix = np.arange(25.0).reshape(5, 5)
    mirror(matrix, 0, 2, 2, 5)
    np.testing.assert_array_equal(matrix[2:, :2], matrix[:2, 2:].T)
