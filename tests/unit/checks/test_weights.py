"""Weights of rows and classes."""

import numpy as np
import pytest

from maxmargin import checks


def test_weights_of_rows():
    np.testing.assert_array_equal(checks.sample_weights(None, 3), [1, 1, 1])
    np.testing.assert_array_equal(checks.sample_weights(2, 3), [2, 2, 2])
    np.testing.assert_array_equal(checks.sample_weights([0, 1], 2), [0, 1])
    np.testing.assert_array_equal(checks.sample_weights([0, 0], 2, all_zero=True), [0, 0])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([0, 0], "All values in sample_weight are zero"),
        ([1, -2], r"Negative values in sample_weight: -2\.0 at row 1"),
        ([1, 2, 3], "one weight per row"),
        ([[1], [2]], "must be 1D array or scalar"),
        ([1, np.nan], "NaN"),
        ([1, np.inf], "infinity"),
    ],
)
def test_bad_weights(weights, words):
    with pytest.raises(ValueError, match=words):
        checks.sample_weights(weights, 2)


def test_rows_of_weight_zero_are_no_rows():
    X, y = np.arange(6).reshape(3, 2), np.array(list("abc"))
    weights, rows, labels = checks.weighted([1, 0, 2], X, y)
    np.testing.assert_array_equal(weights, [1, 2])
    np.testing.assert_array_equal(rows, X[[0, 2]])
    np.testing.assert_array_equal(labels, ["a", "c"])
    assert checks.weighted(None, X, y)[1] is X  # all of them: no copy


def test_sums_may_overflow():
    checks.finite_total(object(), np.full(3, 1e300))
    with pytest.raises(ValueError, match="object: the sample weights are too large"):
        checks.finite_total(object(), np.full(3, 1e308))


def test_costs_of_classes():
    y, classes = np.array([0, 0, 0, 1]), np.array([0, 1])
    np.testing.assert_array_equal(checks.class_costs(None, classes, y, np.ones(4)), [1, 1])
    np.testing.assert_array_equal(checks.class_costs({0: 2.0}, classes, y, np.ones(4)), [2, 1])
    np.testing.assert_allclose(checks.class_costs("balanced", classes, y, np.ones(4)), [4 / 6, 2])
    twice = checks.class_costs("balanced", classes, y, np.array([1.0, 1.0, 1.0, 3.0]))  # a weight of 3: three rows
    np.testing.assert_allclose(twice, [1, 1])
    with pytest.raises(ValueError, match="finite weight >= 0 to every class"):
        checks.class_costs({0: -1.0}, classes, y, np.ones(4))
