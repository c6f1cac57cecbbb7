"""When a solver is too slow, and when what is left to gain is gained."""

import math

import pytest

from maxmargin.solvers.pace import PATIENT_STEPS, Pace


def told(pace, errors, passes=1.0):
    """What a pace says after each of these errors, a step and some passes apart."""
    said = []
    for optimality_error in errors:
        pace.see(optimality_error, pace.passes + passes)
        said.append((pace.too_slow, pace.settled))
        pace.steps += 1
    return said


def test_steps_that_come_down_slightly_are_not_idle():
    assert not any(slow for slow, _ in told(Pace(0.0, idle_steps=2), [0.89**k for k in range(50)]))
    slow = [slow for slow, _ in told(Pace(0.0, idle_steps=2), [1.0, 0.95, 0.95, 0.91, 0.5, 0.5, 0.5, 0.5])]
    assert slow == [False, False, False, True, False, False, False, True]


def test_passes_run_out_unless_the_shortfall_is_a_tenth():
    slow = [slow for slow, _ in told(Pace(7.0, patience=5.0), [1.0, 0.5, 0.05, 0.05, 0.05, 0.05], passes=2.0)]
    assert slow == [False, False, False, False, False, True]
    assert told(Pace(0.0, patience=0.0), [1.0, 0.9])[-1][0]


def test_without_bounds_no_solver_is_too_slow():
    assert not any(slow for slow, _ in told(Pace(0.0), [1.0] * 5000))


@pytest.mark.parametrize(("factor", "settles"), [(0.5, False), (0.97, True), (1.0, True), (2.0, True)])
def test_a_shortfall_that_is_not_halved_is_settled(factor, settles):
    said = told(Pace(0.0), [factor**k for k in range(PATIENT_STEPS + 1)])
    assert not any(settled for _, settled in said[:-1])
    assert said[-1][1] == settles


def test_zero_and_infinity():
    said = told(Pace(0.0, idle_steps=3), [math.inf, math.inf, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert [slow for slow, _ in said] == [False] * 6 + [True]  # zero does not come down any more
