"""Who watches a fit: the user's callback, printed lines, scikit-learn's callbacks, and the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from maxmargin.core import limits
from maxmargin.problems.solution import Progress

_one_line_at_a_time = threading.Lock()


def printer(label: str) -> Callable[[Progress], None]:
    """Prints a line per step."""

    def show(seen: Progress) -> None:
        with _one_line_at_a_time:
            print(  # noqa: T201
                f"[maxmargin] {label}{seen.seconds:8.2f} s  iteration {seen.iteration:>8}  "
                f"violation {seen.violation:9.3g}  objective {seen.objective:.8g}",
                flush=True,
            )

    return show


class TimeShares:
    """Divides a time limit among problems by the square of their rows: a share is taken when a problem starts."""

    def __init__(self, time_limit: float | None, sizes: list[int], workers: int) -> None:
        self._end = None if time_limit is None else limits.now() + time_limit
        self._left = float(sum(size**2 for size in sizes))
        self._workers = max(1, min(workers, len(sizes)))
        self._lock = threading.Lock()

    def take(self, size: int) -> float | None:
        """Seconds for a problem of ``size`` rows."""
        if self._end is None:
            return None
        with self._lock:
            remaining = max(0.0, self._end - limits.now())
            share = min(1.0, self._workers * size**2 / self._left) if self._left > 0 else 1.0
            self._left -= size**2
            return remaining * share


class SklearnSteps:
    """Tells scikit-learn's callbacks (``set_callbacks``) of each solver step as a task of the fit.

    A task begins when the one before it ends, so that every begin has its end.
    """

    def __init__(self, root: Any, estimator: Any, X: Any, y: Any, metadata: Any) -> None:
        self._root = root
        self._given = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._task = self._begin()

    def _begin(self) -> Any:
        return self._root.subcontext(task_name="step").call_on_fit_task_begin(**self._given)

    def step(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """End one task and begin the next; True where a callback asks to stop."""
        stop = self._task.call_on_fit_task_end(**self._given, reconstruction_attributes=attributes)
        self._task = self._begin()
        return bool(stop)

    def close(self) -> None:
        """End the last task, which did nothing."""
        self._task.call_on_fit_task_end(**self._given)


class SklearnPairs:
    """Tells scikit-learn's callbacks of each pair of classes as a task of the fit; pairs run on several threads."""

    def __init__(self, root: Any, estimator: Any) -> None:
        self._root, self._estimator = root, estimator
        self._lock = threading.Lock()
        self.stopped = False

    @contextmanager
    def pair(self) -> Iterator[None]:
        """The task of one pair. Sets: stopped, where a callback asks to stop."""
        with self._lock:
            task = self._root.subcontext(task_name="pair of classes")
            task.call_on_fit_task_begin(estimator=self._estimator)
        yield
        with self._lock:
            self.stopped |= bool(task.call_on_fit_task_end(estimator=self._estimator))
