"""BLAS at one thread while this library works, and afterwards as it was.

Most BLAS libraries have one number of threads for the whole process. Their holders are counted: the first sets it to
one, the last to leave sets it back. OpenBLAS on OpenMP has a number for every thread, and there each thread holds its
own.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from weakref import WeakSet

import threadpoolctl

FEW = 1 << 17  # OpenBLAS itself takes one thread up to twice as many multiplications


class _Holder:
    """Someone who needs BLAS at one thread, and the thread in which."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class _Hold:
    """Libraries that are at one thread for as long as they have holders.

    Ctrl-C may come between any two lines. So holders are forgotten when their frames are gone, and ``numbers``, the
    threads to go back to, are kept until they are set: by the next who leaves, if need be.
    """

    def __init__(self) -> None:
        self.holders: WeakSet[_Holder] = WeakSet()
        self.numbers: dict[Any, int] = {}

    def take(self, holder: _Holder, libraries: list[Any]) -> None:
        """One more holder. Sets: holders, numbers."""
        self.holders.add(holder)
        for library in libraries:
            number = library.get_num_threads()
            self.numbers.setdefault(library, number)
            if number != 1:
                _set_threads(library, 1)

    def leave(self, holder: _Holder) -> None:
        """One holder less; after the last one the libraries are as they were. Sets: holders, numbers."""
        self.holders.discard(holder)
        if len(self.holders):
            return
        for library, number in list(self.numbers.items()):
            if library.get_num_threads() == 1:  # else someone else set it meanwhile, and knows better
                _set_threads(library, number)
            del self.numbers[library]


class _OfThisThread(threading.local):
    """The hold on libraries that have a number for every thread."""

    def __init__(self) -> None:
        self.hold = _Hold()
        self.holds = False  # whether this thread is inside of ``blas_held``


_lock = threading.RLock()  # a handler of a signal may want it in the thread that has it
_of_process = _Hold()
_of_thread = _OfThisThread()


@contextmanager
def blas_held() -> Iterator[None]:
    """Hold BLAS at one thread. Inside of another hold of the same thread there is nothing to do."""
    if _of_thread.holds:
        yield
        return
    holder = _Holder()
    try:
        _of_thread.holds = True
        with _lock:
            shared, own = find_libraries()
            _of_process.take(holder, shared)
            _of_thread.hold.take(holder, own)
        yield
    finally:
        _of_thread.holds = False
        with _lock:
            _of_process.leave(holder)
            _of_thread.hold.leave(holder)


def blas_held_for(multiplications: float) -> AbstractContextManager[None]:
    """``blas_held`` for products of matrices with at most this many multiplications: few are left to one thread."""
    return nullcontext() if multiplications <= FEW else blas_held()


@functools.cache  # looking through all libraries of the process takes 5 ms, and 20 ms the first time
def find_libraries() -> tuple[list[Any], list[Any]]:
    """BLAS libraries with a number of threads for the whole process, and those with one for every thread."""
    found = [
        library
        for library in threadpoolctl.ThreadpoolController().lib_controllers
        if library.user_api == "blas" and library.get_num_threads() is not None
    ]
    own = [library for library in found if _has_number_for_every_thread(library)]
    return [library for library in found if library not in own], own


def _has_number_for_every_thread(library: Any) -> bool:
    return library.internal_api == "openblas" and library.threading_layer == "openmp"


def _set_threads(library: Any, number: int) -> None:
    """Set the number from any thread: since 3.8 threadpoolctl obeys only the first to set one, until that lets go."""
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go:
        let_go(force=True)
    library.set_num_threads(number)
    if let_go:
        let_go(force=True)


def _leave_for_lost_threads() -> None:
    """In a forked child only the thread that forked goes on: what the others held is given back."""
    global _lock
    _lock = threading.RLock()
    for holder in list(_of_process.holders):
        if holder.thread != threading.get_ident():
            _of_process.leave(holder)


if hasattr(os, "register_at_fork"):
    # The lock is taken before, so that no thread is left halfway through setting a number.
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_leave_for_lost_threads,
    )
