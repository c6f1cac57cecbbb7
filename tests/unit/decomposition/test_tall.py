"""Algebra of tall matrices: NumPy's answers, and the same bits for every number of threads."""

import numpy as np
import pytest

from maxmargin.decomposition import tall
from maxmargin.decomposition.tall import combined, inner, orthonormal

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(70, 6)), RNG.normal(size=(70, 4))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(tall, "ROWS", 16)


def test_products():
    np.testing.assert_allclose(inner(A, B, 2), A.T @ B, atol=1e-13)
    np.testing.assert_allclose(combined(A, A[:6], 2), A @ A[:6], atol=1e-13)
    np.testing.assert_array_equal(inner(A, B, 1), inner(A, B, 2))


@pytest.mark.parametrize("scales", [np.ones(4), 10.0 ** np.array([0, -6, -9, 8])])
def test_a_basis_of_what_is_new(scales):
    Q = orthonormal(A, None, 2)
    W = orthonormal(A[:, :4] + B * scales, Q, 2)
    both = np.hstack([Q, W])
    np.testing.assert_allclose(both.T @ both, np.eye(10), atol=1e-14)
    outside = np.hstack([A, B]) - both @ (both.T @ np.hstack([A, B]))
    assert np.abs(outside).max() < 1e-6  # the smallest part was known to seven digits


def test_dependent_columns_are_left_out():
    assert orthonormal(np.hstack([B, B[:, :2], 0 * B]), None, 1).shape == (70, 4)
    assert orthonormal(np.zeros((70, 3)), None, 1).shape == (70, 0)
