"""Kernels against formulas written for one pair of points."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import RBF, GramFunction, Laplacian, Linear, PairFunction, Polynomial, Precomputed, Sigmoid
from maxmargin.kernels.functions import from_function
from maxmargin.kernels.vectors import gaussian_exponents

# One line per kernel: the oracle.
FORMULAS = {
    "linear": (Linear(), lambda x, z: x @ z),
    "polynomial": (Polynomial(3, 0.5, 1.0), lambda x, z: (0.5 * x @ z + 1.0) ** 3),
    "quadratic": (Polynomial(2, 1.0, 1.0), lambda x, z: (x @ z + 1.0) ** 2),
    "degree 5": (Polynomial(5, 0.1, 0.5), lambda x, z: (0.1 * x @ z + 0.5) ** 5),
    "rbf": (RBF(0.3), lambda x, z: math.exp(-0.3 * np.sum((x - z) ** 2))),
    "rbf by sigma": (RBF(sigma=1.5), lambda x, z: math.exp(-np.sum((x - z) ** 2) / (2 * 1.5**2))),
    "laplacian": (Laplacian(0.2), lambda x, z: math.exp(-0.2 * np.sum(np.abs(x - z)))),
    "sigmoid": (Sigmoid(0.1, -0.4), lambda x, z: math.tanh(0.1 * x @ z - 0.4)),
}
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6), RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)


def by_formula(formula, A, B):
    return np.array([[formula(a, b) for b in B] for a in A])


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_diagonals(name, store, dtype):
    kernel, formula = FORMULAS[name]
    A, B = kernel.prepare(store(X), dtype), kernel.prepare(store(Z), dtype)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    block = kernel.block(A, B)
    assert block.dtype == dtype
    np.testing.assert_allclose(block, by_formula(formula, X, Z), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(by_formula(formula, X, X)), rtol=tolerance, atol=tolerance)


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


BAD = {
    "finite gamma >= 0": [lambda: RBF(-1.0), lambda: Laplacian(-1.0), lambda: RBF(float("nan"))],
    "sigma > 0": [lambda: RBF(sigma=0.0)],
    "integer degree": [lambda: Polynomial(2.5, 1.0), lambda: Polynomial(-1, 1.0)],
    "scaled by a positive": [lambda: RBF(1.0) * float("inf")],
    "no real feature map": [lambda: Polynomial(2, 1.0, -1.0).feature_map(X)],
    "one kind combine": [lambda: GramFunction(len) + RBF(1.0), lambda: Precomputed() * RBF(1.0)],
    "normalise the matrix": [lambda: Precomputed().normalized()],
}


@pytest.mark.parametrize("message", BAD)
def test_bad_parameters_are_refused(message):
    for make in BAD[message]:
        with pytest.raises(ValueError, match=message):
            make()


def test_far_from_the_origin():
    near, far = RBF(0.3)(X, Z), RBF(0.3)(X + 1e6, Z + 1e6)
    np.testing.assert_allclose(near, far, rtol=1e-8)
    np.testing.assert_allclose(np.diag(RBF(0.3)(X + 1e8)), 1.0, rtol=1e-6)
    np.testing.assert_allclose(
        Polynomial(2, 1.0, 1.0).feature_map(sparse.csr_array(X)), Polynomial(2, 1.0, 1.0).feature_map(X)
    )


@pytest.mark.parametrize(("d", "degree"), [(2, 2), (3, 3), (4, 1), (2, 4)])
def test_feature_map_reproduces_the_kernel(d, degree):
    A, B = RNG.normal(size=(6, d)), RNG.normal(size=(3, d))
    kernel = Polynomial(degree, 0.7, 1.3)
    assert kernel.feature_map(A).shape == (6, math.comb(d + degree, degree))
    np.testing.assert_allclose(kernel.feature_map(A) @ kernel.feature_map(B).T, kernel(A, B), rtol=1e-10)
    np.testing.assert_allclose(Linear().feature_map(A) @ Linear().feature_map(B).T, Linear()(A, B))


def test_distances_and_angles_in_feature_space():
    kernel = Polynomial(2, 1.0, 1.0)
    P, Q = kernel.feature_map(X), kernel.feature_map(Z)
    np.testing.assert_allclose(kernel.distances(X, Z), np.linalg.norm(P[:, None] - Q[None], axis=2), atol=1e-9)
    cosines = P @ Q.T / np.outer(np.linalg.norm(P, axis=1), np.linalg.norm(Q, axis=1))
    np.testing.assert_allclose(kernel.angles(X, Z), np.arccos(np.clip(cosines, -1, 1)), atol=1e-7)
    np.testing.assert_allclose(np.diag(RBF(1.0).distances(X)), 0.0, atol=1e-7)


def test_float32_error_bound_holds():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(300, 30)) * 3
    A[:3] *= 20.0
    kernel = RBF(0.02)
    centre = A.mean(axis=0).astype(np.float32)
    single, double = kernel.prepare(A, np.float32, centre), kernel.prepare(A, np.float64, centre)
    exact = kernel.block(double, double)
    seen = np.abs(kernel.block(single, single) - exact) / np.maximum(exact, 2.0**-24)
    bounds = kernel.float32_errors(single)
    assert seen.max() > 0
    assert np.all(seen.max(axis=1) <= bounds)


def test_functions_of_both_conventions():
    assert isinstance(from_function(lambda A, B: A @ B.T, X), GramFunction)
    for width in (1, 2, 3, 4):  # rows that happen to fit a matrix product
        assert isinstance(from_function(lambda a, b: a @ b, X[:, :width]), PairFunction)
    assert isinstance(
        from_function(lambda a, b: float(len(set(a) & set(b))), np.array(["ab", "bc", "cd"])), PairFunction
    )
    np.testing.assert_allclose(PairFunction(lambda a, b: a @ b)(X, Z), X @ Z.T)
    np.testing.assert_allclose(
        GramFunction(lambda A, B: A @ B.T).diagonal(GramFunction(None).prepare(X)), np.sum(X**2, 1)
    )
    with pytest.raises(ValueError, match="fits neither convention"):
        from_function(lambda A, B: np.zeros((9, 9)), X)
    with pytest.raises(ValueError, match=r"returned an array of shape \(2, 2\) for 7 and 5 points"):
        GramFunction(lambda A, B: np.zeros((2, 2)))(X, Z)
    with pytest.raises(ValueError, match=r"returned nan at position \(0, 0\)"):
        GramFunction(lambda A, B: np.full((len(A), len(B)), np.nan))(X, Z)


def test_precomputed_takes_entries():
    K = RNG.normal(size=(6, 6))
    points = Precomputed().prepare(K)
    some = points.take(np.array([1, 4]))
    np.testing.assert_array_equal(Precomputed().block(some, points), K[[1, 4]])
    np.testing.assert_array_equal(Precomputed().diagonal(points), np.diag(K))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gaussian_loop_equals_its_python_text(dtype):
    products = (X @ Z.T).astype(dtype)
    left, right = np.sum(X**2, axis=1).astype(dtype), np.sum(Z**2, axis=1).astype(dtype)
    outs = []
    for run in (gaussian_exponents, getattr(gaussian_exponents, "py_func", gaussian_exponents)):
        outs.append(products.copy())
        run(outs[-1], left, right, dtype(0.3))
    np.testing.assert_allclose(*outs, rtol=1e-6)
    wanted = -0.3 * np.sum((X[:, None] - Z[None]) ** 2, axis=2)
    np.testing.assert_allclose(outs[0], wanted, rtol=1e-4, atol=1e-5)
