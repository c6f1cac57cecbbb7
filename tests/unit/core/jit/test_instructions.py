"""Instructions that Python has no word for, compiled and in plain Python."""

import numpy as np
import pytest

from maxmargin.core.jit import double_power_of_two, jit, larger, power_of_two, smaller


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
