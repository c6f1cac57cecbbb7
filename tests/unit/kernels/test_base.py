"""What every kernel can do: combine with others, measure distances and angles, refuse what makes no sense."""

import itertools
import math

import numpy as np
import pytest

from maxmargin.kernels import RBF, GramFunction, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from tests.unit.kernels.formulas import FORMULAS, X, Z, by_formula

BAD = {
    "finite gamma >= 0": [lambda: RBF(-1.0), lambda: Laplacian(-1.0), lambda: RBF(float("nan"))],
    "sigma > 0": [lambda: RBF(sigma=0.0)],
    "integer degree": [lambda: Polynomial(2.5, 1.0), lambda: Polynomial(-1, 1.0)],
    "scaled by a positive": [lambda: RBF(1.0) * float("inf")],
    "no real feature map": [lambda: Polynomial(2, 1.0, -1.0).feature_map(X)],
    "one kind combine": [lambda: GramFunction(len) + RBF(1.0), lambda: Precomputed() * RBF(1.0)],
    "normalise the matrix": [lambda: Precomputed().normalized()],
}


@pytest.mark.parametrize(
    ("left", "right"), list(itertools.combinations(["linear", "polynomial", "rbf", "laplacian"], 2))
)
def test_composed_kernels(left, right):
    (k1, f1), (k2, f2) = FORMULAS[left], FORMULAS[right]
    cases = [
        (k1 + k2, lambda x, z: f1(x, z) + f2(x, z)),
        (k1 * k2, lambda x, z: f1(x, z) * f2(x, z)),
        (2.5 * k1 + 1.0, lambda x, z: 2.5 * f1(x, z) + 1.0),
        (
            (k1 + k2).normalized(),
            lambda x, z: (f1(x, z) + f2(x, z)) / math.sqrt((f1(x, x) + f2(x, x)) * (f1(z, z) + f2(z, z))),
        ),
    ]
    for kernel, formula in cases:
        np.testing.assert_allclose(kernel(X + 1, Z + 1), by_formula(formula, X + 1, Z + 1), rtol=1e-10)
        A = kernel.prepare(X + 1)
        np.testing.assert_allclose(kernel.diagonal(A), np.diag(by_formula(formula, X + 1, X + 1)), rtol=1e-10)
        assert kernel.definite is True


def test_a_composed_kernel_makes_one_tile_of_products(monkeypatch):
    from maxmargin.kernels.points import Vectors

    made = []
    products = Vectors.products
    monkeypatch.setattr(Vectors, "products", lambda self, other, out=None: made.append(1) or products(self, other))
    (RBF(0.1) * Polynomial(2, 1.0, 1.0) + 0.5 * Linear()).normalized()(X, Z)
    assert len(made) == 1


def test_properties_of_composed_kernels():
    assert (RBF(1.0) + Laplacian(1.0)).translation_invariant
    assert not (RBF(1.0) + Linear()).translation_invariant
    assert (RBF(1.0) + Sigmoid(1.0)).definite is None
    assert Polynomial(3, 1.0, -1.0).definite is None
    assert (2 * RBF()).resolved(0.25).kernel.gamma == 0.25
    with pytest.raises(ValueError, match="positive"):
        -1.0 * RBF(1.0)
    with pytest.raises(ValueError, match=">= 0"):
        RBF(1.0) + -0.5
    with pytest.raises(ValueError, match="without a width"):
        RBF()(X)


@pytest.mark.parametrize("message", BAD)
def test_bad_parameters_are_refused(message):
    for make in BAD[message]:
        with pytest.raises(ValueError, match=message):
            make()


def test_distances_and_angles_in_feature_space():
    kernel = Polynomial(2, 1.0, 1.0)
    P, Q = kernel.feature_map(X), kernel.feature_map(Z)
    np.testing.assert_allclose(kernel.distances(X, Z), np.linalg.norm(P[:, None] - Q[None], axis=2), atol=1e-9)
    cosines = P @ Q.T / np.outer(np.linalg.norm(P, axis=1), np.linalg.norm(Q, axis=1))
    np.testing.assert_allclose(kernel.angles(X, Z), np.arccos(np.clip(cosines, -1, 1)), atol=1e-7)
    np.testing.assert_allclose(np.diag(RBF(1.0).distances(X)), 0.0, atol=1e-7)
