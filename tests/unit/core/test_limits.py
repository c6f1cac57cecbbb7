"""Deadlines and cancellation reach the work below."""

import time

import pytest

from maxmargin.core import limits, threads


def test_a_deadline_stops_work_between_items():
    done = []
    for n_jobs in (1, 2):
        with limits.limits(time.monotonic() - 1.0), pytest.raises(limits.OutOfTime):
            threads.thread_map(done.append, range(10), n_jobs)
    assert done == []
    limits.checkpoint()  # no limits in force any more
    with limits.limits() as active:
        active.cancel.set()
        with pytest.raises(limits.Cancelled):
            limits.checkpoint()
        with limits.limits(), pytest.raises(limits.Cancelled):
            limits.checkpoint()
        with limits.unlimited():
            limits.checkpoint()
