"""Kernel functions that return something other than real numbers: an error says what, where and what to return."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from maxmargin import SVC, mercer
from tests import helpers

X, Y = helpers.overlapping(60, 3)

ANSWERS = {
    "None": (lambda K: None, "returned None"),
    "complex numbers": (lambda K: K + 1j, r"returned complex numbers \("),
    "complex numbers without imaginary part": (lambda K: K + 0j, r"returned complex numbers \("),
    "text": (lambda K: K.astype(str), r"returned text \("),
    "objects": (lambda K: np.full(K.shape, object()), "returned an object of type object"),
    "None in an array": (lambda K: np.where(np.eye(*K.shape, dtype=bool), None, K), "returned None"),
    "ragged lists": (lambda K: [[0.0] * (k + 1) for k in range(len(K) + 1)], "returned lists of different lengths"),
    "one row": (lambda K: K[0], r"returned an array of shape \("),
}


@pytest.mark.parametrize(("spoil", "message"), ANSWERS.values(), ids=ANSWERS)
def test_matrices_that_are_none(spoil, message):
    with pytest.raises(ValueError, match=f"(?s){message}.*expected.*real number"):
        SVC(kernel=lambda A, B: spoil(np.atleast_2d(A @ B.T))).fit(X, Y)


@pytest.mark.parametrize(("spoil", "message"), ANSWERS.values(), ids=ANSWERS)
def test_matrices_that_are_none_after_the_trial(spoil, message):
    def late(A, B):
        K = A @ B.T
        return K if len(A) < 3 else spoil(K)

    with pytest.raises(
        ValueError, match=f"{message}.* for .* points; it must return real numbers in an array of shape"
    ):
        SVC(kernel=late).fit(X, Y)


WORDS = np.array(["svm", "margin", "kernel", "dual", "primal", "slack"], object)
VALUES = {
    "None": (None, "returned None"),
    "complex": (1 + 2j, "returned complex numbers"),
    "text": ("1.5", r"returned text \('1.5'\)"),
    "list": ([1.0, 2.0], r"returned an array of shape \(2,\)"),
    "one in a list": ([1.0], r"returned an array of shape \(1,\)"),
}


@pytest.mark.parametrize(("value", "message"), VALUES.values(), ids=VALUES)
def test_values_that_are_no_numbers(value, message):
    with pytest.raises(ValueError, match=f"{message}.* a real number was expected"):
        SVC(kernel=lambda a, b: value).fit(WORDS, [0, 1] * 3)

    def late(a, b):
        return value if (a, b) == ("kernel", "kernel") else float(len(set(a) & set(b)))

    with pytest.raises(ValueError, match=f"{message}.* for 'kernel' and 'kernel'; it must return one real number"):
        SVC(kernel=late).fit(WORDS, [0, 1] * 3)


@pytest.mark.parametrize("kind", [int, bool, np.float32, np.int64, Fraction, Decimal, np.asarray])
def test_every_kind_of_number_is_a_value(kind):
    exact = SVC(kernel=lambda a, b: float(a == b)).fit(WORDS, [0, 1] * 3)
    other = SVC(kernel=lambda a, b: kind(a == b)).fit(WORDS, [0, 1] * 3)
    np.testing.assert_array_equal(other.dual_coef_, exact.dual_coef_)


def test_mercer_refuses_them_too():
    with pytest.raises(ValueError, match="returned complex numbers"):
        mercer(lambda A, B: 1j * (A @ B.T), X)
