"""When work must stop: a deadline and a cancel flag that every long loop looks at.

The driver sets the limits of the work below it, ``checkpoint`` is called between pieces of that work (a kernel tile, a
burst of solver steps), and the pool of ``threads`` hands the limits on to its workers.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

OVERTIME = 0.4  # share of a time limit by which a proof may exceed the time set aside for it,
LEAST_OVERTIME = 0.25  # and this many seconds at least: the proof of a small problem is worth them


class OutOfTime(Exception):
    """The deadline passed between two pieces of work."""


class Cancelled(Exception):
    """Another thread asked this work to end."""


class Limits:
    """A deadline on ``time.monotonic()`` and a flag shared by all threads of one fit."""

    def __init__(self, deadline: float = float("inf"), cancel: threading.Event | None = None) -> None:
        self.deadline = deadline
        self.cancel = cancel or threading.Event()


_current: contextvars.ContextVar[Limits | None] = contextvars.ContextVar("maxmargin_limits", default=None)


@contextmanager
def limits(deadline: float = float("inf")) -> Iterator[Limits]:
    """Run the body under a deadline; the cancel flag of the surrounding limits stays in force."""
    outer = _current.get()
    inner = Limits(deadline, outer.cancel if outer else None)
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)


def last_moment(end: float, time_limit: float | None) -> float:
    """When a proof must stop even if its cost was estimated too low; the work should have ended at ``end``."""
    return end if time_limit is None else end + max(OVERTIME * time_limit, LEAST_OVERTIME)


@contextmanager
def unlimited() -> Iterator[None]:
    """Run the body without the limits in force: the proof of an interrupted fit is still worked out."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Limits | None:
    """The limits in force, if any."""
    return _current.get()


def cancel() -> None:
    """Ask all threads that work under the same limits to end. Sets: their flag."""
    active = _current.get()
    if active is not None:
        active.cancel.set()


def checkpoint() -> None:
    """Raise ``OutOfTime`` or ``Cancelled`` if the work in progress should stop."""
    active = _current.get()
    if active is None:
        return
    if active.cancel.is_set():
        raise Cancelled
    if now() > active.deadline:
        raise OutOfTime


def now() -> float:
    """The clock of all deadlines."""
    return time.monotonic()
