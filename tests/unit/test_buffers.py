"""Memory that is used again."""

import threading

import numpy as np

from maxmargin.core.buffers import Buffers, scratch

MEGABYTE = (512, 512)  # float32


def test_memory_that_was_given_back_is_used_again():
    pool = Buffers()
    first = pool.take(MEGABYTE, np.float32)
    first[:] = 7.0
    address = first.ctypes.data
    pool.give(first)
    again = pool.take((500, 600), np.float32)
    assert again.ctypes.data == address
    assert pool.take(MEGABYTE, np.float32).ctypes.data != address


def test_a_small_request_does_not_take_a_large_memory():
    pool = Buffers()
    large = pool.take((4096, 2048), np.float32)
    pool.give(large)
    assert pool.take(MEGABYTE, np.float32).ctypes.data != large.ctypes.data
    assert pool.take((4096, 2048), np.float32).ctypes.data == large.ctypes.data


def test_memory_at_rest_can_be_written_again():
    pool = Buffers()
    array = pool.take(MEGABYTE, np.float64)
    pool.give(array)
    pool.rest()
    again = pool.take(MEGABYTE, np.float64)
    again[:] = 3.0
    assert (again == 3.0).all()


def test_small_arrays_are_ordinary():
    pool = Buffers()
    small = pool.take((3, 4), np.float32)
    assert small.shape == (3, 4)
    pool.give(small)


def test_every_thread_has_its_own_scratch():
    mine, theirs = scratch("test", (4, 4), np.float32), []
    thread = threading.Thread(target=lambda: theirs.append(scratch("test", (4, 4), np.float32).ctypes.data))
    thread.start()
    thread.join()
    assert theirs[0] != mine.ctypes.data
    assert scratch("test", (2, 4), np.float64).ctypes.data == mine.ctypes.data
