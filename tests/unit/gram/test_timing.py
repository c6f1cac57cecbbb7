"""Rates that are learned from measurements."""

import pytest

from maxmargin.core import limits
from maxmargin.gram.timing import Rate


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [0.0]
    monkeypatch.setattr(limits, "now", lambda: now[0])
    return now


def test_few_values_in_a_short_time_say_nothing(clock):
    rate = Rate(1e-9, unknown=False)
    clock[0] = 0.001
    rate.learn(0.0, 1000)
    rate.learn(0.0, 0)
    assert rate.seconds == 1e-9


def test_many_values_or_a_long_time_move_the_mean(clock):
    rate = Rate(1e-9, unknown=False)
    clock[0] = 0.003
    rate.learn(0.0, 1_000_000)
    assert rate.seconds == pytest.approx(2e-9)
    clock[0] = 0.04
    rate.learn(0.0, 10_000)
    assert rate.seconds == pytest.approx(0.5 * (2e-9 + 4e-6))


def test_the_price_of_an_unknown_function_replaces_a_guess_that_is_too_low(clock):
    rate = Rate(1e-9, unknown=True)
    clock[0] = 1.0
    rate.learn(0.0, 100)
    assert rate.seconds == pytest.approx(0.01)
    rate.learn(0.0, 200)
    assert rate.seconds == pytest.approx(0.0075)
