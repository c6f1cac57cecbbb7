"""Kernel PCA: scikit-learn's answers, its contract, invariances, budgets, proofs, kernels of every kind, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from maxmargin import KernelPCA
from maxmargin.kernels import RBF, Linear, Precomputed
from tests.estimator_checks import assert_passes_all_checks

NAMES = ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "precomputed"]
SHARED = ["linear", "poly", "rbf", "cosine"]  # with scikit-learn
SEEDS = st.integers(0, 2**32 - 1)
IRIS = load_iris(return_X_y=True)[0]
RNG = np.random.default_rng(0)
ROWS, NEW = RNG.normal(size=(120, 5)), RNG.normal(size=(40, 5))


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(kernel):
    assert_passes_all_checks(KernelPCA(kernel=kernel))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", SHARED)
@pytest.mark.parametrize(
    "parameters", [{}, {"n_components": 4}, {"n_components": 4, "gamma": 0.3, "degree": 2}], ids=str
)
def test_scikit_learn_finds_the_same(kernel, storage, parameters):
    theirs = decomposition.KernelPCA(kernel=kernel, **parameters).fit(storage(ROWS))
    ours = KernelPCA(**theirs.get_params()).fit(storage(ROWS))
    large = theirs.eigenvalues_ > 1e-9 * theirs.eigenvalues_[0]  # of smaller ones both know no digit
    count = int(large.sum())
    np.testing.assert_allclose(ours.eigenvalues_[:count], theirs.eigenvalues_[:count], rtol=1e-6)
    assert ours.gamma_ == theirs.gamma_
    for method, rows in (("fit_transform", ROWS), ("transform", NEW)):
        mine, other = (getattr(model, method)(storage(rows))[:, :count] for model in (ours, theirs))
        np.testing.assert_allclose(mine, other, atol=1e-6 * np.abs(other).max())
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())[: ours._n_features_out]


def test_the_linear_kernel_is_pca():
    pca, model = PCA().fit(IRIS), KernelPCA().fit(IRIS)
    np.testing.assert_allclose(model.eigenvalues_ / 149, pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.transform(IRIS)), np.abs(pca.transform(IRIS)), atol=1e-10)
    few = KernelPCA(n_components=2, kernel=Linear()).fit(IRIS)
    np.testing.assert_allclose(few.explained_variance_ratio_, pca.explained_variance_ratio_[:2], rtol=1e-10)


def test_scikit_learns_regression_back():
    for kernel in SHARED:
        theirs = decomposition.KernelPCA(4, kernel=kernel, fit_inverse_transform=True, alpha=0.1).fit(ROWS)
        ours = KernelPCA(**theirs.get_params(), inverse="ridge").fit(ROWS)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)
        Y = ours.transform(NEW)
        np.testing.assert_allclose(ours.inverse_transform(Y), theirs.inverse_transform(Y), atol=1e-6)


# --- invariances -----------------------------------------------------------------------------------------------------


@given(seed=SEEDS, kernel=st.sampled_from(["rbf", "laplacian", "poly", "cosine"]))
def test_the_order_of_the_rows_changes_nothing(seed, kernel):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(30, 4)), rng.permutation(30)
    one, other = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel=kernel).fit(X[order])
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(other.transform(X)), np.abs(one.transform(X)), atol=1e-6)


@given(seed=SEEDS, kernel=st.sampled_from(["rbf", "linear", "poly"]))
def test_rows_given_twice_double_the_eigenvalues(seed, kernel):
    X = np.random.default_rng(seed).normal(size=(25, 4))
    one, twice = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel=kernel).fit(np.vstack([X, X]))
    np.testing.assert_allclose(twice.eigenvalues_, 2 * one.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(twice.transform(X)), np.abs(one.transform(X)), atol=1e-6)
    np.testing.assert_allclose(twice.explained_variance_ratio_, one.explained_variance_ratio_, rtol=1e-9)


@given(seed=SEEDS, kernel=st.sampled_from(["rbf", "laplacian", "linear"]), size=st.sampled_from([1.0, 1e3, 1e6]))
def test_a_translation_changes_nothing(seed, kernel, size):
    rng = np.random.default_rng(seed)
    X, shift = rng.normal(size=(30, 4)), size * rng.normal(size=4)
    one, other = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel=kernel).fit(X + shift)
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(np.abs(other.transform(X + shift)), np.abs(one.transform(X)), atol=1e-6)


# --- what is found is proved, with any solver, precision and budget --------------------------------------------------


@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized"])
def test_residuals_are_those_of_the_centred_matrix(solver):
    model = KernelPCA(5, kernel="rbf", gamma=0.1, eigen_solver=solver).fit(ROWS)
    K = RBF(0.1)(ROWS)
    A = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    U = model.eigenvectors_
    np.testing.assert_allclose(
        model.residuals_, np.linalg.norm(A @ U - U * model.eigenvalues_, axis=0), rtol=1e-3, atol=1e-12
    )
    np.testing.assert_allclose(model.explained_variance_ratio_, model.eigenvalues_ / np.trace(A), rtol=1e-10)
    assert (model.n_iter_ == 0) == (solver == "dense")


MANY = np.random.default_rng(3).normal(size=(1300, 6)) / np.arange(1, 7)


@pytest.mark.large
@pytest.mark.parametrize("cache_size", [None, 4, 0.1], ids=["ample", "some rows", "none"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_data_within_any_budget(cache_size, dtype):
    rows = MANY.astype(dtype)
    model = KernelPCA(4, kernel="rbf", gamma=0.2, cache_size=cache_size)
    own = model.fit_transform(rows)
    assert own.dtype == model.transform(rows).dtype == dtype
    np.testing.assert_allclose(model.transform(rows), own, atol=1e-4)
    whole = KernelPCA(4, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(own, whole.fit_transform(rows), atol=1e-3)
    np.testing.assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-7)


@pytest.mark.large
def test_a_fit_that_ends_early_warns_and_is_kept():
    model = KernelPCA(5, kernel="rbf", gamma=20.0, eigen_solver="arpack", max_iter=2)
    with pytest.warns(ConvergenceWarning, match="after 2 products .* residuals_ says which") as caught:
        model.fit(MANY)
    assert caught[0].filename == __file__
    assert model.residuals_.max() > 1e-6 * model.eigenvalues_[0]
    assert model.n_iter_ == 2


def test_starts_are_repeatable():
    once, again, other = (
        KernelPCA(3, kernel="rbf", eigen_solver="randomized", iterated_power=0, random_state=seed).fit(ROWS)
        for seed in (None, None, np.random.RandomState(1))
    )
    np.testing.assert_array_equal(once.eigenvectors_, again.eigenvectors_)
    assert np.abs(once.eigenvectors_ - other.eigenvectors_).max() > 1e-9


# --- kernels of every kind -------------------------------------------------------------------------------------------


def of_matrices(A, B, gamma=0.1):
    return RBF(gamma)(A, B)


def of_rows(a, b, gamma=0.1):
    return float(np.exp(-gamma * np.sum((a - b) ** 2)))


@pytest.mark.parametrize(
    "kernel",
    [of_matrices, of_rows, RBF(0.1), 0.5 * RBF(0.1) + 0.5 * RBF(0.1)],
    ids=["matrices", "rows", "kernel", "sum"],
)
def test_functions_and_objects(kernel):
    model, same = KernelPCA(3, kernel=kernel), KernelPCA(3, kernel="rbf", gamma=0.1)
    np.testing.assert_allclose(model.fit_transform(ROWS), same.fit_transform(ROWS), atol=1e-9)
    np.testing.assert_allclose(model.transform(NEW), same.transform(NEW), atol=1e-9)


@pytest.mark.parametrize("function", [of_matrices, of_rows])
def test_parameters_of_a_function(function):
    model = KernelPCA(3, kernel=function, kernel_params={"gamma": 0.4}).fit(ROWS)
    theirs = decomposition.KernelPCA(3, kernel=of_rows, kernel_params={"gamma": 0.4}).fit(ROWS)
    np.testing.assert_allclose(model.transform(NEW), theirs.transform(NEW), atol=1e-8)


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed(), 2.0 * Precomputed()], ids=str)
@pytest.mark.parametrize("solver", ["dense", "arpack"])
def test_precomputed(kernel, solver):
    factor = 2.0 if kernel == 2.0 * Precomputed() else 1.0
    model = KernelPCA(3, kernel=kernel, eigen_solver=solver)
    same = KernelPCA(3, kernel=factor * RBF(0.1))
    K, before = RBF(0.1)(ROWS), RBF(0.1)(ROWS)
    np.testing.assert_allclose(model.fit_transform(K), same.fit_transform(ROWS), atol=1e-8)
    np.testing.assert_allclose(model.transform(RBF(0.1)(NEW, ROWS)), same.transform(NEW), atol=1e-8)
    np.testing.assert_array_equal(K, before)


def test_words_by_their_letters():
    def common(a, b):
        return float(len(set(a) & set(b)))

    words = ["anna", "hannah", "nina", "otto", "toto", "tot"]
    model = KernelPCA(2, kernel=common)
    Y = model.fit_transform(words)
    np.testing.assert_allclose(model.transform(["ana", "ot"]), Y[[0, 3]], atol=1e-12)
    assert np.all(Y[:3, 0] * Y[3:, 0] < 0)
    assert not hasattr(model, "n_features_in_")


def test_a_width_left_open_is_set():
    np.testing.assert_allclose(
        KernelPCA(2, kernel=RBF()).fit_transform(IRIS), KernelPCA(2, kernel="rbf", gamma=0.25).fit_transform(IRIS)
    )


def test_negative_eigenvalues_are_no_components():
    with pytest.warns(UserWarning, match="not positive semidefinite .* Negative ones count as zero"):
        model = KernelPCA(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(ROWS)
    assert np.all(model.eigenvalues_ > 0)
    assert np.isfinite(model.transform(NEW)).all()


@pytest.mark.large
def test_components_without_length():
    flat = np.hstack([ROWS[:, :2], np.ones((120, 1))])
    for kernel in ("linear", Linear() + 0.0):
        assert KernelPCA(kernel=kernel).fit_transform(flat).shape == (120, 2)
        assert KernelPCA(5, kernel=kernel, remove_zero_eig=True).fit_transform(flat).shape == (120, 2)
        model = KernelPCA(5, kernel=kernel).fit(flat)
        assert model.transform(flat).shape == (120, 5)
        np.testing.assert_array_equal(model.transform(flat)[:, 2:], 0.0)
    for n, components in ((6, None), (1100, 2)):
        model = KernelPCA(components, kernel="rbf", remove_zero_eig=True)
        assert model.fit_transform(np.ones((n, 2))).shape == (n, 0)
        assert model.explained_variance_ratio_.shape == (0,)


# --- the contract ----------------------------------------------------------------------------------------------------


def test_pickles_clones_frames_and_pipelines():
    table = pd.DataFrame(IRIS, columns=list("abcd"))
    model = KernelPCA(2, kernel="rbf").set_output(transform="pandas")
    Y = model.fit_transform(table)
    assert list(Y.columns) == list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]
    assert list(model.feature_names_in_) == list("abcd")
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.transform(table), model.transform(table))
    assert not hasattr(clone(model), "eigenvalues_")
    y = load_iris(return_X_y=True)[1]
    assert make_pipeline(KernelPCA(3, kernel="rbf"), KNeighborsClassifier()).fit(IRIS, y).score(IRIS, y) > 0.9


def test_rows_are_copied_unless_told():
    X = ROWS.copy()
    for copied in (True, False):
        model = KernelPCA(2, kernel="rbf", copy_X=copied).fit(X)
        assert np.shares_memory(model.X_fit_, X) != copied


def test_what_was_fitted_counts():
    model = KernelPCA(2, kernel="rbf").fit(ROWS)
    before = model.transform(NEW)
    model.set_params(kernel="linear", gamma=3.0, n_components=1, center=False, inverse="ridge")
    np.testing.assert_array_equal(model.transform(NEW), before)
    assert model.inverse_transform(before).shape == NEW.shape


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "rfb"}, "kernel must be one of .* Did you mean 'rbf'?"),
        ({"eigen_solver": "denser"}, "Did you mean 'dense'?"),
        ({"n_components": 0}, "n_components must be an integer >= 1"),
        ({"gamma": -1.0}, "gamma must be a number >= 0"),
        ({"degree": 2.5}, "degree must be an integer >= 0"),
        ({"inverse": "fixed"}, "inverse must be one of"),
        ({"inverse": "fixed_point"}, "for the RBF kernel alone"),
        ({"cache_size": 0}, "cache_size must be a number of megabytes > 0"),
        ({"kernel": "precomputed"}, "must be the square matrix"),
        ({"random_state": "seed"}, "cannot be used to seed"),
    ],
)
def test_parameters_that_make_no_sense(parameters, words):
    with pytest.raises(ValueError, match=words):
        KernelPCA(**parameters).fit(ROWS)


@pytest.mark.parametrize(
    ("kernel", "rows"), [("precomputed", ROWS @ ROWS.T), ("linear", sparse.csr_array(ROWS)), (of_rows, list("abc"))]
)
def test_no_regression_without_rows_of_numbers(kernel, rows):
    kernel = (lambda a, b: float(a == b)) if kernel is of_rows else kernel
    with pytest.raises(ValueError, match="Cannot fit_inverse_transform"):
        KernelPCA(kernel=kernel, fit_inverse_transform=True).fit(rows)


@pytest.mark.parametrize("parameters", [{"kernel": "poly"}, {"kernel": "rbf", "inverse": "ridge"}], ids=str)
def test_no_way_back(parameters):
    model = KernelPCA(2, **parameters).fit(ROWS)
    with pytest.raises(NotFittedError, match=r"without a way back for .* fit_inverse_transform=True"):
        model.inverse_transform(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="X has 3 components, but KernelPCA was fitted with 2"):
        model.inverse_transform(np.zeros((3, 3)))
