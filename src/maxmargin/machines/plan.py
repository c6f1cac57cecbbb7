"""What is to be solved, and how: frozen plans. Estimators make them, this room carries them out.

A plan is a matrix (of kernel values, or the rows themselves), jobs on it, and the effort that they may take. Machines
of pairs of classes, of one class against the rest, joint ones and regressions are the same plan with other jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.kernels.base import Kernel
from maxmargin.machines.warm import KeptPoints, KeptRows
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Point, Solution
from maxmargin.solvers.contract import Options, SolverChoice, Watch
from maxmargin.solvers.small.pairs import Sides

LEAST_SECONDS = 1e-3  # of a time limit that is over: solvers then still give a point, and say why they stopped


@dataclass(frozen=True)
class Effort:
    """How far a fit may go. ``deadline`` is a moment on the clock of ``core.limits``.

    ``each`` are the options that all solves share; its ``order`` is one of all rows of the plan.
    """

    each: Options
    deadline: float = math.inf
    n_jobs: int = 1
    solver: SolverChoice = "auto"

    @property
    def keeps(self) -> bool:
        """Whether Ctrl-C ends the fit with its best point."""
        return self.each.keeps

    @property
    def free(self) -> bool:
        """Whether nothing but ``tol`` ends the fit."""
        return self.each.free and math.isinf(self.deadline)

    def seconds_left(self) -> float | None:
        """Until the deadline; None where there is none."""
        return None if math.isinf(self.deadline) else max(LEAST_SECONDS, self.deadline - limits.now())

    def options(self, start: Point | None, seconds: float | None, watch: Watch | None, **how: Any) -> Options:
        """For one solve of ``seconds``."""
        return replace(self.each, start=start, time_limit=seconds, watch=watch, **how)


def as_solved(problem: Any, solution: Solution) -> Solution:
    """The solution as the solver left it."""
    return solution


def as_they_are(coef: Array, biases: Array) -> tuple[Array, Array]:
    """The coefficients and biases of the problem are those of the machine."""
    return coef, biases


class Fold(NamedTuple):
    """A further problem of a job, without some of its rows, whose decisions say what the machine makes of unseen rows.

    ``left_out`` are the places of those rows among the rows of the job. ``state(matrix)`` is the problem: on the kernel
    matrix of all rows of the job, where rows left out have no cost; on that of the rows that are left where the family
    has no such thing (``alone``); and without a kernel always on the ``Design`` of those.
    """

    left_out: Array
    state: Callable[[Any], Any]
    alone: bool = False

    def kept(self, n: int) -> Array:
        """The places of the other rows."""
        return np.setdiff1d(np.arange(n), self.left_out, assume_unique=True)


def fold_without(left_out: Array, n: int, state: Callable[[Array, Any], Any]) -> Fold:
    """A fold of n rows with a problem ``state(kept, matrix)`` on those that are left, at the places ``kept``."""
    fold = Fold(left_out, lambda matrix: None, alone=True)
    return fold._replace(state=partial(state, fold.kept(n)))


@dataclass(frozen=True)
class Job:
    """One problem of a plan, and what becomes of its solution.

    ``rows`` are its rows of the plan's (None: all of them) and ``shape`` is the shape of its multipliers: (rows,),
    (2 rows,) where the problem is on a doubled view of the matrix, or (rows, classes) of a joint machine.
    ``state(matrix)`` is the problem on the kernel matrix, or the ``Design``, of its rows. ``name`` stands in printed
    lines.

    ``finish(problem, solution)`` is what is made of a solution; it raises where there is no machine. ``to_machine``
    makes coefficients and biases of machines (a row and a number for each) from those of the problem.

    Pairs of classes: ``parts`` are the segments of the plan that ``rows`` is made of. ``groups`` is the number of free
    biases that the problem has. ``folds`` are solved after the problem itself, on the same matrix. ``to_edges`` is
    whether machines have the edges of a point (``problems.solution``) as biases: rows that are rounded to the wrong
    side of their hyperplane would otherwise be more than the problem promises.
    """

    rows: Array | None
    shape: tuple[int, ...]
    state: Callable[[Any], Any]
    name: str = ""
    start: Point | None = None
    parts: tuple[slice, ...] = ()
    groups: int = 1
    finish: Callable[[Any, Solution], Solution] = as_solved
    to_machine: Callable[[Array, Array], tuple[Array, Array]] = as_they_are
    folds: tuple[Fold, ...] = ()
    to_edges: bool = False

    @property
    def sizes(self) -> list[float]:
        """By which time is divided: number of multipliers (of each class, for a joint machine), and of each fold.

        Time goes by squares, so the problem itself has as much of it as all of its folds together.
        """
        n = float(self.shape[0])
        return [n * max(1.0, math.sqrt(len(self.folds))), *[n] * len(self.folds)]


class LazyJobs(Sequence[Job]):
    """Jobs that are made when they are asked for: of 200 classes there are 19,900 pairs, most of them in bundles."""

    def __init__(self, number: int, make: Callable[[int], Job]) -> None:
        self._all, self._make = range(number), make

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, number: Any) -> Any:
        return self._make(self._all[number])


@dataclass(frozen=True)
class KernelPlan:
    """Jobs on the kernel matrix of different rows.

    ``usual_bound`` is the usual bound of a multiplier, infinite for the hard margin, zero where they have none and
    stay small. ``memory`` are the bytes for kernel values, None for as many as there are to spare. ``segments`` of the
    rows (classes, one after the other) are what pairs of classes are made of; empty where every job is on all rows.
    ``movable`` is whether the origin of the rows does not matter to a linear kernel: the bias is free, and multipliers
    add up to zero. ``keep`` is whether kernel rows are kept for the next fit, and ``kept`` are those of the last one.
    ``sides``: see ``machines.pairs``; None where jobs are not pairs of classes, or have folds or a start.
    """

    kernel: Kernel
    X: Any
    jobs: Sequence[Job]
    bias: Bias
    effort: Effort
    usual_bound: float
    memory: int | None = None
    segments: tuple[slice, ...] = ()
    movable: bool = True
    keep: bool = False
    kept: KeptRows | None = None
    sides: Sides | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.X.shape[0]


@dataclass(frozen=True)
class LinearPlan:
    """Jobs on the rows themselves.

    ``scale`` is the entry of the column that stands for the bias (``problems.design``). ``screen`` is whether features
    are looked for whose weight is proved to be zero. ``keep`` is whether the points are kept for the next fit, as those
    of rows with these ``costs``; a fit whose ``warm_key`` is another one does not start from them.
    """

    X: Any
    jobs: Sequence[Job]
    scale: float
    effort: Effort
    costs: Array
    warm_key: tuple[Any, ...] = ()
    screen: bool = False
    keep: bool = False


class Machine(NamedTuple):
    """Decision functions f_m(x) = sum_i coef_mi k(x_i, x) + biases_m, or weights_m'x + biases_m, of one job.

    ``coef`` has a column for each row of the job, None without a kernel; ``weights`` are None in feature spaces.
    """

    coef: Any
    biases: Array
    weights: Any


class Crossed(NamedTuple):
    """What became of a fold: its machine, its solution, and its decisions for the rows left out, (rows, machines).

    ``coef`` of the machine has a column for each row of the job. Where the job was stopped, the machine of the job
    itself stands in for those of its folds.
    """

    machine: Machine
    solution: Solution
    decisions: Array


class Fitted(NamedTuple):
    """What a plan became: a machine, a solution and what its folds became for each job, in their order.

    ``kept`` is for the next fit. ``kernel_values`` counts those computed, ``float32`` is whether all jobs were solved
    with float32 values, ``zero_features`` flags features whose weight is proved to be zero in every machine.
    """

    machines: list[Machine]
    solutions: list[Solution]
    crossed: list[Sequence[Crossed]]
    kept: KeptRows | KeptPoints | None = None
    kernel_values: int = 0
    float32: bool = False
    zero_features: Array | None = None


def order_within(order: Array | None, rows: Array | None) -> Array | None:
    """An order of all rows, as positions within some of them."""
    if order is None or rows is None:
        return order
    position = np.full(len(order), -1, np.int64)
    position[rows] = np.arange(len(rows))
    found = position[order]
    return found[found >= 0]
