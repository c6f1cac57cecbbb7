"""Signals at chosen moments of a fit, not after a time: no test races a clock."""

from __future__ import annotations

import itertools
import signal
import threading
from contextlib import contextmanager

from maxmargin.core import limits

PATIENCE = 60  # seconds that a worker waits for what comes within milliseconds


@contextmanager
def handled(handler=signal.default_int_handler, number=signal.SIGINT):
    """The handler is in force, by default that of Ctrl-C: processes in the background inherit that it is ignored."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def send(number=signal.SIGINT):
    """Send a signal to the main thread, the one that handles it."""
    signal.pthread_kill(threading.main_thread().ident, number)


def send_and_wait(number=signal.SIGINT):
    """Send a signal from a task of a fit; whether the fit then told this worker to end."""
    send(number)
    return limits.current().cancel.wait(PATIENCE)


def at_checkpoint(monkeypatch, wanted):
    """Make the checkpoint of that number send Ctrl-C; returns a function that tells how many there have been."""
    calls, checkpoint = itertools.count(1), limits.checkpoint
    passed = []

    def counted():
        passed.append(next(calls))
        if passed[-1] == wanted:
            send()
        checkpoint()

    monkeypatch.setattr(limits, "checkpoint", counted)
    return lambda: len(passed)
