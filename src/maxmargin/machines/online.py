"""Online learning of linear machines: a frozen plan in, weights and seasons out.

A season is a run of stochastic gradient steps (``solvers.linear.sgd``) with one rule for its step lengths. After each
one the average of its iterates (or the last iterate) is the model, which held-out rows may judge. What was learnt can
be learnt on from: by a warm start, or by the next rows of a stream.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.rows import Array, finite_squared_norms, rows_of
from maxmargin.core.threads import effective_jobs, thread_map
from maxmargin.losses.base import compiled
from maxmargin.machines.linear import few_merged
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.solvers.linear.sgd import STEPS, Descent, Iterates


class Season(NamedTuple):
    """What a season did: its number, steps in all so far, the step length it began with, and the held-out score."""

    number: int
    steps: int
    step_length: float
    score: float


class Patience(NamedTuple):
    """Stop when the score has not grown by more than ``tol`` for this many seasons; the best weights count."""

    tol: float
    seasons: int


@dataclass(frozen=True)
class OnlinePlan:
    """What is learnt, from which rows, and in which seasons: mean_i l(y_i, w'x_i + b) + lam/2 ||w||^2 per machine."""

    name: str  # whose plan it is, for messages
    X: Any
    targets: list[Array]  # one per machine
    weights: Array  # of the rows, all above zero
    loss: Any
    lam: float
    bias: bool
    batch: int
    schedule: tuple[tuple[int, float], ...] | None  # (steps, step length) of every season; None: decaying lengths
    passes: int  # over the rows, without a schedule
    stream: bool  # one season over the rows, with the step length that the schedule has for its place
    average: bool
    seed: int
    n_jobs: int | None
    score: Callable[[Array, Array], float] | None = None  # of weights and biases, on rows held out
    patience: Patience | None = None
    watch: Callable[[int, Season], None] | None = None  # gets the number of the season in this run, and the season


class Learnt(NamedTuple):
    """All that a run leaves: its iterates, the first step length of each machine if they decay, and its seasons."""

    iterates: list[Iterates]
    first_lengths: list[float] | None
    seasons: list[Season]

    @classmethod
    def nothing(cls, machines: int, features: int) -> Learnt:
        """Weights of zero."""
        return cls([Iterates(features) for _ in range(machines)], None, [])

    def fits(self, machines: int, features: int) -> bool:
        """Whether this many machines on this many features can go on from here."""
        return len(self.iterates) == machines and len(self.iterates[0].u) == features

    @property
    def steps(self) -> float:
        """Steps so far."""
        return float(self.iterates[0].numbers[STEPS])

    def weights(self, average: bool, bias: bool) -> tuple[Array, Array]:
        """Weights, a row per machine, and biases: averages over the last season, or the last iterates."""
        pairs = [it.average if average else it.last for it in self.iterates]
        return np.stack([w for w, _ in pairs]), np.array([b for _, b in pairs]) * float(bias)


def learn(plan: OnlinePlan, start: Learnt) -> Learnt:
    """Run the seasons of a plan. ``start`` stays as it is: steps write into copies of its iterates."""
    course = _Course.of(plan)
    lengths = start.first_lengths
    if lengths is None and plan.schedule is None:
        lengths = [descent.first_length(np.random.default_rng(0), course.batch) for descent in course.descents]
    learnt = Learnt(copy.deepcopy(start.iterates), lengths, list(start.seasons))
    rng = np.random.default_rng(plan.seed)
    best = _Best()
    for number, (wanted, eta) in enumerate(_seasons(plan, course, start.steps)):
        decays = eta is None
        first_lengths: Any = lengths if decays else [eta] * len(course.descents)
        course.run(learnt.iterates, course.order(rng, wanted), first_lengths, decays)
        coef, biases = learnt.weights(plan.average, plan.bias)
        if not (np.isfinite(coef).all() and np.isfinite(biases).all()):
            raise ValueError(
                f"{plan.name}: the weights grew without bound in season {number}: the step length "
                f"{first_lengths[0]:g} is too large for these features. Scale the features or shorten the steps."
            )
        score = np.nan if plan.score is None else plan.score(coef, biases)
        season = Season(len(learnt.seasons), int(learnt.steps), float(first_lengths[0]), score)
        learnt.seasons.append(season)
        if plan.watch is not None:
            plan.watch(number, season)
        if plan.patience is not None and best.ends(score, learnt.iterates, plan.patience):
            break
    return learnt if best.iterates is None else learnt._replace(iterates=best.iterates)


@dataclass(frozen=True)
class _Course:
    """The rows of a plan, ready for seasons.

    Of few rows equal ones are merged, and a season draws them in proportion to their weights: a weight of 2 is then the
    same as two rows. Many are taken in turn, and weights multiply their gradients.
    """

    descents: list[Descent]
    weights: Array
    batch: int
    draws: bool
    jobs: int

    @classmethod
    def of(cls, plan: OnlinePlan) -> _Course:
        draws = plan.X.shape[0] <= SMALL_ROWS
        X, columns, weights = few_merged(plan.X, np.stack(plan.targets, axis=1), plan.weights)
        n = X.shape[0]
        factors = np.ones(n) if draws else weights / weights.mean()
        rows, scale = rows_of(X, X.dtype), float(plan.bias)
        if X.dtype == np.float64:  # squares of float32 numbers are within it
            finite_squared_norms(rows)  # beyond float64 every step length is zero, and so are the weights
        descents = [Descent(rows, np.ascontiguousarray(y), factors, plan.loss, plan.lam, scale) for y in columns.T]
        jobs = effective_jobs(plan.n_jobs) if compiled(plan.loss) else 1  # a user's functions: from one thread
        return cls(descents, weights, min(plan.batch, n), draws, jobs)

    @property
    def n(self) -> int:
        """Rows, after merging."""
        return len(self.weights)

    def order(self, rng: np.random.Generator, wanted: int) -> Array:
        """Row numbers for a season of ``wanted`` rows: drawn, or permutations one after another."""
        if self.draws:
            places = np.cumsum(self.weights / self.weights.sum())
            return np.searchsorted(places, rng.random(wanted)).clip(0, self.n - 1)
        return np.concatenate([rng.permutation(self.n) for _ in range(-(-wanted // self.n))])[:wanted]

    def run(self, iterates: list[Iterates], order: Array, lengths: list[float], decays: bool) -> None:
        """A season of every machine, on the pool. Writes: iterates."""

        def one(k: int) -> None:
            iterates[k].forget_average()
            self.descents[k].run(order, iterates[k], lengths[k], decays, self.batch)

        thread_map(one, range(len(self.descents)), self.jobs)


class _Best:
    """The iterates with the best score so far, and the seasons since it grew."""

    def __init__(self) -> None:
        self.iterates: list[Iterates] | None = None
        self.score, self.waited = -np.inf, 0

    def ends(self, score: float, iterates: list[Iterates], patience: Patience) -> bool:
        """Whether patience is at its end. Sets: iterates (a copy), score, waited."""
        self.waited = 0 if score > self.score + patience.tol else self.waited + 1
        if score > self.score:
            self.score, self.iterates = score, copy.deepcopy(iterates)
        return self.waited >= patience.seasons


def _seasons(plan: OnlinePlan, course: _Course, steps: float) -> list[tuple[int, float | None]]:
    """Rows and step length of each season after ``steps`` steps; None is the decaying length."""
    if plan.schedule is None:
        return [(course.n, None)] * plan.passes
    if plan.stream:
        begins = np.cumsum([0, *(length for length, _ in plan.schedule)])
        now = min(int(np.searchsorted(begins, steps, "right")) - 1, len(plan.schedule) - 1)
        return [(course.n, float(plan.schedule[now][1]))]
    return [(steps * course.batch, float(eta)) for steps, eta in plan.schedule]
