"""Reductions of many classes to two: tasks, codes, decisions, and any binary classifier behind them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from maxmargin import LinearSVC
from maxmargin.multiclass import OneVsOne, OneVsRest, OutputCodes, bit_codes, exhaustive_codes, random_codes
from maxmargin.multiclass.output_codes import code_book

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
    found = scheme.winners(np.column_stack(decisions))
    np.testing.assert_array_equal(found, np.argmax(scheme.scores(np.column_stack(decisions)), axis=1))
    assert (found == labels).mean() > 0.6


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


def test_exhaustive_codes_hold_every_split_once():
    for k in (3, 4, 6):
        book = exhaustive_codes(k)
        assert book.shape == (k, 2 ** (k - 1) - 1)
        assert len({tuple(column) for column in book.T} | {tuple(-column) for column in book.T}) == 2 * book.shape[1]
        distances = [(a != b).sum() for i, a in enumerate(book) for b in book[:i]]
        assert set(distances) == {2 ** (k - 2)}
    with pytest.raises(ValueError, match="would need 524287 machines for 20 classes"):
        exhaustive_codes(20)


def test_random_codes():
    book = random_codes(10)
    assert book.shape == (10, 34)
    np.testing.assert_array_equal(book, random_codes(10))
    assert not np.array_equal(book, random_codes(10, 1))
    assert random_codes(3).shape == (3, 3)  # there are no more splits
    assert random_codes(200).shape == (200, 77)
    assert (book != book[0]).any(axis=0).all()
    distances = [(a != b).sum() for i, a in enumerate(book) for b in book[:i]]
    assert min(distances) >= 11  # three wrong bits of 34 never matter, five of them neither


def test_hamming_decoding_corrects_errors_and_breaks_ties():
    scheme = OutputCodes(exhaustive_codes(4))  # words differ in 4 of 7 bits: one wrong bit is corrected
    for k in range(4):
        for wrong in range(7):
            word = scheme.book[k].copy()
            word[wrong] *= -5.0  # however sure the wrong bit is
            assert scheme.winners(word[None])[0] == k
    short = OutputCodes(bit_codes(4))
    assert short.winners(np.array([[-1.0, 0.1]]))[0] == 1  # one wrong bit is a wrong class
    three = OutputCodes(bit_codes(3))  # 00, 01, 10: the word 11 is as near to 1 as to 2
    assert three.winners(np.array([[1.0, 2.0]]))[0] == 1
    assert three.winners(np.array([[2.0, 1.0]]))[0] == 2
    assert three.winners(np.array([[1.0, 1.0]]))[0] == 1  # the lowest class index
    np.testing.assert_array_equal(three.agreements(np.array([[1.0, 1.0]])), [[0.0, 1.0, 1.0]])


@pytest.mark.parametrize(
    ("book", "words"),
    [
        ([[1, -1], [1, 1]], "one row for each of the 3 classes"),
        ([[1, 0], [1, 1], [-1, 1]], "matrix of \\+1 and -1"),
        ([[1, -1], [1, -1], [-1, 1]], "the same word"),
        ([[1, -1, 1], [1, 1, 1], [1, -1, -1]], "the same for all classes"),
    ],
)
def test_bad_codes(book, words):
    with pytest.raises(ValueError, match=words):
        code_book(book, 3, None)


def test_ties_of_votes_and_decisions_go_to_the_lowest_class():
    assert OneVsRest(3).winners(np.array([[0.5, 1.0, 1.0]]))[0] == 1
    assert OneVsOne(3).winners(np.zeros((1, 3)))[0] == np.argmax(OneVsOne(3).scores(np.zeros((1, 3))))
    np.testing.assert_array_equal(np.argmax(OneVsOne(2).scores(np.array([[1.0], [-1.0]])), axis=1), [1, 0])
    circle = np.array([[1.0, -1.0, 1.0]])  # 0 beats 1, 2 beats 0, 1 beats 2, all by as much
    assert OneVsOne(3).winners(circle)[0] == 0
