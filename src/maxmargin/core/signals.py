"""Steps that a signal must not cut off.

Python runs signal handlers in the main thread, between any two of its instructions. A handler that raises, as that of
Ctrl-C does, leaves what ran there half done.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

Handlers = dict[int, Callable[[int, FrameType | None], Any]]
Arrived = list[tuple[int, FrameType | None]]

SIGNALS = signal.valid_signals()  # asking every time would take twice as long as all the rest


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Run the body to its end; handlers of signals that came meanwhile run then, in the order in which they came.

    Other threads than the main one need no protection: handlers do not run there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process, handlers, arrived = os.getpid(), _python_handlers(), Arrived()
    done = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if os.getpid() == process and not done.is_set():
            arrived.append((number, frame))
        else:  # after the body, while handlers are put back; or in a child that another thread forked meanwhile
            handlers[number](number, frame)

    with ExitStack() as at_the_end:
        at_the_end.callback(_run, handlers, arrived)
        for number, handler in handlers.items():
            at_the_end.callback(signal.signal, number, handler)
            signal.signal(number, note)
        at_the_end.callback(done.set)
        yield


def _python_handlers() -> Handlers:
    """Handlers written in Python; the system's own (ignore, end the process) interrupt no Python code.

    signal.getsignal makes a name of each number, which takes 0.2 ms for all of them.
    """
    handlers = {number: _signal.getsignal(number) for number in SIGNALS}
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _run(handlers: Handlers, arrived: Arrived) -> None:
    """Run the handler of every signal, even if an earlier one raises.

    Raising the signals once more instead would also write to the wake-up descriptor once more: asyncio would see two.
    """
    if arrived:
        (number, frame), *later = arrived
        try:
            handlers[number](number, frame)
        finally:
            _run(handlers, later)
