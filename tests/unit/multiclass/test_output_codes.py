"""Reductions of many classes to two: tasks, codes, decisions, and any binary classifier behind them."""

import numpy as np
import pytest

from maxmargin.multiclass import OutputCodes, bit_codes, exhaustive_codes, random_codes
from maxmargin.multiclass.output_codes import code_book


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
