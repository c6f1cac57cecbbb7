"""Memory that is used again.

The first touch of fresh pages costs as much as computing the kernel values that go there. So large arrays come from a
pool that outlives the fit. What lies in the pool is marked as free for the system to take whenever it needs memory
(``MADV_FREE``); where a system has no such mark, nothing is pooled.
"""

from __future__ import annotations

import errno
import math
import mmap
import os
import threading
from typing import Any

import numpy as np

from maxmargin.core.pages import allocation, forget_pages
from maxmargin.core.rows import CACHE_LINE, Array

POOLED = 1 << 20  # bytes from which memory is worth keeping
GRAIN = 1 << 21  # bytes that sizes are rounded up to: then memory serves a slightly larger request, too
WASTE = 4  # memory serves requests of at least 1 / WASTE of its size
MOST = 8

LARGEST_KEPT = (1 << 23) - (1 << 16)  # bytes, and twice as many of the end of the heap (w8a needs more than 5 MB)

CAN_MARK = hasattr(mmap, "MADV_FREE")

_local = threading.local()


class Buffers:
    """Arrays that were given back, for the next one who needs memory. Safe to use from several threads."""

    def __init__(self) -> None:
        self._free: list[Array] = []
        self._lock = threading.Lock()

    def take(self, shape: tuple[int, int], dtype: Any, room: int = 0) -> Array:
        """An array of unspecified content: the smallest free one that is large enough, or a new one.

        It begins memory of at least ``room`` values, for arrays that will be larger: pages that nobody writes cost
        nothing, while memory that was outgrown leaves the pages that it had behind.
        """
        itemsize = np.dtype(dtype).itemsize
        size = math.prod(map(int, shape)) * itemsize
        wanted = max(size, room * itemsize)
        if wanted < POOLED:
            return np.empty(shape, dtype)
        with self._lock:
            fitting = [k for k, memory in enumerate(self._free) if wanted <= len(memory) <= WASTE * wanted]
            chosen = min(fitting, key=lambda k: len(self._free[k]), default=None)
            if chosen is None:  # somewhat smaller memory was outgrown: it is dropped
                self._free = [memory for memory in self._free if not wanted // WASTE < len(memory) < wanted]
            memory = self._new(wanted) if chosen is None else self._free.pop(chosen)
        return memory[:size].view(dtype).reshape(shape)

    def _new(self, size: int) -> Array:
        """New memory; where the system has none left, what lies here unused goes first. The lock must be held."""
        try:
            return _fresh(size)
        except MemoryError:
            if not self._free:
                raise
            self._free = []
        return _fresh(size)

    def give(self, array: Array) -> None:
        """Let the memory of an array from ``take`` be used again."""
        memory = allocation(array)
        if memory.nbytes < POOLED or not CAN_MARK:
            return
        with self._lock:
            self._free = sorted([*self._free, memory], key=len)[-MOST:]

    def forget(self) -> None:
        """A forked child must not wait for a lock that a thread of its parent holds."""
        self._free, self._lock = [], threading.Lock()

    def rest(self) -> None:
        """Nobody works now: the system may take what lies here."""
        with self._lock:
            for memory in self._free:
                forget_pages(memory)
                _mark_free(memory)


def _fresh(size: int) -> Array:
    """New memory, in pages of the usual size.

    Huge ones cost more to touch first on a virtual machine (first fits of a process: ijcnn1 1.68 instead of 1.00 s,
    covtype20k 2.5 instead of 1.9 s), and they are no faster later.
    """
    if not CAN_MARK:
        return np.empty(size, np.uint8)
    try:
        pages = mmap.mmap(-1, -(-size // GRAIN) * GRAIN, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as problem:
        if problem.errno != errno.ENOMEM:
            raise
        raise MemoryError(f"{size / 2**20:.0f} MB for kernel values cannot be allocated") from problem
    memory = np.frombuffer(pages, np.uint8)
    forget_pages(memory)
    return memory


def _mark_free(memory: Array) -> None:
    """The system may take these pages; if it does, they read as zeros."""
    pages = memory.base.obj if isinstance(memory.base, memoryview) else None
    if isinstance(pages, mmap.mmap):
        pages.madvise(mmap.MADV_FREE)


def keep_freed_memory() -> None:
    """Let the allocator of Linux keep some of what is freed, 16 MB a thread at most, instead of giving it back at once.

    glibc maps arrays from 128 KB on one by one and gives them back one by one, so that each new array costs its page
    faults again: a quarter of later linear fits of w8a (12.8 instead of 17.5 ms) and a third of those of ijcnn1 (7.6
    instead of 11.5). It stops that by itself for sizes up to that of the largest array that was ever freed: this one,
    whose pages nobody touches. What it decides so holds for the whole process, not only for this library.
    """
    np.empty(LARGEST_KEPT, np.uint8)


keep_freed_memory()
POOL = Buffers()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """An array of unspecified content, one per thread and name: valid until the name is asked for again."""
    size = math.prod(map(int, shape)) * np.dtype(dtype).itemsize
    memory = getattr(_local, name, None)
    if memory is None or len(memory) < size:
        # Twice as large as before, so that slowly growing requests do not touch new memory each time. From a cache line
        # on: vector loads that cross two of them made loops over tiles 25 % slower.
        memory = np.empty(max(size, 0 if memory is None else 2 * len(memory)) + CACHE_LINE, np.uint8)
        memory = memory[-memory.ctypes.data % CACHE_LINE :]
        setattr(_local, name, memory)
    return memory[:size].view(dtype).reshape(shape)
