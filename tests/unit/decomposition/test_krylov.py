"""Block Lanczos and power iterations against LAPACK, on matrices of a known spectrum."""

import numpy as np
import pytest

from maxmargin.decomposition.krylov import Goal, block_lanczos, block_power

N = 240
RNG = np.random.default_rng(0)
VECTORS = np.linalg.qr(RNG.normal(size=(N, N)))[0]
SPECTRA = {
    "decaying": 2.0 ** -np.arange(N),
    "slow": 1.0 / (1.0 + np.arange(N)),
    "clustered": np.repeat([3.0, 2.0, 1.0, 0.0], [4, 4, N - 16, 8]) + 0.01 * np.arange(N)[::-1] / N,
    "repeated": np.repeat([5.0, 4.0, 1.0], [3, 4, N - 7]),
    "rank 4": np.r_[4.0, 3.0, 2.0, 1.0, np.zeros(N - 4)],
    "indefinite": np.r_[2.0, 1.8, 1.6, 1.5, 1.3, 1.1, np.linspace(0.8, -3.0, N - 6)],
    "zero": np.zeros(N),
}


def matrix(spectrum):
    return (VECTORS * spectrum) @ VECTORS.T


@pytest.mark.parametrize("most", [50, 90])
@pytest.mark.parametrize("name", SPECTRA)
def test_largest_pairs(name, most):
    A, start = matrix(SPECTRA[name]), np.random.default_rng(1).normal(size=(N, 16))
    found = block_lanczos(lambda V: A @ V, start, Goal(6, 1e-10, 1e-14, 300), most, 2)
    size = np.abs(SPECTRA[name]).max()
    np.testing.assert_allclose(found.values, SPECTRA[name][:6], atol=1e-9 * max(size, 1.0))
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(6), atol=1e-12)
    residuals = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
    assert residuals.max() <= 1e-10 * size + 1e-13
    assert found.steps < 300


def test_steps_are_limited():
    A, asked = matrix(SPECTRA["slow"]), []

    def product(V):
        asked.append(V.shape[1])
        return A @ V

    found = block_lanczos(product, RNG.normal(size=(N, 10)), Goal(5, 1e-12, 0.0, 3), 60, 1)
    assert found.steps == len(asked) == 3
    assert found.residuals.max() > 1e-6


def test_noisy_products_end_when_residuals_fall_no_further():
    A, rng = matrix(SPECTRA["decaying"]), np.random.default_rng(2)

    def product(V):
        return A @ V + 1e-7 * rng.normal(size=V.shape)

    noise = 1e-7 * np.sqrt(N)
    found = block_lanczos(product, RNG.normal(size=(N, 12)), Goal(5, 1e-12, noise, 200), 60, 1)
    assert found.steps < 20
    np.testing.assert_allclose(found.values, SPECTRA["decaying"][:5], atol=1e-5)


def test_power_iterations_turn_towards_the_largest():
    A, start = matrix(SPECTRA["decaying"]), RNG.normal(size=(N, 8))
    for steps, error in ((2, 1e-1), (8, 1e-6)):
        Q = block_power(lambda V: A @ V, start, steps, 1)
        lost = VECTORS[:, :4] - Q @ (Q.T @ VECTORS[:, :4])
        assert np.linalg.norm(lost) < error
