"""Pairs of classes that are solved by compiled calls: a job of its own takes a millisecond of Python for each of them.

The rows of a class come one after the other. Small classes are put together to spans of some hundred rows, and the
pairs between two spans are one piece of work, a bundle: a tile of kernel values, and one call. Larger ones are solved
pair by pair with float32 values. What is not solved here is solved as a job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, starmap
from typing import Any, TypeAlias

import numpy as np

from maxmargin.certificates.box import FLOAT64_ROUNDING
from maxmargin.core.buffers import scratch
from maxmargin.core.rows import NO_ROWS, Array
from maxmargin.core.threads import available_cores, thread_map
from maxmargin.gram import Gram
from maxmargin.gram.computing import NO_VALUES
from maxmargin.machines.plan import KernelPlan
from maxmargin.machines.watching import Observer
from maxmargin.multiclass import one_vs_one as ovo
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Certificate, Point, Progress, Solution, Status, Trace
from maxmargin.solvers.box.smo import SMO, STEP_ROUNDING, whole_pays
from maxmargin.solvers.small.box import REASON, certificate_of, goal_of
from maxmargin.solvers.small.pairs import NUMBERS, Classes, Found, Span, keep_within, solve_pairs
from maxmargin.solvers.small.rough import proved, solve_pair

SolverOfPairs: TypeAlias = Callable[[KernelPlan, Gram, int, Found], None]  # writes what it finds

# Rows of a class up to which float64 values, which need no second look, are cheaper than a job with float32 ones.
SMALL_CLASS = 128
SPAN_ROWS = 512


def solver_of_pairs(plan: KernelPlan, gram: Gram, observers: Sequence[Observer]) -> SolverOfPairs | None:
    """What solves the pairs of a plan; None where they are none, or where something asks for a look at each of them."""
    asked = plan.effort.solver != "auto" or plan.keep or observers or not plan.effort.free
    if plan.sides is None or asked or not plan.kernel.definite:
        return None
    if plan.n <= SMALL_ROWS or max(_sizes(plan)) <= SMALL_CLASS:
        return solve_bundles
    return solve_roughly if _rough_serves(plan, gram) else None


def _sizes(plan: KernelPlan) -> list[int]:
    """Rows of each class."""
    return [part.stop - part.start for part in plan.segments]


def _rough_serves(plan: KernelPlan, gram: Gram) -> bool:
    """Whether float32 values and steps carry tol, and the matrix of every pair is small beside the memory there is."""
    smaller, larger = sorted(_sizes(plan))[-2:]
    largest, squares = smaller + larger, sum(size**2 for size in _sizes(plan))
    precise = gram.dtype == np.float32 and STEP_ROUNDING * (1.0 + plan.usual_bound) <= plan.effort.each.tol
    needed = 4 * (squares + available_cores() * (largest**2 + smaller * larger))  # a matrix and a tile each
    return precise and needed <= gram.budget and whole_pays(largest, gram.value_ns)


def solve_bundles(plan: KernelPlan, gram: Gram, n_jobs: int, found: Found) -> None:
    """Pairs of small classes in float64. Writes: found."""
    assert plan.sides is not None
    edges = edges_of(plan)
    places = np.concatenate([[0], np.cumsum(np.diff(edges) ** 2)])
    classes = Classes(edges, gram.diagonal, plan.sides, np.empty(places[-1]), places)
    goal = goal_of(plan.effort.each.tol, gram.float64_error, plan.n <= SMALL_ROWS)
    spans = _spans(edges, plan.n if plan.n <= SMALL_ROWS else SPAN_ROWS)

    def tile(*span: Span) -> Array:
        return gram.values.exact_tile(*(slice(edges[one.begin], edges[one.end]) for one in span))

    def within(span: Span) -> None:
        K = tile(span, span)
        keep_within(K, span, classes)
        solve_pairs(K, span, span, classes, goal, found)

    def between(rows: Span, columns: Span) -> None:
        solve_pairs(tile(rows, columns), rows, columns, classes, goal, found)

    thread_map(within, spans, n_jobs)
    thread_map(lambda pair: between(*pair), list(combinations(spans, 2)), n_jobs)


def solve_roughly(plan: KernelPlan, gram: Gram, n_jobs: int, found: Found) -> None:
    """Pairs of larger classes, with float32 values. Writes: found."""
    work = RoughWork(plan, gram, found)
    thread_map(work.keep_within, range(len(plan.segments)), n_jobs)
    # In turns in which threads rarely read the same class.
    thread_map(work.solve, ovo.rounds(len(plan.segments)), n_jobs)


class RoughWork:
    """Pairs of classes with float32 values (``solvers.small.rough``), one after the other."""

    def __init__(self, plan: KernelPlan, gram: Gram, found: Found) -> None:
        assert plan.sides is not None
        self._values, self._found, self._tol = gram.values, found, plan.effort.each.tol
        self._edges = edges_of(plan)
        self._pairs = list(combinations(range(len(plan.segments)), 2))
        self._classes = Classes(self._edges, gram.diagonal, plan.sides, NO_ROWS, NO_ROWS)
        self._points = [gram.points.take(segment) for segment in plan.segments]
        self._within = [NO_VALUES] * len(plan.segments)
        smaller, larger = sorted(_sizes(plan))[-2:]
        self._largest_tile, self._largest_pair = smaller * larger, (smaller + larger) ** 2
        self._largest = float(gram.diagonal.max())
        goal = goal_of(self._tol, gram.float64_error, to_the_end=False)
        self._goal = goal._replace(rounding=goal.rounding * self._largest)
        gram.values.source.keep_exact()

    def keep_within(self, c: int) -> None:
        """Values within class c, for all its pairs. Sets: within."""
        points = self._points[c]
        with self._values.counted(len(points) ** 2):
            self._within[c] = self._values.kernel.block(points, points)

    def solve(self, number: int) -> None:
        """Solve a pair and prove it. Sets: found, where that holds."""
        pair = a, b = self._pairs[number]
        if not (len(self._points[a]) and len(self._points[b])):
            return
        # At once as much as the largest pair needs: memory that grows leaves what it was before behind (usps 46 instead
        # of 54 MB). Only pages that are written count.
        scratch("tile", (self._largest_tile,), np.float32)
        memory = scratch("pair", (self._largest_pair,), np.float32)
        with self._values.counted(len(self._points[a]) * len(self._points[b])):
            between = self._values.tile(self._points[a], self._points[b])
        within = self._within[a], self._within[b]
        rough = solve_pair(within, between, memory, pair, self._classes, self._goal.aim)
        index = np.concatenate([np.arange(self._edges[c], self._edges[c + 1]) for c in pair])
        support = np.flatnonzero(rough.beta)
        beta, vectors, size = rough.beta[support], index[support], float(np.abs(rough.beta[support]).sum())
        error = self._values.source.score_errors(index, rough.sizes, size) + FLOAT64_ROUNDING * self._largest * size
        out = proved(rough, error, lambda rows: self._values.exact_sums(index[rows], vectors, beta), 0.0, self._goal)
        if out is not None:
            ovo.put(rough.beta, pair, self._edges, self._found.coef)
            self._found.numbers[number] = [*out[:-1], *out.values]


def edges_of(plan: KernelPlan) -> Array:
    """Where the rows of each class begin, and last where they end."""
    return np.array([0, *(part.stop for part in plan.segments)])


def nothing_found(plan: KernelPlan) -> Found:
    """Before any pair is solved."""
    k = len(plan.segments)
    return Found(np.zeros((k - 1, plan.n)), np.zeros((k * (k - 1) // 2, NUMBERS)))


def _spans(edges: Array, rows: int) -> list[Span]:
    """Classes in spans of about this many rows."""
    spans, begin = [], 0
    for c in range(1, len(edges)):
        if c == len(edges) - 1 or edges[c + 1] - edges[begin] > rows:
            spans.append(Span(begin, c))
            begin = c
    return spans


def solutions_of(found: Found, seconds: float) -> dict[int, Solution]:
    """The solutions of the pairs that are solved, by their numbers; their multipliers stay in ``found``.

    Columns first, objects last: a certificate and a history take longer than most solves if made one by one.
    """
    out = found.outcomes
    proof: Any = certificate_of(out)
    steps, none, each = out.steps.astype(np.int64), np.zeros(len(out.steps)), np.full(len(out.steps), seconds)
    starts = _each(Progress, 0 * steps, none, out.first_violation, out.first_objective)
    ends = _each(Progress, steps, each / len(steps), out.violation, proof.dual)
    proofs = _each(Certificate, *proof[:6], none, proof.rounding)
    return {
        number: Solution(
            Point(), Status.CONVERGED, certificate, Trace((start, end)), end.iteration, SMO.name, REASON, 1.0
        )
        for number, (certificate, start, end) in enumerate(zip(proofs, starts, ends, strict=True))
        if out.solved[number]
    }


def _each(kind: type[Any], *columns: Array) -> Iterator[Any]:
    """An object for each row of some columns."""
    return starmap(kind, zip(*(column.tolist() for column in columns), strict=True))
