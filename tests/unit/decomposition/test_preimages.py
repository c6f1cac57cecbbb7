"""The way back: rows whose images are nearest, and the regression."""

import numpy as np
import pytest
from scipy import linalg, sparse

from maxmargin import KernelPCA
from maxmargin.decomposition import preimages
from maxmargin.decomposition.preimages import Preimages, ridge
from maxmargin.kernels import RBF, Polynomial, Sigmoid

RNG = np.random.default_rng(0)
ANGLES = RNG.uniform(0, 2 * np.pi, 200)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
NOISY = CIRCLE + 0.1 * RNG.normal(size=CIRCLE.shape)


def image_distance(model, Z, Y):
    """||phi(z) - rho||^2 up to a constant, with rho = sum_i g_i phi(x_i) by its definition."""
    U = model.eigenvectors_ - model.center * model.eigenvectors_.mean(axis=0)
    g = Y @ (U / np.sqrt(model.eigenvalues_)).T + model.center / len(U)
    return 1.0 - 2.0 * np.einsum("ij,ij->i", model.kernel_(Z, model.X_fit_), g)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_come_back_from_all_of_their_components(offset):
    model = KernelPCA(kernel="rbf", gamma=1.0).fit(CIRCLE + offset)
    back = model.inverse_transform(model.transform(CIRCLE + offset))
    np.testing.assert_allclose(back, CIRCLE + offset, atol=1e-6)


def test_a_noisy_circle_is_moved_towards_the_circle():
    model = KernelPCA(4, kernel="rbf", gamma=0.5).fit(NOISY)
    back = model.inverse_transform(model.transform(NOISY))
    radii, before = (np.linalg.norm(rows, axis=1) for rows in (back, NOISY))
    assert radii.std() < 0.4 * before.std()
    assert np.abs(radii - 1).mean() < 0.7 * np.abs(before - 1).mean()
    np.testing.assert_allclose(model.inverse_transform(model.transform(NOISY[:7])), back[:7], atol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_never_farther_in_feature_space_than_the_nearest_training_row(center):
    model = KernelPCA(6, kernel="rbf", gamma=2.0, center=center).fit(NOISY)
    own = model.transform(NOISY)
    Y = own[RNG.permutation(200)[:90]] + 0.05 * RNG.normal(size=(90, 6))
    nearest = NOISY[np.argmin(((Y[:, None, :] - own) ** 2).sum(axis=2), axis=1)]
    Z = model.inverse_transform(Y)
    assert np.all(image_distance(model, Z, Y) <= image_distance(model, nearest, Y) + 1e-12)


def test_points_are_fixed_points():
    model = KernelPCA(4, kernel="rbf", gamma=0.5).fit(NOISY)
    Y = model.transform(NOISY)
    Z = model.inverse_transform(Y)
    g = Y @ (model.eigenvectors_ / np.sqrt(model.eigenvalues_)).T + 1 / 200
    weights = g * model.kernel_(Z, NOISY)
    np.testing.assert_allclose(weights @ NOISY / weights.sum(axis=1, keepdims=True), Z, atol=1e-5)


def test_components_that_no_row_has_bring_back_a_training_row_or_better():
    """Far away from all images every weight may be negative: the search stays where it began."""
    model = KernelPCA(3, kernel="rbf", gamma=50.0).fit(NOISY)
    Z = model.inverse_transform(-100.0 * np.eye(3))
    low, high = NOISY.min(axis=0), NOISY.max(axis=0)
    assert np.all((low <= Z) & (high >= Z))


def test_sparse_rows_and_precision_of_the_components():
    rows = sparse.random_array((60, 9), density=0.4, rng=np.random.default_rng(1), format="csr")
    found = {kind: KernelPCA(5, kernel="rbf").fit(kind(rows)) for kind in (sparse.csr_array, sparse.csr_array.toarray)}
    Y = RNG.normal(size=(8, 5)) * 0.1
    one, other = (model.inverse_transform(Y) for model in found.values())
    np.testing.assert_allclose(one, other, atol=1e-8)
    assert all(model.inverse_transform(Y.astype(np.float32)).dtype == np.float32 for model in found.values())


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(preimages, "CHUNK", 8)
    model = KernelPCA(4, kernel="rbf", gamma=0.5, n_jobs=2).fit(NOISY[:60])
    Y = model.transform(NOISY[:40])
    np.testing.assert_array_equal(model.inverse_transform(Y), model.set_params(n_jobs=1).inverse_transform(Y))


def test_all_steps_are_uphill():
    model = KernelPCA(5, kernel="rbf", gamma=2.0).fit(NOISY)
    search = Preimages(model.kernel_, NOISY, model.transform(NOISY), model._projection)
    g = RNG.normal(size=(40, 200))  # any weights, also such that most are negative
    start = NOISY[:40].copy()
    before = search._weights(g, start).sum(axis=1)
    after = search._weights(g, search._climbed(g, start.copy())).sum(axis=1)
    assert np.all(after >= before)


def test_the_regression_solves_its_equations():
    Y, alpha = RNG.normal(size=(50, 3)), 0.3
    coef = ridge(RBF(0.2), Y, NOISY[:50], alpha)
    np.testing.assert_allclose((RBF(0.2)(Y) + alpha * np.eye(50)) @ coef, NOISY[:50], atol=1e-12)
    with pytest.raises(ValueError, match="raise alpha"):
        ridge(Sigmoid(-5.0, -1.0), Y, NOISY[:50], 1e-9)


def test_the_regression_with_a_polynomial_kernel_brings_the_plane_back():
    kernel = Polynomial(2, 1.0, 1.0)
    model = KernelPCA(kernel=kernel, fit_inverse_transform=True, alpha=1e-8).fit(NOISY)
    np.testing.assert_allclose(model.inverse_transform(model.transform(NOISY)), NOISY, atol=1e-3)
    own = model.X_transformed_fit_
    expected = kernel(own) @ linalg.solve(kernel(own) + 1e-8 * np.eye(200), NOISY)
    np.testing.assert_allclose(model.inverse_transform(own), expected, atol=1e-4)
