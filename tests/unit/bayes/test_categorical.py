"""Categories: shares by hand, and numbers that are no categories or unknown ones."""

import itertools
import re

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.preprocessing import OneHotEncoder

from maxmargin import CategoricalNB
from maxmargin.bayes.categorical import _add_logs, _add_weights
from maxmargin.core.rows import rows_of
from tests.unit.bayes.models import TABLE, TABLE_Y, same_model, some_rows


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


def test_categories_are_linear_in_their_indicators():
    model = CategoricalNB().fit(TABLE, TABLE_Y)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(TABLE)
    scores = indicators @ np.hstack(model.feature_log_prob_).T + model.class_log_prior_
    np.testing.assert_allclose(model.predict_proba(TABLE), softmax(scores, axis=1), rtol=1e-12)


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


def test_the_loops_over_cells_and_their_python_text():
    X, y, rng = some_rows(5)
    X = X.astype(np.int64)
    weights, edges, logs = rng.random(len(X)), np.array([0, 6, 12, 18]), rng.normal(size=(18, 3))
    wanted_cells, wanted_scores = np.zeros((18, 3)), np.zeros((len(X), 3))
    for i, j in itertools.product(range(len(X)), range(3)):
        wanted_cells[6 * j + X[i, j], y[i]] += weights[i]
        wanted_scores[i] += logs[6 * j + X[i, j]]
    for pick in (lambda loop: loop, lambda loop: getattr(loop, "py_func", loop)):
        cells, scores = np.zeros((18, 3)), np.zeros((len(X), 3))
        pick(_add_weights)(rows_of(X, np.int64), y, weights, edges, cells)
        pick(_add_logs)(rows_of(X, np.int64), edges, logs, scores)
        np.testing.assert_allclose(cells, wanted_cells)
        np.testing.assert_allclose(scores, wanted_scores)
