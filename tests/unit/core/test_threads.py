"""The pool: BLAS at one thread in every thread and afterwards as it was; exceptions stop the workers."""

import os
import signal
import threading

import numpy as np
import pytest

from maxmargin import SVC, LinearSVC
from maxmargin.core import limits, threads
from tests.signals import PATIENCE, handled, send, send_and_wait

needs_signals = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX")


def three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))  # more rows than a fit solves inline
    return X, np.digitize(X[:, 0] + rng.normal(size=1500), [-0.5, 0.5])


# --- BLAS ------------------------------------------------------------------------------------------------------------


# --- exceptions ------------------------------------------------------------------------------------------------------


class Alarm(Exception):
    """What the handler of a signal raises."""


def raise_alarm(number, frame):
    raise Alarm


def stop_here(number, frame):
    raise SystemExit


HANDLERS = [(signal.SIGALRM, raise_alarm, Alarm), (signal.SIGTERM, stop_here, SystemExit)] if os.name == "posix" else []


@needs_signals
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("number", "handler", "error"), HANDLERS)
def test_what_a_handler_raises_ends_the_tasks(number, handler, error, keep):
    told, begun = [], threading.Barrier(2)

    def task(index):
        begun.wait(PATIENCE)
        if index == 0:
            send(number)
        told.append(limits.current().cancel.wait(PATIENCE))

    with handled(handler, number), limits.limits(), pytest.raises(error):
        threads.task_map(task, range(2), 2, keep)
    assert told == [True, True]


@needs_signals
def test_ctrl_c_is_swallowed_where_tasks_are_kept():
    def task(index):
        return index, send_and_wait()

    with handled(), limits.limits():
        assert threads.task_map(task, range(4), 2, keep=True) == [(i, True) for i in range(4)]
    with handled(), limits.limits(), pytest.raises(KeyboardInterrupt):
        threads.task_map(task, range(4), 2, keep=False)


@needs_signals
def test_a_second_signal_does_not_leave_workers_behind():
    begun, ended = [], []

    def task(index):
        begun.append(index)
        send_and_wait()
        send()
        threading.Event().wait(0.2)  # time for a wait that the signal breaks off to show
        ended.append(index)

    with handled(), limits.limits(), pytest.raises(KeyboardInterrupt):
        threads.task_map(task, range(2), 2, keep=False)
    assert ended
    assert set(ended) == set(begun)


def test_an_error_in_a_task_ends_the_others():
    told, begun = [], threading.Barrier(2)

    def task(index):
        begun.wait(PATIENCE)
        if index == 1:
            raise ZeroDivisionError
        told.append(limits.current().cancel.wait(PATIENCE))
        limits.checkpoint()

    with limits.limits(), pytest.raises(ZeroDivisionError):
        threads.task_map(task, range(2), 2, keep=False)
    assert told == [True]


@pytest.mark.large
@needs_signals
@pytest.mark.parametrize("interrupt", ["raise", "keep"])
@pytest.mark.parametrize("machine", [SVC, LinearSVC])
@pytest.mark.parametrize(("number", "handler", "error"), HANDLERS)
def test_what_a_handler_raises_ends_a_fit(number, handler, error, machine, interrupt):
    X, y = three_classes()
    told = []
    model = machine(n_jobs=2, interrupt=interrupt, callback=lambda progress: told.append(send_and_wait(number)))
    with handled(handler, number), pytest.raises(error):
        model.fit(X, y)
    assert told
    assert all(told)
    assert not hasattr(model, "coef_")


def test_thread_map_keeps_order_and_runs_nested_work_inline():
    def outer(i):
        return threads.thread_map(lambda j: (i, j, threading.get_ident()), range(3), 4)

    nested = threads.thread_map(outer, range(5), 4)
    assert [[pair[:2] for pair in row] for row in nested] == [[(i, j) for j in range(3)] for i in range(5)]
    assert all(len({pair[2] for pair in row}) == 1 for row in nested)


def test_an_error_in_a_worker_arrives():
    def fail(i):
        if i == 3:
            raise RuntimeError("three")
        return i

    with pytest.raises(RuntimeError, match="three"):
        threads.thread_map(fail, range(10), 2)


def test_jobs(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = threads.available_cores()
    assert threads.effective_jobs(None) == threads.effective_jobs(-1) == cores
    assert threads.effective_jobs(3) == 3
    assert threads.effective_jobs(-1000) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.effective_jobs(None) == 1
    with pytest.raises(ValueError, match="n_jobs == 0"):
        threads.effective_jobs(0)


def test_cancelled_tasks_raise_or_return():
    def task(_):
        active = limits.current()
        assert active is not None
        active.cancel.set()
        limits.checkpoint()

    with limits.limits(), pytest.raises(KeyboardInterrupt):
        threads.task_map(task, range(3), 1, keep=False)
    with limits.limits() as active:
        active.cancel.set()
        assert threads.task_map(lambda i: i, range(3), 2, keep=True) == [0, 1, 2]
