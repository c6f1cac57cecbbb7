"""Asking for pages is a hint: it changes no value, and helps only where the system can."""

import ctypes
import mmap
import resource

import numpy as np
import pytest

from maxmargin.core import pages
from maxmargin.core.buffers import Buffers
from maxmargin.core.pages import PIECE, touch


def _follows_the_hint(memory):
    """Whether madvise(2) takes it: Linux does since 5.14."""
    page = ctypes.c_void_p(memory.ctypes.data)
    return ctypes.CDLL(None).madvise(page, ctypes.c_size_t(mmap.PAGESIZE), pages.POPULATE_WRITE) == 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_values_stay(n_jobs):
    memory = Buffers().take((3, PIECE // 4), np.float32)
    memory[:] = np.arange(3, dtype=np.float32)[:, None]
    touch(memory[1:], n_jobs)
    np.testing.assert_array_equal(memory.min(axis=1), np.arange(3))
    np.testing.assert_array_equal(memory.max(axis=1), np.arange(3))


def test_pages_that_were_asked_for_are_there_when_they_are_written():
    memory = Buffers().take((1, 8 * PIECE), np.uint8)
    if not (pages.CAN_ASK and _follows_the_hint(memory)):
        pytest.skip("this system cannot be asked for pages")
    touch(memory, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    memory[:] = 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < memory.nbytes / mmap.PAGESIZE / 4


def test_pages_are_asked_for_once_until_the_system_may_have_taken_them(monkeypatch):
    asked = []
    monkeypatch.setattr(pages, "thread_map", lambda work, pieces, n_jobs: asked.append(len(pieces)))
    monkeypatch.setattr(pages, "CAN_ASK", True)
    pool = Buffers()
    memory = pool.take((8, PIECE), np.uint8)
    for part in (memory[:2], memory[:2], memory[1:4], memory[6:], memory[6:], memory):
        touch(part, 1)
    assert asked == [2, 0, 2, 2, 2, 4]  # what does not follow on what is there is not remembered
    pool.give(memory)
    touch(pool.take((8, PIECE), np.uint8), 1)
    assert asked[-1] == 0
    pool.give(memory)
    pool.rest()
    touch(pool.take((8, PIECE), np.uint8), 1)
    assert asked[-1] == 8


def test_little_memory_is_left_alone(monkeypatch):
    monkeypatch.setattr(pages, "thread_map", lambda *_: pytest.fail("asked for less than a piece"))
    touch(np.zeros(PIECE // 8 - 1), 2)
    touch(np.zeros((0, 5)), 2)
