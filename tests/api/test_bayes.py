"""Naive Bayes: the scikit-learn contract, tables, routing, pickles, messages."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from benchmarks import bayes
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from maxmargin import CategoricalNB, GaussianNB, MultinomialNB
from tests.estimator_checks import assert_passes_all_checks

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
CODES = IRIS_X.astype(int)
CHECKED = [
    GaussianNB(),
    GaussianNB(covariance="shared"),
    GaussianNB(var_smoothing=0.1),
    MultinomialNB(),
    MultinomialNB(alpha=0.0),
    MultinomialNB(fit_prior=False),
    CategoricalNB(),
    CategoricalNB(alpha=0.0),
    CategoricalNB(fit_prior=False, min_categories=3, handle_unknown="ignore"),
]
EACH = [GaussianNB(), GaussianNB(covariance="shared"), MultinomialNB(), CategoricalNB()]


@pytest.mark.parametrize("estimator", CHECKED, ids=str)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(estimator):
    assert_passes_all_checks(estimator)


@pytest.mark.parametrize("model", EACH, ids=str)
def test_pickle_and_clone(model):
    model = clone(model).fit(CODES, IRIS_Y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_log_proba(CODES), model.predict_log_proba(CODES))
    copy.partial_fit(CODES, IRIS_Y)  # the counts were kept
    np.testing.assert_array_equal(copy.class_count_, 2 * model.class_count_)
    assert not hasattr(clone(model), "classes_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("model", EACH, ids=str)
def test_feature_names(model, frame):
    table = frame(dict(zip("abcd", CODES.T, strict=True)))
    named = clone(model).fit(table, IRIS_Y)
    assert list(named.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(named.predict(table), clone(model).fit(CODES, IRIS_Y).predict(CODES))
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame(dict(zip("abce", CODES.T, strict=True))))


@pytest.mark.parametrize("model", EACH, ids=str)
def test_float32_is_read_as_it_is(model):
    single = clone(model).fit(CODES.astype(np.float32), IRIS_Y)
    double = clone(model).fit(CODES.astype(np.float64), IRIS_Y)
    found = single.predict_log_proba(CODES.astype(np.float32))
    np.testing.assert_allclose(found, double.predict_log_proba(CODES), rtol=1e-9, atol=1e-9)


def test_strings_tables_of_text_and_searches():
    colours = pd.DataFrame({"colour": ["red", "blue", "red", "green"] * 10, "size": ["S", "L", "L", "S"] * 10})
    fruit = np.array(["apple", "plum", "apple", "pear"] * 10)
    pipeline = make_pipeline(OrdinalEncoder(), CategoricalNB())
    assert pipeline.fit(colours, fruit).score(colours, fruit) == 1.0
    coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    tolerant = make_pipeline(coded, CategoricalNB(handle_unknown="ignore")).fit(colours, fruit)
    new = pd.DataFrame({"colour": ["black", "blue"], "size": ["L", "XL"]})
    assert tolerant.predict(new).tolist() == ["apple", "plum"]
    with pytest.raises(ValueError, match=r"X contains text in column 'colour' .* and CategoricalNB .*OrdinalEncoder"):
        CategoricalNB().fit(colours, fruit)
    search = GridSearchCV(GaussianNB(), {"covariance": ["shared", "per_class"], "var_smoothing": [1e-9, 1e-2]}, cv=3)
    assert search.fit(IRIS_X, IRIS_Y).best_score_ > 0.9
    two = IRIS_Y < 2
    assert cross_val_score(GaussianNB(), IRIS_X[two], IRIS_Y[two], cv=3, scoring="roc_auc").mean() == 1.0
    assert CalibratedClassifierCV(GaussianNB(), cv=3).fit(IRIS_X, IRIS_Y).score(IRIS_X, IRIS_Y) > 0.9


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert hasattr(weighted, "set_partial_fit_request")
        weights = np.where(IRIS_Y == 0, 0.0, 1.0)
        scores = cross_validate(
            weighted, IRIS_X, IRIS_Y, params={"sample_weight": weights}, cv=3, return_estimator=True
        )
    assert all(list(fitted.classes_) == [1, 2] for fitted in scores["estimator"])


def test_linear_posteriors_only_where_they_are_linear():
    own = GaussianNB().fit(IRIS_X, IRIS_Y)
    with pytest.raises(AttributeError, match="coef_ with covariance='shared' only"):
        _ = own.coef_
    own.set_params(covariance="shared").partial_fit(IRIS_X, IRIS_Y)  # the same statistics, another model
    assert own.coef_.shape == (3, 4)
    np.testing.assert_allclose(own.var_, GaussianNB(covariance="shared").fit(IRIS_X, IRIS_Y).var_)
    assert not hasattr(GaussianNB(covariance="shared"), "coef_")
    assert not hasattr(MultinomialNB(), "coef_")


def test_the_benchmark_finds_the_same_models(capsys):
    bayes.run(None, 1)
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["MultinomialNB", "GaussianNB", "CategoricalNB"]
    assert all(float(line.split()[-1]) < 1e-10 for line in lines)


def test_one_class_is_certain():
    for model in EACH:
        model = clone(model).fit(CODES[:5], ["only"] * 5)
        np.testing.assert_array_equal(model.predict_proba(CODES[:5]), 1.0)
        assert list(model.predict(CODES[:1])) == ["only"]


def test_streams_need_their_classes():
    for model in EACH:
        stream = clone(model)
        with pytest.raises(ValueError, match=r"partial_fit: the first call needs classes"):
            stream.partial_fit(CODES, IRIS_Y)
        stream.partial_fit(CODES[:60], IRIS_Y[:60], classes=[0, 1, 2])
        with pytest.raises(ValueError, match="did not name"):
            stream.partial_fit(CODES[:1], [3])
        with pytest.raises(ValueError, match="not what the first call said"):
            stream.partial_fit(CODES, IRIS_Y, classes=[0, 1])
        with pytest.raises(ValueError, match="features"):
            stream.partial_fit(CODES[:, :2], IRIS_Y)
        assert stream.class_count_.sum() == 60


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (GaussianNB(covariance="full"), "covariance must be one of 'per_class', 'shared'; got 'full'"),
        (GaussianNB(var_smoothing=-1), "var_smoothing must be a finite number >= 0"),
        (GaussianNB(priors=[0.5, 0.5]), "priors must be 3 numbers >= 0 with sum 1, one for each class"),
        (GaussianNB(priors=[0.5, 0.2, 0.2]), "priors must be 3 numbers"),
        (GaussianNB(priors="abc"), "priors must be 3 numbers .* got 'abc'"),
        (GaussianNB(priors=[[0.5], [0.2, 0.3]]), "priors must be 3 numbers"),
        (MultinomialNB(alpha=-1), "alpha must be a finite number >= 0, or one for each feature"),
        (MultinomialNB(alpha="no"), "alpha must be"),
        (MultinomialNB(alpha="1"), "alpha must be"),
        (MultinomialNB(alpha=True), "alpha must be"),
        (MultinomialNB(class_prior=["0.2", "0.3", "0.5"]), "class_prior must be 3 numbers"),
        (MultinomialNB(alpha=[1.0, 2.0]), "alpha has 2 values, and X has 4 features"),
        (MultinomialNB(class_prior=[2.0, -1.0, 0.0]), "class_prior must be 3 numbers"),
        (MultinomialNB(class_prior={0: 1.0}), "class_prior must be 3 numbers"),
        (CategoricalNB(alpha=[1.0, 2.0]), "alpha must be a finite number >= 0"),
        (CategoricalNB(fit_prior="yes"), "fit_prior must be True or False"),
        (CategoricalNB(min_categories=0), "min_categories must be None, an integer from 1 to 16777216"),
        (CategoricalNB(min_categories=1.5), "min_categories must be"),
        (CategoricalNB(min_categories=2**40), "min_categories must be"),
        (CategoricalNB(min_categories=[[1], [1, 2]]), "min_categories must be"),
        (CategoricalNB(min_categories="3"), "min_categories must be"),
        (CategoricalNB(min_categories=[2, 3]), "min_categories has 2 values, and X has 4 features"),
        (CategoricalNB(handle_unknown="drop"), "handle_unknown must be one of 'error', 'ignore'"),
    ],
    ids=str,
)
def test_bad_parameters(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(CODES, IRIS_Y)
    with pytest.raises(NotFittedError):
        model.predict(CODES)


@pytest.mark.parametrize("model", [GaussianNB(), CategoricalNB(), MultinomialNB()], ids=str)
def test_a_fit_that_fails_leaves_the_model_as_it_was(model):
    model = clone(model).fit(CODES[:, :2], IRIS_Y)
    before = model.predict_joint_log_proba(CODES[:, :2])
    prior = "priors" if isinstance(model, GaussianNB) else "class_prior"
    with pytest.raises(ValueError, match="must be 3 numbers"):
        model.set_params(**{prior: [1.0]}).fit(CODES, IRIS_Y)
    with pytest.raises(ValueError, match="must be 3 numbers"):
        model.partial_fit(CODES[:, :2], IRIS_Y)
    np.testing.assert_array_equal(model.predict_joint_log_proba(CODES[:, :2]), before)


def test_bad_rows():
    table = pd.DataFrame(CODES, columns=list("abcd"))
    table.loc[7, "c"] = -2
    with pytest.raises(
        ValueError, match=r"Negative values in data passed to MultinomialNB: feature 'c' is -2\.0 in row 7"
    ):
        MultinomialNB().fit(table, IRIS_Y)
    with pytest.raises(ValueError, match="Negative values in data passed to CategoricalNB: feature 'c' is -2 in row 7"):
        CategoricalNB().fit(table, IRIS_Y)
    with pytest.raises(ValueError, match=r"feature 2 is -2.0 in row 7"):
        MultinomialNB().fit(sparse.csr_array(table.to_numpy()), IRIS_Y)
    with pytest.raises(ValueError, match="Negative values"):
        MultinomialNB().fit(CODES, IRIS_Y).predict(-CODES)
    with pytest.warns(UserWarning, match=r"feature 0 is 5.1 in row 0, and categories are 0, 1, 2, ...: it is rounded"):
        cut = CategoricalNB().fit(IRIS_X, IRIS_Y)
    np.testing.assert_array_equal(cut.predict(CODES), CategoricalNB().fit(CODES, IRIS_Y).predict(CODES))
    with pytest.warns(UserWarning, match="rounded down"), pytest.raises(ValueError, match=r"feature 3 is 1e\+300"):
        cut.predict([[5.5, 3.0, 1.0, 1e300]])
    with pytest.raises(TypeError, match="Sparse data was passed"):
        GaussianNB().fit(sparse.csr_array(IRIS_X), IRIS_Y)
    with pytest.raises(ValueError, match="sample_weight are zero"):
        GaussianNB().fit(IRIS_X, IRIS_Y, np.zeros(150))


@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "predict_proba", "predict_joint_log_proba"])
def test_warnings_point_at_the_users_line(method):
    model = CategoricalNB().fit(CODES, IRIS_Y)
    labels = [IRIS_Y] if method.endswith("fit") else []
    with pytest.warns(UserWarning, match="rounded down") as caught:
        getattr(model, method)(IRIS_X, *labels)
    assert [warning.filename for warning in caught] == [__file__]
    impossible = CategoricalNB(alpha=0.0).fit([[0, 0], [1, 1]], [0, 1])
    with pytest.warns(UserWarning, match="prior alone") as caught:
        impossible.predict([[0, 1]])
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("fitted", ["shared", "per_class"])
def test_parameters_changed_after_fit_wait_for_the_next_one(fitted):
    other = {"shared": "per_class", "per_class": "shared"}[fitted]
    model = GaussianNB(covariance=fitted).fit(IRIS_X, IRIS_Y)
    joint = model.predict_joint_log_proba(IRIS_X)
    model.set_params(covariance=other, var_smoothing=1.0, priors=[0.2, 0.3, 0.5])
    np.testing.assert_array_equal(model.predict_joint_log_proba(IRIS_X), joint)
    assert hasattr(model, "coef_") == (fitted == "shared")
    wanted = clone(model).fit(np.vstack([IRIS_X, IRIS_X]), np.hstack([IRIS_Y, IRIS_Y]))
    model.partial_fit(IRIS_X, IRIS_Y)
    np.testing.assert_allclose(model.predict_log_proba(IRIS_X), wanted.predict_log_proba(IRIS_X), atol=1e-9)
    counts = CategoricalNB().fit(CODES, IRIS_Y)
    joint = counts.predict_joint_log_proba(CODES)
    counts.set_params(alpha=9.0, fit_prior=False, min_categories=20, class_prior=[0.2, 0.3, 0.5])
    np.testing.assert_array_equal(counts.predict_joint_log_proba(CODES), joint)
    with pytest.raises(ValueError, match="handle_unknown must be one of"):
        counts.set_params(handle_unknown="drop").predict(CODES)
