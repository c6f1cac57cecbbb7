"""Reductions of many classes to two: tasks, decisions, ties, and any binary classifier behind them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from maxmargin import LinearSVC
from maxmargin.multiclass import OneVsOne, OneVsRest, OutputCodes, bit_codes, exhaustive_codes

SCHEMES = [OneVsOne(3), OneVsRest(3), OutputCodes(bit_codes(3)), OutputCodes(exhaustive_codes(3))]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: s.unit)
@pytest.mark.parametrize(
    "binary", [LogisticRegression(), RidgeClassifier(), LinearSVC()], ids=lambda b: type(b).__name__
)
def test_any_binary_classifier_serves(scheme, binary):
    X, labels = load_iris(return_X_y=True)
    decisions = []
    for task in scheme.tasks(labels):
        rows = np.arange(150) if task.rows is None else task.rows
        decisions.append(binary.fit(X[rows], task.signs).decision_function(X))
    found, bits = scheme.winners(np.column_stack(decisions)), np.sign(np.column_stack(decisions))
    if isinstance(scheme, OutputCodes):  # where one word is nearest, by comparing bit by bit
        wrong = np.array([[sum(word != row) for word in scheme.book] for row in bits])
        clear = (wrong == wrong.min(axis=1, keepdims=True)).sum(axis=1) == 1
        assert clear.mean() > 0.6
        np.testing.assert_array_equal(found[clear], wrong[clear].argmin(axis=1))
    else:
        theirs = OneVsOneClassifier if isinstance(scheme, OneVsOne) else OneVsRestClassifier
        np.testing.assert_array_equal(found, theirs(clone(binary)).fit(X, labels).predict(X))
    assert (found == labels).mean() > (0.95 if isinstance(scheme, OneVsOne) else 0.6)


def test_every_task_separates_what_it_says():
    labels = np.array([0, 1, 2, 3, 1, 0])
    for k, task in enumerate(OneVsRest(4).tasks(labels)):
        np.testing.assert_array_equal(task.signs > 0, labels == k)
        assert task.size(6) == 6
    pair = OneVsOne(4).tasks(labels)[1]  # classes 0 and 2
    np.testing.assert_array_equal(pair.rows, [0, 2, 5])
    np.testing.assert_array_equal(pair.signs, [1.0, -1.0, 1.0])
    book = bit_codes(4)
    np.testing.assert_array_equal(book, [[-1, -1], [-1, 1], [1, -1], [1, 1]])
    for b, task in enumerate(OutputCodes(book).tasks(labels)):
        np.testing.assert_array_equal(task.signs, book[labels, b])
    two = OneVsOne(2).tasks(labels % 2)[0]
    np.testing.assert_array_equal(two.signs > 0, labels % 2 == 1)  # as scikit-learn: positive is the second class


def test_ties_of_votes_and_decisions_go_to_the_lowest_class():
    assert OneVsRest(3).winners(np.array([[0.5, 1.0, 1.0]]))[0] == 1
    np.testing.assert_array_equal(OneVsOne(2).winners(np.array([[1.0], [-1.0], [0.0]])), [1, 0, 1])  # f >= 0
    np.testing.assert_array_equal(OneVsOne(2).scores(np.array([[3.0]])), [[-3.0, 3.0]])
    circle = np.array([[1.0, -1.0, 1.0]])  # 0 beats 1, 2 beats 0, 1 beats 2, all by as much
    assert OneVsOne(3).winners(circle)[0] == 0
