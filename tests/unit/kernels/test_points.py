"""Points: where the rows of a matrix are seen from."""

import numpy as np
import pytest

from maxmargin.kernels.points import NEAR_CENTRE, centre_of, far_centre


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_around_zero_stay_where_they_are(order):
    X = np.asarray(np.random.default_rng(0).normal(size=(500, 7)), order=order)
    assert far_centre(X - X.mean(axis=0)) is None
    mean_square = (X**2).sum() / len(X)
    for share, stays in ((0.9, True), (1.1, False)):  # of the squared length of the centre that counts as near
        moved = X - X.mean(axis=0) + np.sqrt(share * NEAR_CENTRE * mean_square / 7.0)
        assert (far_centre(moved) is None) == stays
        assert (far_centre(moved.astype(np.float32)[::-1]) is None) == stays
    np.testing.assert_array_equal(far_centre(X + 5.0), centre_of(X + 5.0))
    huge = np.full((3, 2), 1e200)
    np.testing.assert_array_equal(far_centre(huge), centre_of(huge))  # squares that overflow decide nothing
