"""Pairs of small classes, solved in bundles by compiled calls: a job of its own takes a millisecond for each of them.

The rows of a class come one after the other. Classes are put together to spans of some hundred rows, and the pairs
between two spans are one piece of work: a tile of kernel values, and one call. What a bundle does not solve is solved
as a job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, starmap
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.core.threads import thread_map
from maxmargin.gram import Gram
from maxmargin.machines.plan import KernelPlan
from maxmargin.machines.watching import Observer
from maxmargin.problems.sizes import SMALL_ROWS
from maxmargin.problems.solution import Certificate, Point, Progress, Solution, Status, Trace
from maxmargin.solvers.box.smo import SMO
from maxmargin.solvers.small.box import REASON, certificate_of, goal_of
from maxmargin.solvers.small.pairs import NUMBERS, Classes, Found, Span, keep_within, solve_pairs

# Rows of a class up to which float64 values, which need no second look, are cheaper than a job with float32 ones.
SMALL_CLASS = 128
SPAN_ROWS = 512


def bundled(plan: KernelPlan, observers: Sequence[Observer]) -> bool:
    """Whether the jobs of a plan are pairs of small classes, and nothing asks for a look at each of them."""
    asked = plan.effort.solver != "auto" or plan.keep or observers or not plan.effort.free
    if plan.sides is None or asked or not plan.kernel.definite:
        return False
    return plan.n <= SMALL_ROWS or max(part.stop - part.start for part in plan.segments) <= SMALL_CLASS


def solve_bundles(plan: KernelPlan, gram: Gram, n_jobs: int, found: Found) -> None:
    """Writes: found, for all pairs of classes."""
    assert plan.sides is not None
    edges = edges_of(plan)
    places = np.concatenate([[0], np.cumsum(np.diff(edges) ** 2)])
    classes = Classes(edges, gram.diagonal, plan.sides, np.empty(places[-1]), places)
    goal = goal_of(plan.effort.each.tol, gram.float64_error, plan.n <= SMALL_ROWS)
    spans = _spans(edges, plan.n if plan.n <= SMALL_ROWS else SPAN_ROWS)

    def tile(*span: Span) -> Array:
        return gram.exact_tile(*(slice(edges[one.begin], edges[one.end]) for one in span))

    def within(span: Span) -> None:
        K = tile(span, span)
        keep_within(K, span, classes)
        solve_pairs(K, span, span, classes, goal, found)

    def between(rows: Span, columns: Span) -> None:
        solve_pairs(tile(rows, columns), rows, columns, classes, goal, found)

    thread_map(within, spans, n_jobs)
    thread_map(lambda pair: between(*pair), list(combinations(spans, 2)), n_jobs)


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
