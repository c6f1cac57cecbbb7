"""One thread pool for the whole library, with BLAS held at one thread per worker.

Multi-threaded BLAS on small blocks is many times slower than one thread when a core is busy, and its result can
depend on the number of threads. So work is split into fixed pieces, the pieces run on this pool, and each piece calls
single-threaded BLAS: results are the same bits for every ``n_jobs``.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from maxmargin.core import limits
from maxmargin.core.blas import blas_held

Item = TypeVar("Item")
Result = TypeVar("Result")

WAKE = 0.05  # seconds between two looks for signals while workers are busy

_lock = threading.Lock()
_worker = threading.local()
_pool: ThreadPoolExecutor | None = None


def available_cores() -> int:
    """Cores this process may use: its affinity mask, and ``OMP_NUM_THREADS`` (set by joblib in its workers)."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    capped = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(capped))) if capped.isdigit() else cores


def effective_jobs(n_jobs: int | None) -> int:
    """Threads to use: None is all cores, negative counts back from all cores as in joblib."""
    cores = available_cores()
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning: use None or -1 for all cores, or a positive number of threads.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def thread_map(fn: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> list[Result]:
    """``[fn(item) for item in items]`` on the pool, in order; inline for one thread or inside a pool job.

    For short pieces of work (kernel tiles): a deadline or an exception in any thread stops it between items.
    """
    items = list(items)
    if _runs_inline(items, n_jobs):
        return [_checked(fn, item, False) for item in items]
    stop = threading.Event()

    def halt(cause: BaseException) -> bool:
        stop.set()
        return False

    return _map(fn, items, n_jobs, stop, halt, helps=True)


def task_map(fn: Callable[[Item], Result], items: Iterable[Item], n_jobs: int, keep: bool) -> list[Result]:
    """``thread_map`` for long tasks (whole fits): an exception sets the cancel flag that each task looks at.

    With ``keep`` the tasks return what they have on Ctrl-C and so does this function. Everything else is raised when
    all tasks have ended: what a signal's handler raises, and what a task raises.
    """
    stop = threading.Event()
    active = limits.current()

    def halt(cause: BaseException) -> bool:
        if active is not None:
            active.cancel.set()
        kept = keep and isinstance(cause, KeyboardInterrupt)
        if not kept:
            stop.set()
        return kept

    try:
        return _map(fn, list(items), n_jobs, stop, halt, unchecked=keep)
    except limits.Cancelled:
        raise KeyboardInterrupt from None


def _runs_inline(items: list[Any], n_jobs: int) -> bool:
    """Whether one thread does it all: asked to, with nothing to share, or inside a pool job."""
    return n_jobs == 1 or len(items) <= 1 or getattr(_worker, "inside", False)


def _map(
    fn: Callable[[Item], Result],
    items: list[Item],
    n_jobs: int,
    stop: threading.Event,
    halt: Callable[[BaseException], bool],
    unchecked: bool = False,
    helps: bool = False,
) -> list[Result]:
    """What both maps do. ``halt`` makes the workers stop and says whether their results count nevertheless."""
    if _runs_inline(items, n_jobs):
        return [_checked(fn, item, unchecked) for item in items]
    results: list[Any] = [None] * len(items)
    queue = iter(range(len(items)))
    turn = threading.Lock()
    failure: list[BaseException] = []  # the first one; others follow from it

    def run() -> None:
        _worker.inside = True
        try:
            while not stop.is_set():
                with turn:
                    index = next(queue, None)
                if index is None:
                    return
                results[index] = _checked(fn, items[index], unchecked)
        except BaseException as cause:
            failure[:] = failure or [cause]
            halt(cause)
        finally:
            _worker.inside = False

    with blas_held():
        _run_on_pool(run, min(n_jobs, len(items)) - helps, helps, halt)
    if failure:
        raise failure.pop()
    return results


def _run_on_pool(run: Callable[[], None], workers: int, helps: bool, halt: Callable[[BaseException], bool]) -> None:
    """``run`` on this many workers, and here where this thread helps: short pieces end before another thread wakes.

    What is raised here while workers are busy (Ctrl-C, the handler of another signal) is raised again when they end.
    """
    turns: list[_Turn] = []
    try:
        _submit(run, workers, turns)
        if helps or not turns:
            run()
        for turn in turns:
            turn.wait(called_off=helps)  # what has not begun by now would find nothing left to do
    except BaseException as cause:
        kept = halt(cause)
        _wait_out(turns)
        if not kept:
            raise
        run()  # if no worker was there yet, the tasks are still to be taken; they end at once
    for turn in turns:
        if turn.failure is not None:
            raise turn.failure


class _Turn:
    """A worker's part in a map. It is known before the pool is: Ctrl-C may come while the pool takes it."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._begun = self._off = False
        self._ended = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Work, unless called off. Sets: failure."""
        with self._lock:
            if self._off:
                return
            self._begun = True
        try:
            with blas_held():  # a worker's BLAS may have a number of threads of its own
                self._work()
        except BaseException as failure:
            self.failure = failure
        finally:
            self._ended.set()

    def wait(self, called_off: bool) -> None:
        """Wait for its end; called off, it does not begin any more."""
        if called_off:
            with self._lock:
                self._off = True
            if not self._begun:
                return
        while not self._ended.wait(WAKE):
            pass  # a signal may reach another thread of the process: only waking up lets this one see it


def _submit(run: Callable[[], None], workers: int, turns: list[_Turn]) -> None:
    """``run`` on this many threads of the pool; on fewer or none where it takes no more work. Writes: turns.

    It takes none in functions of ``atexit``, and where the system refuses another thread.
    """
    for _ in range(workers):
        turns.append(_Turn(run))
        try:
            _shared_pool().submit(contextvars.copy_context().run, turns[-1].run)
        except RuntimeError:
            turns.pop()
            return


def _wait_out(turns: list[_Turn]) -> None:
    """Wait for workers that were told to stop, whatever else is raised: their memory is given away next."""
    for turn in turns:
        while True:
            try:
                turn.wait(called_off=True)
                break
            except BaseException:
                continue


def _checked(fn: Callable[[Item], Result], item: Item, unchecked: bool) -> Result:
    if not unchecked:
        limits.checkpoint()
    return fn(item)


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(32, available_cores()), thread_name_prefix="maxmargin")
        return _pool


def _forget_pool() -> None:
    """A forked child has no pool threads and must not wait for the parent's."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
