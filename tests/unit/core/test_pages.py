"""Asking for pages is a hint: it changes no value, and helps only where the system can."""

import resource

import numpy as np
import pytest

from maxmargin.core import pages
from maxmargin.core.buffers import Buffers
from maxmargin.core.pages import PIECE, touch


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_values_stay(n_jobs):
    memory = Buffers().take((3, PIECE // 4), np.float32)
    memory[:] = np.arange(3, dtype=np.float32)[:, None]
    touch(memory[1:], n_jobs)
    np.testing.assert_array_equal(memory.min(axis=1), np.arange(3))
    np.testing.assert_array_equal(memory.max(axis=1), np.arange(3))


def test_pages_that_were_asked_for_are_there_when_they_are_written():
    if not pages.CAN_ASK:
        pytest.skip("this system cannot be asked for pages")
    memory = Buffers().take((1, 8 * PIECE), np.uint8)
    touch(memory, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    memory[:] = 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < memory.nbytes / 4096 / 4


def test_little_memory_is_left_alone(monkeypatch):
    monkeypatch.setattr(pages, "thread_map", lambda *_: pytest.fail("asked for less than a piece"))
    touch(np.zeros(PIECE // 8 - 1), 2)
    touch(np.zeros((0, 5)), 2)
