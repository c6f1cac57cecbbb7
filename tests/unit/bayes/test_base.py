"""Naive Bayes: priors, posteriors, pieces and weights of all models. Small data: also run without the compiler."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import softmax
from sklearn import naive_bayes
from sklearn.base import clone

import maxmargin
from maxmargin import CategoricalNB, GaussianNB, MultinomialNB
from tests.unit.bayes.models import IRIS_X, IRIS_Y, MODELS, SEEDS, TABLE, TABLE_Y, same_model, some_rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("GaussianNB", {"var_smoothing": 1e-3}),
        ("GaussianNB", {"var_smoothing": 0.0, "priors": [0.2, 0.3, 0.5]}),
        ("MultinomialNB", {"alpha": 0.7}),
        ("MultinomialNB", {"alpha": [1, 2, 3, 4], "fit_prior": False}),
        ("CategoricalNB", {"alpha": 0.7}),
        ("CategoricalNB", {"min_categories": [9, 5, 9, 4], "class_prior": [0.2, 0.3, 0.5]}),
    ],
)
def test_the_same_models_as_scikit_learn(name, parameters, weighted):
    if weighted and name == "GaussianNB":
        parameters = parameters | {"var_smoothing": 0.0}  # scikit-learn smooths by the variance without the weights
    ours, theirs = (getattr(module, name)(**parameters) for module in (maxmargin, naive_bayes))
    X = IRIS_X if name == "GaussianNB" else IRIS_X.astype(int)
    weights = np.random.default_rng(0).random(150) if weighted else None
    ours.fit(X, IRIS_Y, weights)
    theirs.fit(X, IRIS_Y, weights)
    same_model(ours, theirs, X, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for fitted in ("theta_", "var_", "class_log_prior_", "class_prior_", "feature_count_", "feature_log_prob_"):
        if hasattr(theirs, fitted):
            for mine, its in zip(getattr(ours, fitted), getattr(theirs, fitted), strict=True):
                np.testing.assert_allclose(mine, its, rtol=1e-10)


@pytest.mark.parametrize("model", [GaussianNB(covariance="shared"), MultinomialNB()], ids=str)
def test_the_posterior_is_linear(model):
    model.fit(IRIS_X, IRIS_Y)
    wanted = softmax(IRIS_X @ model.coef_.T + model.intercept_, axis=1)
    np.testing.assert_allclose(model.predict_proba(IRIS_X), wanted, rtol=1e-12)


@given(SEEDS, st.sampled_from(MODELS))
def test_pieces_make_the_same_model_as_one_fit(seed, model):
    X, y, rng = some_rows(seed)
    weights = rng.random(40) + 0.1
    whole = model.fit(X, y, weights)
    expected = whole.predict_joint_log_proba(X)
    pieces = clone(model)
    for part in np.split(rng.permutation(40), np.sort(rng.choice(np.arange(1, 40), 3, replace=False))):
        pieces.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=weights[part])
    np.testing.assert_allclose(pieces.predict_joint_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    more = model.partial_fit(X, y, sample_weight=weights)  # goes on from fit
    np.testing.assert_allclose(more.class_count_, 2 * pieces.class_count_)


@given(SEEDS, st.sampled_from(MODELS))
def test_weights_are_repetitions(seed, model):
    X, y, rng = some_rows(seed)
    counts = rng.integers(0, 4, size=40)
    counts[:3] = 1  # every class has a row
    weighted = clone(model).fit(X, y, counts)
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    same_model(weighted, repeated, X[counts > 0])


@given(SEEDS, st.sampled_from(MODELS))
def test_order_of_rows_and_names_of_labels_do_not_matter(seed, model):
    X, y, rng = some_rows(seed)
    order = rng.permutation(40)
    names = np.array(["c", "a", "b"])
    renamed = clone(model).fit(X[order], names[y][order])
    plain = model.fit(X, y).predict_log_proba(X)
    np.testing.assert_array_equal(renamed.classes_, ["a", "b", "c"])
    np.testing.assert_allclose(renamed.predict_log_proba(X)[:, [2, 0, 1]], plain, rtol=1e-9, atol=1e-9)


def test_rows_that_are_impossible_everywhere_get_the_prior():
    words = MultinomialNB(alpha=0.0).fit([[1, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 0, 1])
    with pytest.warns(UserWarning, match=r"2 of 3 rows \(the first is row 0\) have probability zero in every class"):
        shares = words.predict_proba([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(shares, [[2 / 3, 1 / 3], [1, 0], [2 / 3, 1 / 3]])
    assert np.isneginf(words.predict_joint_log_proba([[1, 1, 0]])).all()
    kinds = CategoricalNB(alpha=0.0, min_categories=3).fit([[0, 0], [0, 0], [1, 1]], [0, 0, 1])
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        np.testing.assert_allclose(kinds.predict_log_proba([[0, 1]]), np.log([[2 / 3, 1 / 3]]))
    with pytest.warns(UserWarning, match="prior alone"):
        assert kinds.predict([[2, 2]]) == [0]


@pytest.mark.parametrize(
    "model", [*MODELS, GaussianNB(priors=[0.5, 0.3, 0.2]), MultinomialNB(fit_prior=False)], ids=str
)
def test_a_class_without_rows_is_never_predicted(model):
    X, y, _ = some_rows(3)
    seen = y < 2
    model = clone(model).partial_fit(X[seen], y[seen], classes=[0, 1, 2])
    shares = model.predict_proba(X[seen])
    np.testing.assert_array_equal(shares[:, 2], 0.0)
    assert model.class_prior_[2] == 0
    assert model.class_prior_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    same_model(model.partial_fit(X[~seen], y[~seen]), clone(model).fit(X, y), X)


def test_priors_of_classes_without_rows():
    X, y = np.array([[1, 0], [0, 1]]), [0, 1]
    given = MultinomialNB(class_prior=[0.2, 0.3, 0.5]).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_allclose(given.class_prior_, [0.4, 0.6, 0.0])
    given.partial_fit(X[:1], [2])
    np.testing.assert_allclose(given.class_prior_, [0.2, 0.3, 0.5])
    for model in (GaussianNB(priors=[0, 0, 1]), MultinomialNB(class_prior=[0, 0, 1])):  # no class seen is possible
        np.testing.assert_array_equal(
            model.partial_fit(X, y, classes=[0, 1, 2]).predict_proba(X), [[0, 0, 1], [0, 0, 1]]
        )


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_piece_of_weight_zero_teaches_nothing(model):
    X, y, _ = some_rows(6)
    stream = clone(model)
    with pytest.raises(ValueError, match="sample_weight are zero"):
        stream.partial_fit(X, y, classes=[0, 1, 2], sample_weight=np.zeros(40))
    assert not hasattr(stream, "classes_")
    stream.partial_fit(X, y, classes=[0, 1, 2])
    stream.partial_fit(X[:5] + 1, y[:5], sample_weight=np.zeros(5))
    same_model(stream, clone(model).fit(X, y), X)


def test_sums_that_overflow_are_errors():
    for huge in (np.array([[1, 1e308], [2, 1e308], [1, 1]]), np.array([[1e308, 1.5e308], [0, 0], [1, 1]])):
        for rows in (huge, sparse.csr_array(huge)):
            with pytest.raises(ValueError, match="counts of class a, with alpha added to each, are too large"):
                MultinomialNB().fit(rows, list("aab"))
    for model in (MultinomialNB(alpha=1e308), CategoricalNB(alpha=1e308)):
        with pytest.raises(ValueError, match="or take a smaller alpha"):
            model.fit(TABLE, TABLE_Y)
    stream = MultinomialNB().partial_fit(huge[1:] + 1e308, ["a", "b"], classes=["a", "b"], sample_weight=[0.5, 1e-9])
    with pytest.raises(ValueError, match="too large"):
        stream.partial_fit(huge[:1], ["a"])
    assert stream.class_count_[0] == 0.5
    for model in MODELS:
        with pytest.raises(ValueError, match="sample weights are too large: their sum overflows"):
            clone(model).fit(TABLE, TABLE_Y, np.full(6, 1e308))
    for covariance in ("shared", "per_class"):
        with pytest.raises(ValueError, match="too large; scale them"):
            GaussianNB(covariance=covariance).fit([[1e308], [1e308], [-1e308], [0.0]], [0, 0, 1, 1])


def test_classes_of_weight_zero_are_no_classes():
    X, y, _ = some_rows(4)
    for model in MODELS:
        model = clone(model).fit(X, y, (y != 1).astype(float))
        np.testing.assert_array_equal(model.classes_, [0, 2])
        same_model(model, clone(model).fit(X[y != 1], y[y != 1]), X[y != 1])


def test_thousands_of_features_do_not_underflow():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(6, 10_000))
    for model in (GaussianNB(), GaussianNB(covariance="shared"), MultinomialNB(), CategoricalNB()):
        model.fit(X, [0, 0, 0, 1, 1, 1])
        logs = model.predict_log_proba(X)
        assert np.isfinite(logs).all()
        assert logs.min() < -700  # exp of it is zero
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), [0, 0, 0, 1, 1, 1])
