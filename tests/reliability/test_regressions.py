"""Defects that were found by trying to break a fit; each test failed before its defect was mended."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, LinearSVC, LinearSVR, Status, certify, soft_margin
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Laplacian, Precomputed
from maxmargin.kernels.points import centre_of
from tests.reliability import long_double, random_fits

# --- fits that did not end -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False, "regularized"])
@pytest.mark.parametrize("n", [2, 3])
def test_tiny_zero_one_data_end_with_a_proof(n, fit_intercept):
    """A gap of exactly zero counted as progress: the solve never ended, or its penalty grew until it overflowed."""
    for column in itertools.product((0.0, 1.0), repeat=n):
        for y in itertools.product((0, 1), repeat=n):
            if len(set(y)) == 2:
                model = LinearSVC(loss="hinge", fit_intercept=fit_intercept).fit(np.array(column)[:, None], y)
                assert model.status_ is Status.CONVERGED
                assert model.certificate_.relative_gap <= model.tol


def test_indefinite_kernels_end():
    """Ten million steps were allowed however few rows there were."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)) * 300.0, rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel="sigmoid", gamma=1e-5, C=1e6, fit_intercept="regularized").fit(X, y)
    assert model.n_iter_[0] < 1_000_000
    assert (model.status_ is Status.CONVERGED) == (model.certificate_.violation <= model.tol)


# --- certificates that were false ------------------------------------------------------------------------------------


def timestamps(offset):
    rng = np.random.default_rng(0)
    ticks = rng.integers(0, 100, 200)
    return np.column_stack([offset + ticks, rng.normal(size=200)]), ((ticks % 10) > 5).astype(int)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("gamma", [0.1, 1.0])
@pytest.mark.parametrize("columns", [2, 400])
@pytest.mark.parametrize("offset", [1e6, 1e8, 1.7e9])
def test_an_offset_costs_no_accuracy(offset, columns, gamma, container):
    X, y = timestamps(offset)
    X = np.hstack([X, np.zeros((len(X), columns - 2))])
    model = SVC(gamma=gamma, C=10).fit(container(X), y)
    assert model.status_ is Status.CONVERGED
    assert model.score(container(X), y) == 1.0
    trial = random_fits.Trial(0, model, "", X, container(X), y, None)
    assert random_fits.false_proofs(trial) == []


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(1.0), 2.0 * RBF(1.0) + Laplacian(0.5)])
@pytest.mark.parametrize("columns", [2, 400])
def test_kernel_values_of_points_far_apart(columns, kernel, container):
    """K(x, copy of x) was off by 0.39 where the spread is 10^7 widths: |x|^2 + |z|^2 - 2 x'z left only rounding."""
    rng = np.random.default_rng(0)
    X = np.zeros((60, columns))
    X[:, :2] = 1e8 * rng.normal(size=(60, 2))
    X[30:, :2] = X[:30, :2] + rng.normal(size=(30, 2))
    K = kernel(container(X))
    if isinstance(kernel, RBF | Laplacian):
        np.testing.assert_allclose(K, long_double.kernel_matrix(kernel, X).astype(float), rtol=1e-12)
    np.testing.assert_allclose(np.diag(K), kernel(X[:1])[0, 0], rtol=1e-12)
    np.testing.assert_allclose(K, kernel(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(1.0)])
def test_containers_of_far_points_do_not_matter(kernel):
    """Columns out of order, CSC, COO, and a dense and a sparse side give the same values."""
    rng = np.random.default_rng(0)
    X = 1e8 * rng.normal(size=(20, 3))
    X[10:] = X[:10] + rng.normal(size=(10, 3))
    rows = sparse.csr_matrix(X)
    columns = rows.indices.reshape(20, 3)[:, ::-1].ravel()
    turned = sparse.csr_matrix((rows.data.reshape(20, 3)[:, ::-1].ravel(), columns, rows.indptr), rows.shape)
    assert not turned.has_sorted_indices
    for Z in (rows, turned, sparse.csc_matrix(X), sparse.coo_matrix(X)):
        np.testing.assert_allclose(kernel(X, Z), kernel(X), rtol=1e-12)
        np.testing.assert_allclose(kernel(rows, Z), kernel(X), rtol=1e-12)


def test_new_points_are_seen_from_the_same_place():
    """Predictions move sparse rows as the fit does, also rows that lack the column which is moved."""
    X, y = timestamps(1.7e9)
    X = np.hstack([X, np.zeros((len(X), 400))])
    dense, rows = SVC(gamma=0.1, C=10).fit(X, y), sparse.csr_matrix(X)
    model = SVC(gamma=0.1, C=10).fit(rows, y)
    points = np.vstack([X[:50], np.zeros((3, X.shape[1]))])
    expected = dense.decision_function(points)
    np.testing.assert_allclose(model.decision_function(sparse.csr_matrix(points)), expected, atol=1e-8)


def test_only_full_columns_of_sparse_rows_are_moved():
    X = np.array([[5.0, 0.0, 1.0], [7.0, 2.0, 0.0]])
    np.testing.assert_array_equal(centre_of(sparse.csr_matrix(X)), [6.0, 0.0, 0.0])
    assert centre_of(sparse.csr_matrix(X[:, 1:])) is None


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_weights_and_bias_of_the_linear_kernel_belong_together(container):
    """The bias was worked out with other weights than those that predict: at an offset of 10^7 that is an error."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 3)) + 1e7, rng.integers(0, 2, 120)
    model = SVC(kernel="linear", C=30.0).fit(container(X), y)
    trial = random_fits.Trial(0, model, "", X, container(X), y, None)
    assert random_fits.false_proofs(trial) == []
    assert random_fits.disagreements(trial, model.status_, model.status_ is not Status.CONVERGED) == []


def test_a_negative_norm_is_no_proof():
    """A matrix that is positive semidefinite but for rounding: beta'K beta < 0 shows that it is not."""
    K = np.array([[1.0, 1.0 + 1e-10], [1.0 + 1e-10, 1.0]])
    gram = Gram(Precomputed(), K)
    assert gram.definiteness(np.arange(2)).definite
    problem = soft_margin(gram, np.array([1.0, -1.0]), 1e7)
    proof = certify(problem, np.array([1e6, 1e6]))
    assert np.isnan(proof.gap)
    assert "beta'K beta is negative" in proof.reason
    assert np.isfinite(certify(problem, np.zeros(2)).gap)


# --- a status that disagreed with the certificate --------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "huber_hinge"])
@pytest.mark.parametrize("C", [1e6, 1e9, 1e13])
def test_separable_data_and_a_huge_cost(loss, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = (X @ [1.0, 2.0, 3.0] > 0).astype(int)
    X += 0.3 * (2 * y - 1)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(loss=loss, C=C).fit(X, y)
    assert (model.status_ is Status.CONVERGED) == (model.certificate_.relative_gap <= model.tol)
    assert model.status_ is Status.CONVERGED or C > 1e9
    trial = random_fits.Trial(0, model, "", X, X, y, None)
    assert random_fits.false_proofs(trial) == []


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "huber"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_constant_targets_have_the_optimum_zero(loss, epsilon):
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = LinearSVR(loss=loss, epsilon=epsilon).fit(X, np.full(50, 3.3))
    assert model.status_ is Status.CONVERGED
    assert (model.certificate_.primal, model.certificate_.gap, model.certificate_.relative_gap) == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(model.predict(X), np.full(50, 3.3))


def test_the_rounding_of_scores_is_part_of_the_gap():
    """Unscaled features and a large C: the residuals of a tight fit are rounding, and the gap said 1e-16."""
    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(40, 6))
    y = X @ rng.normal(size=6) + rng.uniform(-1, 1, 40)
    model = LinearSVR(C=1e6, epsilon=1.0, fit_intercept="regularized").fit(X, y)
    proof = model.certificate_
    assert 0 < proof.rounding <= proof.gap
    trial = random_fits.Trial(0, model, "", X, X, y, None)
    assert random_fits.false_proofs(trial) == []


@pytest.mark.parametrize("model", [LinearSVC(loss="hinge"), LinearSVC(), LinearSVC(loss="logistic"), LinearSVR()])
def test_numbers_that_overflow_get_advice(model):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="scale the features"):
        model.fit(1e200 * rng.normal(size=(40, 3)), np.arange(40) % 2)
