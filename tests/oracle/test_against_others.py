"""The dual optimum against scikit-learn (LIBSVM) and against an interior-point QP solver."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC as LibSVM

from maxmargin import SVC, Status, certify, soft_margin
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial
from tests import helpers

RELATIVE = 1e-6
FLOAT32_KERNEL = 1e-3  # LIBSVM keeps kernel values in float32, so its multipliers have about four digits


def with_libsvm(X, y, C, kernel, parameters):
    """Dual value of scikit-learn's solution at tol 1e-6, worked out by our certificate."""
    dense = X.toarray() if sparse.issparse(X) else X
    theirs = LibSVM(C=C, tol=1e-6, **parameters).fit(dense.astype(np.float64), y)
    alpha = helpers.multipliers(theirs, len(y))
    return certify(soft_margin(Gram(kernel, dense.astype(np.float64)), y, C), alpha).dual


LIBSVM_CASES = {
    "iris, linear": (helpers.iris_pair, "dense64", 1.0, Linear(), {"kernel": "linear"}),
    "iris, cubic": (
        helpers.iris_pair,
        "dense64",
        0.1,
        Polynomial(3, 0.1, 1.0),
        {"kernel": "poly", "gamma": 0.1, "coef0": 1.0},
    ),
    "cancer, rbf": (helpers.cancer, "dense64", 10.0, RBF(0.03), {"gamma": 0.03}),
    "cancer, rbf, tiny C": (helpers.cancer, "dense32", 1e-3, RBF(0.03), {"gamma": 0.03}),
    "cancer, linear, csr": (helpers.cancer, "csr64", 1.0, Linear(), {"kernel": "linear"}),
    "wine, laplacian": (helpers.wine_pair, "dense64", 1.0, Laplacian(0.1), {"kernel": Laplacian(0.1)}),
    "digits, rbf, csr, float32": (helpers.digits_pair, "csr32", 5.0, RBF(0.1), {"gamma": 0.1}),
    "moons, rbf, C 1000": (helpers.moons, "dense64", 1e3, RBF(1.0), {"gamma": 1.0}),
    "overlapping, rbf": (helpers.overlapping, "dense32", 100.0, RBF(0.2), {"gamma": 0.2}),
    "overlapping, laplacian, csr": (helpers.overlapping, "csr64", 1.0, Laplacian(0.2), {"kernel": Laplacian(0.2)}),
    "separable, linear": (helpers.separable, "dense64", 1e3, Linear(), {"kernel": "linear"}),
    "unbalanced, rbf": (helpers.unbalanced, "dense64", 50.0, RBF(0.2), {"gamma": 0.2}),
    "duplicated rows": (helpers.duplicated, "dense64", 1.0, RBF(0.5), {"gamma": 0.5}),
    "wide sparse, linear": (helpers.sparse_counts, "csr64", 1.0, Linear(), {"kernel": "linear"}),
    "wide sparse, rbf": (helpers.sparse_counts, "csr64", 10.0, RBF(0.01), {"gamma": 0.01}),
    "2500 rows, rbf, float32 tiles": (lambda: helpers.overlapping(2500), "dense32", 1.0, RBF(0.2), {"gamma": 0.2}),
}


def stored(X, storage):
    X = sparse.csr_array(X) if storage.startswith("csr") and not sparse.issparse(X) else X
    return X.astype(np.float32 if storage.endswith("32") else np.float64)


@pytest.mark.parametrize("case", LIBSVM_CASES)
def test_dual_objective_equals_libsvm(case):
    make, storage, C, kernel, parameters = LIBSVM_CASES[case]
    X, y = make()
    X = stored(X, storage)
    ours = SVC(C=C, kernel=kernel, tol=1e-6).fit(X, y)
    assert ours.status_ is Status.CONVERGED
    reference = with_libsvm(X, y, C, kernel, parameters)
    assert ours.certificate_.dual == pytest.approx(reference, rel=RELATIVE)
    default = SVC(C=C, kernel=kernel).fit(X, y).certificate_
    assert default.dual <= reference * (1 + RELATIVE)
    assert default.primal >= reference * (1 - RELATIVE)
    assert default.primal - reference <= default.gap + RELATIVE * reference


CLARABEL_CASES = {
    "overlapping, linear, C 1e4": (lambda: helpers.overlapping(200), 1e4, Linear()),
    "moons, rbf, C 1e5": (lambda: helpers.moons(150), 1e5, RBF(1.0)),
    "overlapping, quadratic, C 1e4": (lambda: helpers.overlapping(150, 3), 1e4, Polynomial(2, 1.0, 1.0)),
    "separable, linear, C 1e6": (helpers.separable, 1e6, Linear()),
    "moons, laplacian, C 1e4": (lambda: helpers.moons(120), 1e4, Laplacian(1.0)),
    "iris, linear, C 1": (helpers.iris_pair, 1.0, Linear()),
}


@pytest.mark.parametrize("case", CLARABEL_CASES)
def test_dual_objective_equals_an_interior_point_solver(case):
    make, C, kernel = CLARABEL_CASES[case]
    X, y = make()
    ours = SVC(C=C, kernel=kernel).fit(X, y)
    assert ours.certificate_.dual == pytest.approx(helpers.dual_by_clarabel(kernel(X), y, C), rel=RELATIVE)
    assert 0 <= ours.certificate_.relative_gap < 1e-5


@pytest.mark.parametrize("free_bias", [True, False])
def test_squared_hinge_equals_the_hinge_with_a_ridge(free_bias):
    """p = 2 is the hard margin with K + I / (2C)."""
    X, y = helpers.moons(120)
    C = 3.0
    ours = SVC(C=C, gamma=0.7, loss="squared_hinge", fit_intercept=free_bias).fit(X, y)
    K = RBF(0.7)(X) + np.eye(len(y)) / (2 * C)
    same = SVC(C=float("inf"), kernel="precomputed", fit_intercept=free_bias).fit(K, y)
    np.testing.assert_allclose(ours.certificate_.dual, same.certificate_.dual, rtol=1e-7)
    np.testing.assert_array_equal(ours.support_, same.support_)


def test_multiclass_decisions_equal_scikit_learn():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    for shape in ("ovo", "ovr"):
        for parameters in ({"gamma": 0.3}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2, "gamma": 0.5}):
            ours = SVC(decision_function_shape=shape, **parameters).fit(X, y)
            theirs = LibSVM(decision_function_shape=shape, tol=1e-10, **parameters).fit(X, y)
            np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=FLOAT32_KERNEL)
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
            np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
            np.testing.assert_array_equal(ours.support_, theirs.support_)
            np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=FLOAT32_KERNEL)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=FLOAT32_KERNEL)


def test_binary_attributes_equal_scikit_learn():
    X, y = helpers.cancer()
    labels = np.where(y > 0, "b", "a")
    ours, theirs = SVC(gamma=0.03).fit(X, labels), LibSVM(gamma=0.03, tol=1e-10).fit(X, labels)
    for name in ("classes_", "support_", "n_support_", "shape_fit_", "class_weight_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("dual_coef_", "intercept_", "support_vectors_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=FLOAT32_KERNEL)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    linear, reference = SVC(kernel="linear").fit(X, labels), LibSVM(kernel="linear", tol=1e-9).fit(X, labels)
    np.testing.assert_allclose(linear.coef_, reference.coef_, atol=FLOAT32_KERNEL)
