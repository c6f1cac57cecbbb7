"""Who watches a fit, and how its time is divided among its jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from maxmargin.core import limits
from maxmargin.machines.plan import Machine
from maxmargin.problems.solution import Point, Progress
from maxmargin.solvers.contract import Watch

_one_line_at_a_time = threading.Lock()


class Observer:
    """Hears of the jobs of a plan, by their number, from the threads that solve them. This one does not listen."""

    def solving(self, job: int) -> AbstractContextManager[None]:
        """Around the solve of a job."""
        return nullcontext()

    def step(self, job: int, seen: Progress, machine: Callable[[], Machine]) -> bool:
        """At the start of a solver and after each of its steps; ``machine()`` is what it has by now. True stops it."""
        return False

    def fold_step(self, job: int, fold: int, seen: Progress) -> bool:
        """The same of a fold, by its number; it is not the machine that the fit is to make."""
        return False


class Printer(Observer):
    """Prints a line per step, with the name of the job."""

    def __init__(self, names: Sequence[str]) -> None:
        self._labels = [f"{name} " if name else "" for name in names]

    def step(self, job: int, seen: Progress, machine: Callable[[], Machine]) -> bool:
        """Prints."""
        return self._print(self._labels[job], seen)

    def fold_step(self, job: int, fold: int, seen: Progress) -> bool:
        """Prints."""
        return self._print(f"{self._labels[job]}fold {fold + 1} ", seen)

    def _print(self, label: str, seen: Progress) -> bool:
        with _one_line_at_a_time:
            print(  # noqa: T201
                f"[maxmargin] {label}{seen.seconds:8.2f} s  iteration {seen.iteration:>8}  "
                f"violation {seen.violation:9.3g}  objective {seen.objective:.8g}",
                flush=True,
            )
        return False


class Caller(Observer):
    """Calls a function with the progress of every step; where it returns True the solve ends."""

    def __init__(self, function: Callable[[Progress], bool | None]) -> None:
        self._function = function

    def step(self, job: int, seen: Progress, machine: Callable[[], Machine]) -> bool:
        """Calls the function."""
        return bool(self._function(seen))

    def fold_step(self, job: int, fold: int, seen: Progress) -> bool:
        """Calls the function."""
        return bool(self._function(seen))


def fold_watcher(observers: Sequence[Observer], job: int, fold: int) -> Watch:
    """Tells all observers of a step of a fold; True where one of them asks to stop."""
    return lambda seen, point: any([observer.fold_step(job, fold, seen) for observer in observers])  # noqa: C419


def watcher(observers: Sequence[Observer], job: int, to_machine: Callable[[Point], Machine]) -> Watch | None:
    """Tells all observers of a step; True where one of them asks to stop. ``to_machine`` makes a machine of a point.

    None where nobody listens.
    """
    if not observers:
        return None

    def watch(seen: Progress, point: Callable[[], Point]) -> bool:
        # A list: all of them hear of it, whatever the first one says.
        answers = [observer.step(job, seen, lambda: to_machine(point())) for observer in observers]
        return any(answers)

    return watch


@contextmanager
def observed(observers: Sequence[Observer], job: int) -> Iterator[None]:
    """Around the solve of a job, for everyone."""
    with ExitStack() as stack:
        for observer in observers:
            stack.enter_context(observer.solving(job))
        yield


class TimeShares:
    """Divides a time limit among problems by the square of their rows: a share is taken when a problem starts.

    ``workers`` is how many of them are solved at the same time.
    """

    def __init__(self, time_limit: float | None, sizes: Sequence[float], workers: int) -> None:
        self._end = None if time_limit is None else limits.now() + time_limit
        self._left = float(sum(size**2 for size in sizes))
        self._workers = max(1, workers)
        self._lock = threading.Lock()

    def take(self, size: float) -> float | None:
        """Seconds for a problem of ``size`` rows."""
        if self._end is None:
            return None
        with self._lock:
            remaining = max(0.0, self._end - limits.now())
            share = min(1.0, self._workers * size**2 / self._left) if self._left > 0 else 1.0
            self._left -= size**2
            return remaining * share
