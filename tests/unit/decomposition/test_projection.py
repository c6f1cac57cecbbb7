"""Components of new rows against the definition: v_c'(phi(x) - mean) by the double sums of centring."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import KernelPCA
from maxmargin.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(80, 4)), RNG.normal(size=(30, 4))


def by_definition(model, kernel, new):
    """k~(x, x_i) = k(x, x_i) - mean_j k(x, x_j) - mean_j k(x_i, x_j) + mean of all."""
    K, own = kernel(new, X), kernel(X)
    centred = K - K.mean(axis=1, keepdims=True) - own.mean(axis=0) + own.mean()
    return centred @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", [RBF(0.2), Linear(), 2.0 * RBF(0.1) + Linear()], ids=str)
def test_new_rows(kernel, storage):
    model = KernelPCA(3, kernel=kernel).fit(storage(X))
    np.testing.assert_allclose(model.transform(storage(NEW)), by_definition(model, kernel, NEW), atol=1e-10)


def test_without_centring():
    model = KernelPCA(3, kernel="rbf", gamma=0.2, center=False).fit(X)
    expected = RBF(0.2)(NEW, X) @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(model.transform(NEW), expected, atol=1e-10)


@pytest.mark.large
def test_float32_values_serve_components_that_are_large_enough():
    many = RNG.normal(size=(1200, 3))
    model = KernelPCA(4, kernel="rbf", gamma=0.1).fit(many)
    assert model._projection.float32
    np.testing.assert_allclose(model.transform(many), model.fit_transform(many), atol=1e-4)
    small = KernelPCA(20, kernel="rbf", gamma=1e-3).fit(many)  # the last components are tiny
    assert not small._projection.float32
    own = small.fit_transform(many)
    np.testing.assert_allclose(small.transform(many)[:, :3], own[:, :3], atol=1e-6)
