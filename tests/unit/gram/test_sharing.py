"""Values within a class, shared by the machines that it takes part in."""

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.sharing import SharedBlocks
from maxmargin.kernels import RBF

N = 600
X = np.random.default_rng(0).normal(size=(N, 5))
FULL = RBF(0.3)(X)


def test_classes_share_what_lies_within_them():
    segments = [slice(0, 200), slice(200, 350), slice(350, N)]
    whole = Gram(RBF(0.3), X)
    shared = SharedBlocks(segments, 1 << 24)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        part = whole.part([segments[a], segments[b]], 1 << 24, shared)
        index = np.r_[segments[a], segments[b]]
        wanted = FULL[np.ix_(index, index)]
        rows = np.array([3, 150, 210, 340])
        np.testing.assert_allclose(part.stored_values[part.stored(rows)], wanted[rows], atol=1e-12)
        np.testing.assert_allclose(part.whole(), wanted, atol=1e-12)
    rows_alone = 6 * 250  # two rows of each class of a pair were asked for before the squares
    assert 0 < shared.take_count() <= sum((s.stop - s.start) ** 2 for s in segments) + rows_alone
    assert shared.take_count() == 0


def test_a_small_budget_shares_rows_but_no_squares():
    segments = [slice(0, 300), slice(300, N)]
    whole = Gram(RBF(0.3), X)
    shared = SharedBlocks(segments, 2 * 8 * 300 * 290)
    part = whole.part(segments, 1 << 24, shared)
    np.testing.assert_allclose(part.whole(), FULL, atol=1e-12)
