"""Rules of parameters, and the words of their errors."""

import numpy as np
import pytest

from maxmargin import checks
from maxmargin.checks import COMMON_RULES, Rule


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (checks.positive, [1, 0.5, np.float32(2), float("inf")], [0, -1, True, "1", float("nan"), None]),
        (checks.number, [0, -1.5, np.int64(3)], [float("inf"), float("nan"), True, "1", None]),
        (checks.integer, [0, -3, np.int32(2)], [1.0, True, "1", None]),
        (checks.boolean, [True, False, np.True_], [0, 1, "True", None]),
    ],
)
def test_kinds_of_values(rule, good, bad):
    assert all(rule(value) for value in good)
    assert not any(rule(value) for value in bad)


def test_numbers_are_neither_text_nor_truth_values():
    np.testing.assert_array_equal(checks.numbers([1, 2]), [1.0, 2.0])
    assert checks.numbers(3).shape == ()
    for value in ("12", ["1", "2"], [True], [[1], [1, 2]], None):
        assert checks.numbers(value) is None


def test_one_of_compares_words_and_identities():
    rule = checks.one_of("mean", None)
    assert rule.words == "one of 'mean', None"
    assert rule.holds("mean")
    assert rule.holds(None)
    assert not any(rule.holds(value) for value in ("sum", 0, np.zeros(3), ["mean"]))


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("fit_intercept", [True, "regularized"], ["free", 1, np.zeros(3)]),
        ("max_iter", [-1, 0, 5], [-2, 1.5]),
        ("time_limit", [None, 0.1], [0, -1]),
        ("n_jobs", [None, -1, 2], [1.5, "all"]),
        ("interrupt", ["raise", "keep"], ["stop", None]),
        ("callback", [None, print], ["print"]),
    ],
)
def test_common_rules(name, good, bad):
    assert all(COMMON_RULES[name].holds(value) for value in good)
    assert not any(COMMON_RULES[name].holds(value) for value in bad)


def test_the_error_names_estimator_parameter_rule_and_value():
    class Model:
        size = -1

    rules = {"size": Rule("a number > 0", checks.positive)}
    with pytest.raises(ValueError, match=r"^Model: size must be a number > 0; got -1\.$"):
        checks.check_parameters(Model(), rules)
