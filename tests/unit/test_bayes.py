"""Naive Bayes: estimates of the notes, posteriors, pieces and weights. Small data: also run without the compiler."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.special import log_softmax, softmax
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import OneHotEncoder

import maxmargin
from maxmargin import CategoricalNB, GaussianNB, MultinomialNB
from maxmargin.bayes import categorical, gaussian, multinomial
from maxmargin.core.rows import rows_of
from maxmargin.preprocessing.moments import _follow, grouped_moments, moments

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
SEEDS = st.integers(0, 2**32 - 1)
MODELS = [
    GaussianNB(),
    GaussianNB(covariance="shared"),
    MultinomialNB(alpha=0.5),
    MultinomialNB(alpha=0.0),
    CategoricalNB(alpha=0.5),
    CategoricalNB(alpha=0.0, fit_prior=False),
]


def some_rows(seed, n=40, features=3):
    """Small whole numbers: they serve as numbers, counts and categories alike."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.integers(0, 4, size=(n, features)) + (rng.random((n, features)) < 0.2 * y[:, None]), y, rng


def same_model(one, other, X, **tolerance):
    np.testing.assert_allclose(one.class_count_, other.class_count_, rtol=1e-12)
    np.testing.assert_allclose(
        one.predict_joint_log_proba(X), other.predict_joint_log_proba(X), **({"rtol": 1e-9, "atol": 1e-9} | tolerance)
    )


# Class a is rows 0-2, class b the rest. Counted by hand:
#   feature 0:  a has 0, 0, 1 and b has 1, 0, 1;   feature 1:  a has 0, 1, 1 and b has 2, 2, 2
TABLE = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [0, 2], [1, 2]])
TABLE_Y = np.array(list("aaabbb"))


def test_shares_of_categories_counted_by_hand():
    model = CategoricalNB(alpha=0.0).fit(TABLE, TABLE_Y)
    np.testing.assert_array_equal(model.category_count_[0], [[2, 1], [1, 2]])
    np.testing.assert_array_equal(model.category_count_[1], [[1, 2, 0], [0, 0, 3]])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[1]), [[1 / 3, 2 / 3, 0], [0, 0, 1]])
    np.testing.assert_allclose(model.class_prior_, [0.5, 0.5])
    np.testing.assert_array_equal(model.n_categories_, [2, 3])
    joint = np.exp(model.predict_joint_log_proba([[0, 1], [1, 2]]))
    np.testing.assert_allclose(joint, [[0.5 * 2 / 3 * 2 / 3, 0.0], [0.0, 0.5 * 2 / 3]])
    np.testing.assert_array_equal(model.predict_proba([[0, 1], [1, 2]]), [[1, 0], [0, 1]])
    smoothed = CategoricalNB(alpha=1.0).fit(TABLE, TABLE_Y)
    np.testing.assert_allclose(np.exp(smoothed.feature_log_prob_[1]), [[2 / 6, 3 / 6, 1 / 6], [1 / 6, 1 / 6, 4 / 6]])


def test_shares_of_counts_counted_by_hand():
    words, y = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 3]]), ["spam", "spam", "ham"]
    model = MultinomialNB(alpha=0.0).fit(words, y)
    np.testing.assert_array_equal(model.feature_count_, [[0, 1, 3], [3, 1, 0]])
    np.testing.assert_allclose(np.exp(model.coef_), [[0, 1 / 4, 3 / 4], [3 / 4, 1 / 4, 0]])
    np.testing.assert_allclose(np.exp(model.intercept_), [1 / 3, 2 / 3])
    np.testing.assert_allclose(model.predict_proba([[0, 2, 0], [0, 1, 1]]), [[1 / 3, 2 / 3], [1, 0]])
    laplace = MultinomialNB().fit(words, y)
    np.testing.assert_allclose(np.exp(laplace.coef_), [[1 / 7, 2 / 7, 4 / 7], [4 / 7, 2 / 7, 1 / 7]])
    informed = MultinomialNB(alpha=[0.0, 1.0, 2.0]).fit(words, y)
    np.testing.assert_allclose(np.exp(informed.coef_), [[0, 2 / 7, 5 / 7], [3 / 7, 2 / 7, 2 / 7]])


def test_means_and_variances_by_hand():
    X, y = np.array([[1.0, 0.0], [3.0, 4.0], [5.0, 1.0], [5.0, 3.0]]), [0, 0, 1, 1]
    own = GaussianNB(var_smoothing=0.0, priors=[0.25, 0.75])
    with pytest.raises(ValueError, match=r"variance of feature 0 within class 1 is 0\.0: give var_smoothing"):
        own.fit(X, y)
    X[2:, 0] = [4.0, 6.0]
    own.fit(X, y)
    np.testing.assert_array_equal(own.theta_, [[2, 2], [5, 2]])
    np.testing.assert_array_equal(own.var_, [[1, 4], [1, 1]])
    np.testing.assert_array_equal(own.class_prior_, [0.25, 0.75])
    shared = GaussianNB(covariance="shared", var_smoothing=0.0).fit(X, y)
    np.testing.assert_array_equal(shared.var_, [1, 2.5])
    everything = GaussianNB(covariance="shared", var_smoothing=0.5).fit(X, y)
    np.testing.assert_allclose(everything.epsilon_, 0.5 * 3.25)  # the larger of the variances of all rows, 3.25 and 2.5
    np.testing.assert_allclose(everything.var_, [1 + 1.625, 2.5 + 1.625])


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


def test_one_covariance_against_densities():
    model = GaussianNB(covariance="shared").fit(IRIS_X, IRIS_Y)
    rows = IRIS_X.reshape(3, 50, 4)  # sorted by class
    means, variance = rows.mean(axis=1), rows.var(axis=1).mean(axis=0) + 1e-9 * IRIS_X.var(axis=0).max()
    logs = [np.log(1 / 3) + stats.norm.logpdf(IRIS_X, mean, np.sqrt(variance)).sum(axis=1) for mean in means]
    np.testing.assert_allclose(model.predict_joint_log_proba(IRIS_X), np.transpose(logs), rtol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(IRIS_X), log_softmax(np.transpose(logs), axis=1), atol=1e-10)


@pytest.mark.parametrize("model", [GaussianNB(covariance="shared"), MultinomialNB()], ids=str)
def test_the_posterior_is_linear(model):
    model.fit(IRIS_X, IRIS_Y)
    wanted = softmax(IRIS_X @ model.coef_.T + model.intercept_, axis=1)
    np.testing.assert_allclose(model.predict_proba(IRIS_X), wanted, rtol=1e-12)


def test_categories_are_linear_in_their_indicators():
    model = CategoricalNB().fit(TABLE, TABLE_Y)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(TABLE)
    scores = indicators @ np.hstack(model.feature_log_prob_).T + model.class_log_prior_
    np.testing.assert_allclose(model.predict_proba(TABLE), softmax(scores, axis=1), rtol=1e-12)


def test_decisions_are_log_odds():
    two = IRIS_Y < 2
    for covariance in ("shared", "per_class"):
        model = GaussianNB(covariance=covariance).fit(IRIS_X[two], IRIS_Y[two])
        logs = model.predict_log_proba(IRIS_X)
        np.testing.assert_allclose(model.decision_function(IRIS_X), logs[:, 1] - logs[:, 0], rtol=1e-9)
        scores = model.fit(IRIS_X, IRIS_Y).decision_function(IRIS_X)
        np.testing.assert_allclose(log_softmax(scores, axis=1), model.predict_log_proba(IRIS_X))


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


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_dense_rows(alpha, dtype):
    X, y, _ = some_rows(0)
    dense = MultinomialNB(alpha=alpha).fit(X.astype(dtype), y)
    stored = sparse.csr_array(X.astype(dtype))
    stored.data[stored.data == 1] = 0  # zeros may be stored
    zeros = MultinomialNB(alpha=alpha).fit(stored, y)
    same_model(zeros, MultinomialNB(alpha=alpha).fit(stored.toarray(), y), stored.toarray())
    np.testing.assert_array_equal(
        zeros.predict_joint_log_proba(stored), zeros.predict_joint_log_proba(stored.toarray())
    )
    same_model(dense, MultinomialNB(alpha=alpha).fit(X, y), X)


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


def test_unknown_categories():
    model = CategoricalNB().fit(TABLE, TABLE_Y)
    with pytest.raises(
        ValueError, match=r"feature 1 is 3 in row 1, and the largest category known is 2. Say with min_cat"
    ):
        model.predict([[0, 0], [1, 3]])
    model.set_params(handle_unknown="ignore")
    first_alone = CategoricalNB().fit(TABLE[:, :1], TABLE_Y).predict_proba([[0], [1]])
    np.testing.assert_allclose(model.predict_proba([[0, 3], [1, 10**15]]), first_alone)
    for dtype in (np.int8, np.int64, np.float32, np.float64):  # as an OrdinalEncoder may code what it does not know
        np.testing.assert_allclose(model.predict_proba(np.array([[0, -1], [1, -1]], dtype)), first_alone)
    roomy = CategoricalNB(min_categories=[2, 5]).fit(TABLE, TABLE_Y)
    np.testing.assert_array_equal(roomy.n_categories_, [2, 5])
    np.testing.assert_allclose(np.exp(roomy.feature_log_prob_[1])[0], np.array([2, 3, 1, 1, 1]) / 8)
    assert roomy.predict_proba([[0, 4]])[0, 0] == pytest.approx(3 / 5)


HUGE = [  # in fewer bits they would be negative, or add up to it
    np.array([[0, 2**63 + 5]], np.uint64),
    np.array([[0, 2**64 - 1]], np.uint64),
    np.array([[0, 2**63 - 1]], np.int64),
    np.array([[0, 2**40]], np.int64),
    np.array([[0, 1e300]]),
    np.array([[0, 3e38]], np.float32),
]


@pytest.mark.parametrize("row", HUGE, ids=lambda row: f"{row[0, 1]}")
def test_huge_categories_are_refused_or_unknown(row):
    model = CategoricalNB().fit(TABLE, TABLE_Y)
    value = re.escape(f"{row[0, 1]}")
    with pytest.raises(ValueError, match=f"feature 1 is {value} in row 0, and the largest category known is 2"):
        model.predict(row)
    model.set_params(handle_unknown="ignore")
    first_alone = CategoricalNB().fit(TABLE[:, :1], TABLE_Y).predict_joint_log_proba([[0]])
    np.testing.assert_allclose(model.predict_joint_log_proba(row), first_alone)
    with pytest.raises(ValueError, match=f"feature 1 is {value} in row 1, and categories are .*OrdinalEncoder"):
        CategoricalNB().fit(np.vstack([0 * row, row]), [0, 1])
    with pytest.raises(ValueError, match=f"feature 1 is {value} in row 0, and categories are"):
        model.partial_fit(row, ["a"])
    assert model.class_count_.sum() == 6


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.uint64, np.float16, np.float32, object])
def test_categories_of_all_types(dtype):
    codes = TABLE % 2
    model = CategoricalNB().fit(codes.astype(dtype), TABLE_Y)
    expected = CategoricalNB().fit(codes, TABLE_Y).predict_joint_log_proba(codes)
    np.testing.assert_array_equal(model.predict_joint_log_proba(codes.astype(dtype)), expected)


def test_rows_that_cannot_be_written_are_read():
    codes = TABLE.copy()
    codes.flags.writeable = False
    assert CategoricalNB().fit(codes, TABLE_Y).predict(codes).shape == (6,)


def test_categories_that_come_later():
    pieces = CategoricalNB().partial_fit(TABLE[:3], TABLE_Y[:3], classes=["a", "b"])
    np.testing.assert_array_equal(pieces.n_categories_, [2, 2])
    pieces.partial_fit(TABLE[3:], TABLE_Y[3:])
    whole = CategoricalNB().fit(TABLE, TABLE_Y)
    np.testing.assert_array_equal(pieces.n_categories_, whole.n_categories_)
    same_model(pieces, whole, TABLE)


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


def test_features_far_from_zero_keep_their_digits():
    for covariance in ("shared", "per_class"):
        near = GaussianNB(covariance=covariance, var_smoothing=0.0).fit(IRIS_X, IRIS_Y)
        far = GaussianNB(covariance=covariance, var_smoothing=0.0).fit(IRIS_X + 1e8, IRIS_Y)
        np.testing.assert_allclose(far.var_, near.var_, rtol=1e-6)
        np.testing.assert_allclose(far.predict_proba(IRIS_X + 1e8), near.predict_proba(IRIS_X), atol=1e-4)


def test_a_feature_repeated_999_times_counts_999_times():
    """How naive Bayes can fail: the weight of the fish, repeated, drowns its length."""
    rng = np.random.default_rng(0)
    fish = rng.normal(size=(20, 2)) + np.repeat([[0.0, 0.0], [1.0, 0.5]], 10, axis=0)
    kinds = np.repeat([0, 1], 10)
    length, weight = (
        GaussianNB(var_smoothing=0.0).fit(fish[:, [k]], kinds).decision_function(fish[:, [k]]) for k in range(2)
    )
    repeated = np.column_stack([fish[:, 0], *[fish[:, 1]] * 999])
    decisions = GaussianNB(var_smoothing=0.0).fit(repeated, kinds).decision_function(repeated)
    np.testing.assert_allclose(decisions, length + 999 * weight, rtol=1e-9)


def test_features_that_never_vary_tell_nothing():
    for covariance in ("shared", "per_class"):
        model = GaussianNB(covariance=covariance).fit(np.ones((3, 2)), [0, 0, 1])
        np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[2 / 3, 1 / 3]])
        with pytest.raises(ValueError, match="too large; scale them"):
            GaussianNB(covariance=covariance).fit([[1e200], [-1e200], [2e200]], [0, 0, 1])


def test_loops_are_their_python_twins():
    X, y, rng = some_rows(5)
    weights, edges = rng.random(40), np.array([0, 6, 12, 18])
    logs, means, precisions = rng.normal(size=(18, 3)), rng.normal(size=(3, 3)), rng.random((3, 3))
    numbers, counts, codes = rows_of(X, np.float64), rows_of(sparse.csr_array(X), np.float64), rows_of(X, np.int64)

    def results(run):
        found = grouped_moments(X[:0].astype(float), y[:0], weights[:0], 3)
        origins, distances = np.zeros((3, 3)), np.zeros((40, 3))
        sums, cells, scores = multinomial.Counts(np.zeros(3), np.zeros((3, 3))), np.zeros((18, 3)), np.zeros((40, 3))
        run(_follow)(numbers, y, weights, origins, found)
        run(gaussian._squared_distances)(numbers, means, precisions, distances)
        run(multinomial._add_rows)(counts, y, weights, sums)
        run(categorical._add_weights)(codes, y, weights, edges, cells)
        run(categorical._add_logs)(codes, edges, logs, scores)
        return [*found, origins, distances, *sums, cells, scores]

    compiled, plain = results(lambda loop: loop), results(lambda loop: getattr(loop, "py_func", loop))
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@given(SEEDS)
def test_moments_of_groups_and_of_sparse_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * [1.0, 1e-3, 10.0, 1.0] + [0.0, 5.0, 1e8, 0.0]
    X[rng.random(30) < 0.5, 3] = 0.0
    X[:, 0] = 0.1  # never varies
    weights, groups = rng.random(30) + 0.1, rng.integers(0, 2, 30)
    found = grouped_moments(X, groups, weights, 3)
    for group in np.unique(groups):
        rows, w = X[groups == group] - [0, 0, 1e8, 0], weights[groups == group]
        mean = np.average(rows, axis=0, weights=w)
        np.testing.assert_allclose(found.means[group] - [0, 0, 1e8, 0], mean, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found.squares[group], w @ (rows - mean) ** 2, rtol=1e-6, atol=1e-30)
    assert found.weights[2] == 0
    for one in (found.pooled(), moments(sparse.csr_array(X), weights)):
        whole = moments(X, weights)
        np.testing.assert_allclose(one.means, whole.means, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(one.squares, whole.squares, rtol=1e-6, atol=1e-12)
    assert whole.squares[0, 0] == 0
