"""Counts: shares by hand, sparse rows."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import MultinomialNB
from maxmargin.bayes.multinomial import Counts, _add_rows
from maxmargin.core.rows import rows_of
from tests.unit.bayes.models import same_model, some_rows


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


def test_the_loop_of_counts_and_its_python_text():
    X, y, rng = some_rows(5)
    weights = rng.random(len(X))
    for loop in (_add_rows, getattr(_add_rows, "py_func", _add_rows)):
        sums = Counts(np.zeros(3), np.zeros((3, 3)))
        loop(rows_of(sparse.csr_array(X), np.float64), y, weights, sums)
        for k in range(3):
            assert sums[0][k] == pytest.approx(weights[y == k].sum())
            np.testing.assert_allclose(sums[1][k], weights[y == k] @ X[y == k])
