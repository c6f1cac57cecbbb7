"""What a memory budget allows."""

import math

import pytest

from maxmargin.core import memory
from maxmargin.gram.budget import LEAST_WORKING, Residence, base_budget, default_budget, plan, view_plan


@pytest.mark.parametrize("n", [65, 1000, 50_000])
@pytest.mark.parametrize("itemsize", [4, 8])
def test_a_plan_stays_within_its_budget(n, itemsize):
    for budget in (1 << 20, 1 << 24, 1 << 30):
        residence, capacity, working = plan(n, itemsize, budget, picked=False)
        held = capacity * n * itemsize
        if residence is Residence.WHOLE:
            assert capacity == working == n
            assert held <= budget
        else:
            assert held + 2 * working**2 * itemsize <= budget
            assert (capacity == 0) == (residence is Residence.STREAMED)


def test_working_sets_that_are_picked_from_stored_rows_are_no_larger_than_the_store():
    n, budget = 30_000, 8 * 30_000 * 400
    assert plan(n, 8, budget, picked=False).working_rows > 400
    picked = plan(n, 8, budget, picked=True)
    assert picked.working_rows == picked.capacity


@pytest.mark.parametrize("n", [40, 1000, 5000, 50_000])
@pytest.mark.parametrize("budget", [1 << 20, 1 << 23, 8 * 1000**2 + 100, 1 << 27, 1 << 30])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_view_and_its_base_share_one_budget(n, budget, times):
    base = plan(n, 8, budget, picked=False)
    allowed = base_budget(times * n, base, n, 8, budget)
    base = plan(n, 8, allowed, picked=False)
    view = view_plan(times * n, base, n, 8, budget)
    held = 8 * base.capacity * n
    if view.residence is Residence.WHOLE:
        assert view.working_rows == times * n
        assert held + 8 * (times * n) ** 2 <= budget or n <= LEAST_WORKING
    else:
        assert held + 3 * 8 * view.working_rows**2 <= budget


@pytest.mark.parametrize(("left", "budget"), [(8 << 30, 1 << 30), (800 << 20, 200 << 20), (0, 0), (math.inf, 1 << 30)])
def test_the_default_is_a_quarter_of_what_is_left_and_at_most_a_gigabyte(left, budget, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: left)
    assert default_budget() == budget
