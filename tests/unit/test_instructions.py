"""Instructions that Python has no word for, compiled and in plain Python."""

import numpy as np
import pytest

from maxmargin.core.jit import jit, larger, power_of_two, smaller
from maxmargin.kernels import RBF
from maxmargin.kernels.vectors import gaussian32


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
def powers(exponents, out):
    """Powers of two. Writes: out."""
    for i in range(len(exponents)):
        out[i] = power_of_two(exponents[i])


def test_powers_of_two():
    exponents = np.arange(-126, 128, dtype=np.int32)
    out = np.empty(len(exponents), np.float32)
    powers(exponents, out)
    np.testing.assert_array_equal(out, np.ldexp(np.float32(1.0), exponents))


def test_the_fused_gaussian_is_exact_to_float32():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(20, 5)), rng.normal(size=(30, 5))
    A[0] = 1e3  # far away: the value stays at the smallest normal number
    kernel_ = RBF(0.4)
    single = kernel_.block(kernel_.prepare(A, np.float32), kernel_.prepare(B, np.float32))
    double = kernel_.block(kernel_.prepare(A), kernel_.prepare(B))
    np.testing.assert_allclose(single[1:], double[1:], rtol=2e-5)
    assert single[0].max() < 1e-37
    assert single.min() > 0
    tiles = [np.zeros((2, 3), np.float32) for _ in range(2)]
    left, right = np.array([0.5, 130.0], np.float32), np.array([0.0, 0.25, 3.0], np.float32)
    gaussian32(tiles[0], left, right, np.float32(1.0))
    getattr(gaussian32, "py_func", gaussian32)(tiles[1], left, right, np.float32(1.0))
    np.testing.assert_allclose(*tiles, rtol=1e-6)
