"""What a plan says of its jobs."""

import numpy as np

from maxmargin.machines.plan import order_within


def test_an_order_of_all_rows_as_one_of_some():
    order = np.array([3, 1, 4, 0, 2])
    np.testing.assert_array_equal(order_within(order, np.array([0, 3, 4])), [1, 2, 0])
    assert order_within(order, None) is order
    assert order_within(None, np.array([0])) is None
