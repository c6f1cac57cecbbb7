"""Scikit-learn's callbacks (``set_callbacks``) as observers of a fit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from maxmargin.machines import Job, Machine, Observer
from maxmargin.problems.solution import Progress

Attributes = dict[str, Any]


class Given(NamedTuple):
    """What the user gave to ``fit``, for scikit-learn's callbacks."""

    X: Any
    y: Any
    sample_weight: Any = None

    @property
    def hints(self) -> dict[str, Any]:
        """As scikit-learn wants to be told of it."""
        metadata = None if self.sample_weight is None else {"sample_weight": self.sample_weight}
        return {"X": self.X, "y": self.y, "metadata": metadata}


class SklearnCallbacks:
    """The task of the whole fit. ``model`` makes all attributes that predictions need of the machines so far.

    One job has its steps as tasks within it, several ``jobs`` are tasks themselves; none are those of another machine.
    """

    def __init__(
        self, estimator: Any, given: Given, jobs: Sequence[Job], model: Callable[[list[Machine]], Attributes]
    ) -> None:
        self.observers: list[Observer] = []
        self._steps: SklearnSteps | None = None
        self._listened = hasattr(estimator, "_skl_callbacks")
        if not self._listened:  # the task alone would take as long as a tiny solve
            return
        n_jobs = len(jobs)
        self._root = estimator._init_callback_context(max_subtasks=None if n_jobs <= 1 else n_jobs)
        self._told = {"estimator": estimator} | given.hints
        self._root.call_on_fit_task_begin(**self._told)
        if n_jobs > 1:
            self.observers = [SklearnJobs(self._root, estimator, [job.name for job in jobs])]
        else:
            self._steps = SklearnSteps(self._root, self._told, model)
            self.observers = [self._steps]

    def end(self, attributes: Attributes) -> None:
        """The fit is done, and these will be its attributes."""
        if self._steps:
            self._steps.close()
        if self._listened:
            self._root.call_on_fit_task_end(**self._told, reconstruction_attributes=attributes)


class SklearnSteps(Observer):
    """Each step of the solver is a task, which begins when the one before it ends: every begin has its end."""

    def __init__(self, root: Any, told: dict[str, Any], model: Callable[[list[Machine]], Attributes]) -> None:
        self._root, self._told, self._model = root, told, model
        self._task = self._begin()

    def _begin(self) -> Any:
        return self._root.subcontext(task_name="step").call_on_fit_task_begin(**self._told)

    def step(self, job: int, seen: Progress, machine: Callable[[], Machine]) -> bool:
        """End one task and begin the next; True where a callback asks to stop."""
        stop = self._task.call_on_fit_task_end(**self._told, reconstruction_attributes=lambda: self._model([machine()]))
        self._task = self._begin()
        return bool(stop)

    def close(self) -> None:
        """End the last task, which did nothing."""
        self._task.call_on_fit_task_end(**self._told)


class SklearnJobs(Observer):
    """Each job is a task; they run on several threads, and one after the other tells of its begin and its end."""

    def __init__(self, root: Any, estimator: Any, names: list[str]) -> None:
        self._root, self._estimator, self._names = root, estimator, names
        self._lock = threading.Lock()
        self._stopped = False

    @contextmanager
    def solving(self, job: int) -> Iterator[None]:
        """The task of one job. Sets: whether a callback asked to stop."""
        with self._lock:
            task = self._root.subcontext(task_name=self._names[job])
            task.call_on_fit_task_begin(estimator=self._estimator)
        try:
            yield
        finally:
            with self._lock:
                self._stopped |= bool(task.call_on_fit_task_end(estimator=self._estimator))

    def step(self, job: int, seen: Progress, machine: Callable[[], Machine]) -> bool:
        """Whether a callback asked to stop."""
        return self._stopped
