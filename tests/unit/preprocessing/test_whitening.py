"""Whitening: moments after it, the way back, singular covariances, sparse rows, offsets, weights, pieces."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from maxmargin import Whitener
from tests.estimator_checks import assert_passes_all_checks

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
SEEDS = st.integers(0, 2**32 - 1)
WAYS = list(itertools.product([True, False], repeat=3))  # center, scale, decorrelate


def whitener(way, **others):
    return Whitener(**dict(zip(("center", "scale", "decorrelate"), way, strict=True)), **others)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(way):
    assert_passes_all_checks(whitener(way))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_moments_of_what_comes_out_and_the_way_back(way):
    center, scale, decorrelate = way
    model = whitener(way)
    Z = model.fit_transform(IRIS_X)
    if center:
        np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    covariance = np.cov(Z.T, bias=True)
    if decorrelate:
        np.testing.assert_allclose(covariance, np.eye(4), atol=1e-5)
    elif scale:
        np.testing.assert_allclose(np.diag(covariance), 1.0)
    np.testing.assert_allclose(model.inverse_transform(Z), IRIS_X, rtol=1e-9)


@pytest.mark.parametrize("center", [True, False])
def test_without_correlations_it_is_the_standard_scaler(center):
    weights = np.random.default_rng(0).random(150)
    ours = Whitener(center=center).fit(IRIS_X, sample_weight=weights)
    theirs = StandardScaler(with_mean=center).fit(IRIS_X, sample_weight=weights)
    np.testing.assert_allclose(ours.transform(IRIS_X), theirs.transform(IRIS_X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-10)


def test_the_root_is_the_symmetric_one():
    model = Whitener(decorrelate=True, ridge=0.0).fit(IRIS_X)
    np.testing.assert_allclose(model.decorrelation_, model.decorrelation_.T)
    np.testing.assert_allclose(np.linalg.inv(model.decorrelation_ @ model.decorrelation_), np.corrcoef(IRIS_X.T))
    shrunk = Whitener(decorrelate=True, ridge=1e3).fit(IRIS_X)  # far more ridge than correlation
    np.testing.assert_allclose(shrunk.decorrelation_ / shrunk.decorrelation_[0, 0], np.eye(4), atol=1e-2)


def test_constant_and_dependent_features():
    X = np.column_stack([IRIS_X, np.full(150, 0.1), IRIS_X[:, 0] + IRIS_X[:, 1], np.zeros(150)])
    Z = Whitener().fit_transform(X)
    np.testing.assert_array_equal(Z[:, [4, 6]], 0.0)
    np.testing.assert_array_equal(Whitener(center=False).fit_transform(X)[:, [4, 6]], X[:, [4, 6]])
    model = Whitener(decorrelate=True).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z[:, [4, 6]], 0.0, atol=1e-8)
    values = np.linalg.eigvalsh(np.cov(Z.T, bias=True))
    np.testing.assert_allclose(values, [0, 0, 0, 1, 1, 1, 1], atol=1e-5)
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-9)
    singular = Whitener(decorrelate=True, ridge=0.0)
    with pytest.raises(ValueError, match="made uncorrelated: give ridge > 0"):
        singular.fit(X)
    assert not hasattr(singular, "mean_")
    np.testing.assert_array_equal(Whitener(decorrelate=True).fit_transform(np.ones((2, 3))), 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_are_dense_rows(dtype, form):
    X = np.where(IRIS_X > 3.0, IRIS_X, 0.0).astype(dtype)
    X[:, 1] = 0.1  # full and constant
    weights = np.random.default_rng(0).random(150)
    stored = form(X)
    model = Whitener(center=False).fit(stored, sample_weight=weights)
    Z = model.transform(stored)
    assert sparse.issparse(Z)
    assert Z.dtype == dtype
    dense = Whitener(center=False).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.var_, dense.var_, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(Z.toarray(), dense.transform(X), rtol=1e-6)
    np.testing.assert_allclose(model.inverse_transform(Z).toarray(), X, rtol=1e-6)
    np.testing.assert_array_equal(stored.toarray(), X)


def test_sparse_rows_never_become_dense_in_silence():
    stored = sparse.csr_array(IRIS_X)
    with pytest.raises(ValueError, match=r"center=True would make sparse X dense. Use center=False, or pass X.toarray"):
        Whitener().fit(stored)
    with pytest.raises(ValueError, match="decorrelate=True would make sparse X dense"):
        Whitener(center=False, decorrelate=True).fit(stored)
    with pytest.raises(ValueError, match="center=True would make sparse X dense"):
        Whitener().fit(IRIS_X).transform(stored)


def test_features_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[:, 2] += X[:, 0]
    for way in (True, True, False), (True, True, True):
        near, far = whitener(way).fit_transform(X), whitener(way).fit_transform(X + 1e8)
        np.testing.assert_allclose(far, near, atol=1e-6)
    pieces = Whitener()
    for part in np.split(X + 1e8, 3):
        pieces.partial_fit(part)
    np.testing.assert_allclose(pieces.var_, X.var(axis=0), rtol=1e-7)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_float32_stays_float32(way):
    X = IRIS_X.astype(np.float32)
    Z = whitener(way).fit_transform(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, whitener(way).fit_transform(X.astype(np.float64)), rtol=1e-5, atol=1e-5)


@given(SEEDS, st.sampled_from(WAYS))
def test_weights_are_repetitions_and_pieces_the_whole(seed, way):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1] + rng.normal(size=3)
    counts = rng.integers(0, 4, size=30)
    counts[:5] = 1
    weighted = whitener(way, ridge=1e-3).fit(X, sample_weight=counts).transform(X)
    rows = np.repeat(X, counts, axis=0)
    np.testing.assert_allclose(weighted, whitener(way, ridge=1e-3).fit(rows).transform(X), rtol=1e-9, atol=1e-9)
    pieces = whitener(way, ridge=1e-3)
    for part in np.array_split(np.arange(30), 5):
        pieces.partial_fit(X[part], sample_weight=counts[part])
    pieces.partial_fit(X[:3] + 100.0, sample_weight=np.zeros(3))
    np.testing.assert_allclose(weighted, pieces.transform(X), rtol=1e-9, atol=1e-9)
    assert pieces.n_samples_seen_ == counts.sum()


def test_pieces_of_sparse_rows_and_changed_minds():
    X = np.where(IRIS_X > 2.0, IRIS_X, 0.0)
    pieces = Whitener(center=False)
    for part in np.split(X, 3):
        pieces.partial_fit(sparse.csr_array(part))
    np.testing.assert_allclose(pieces.scale_, X.std(axis=0))
    with pytest.raises(ValueError, match="correlations were not counted from the first rows on"):
        pieces.set_params(decorrelate=True).partial_fit(X)


@pytest.mark.parametrize(("frame", "name"), [(pd.DataFrame, "pandas"), (pl.DataFrame, "polars")])
def test_tables_keep_their_names(frame, name):
    table = frame(dict(zip("abcd", IRIS_X.T, strict=True)))
    model = Whitener(decorrelate=True).set_output(transform=name).fit(table)
    out = model.transform(table)
    assert isinstance(out, frame)
    assert list(out.columns) == list(model.get_feature_names_out()) == list("abcd")
    np.testing.assert_array_equal(out.to_numpy(), Whitener(decorrelate=True).fit_transform(IRIS_X))


def test_parameters_changed_after_fit_wait_for_the_next_one():
    model = Whitener(decorrelate=True).fit(IRIS_X)
    out = model.transform(IRIS_X)
    model.set_params(center=False, scale=False, decorrelate=False)
    np.testing.assert_array_equal(model.transform(IRIS_X), out)
    np.testing.assert_allclose(model.inverse_transform(out), IRIS_X)
    with pytest.raises(ValueError, match="would make sparse X dense"):
        model.transform(sparse.csr_array(IRIS_X))
    model.partial_fit(IRIS_X)
    np.testing.assert_array_equal(model.transform(IRIS_X), IRIS_X)


def test_a_fit_that_fails_leaves_the_whitener_as_it_was():
    model = Whitener(decorrelate=True, ridge=0.0)
    with pytest.raises(ValueError, match="give ridge > 0"):
        model.fit(np.ones((3, 2)))
    with pytest.raises(NotFittedError):
        model.transform(IRIS_X)
    out = model.fit(IRIS_X).transform(IRIS_X)
    with pytest.raises(ValueError, match="give ridge > 0"):
        model.fit(np.ones((3, 2)))
    np.testing.assert_array_equal(model.transform(IRIS_X), out)


def test_bad_input_says_what_was_wrong():
    with pytest.raises(ValueError, match="Whitener: the sample weights are too large: their sum overflows"):
        Whitener().fit(IRIS_X, sample_weight=np.full(150, 1e308))
    with pytest.raises(ValueError, match="Whitener: ridge must be a finite number >= 0; got -1"):
        Whitener(ridge=-1).fit(IRIS_X)
    with pytest.raises(ValueError, match="center must be True or False; got 'auto'"):
        Whitener(center="auto").fit(IRIS_X)
    for decorrelate in (True, False):
        with pytest.raises(ValueError, match="values of feature 1 are too large"):
            Whitener(decorrelate=decorrelate).fit([[1.0, 1e200], [2.0, -1e200]])
    with pytest.raises(ValueError, match="values of feature 1 are too large"):
        Whitener(center=False).fit(sparse.csr_array([[1.0, 1e200], [2.0, -1e200]]))


def test_why_to_translate_as_well():
    """The notes' question: a mean m adds 1 + |m|^2 to the curvature that steps in (w, b) meet."""
    X = IRIS_X + 100.0
    curvatures = {}
    for center in (True, False):
        Z = np.column_stack([Whitener(center=center, decorrelate=True).fit_transform(X), np.ones(150)])
        curvatures[center] = np.linalg.eigvalsh(Z.T @ Z / 150)
        mean = Z.mean(axis=0)
        assert curvatures[center][-1] == pytest.approx(mean @ mean, rel=1e-3)
    np.testing.assert_allclose(curvatures[True], 1.0, atol=1e-5)
    assert curvatures[False][-1] / curvatures[False][0] > 1e4
