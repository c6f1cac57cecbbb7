"""Instructions that Python has no word for, compiled and in plain Python."""

import numpy as np
import pytest

from maxmargin.core.jit import double_power_of_two, jit, larger, one_by_one, power_of_two, smaller


@jit(reductions=True)
def extremes(x):
    """Smallest and largest value."""
    low, high = x[0], x[0]
    for value in x:
        low, high = smaller(low, value), larger(high, value)
    return low, high


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_larger_and_smaller(dtype):
    x = np.random.default_rng(0).normal(size=1000).astype(dtype)
    assert extremes(x) == (x.min(), x.max())
    assert larger(1.0, 2.0) == 2.0
    assert smaller(1.0, 2.0) == 1.0


@jit()
def powers(exponents, out, doubles):
    """Powers of two. Writes: out, doubles."""
    for i in range(len(exponents)):
        out[i] = power_of_two(exponents[i])
        doubles[i] = double_power_of_two(np.int32(8 * exponents[i]))


def test_powers_of_two():
    exponents = np.arange(-126, 128, dtype=np.int32)
    out = np.empty(len(exponents), np.float32)
    doubles = np.empty(len(exponents))
    powers(exponents, out, doubles)
    np.testing.assert_array_equal(out, np.ldexp(np.float32(1.0), exponents))
    np.testing.assert_array_equal(doubles, np.ldexp(1.0, 8 * exponents))


@jit(reductions=True)
def looked_up(values, index, x):
    """sum_k values_k x[index_k], which must not become vector code."""
    total = 0.0
    for k in range(len(index)):
        one_by_one()
        total += values[k] * x[np.uint64(index[k])]
    return total


def test_sums_of_numbers_that_are_looked_up():
    rng = np.random.default_rng(0)
    values, index, x = rng.normal(size=999), rng.integers(0, 50, 999).astype(np.int32), rng.normal(size=50)
    assert looked_up(values, index, x) == pytest.approx(values @ x[index], rel=1e-12)
