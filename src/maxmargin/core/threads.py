"""One thread pool for the whole library, with BLAS held at one thread per worker.

Multi-threaded BLAS on small blocks is many times slower than one thread when a core is busy, and its result can
depend on the number of threads. So work is split into fixed pieces, the pieces run on this pool, and each piece calls
single-threaded BLAS: results are the same bits for every ``n_jobs``.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

import threadpoolctl

from maxmargin.core import limits

Item = TypeVar("Item")
Result = TypeVar("Result")

WAKE = 0.05  # seconds between two looks for Ctrl-C while workers are busy

_lock = threading.Lock()
_worker = threading.local()
_pool: ThreadPoolExecutor | None = None
_blas_holders = 0
_blas_limit: Any = None
_controller: threadpoolctl.ThreadpoolController | None = None


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


@contextmanager
def blas_held() -> Iterator[None]:
    """Hold BLAS at one thread. Counted, because the limit is global: the last fit to end restores it."""
    global _blas_holders, _blas_limit, _controller
    with _lock:
        if _blas_holders == 0:
            _controller = _controller or threadpoolctl.ThreadpoolController()
            _blas_limit = _controller.limit(limits=1, user_api="blas")
        _blas_holders += 1
    try:
        yield
    finally:
        with _lock:
            _blas_holders -= 1
            if _blas_holders == 0:
                _blas_limit.restore_original_limits()


def thread_map(fn: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> list[Result]:
    """``[fn(item) for item in items]`` on the pool, in order; inline for one thread or inside a pool job.

    For short pieces of work (kernel tiles): a deadline or Ctrl-C stops it between items.
    """
    stop = threading.Event()
    return _map(fn, list(items), n_jobs, stop, stop.set, helps=True)


def task_map(fn: Callable[[Item], Result], items: Iterable[Item], n_jobs: int, keep: bool) -> list[Result]:
    """``thread_map`` for long tasks (whole fits): Ctrl-C sets the cancel flag that each task looks at.

    With ``keep`` the tasks return what they have and so does this function; otherwise the interrupt is raised.
    """
    stop = threading.Event()
    active = limits.current()

    def interrupted() -> None:
        if active is not None:
            active.cancel.set()
        if not keep:
            stop.set()

    try:
        return _map(fn, list(items), n_jobs, stop, interrupted, swallow=keep)
    except limits.Cancelled:
        raise KeyboardInterrupt from None


def _map(
    fn: Callable[[Item], Result],
    items: list[Item],
    n_jobs: int,
    stop: threading.Event,
    on_interrupt: Callable[[], None],
    swallow: bool = False,
    helps: bool = False,
) -> list[Result]:
    if n_jobs == 1 or len(items) <= 1 or getattr(_worker, "inside", False):
        return [_checked(fn, item, swallow) for item in items]
    results: list[Any] = [None] * len(items)
    queue = iter(range(len(items)))
    turn = threading.Lock()

    def run() -> None:
        _worker.inside = True
        try:
            while not stop.is_set():
                with turn:
                    index = next(queue, None)
                if index is None:
                    return
                results[index] = _checked(fn, items[index], swallow)
        except BaseException:
            stop.set()
            raise
        finally:
            _worker.inside = False

    with blas_held():
        workers = min(n_jobs, len(items)) - helps
        futures = _submitted(run, workers)
        if helps or not futures:
            _run_here(run, futures, on_interrupt)
        _await(futures, on_interrupt, swallow)
    return results


def _submitted(run: Callable[[], None], workers: int) -> list[Future[None]]:
    """``run`` on so many threads of the pool; on fewer or none where it takes no more work.

    It takes none in functions of ``atexit``, and where the system refuses another thread.
    """
    futures: list[Future[None]] = []
    try:
        for _ in range(workers):
            futures.append(_shared_pool().submit(contextvars.copy_context().run, run))  # noqa: PERF401
    except RuntimeError:
        pass
    return futures


def _run_here(run: Callable[[], None], futures: list[Future[None]], on_interrupt: Callable[[], None]) -> None:
    """Work in the calling thread too: short pieces are done before another one would wake up."""
    try:
        run()
    except BaseException:
        on_interrupt()
        wait(futures)
        raise


def _checked(fn: Callable[[Item], Result], item: Item, unchecked: bool) -> Result:
    if not unchecked:
        limits.checkpoint()
    return fn(item)


def _await(futures: list[Future[None]], on_interrupt: Callable[[], None], swallow: bool) -> None:
    """Wait for the workers; on Ctrl-C make them stop before the exception travels on."""
    try:
        while wait(futures, timeout=WAKE).not_done:
            pass  # a signal may reach another thread of the process: only waking up lets this one see it
    except KeyboardInterrupt:
        on_interrupt()
        wait(futures)
        if not swallow:
            raise
    for future in futures:
        future.result()


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(32, available_cores()), thread_name_prefix="maxmargin")
        return _pool


def _forget_pool() -> None:
    """A forked child has no pool threads and must not wait for the parent's."""
    global _pool, _lock, _blas_holders
    _pool, _lock, _blas_holders = None, threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
