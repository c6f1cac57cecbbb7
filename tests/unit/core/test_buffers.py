"""Memory that is used again."""

import errno
import mmap
import platform
import subprocess
import sys
import threading

import numpy as np
import pytest

from maxmargin.core import buffers
from maxmargin.core.buffers import Buffers, scratch

MEGABYTE = (512, 512)  # float32
FAULTS = """
import resource
import numpy as np
from maxmargin.core import buffers
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    arrays = [np.ones(1 << 19) for _ in range(3)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


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


@pytest.mark.skipif(not buffers.CAN_MARK, reason="NumPy's own memory is used")
def test_arrays_that_grow_stay_where_they_are():
    pool, room = Buffers(), 2048 * 1024
    small = pool.take((30, 30), np.float32, room)
    pool.give(small)
    grown = pool.take((1024, 1024), np.float32, room)
    assert grown.ctypes.data == small.ctypes.data
    pool.give(grown)
    assert pool.take((2048, 1024), np.float32).ctypes.data == small.ctypes.data


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


def test_memory_that_lies_unused_goes_before_the_system_is_said_to_have_none(monkeypatch):
    pool, given = buffers.Buffers(), []
    pool.give(pool.take((1024, 1024), np.float32))

    def scarce(size):
        given.append(size)
        if len(given) == 1:
            raise MemoryError
        return np.empty(size, np.uint8)

    monkeypatch.setattr(buffers, "_fresh", scarce)
    assert pool.take((4096, 4096), np.float32).shape == (4096, 4096)
    assert len(given) == 2
    pool.take((1024, 1024), np.float32)
    assert len(given) == 3  # the unused memory is gone


@pytest.mark.skipif(not buffers.CAN_MARK, reason="NumPy's own memory is used")
def test_what_the_system_refuses_is_said_in_megabytes(monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    with pytest.raises(MemoryError, match="64 MB for kernel values cannot be allocated"):
        buffers.Buffers().take((4096, 4096), np.float32)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_memory_that_numpy_frees_is_used_again():
    """4 MB are 1024 pages: 20 times three arrays that were given back each time would touch 61,440."""
    out = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(out.stdout) < 5 * 1024
