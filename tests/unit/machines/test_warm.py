"""What one fit leaves for the next: when it serves, and what it becomes."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.machines.warm import KeptPoints, KeptRows, fingerprint
from maxmargin.problems.solution import Point

X = np.random.default_rng(0).normal(size=(40, 3))
KERNEL = RBF(0.5)


@pytest.fixture
def kept():
    return KeptRows(Gram(KERNEL, X, 1e-3, 1 << 20), None, fingerprint(X), 1e-3, 1 << 20, ())


def test_kernel_rows_serve_the_same_values_within_the_same_memory(kept):
    same = {"kernel": KERNEL, "X": X, "accuracy": 1e-3, "budget": 1 << 20, "segments": ()}
    assert kept.serves(**same)
    assert kept.serves(**same | {"X": X.copy(), "kernel": RBF(0.5), "budget": np.inf})
    others = {
        "kernel": RBF(0.6),
        "X": X + 1e-9,
        "accuracy": 1e-4,
        "budget": (1 << 20) - 1,
        "segments": (slice(0, 20), slice(20, 40)),
    }
    for name, other in others.items():
        assert not kept.serves(**same | {name: other}), name


def test_released_rows_are_computed_again(kept):
    before = kept.gram.whole().copy()
    kept.release()
    np.testing.assert_array_equal(kept.gram.whole(), before)


def test_a_fingerprint_is_that_of_type_shape_and_content():
    marks = [
        fingerprint(X),
        fingerprint(X.astype(np.float32)),
        fingerprint(X.reshape(3, 40)),
        fingerprint(X[:, ::-1]),
        fingerprint(sparse.csr_array(X)),
    ]
    assert len(set(marks)) == len(marks)
    changed = X.copy()
    assert fingerprint(changed) == marks[0]
    changed[3, 1] = 0.0
    assert fingerprint(changed) != marks[0]
    counts = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]))
    moved = sparse.csr_array(np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]))
    assert fingerprint(counts) != fingerprint(moved)
    assert fingerprint(np.asfortranarray(X)) == marks[0]


def test_points_start_the_same_machines_with_multipliers_that_grow_with_the_costs():
    some, before, now = np.array([0, 2]), np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 1.0])
    points = [Point(np.ones(4), np.array([1.0, 1.0, 1.0])), Point(np.zeros(4), np.array([1.0, 1.0]))]
    kept = KeptPoints(points, before, ("ovo", 3))
    first, second = kept.starts([None, some], 4, now, ("ovo", 3))
    np.testing.assert_array_equal(first.beta, [2.0, 1.0, 0.25])
    np.testing.assert_array_equal(second.beta, [2.0, 0.25])
    assert first.v is points[0].v
    different = [
        ([None], 4, now, ("ovo", 3)),
        ([None, some], 5, now, ("ovo", 3)),
        ([None, some], 4, now[:2], ("ovo", 3)),
        ([None, some], 4, now, ("ovr", 3)),
        ([None, some[:1]], 4, now, ("ovo", 3)),
    ]
    for rows, width, costs, kind in different:
        assert kept.starts(rows, width, costs, kind) is None


def test_joint_multipliers_have_a_row_for_each_row():
    B = np.arange(6.0).reshape(3, 2)
    kept = KeptPoints([Point(np.ones((2, 4)), B)], np.ones(3), ())
    (start,) = kept.starts([None], 4, np.array([1.0, 2.0, 3.0]), ())
    np.testing.assert_array_equal(start.beta, B * np.array([[1.0], [2.0], [3.0]]))
    without = KeptPoints([Point(np.ones(4))], np.ones(3), ())
    assert without.starts([None], 4, np.ones(3), ())[0].beta is None
