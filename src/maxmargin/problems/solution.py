"""What a solver returns: the point, how the solve ended, its proof and its history."""

from __future__ import annotations

import enum
import html
import math
from typing import Any, NamedTuple

from maxmargin.core import limits
from maxmargin.core.rows import Array


class Status(enum.Enum):
    """How a solve ended. The members are the messages, ordered from best to worst."""

    CONVERGED = "converged: the optimality conditions hold to within tol"
    STALLED = "stalled: no further progress; scale the features or lower C"
    STOPPED = "stopped by the callback"
    ITERATION_LIMIT = "stopped at max_iter; raise max_iter or tol"
    TIME_LIMIT = "stopped at time_limit; raise time_limit or tol"
    INTERRUPTED = "interrupted; the best point so far is kept"
    INFEASIBLE = "infeasible: no hyperplane separates the classes"

    @property
    def severity(self) -> int:
        """0 for converged, growing with how little can be promised."""
        return list(Status).index(self)

    def __str__(self) -> str:
        return self.value


STOPS = (limits.OutOfTime, limits.Cancelled, KeyboardInterrupt)  # what ends work before its end


def ended_by(stop: BaseException, keep: bool) -> Status:
    """How work ends that one of ``STOPS`` ended. Ctrl-C is raised again unless ``keep``; then other threads end too."""
    if isinstance(stop, limits.OutOfTime):
        return Status.TIME_LIMIT
    if not keep:
        raise stop
    limits.cancel()
    return Status.INTERRUPTED


class Certificate(NamedTuple):
    """Proof of optimality, recomputed from the problem and the point.

    ``dual <= optimum <= primal``, so the point is at most ``gap`` above the optimum. ``violation`` is the largest
    violation of the optimality (KKT) conditions, in units of the decision function. ``bias`` is b and ``norm`` is
    ||w||. ``moved`` says how far the given multipliers were from satisfying the constraints; the values hold for a
    point nearby that does. ``rounding`` is the part of ``gap`` that only bounds the rounding of kernel values and sums.
    (Where float32 values were used, rows that cannot change the gap keep theirs, and ``primal`` and ``dual`` share an
    error of some 1e-7 of sum_ij |beta_i beta_j| K_ij. Which rows those are may be read off scores that the solver kept,
    within their error bounds; every other row is recomputed from the data in float64.) Where the Gram matrix is not
    positive semidefinite there is no duality, and where ``time_limit`` left no time for the proof there is none: the
    values are NaN and ``reason`` says why. A loss of a user that has no conjugate has no ``dual`` (NaN); ``gap`` is a
    bound nevertheless.
    """

    primal: float
    dual: float
    gap: float
    violation: float
    bias: float
    norm: float
    moved: float = 0.0
    rounding: float = 0.0
    reason: str = ""
    parts: tuple[Any, ...] = ()

    @property
    def relative_gap(self) -> float:
        """gap / max(|primal|, |dual|), of what there is; zero where all three are zero."""
        scale = abs(self.primal) if math.isnan(self.dual) else max(abs(self.primal), abs(self.dual))
        if math.isinf(scale) or (scale == 0 and self.gap > 0):
            return math.inf
        return self.gap / scale if scale > 0 or math.isnan(scale) else 0.0

    @property
    def rank(self) -> tuple[float, float]:
        """Smaller where more is proved: by the gap, and where none exists by the violation."""
        return _finite(self.gap), _finite(self.violation)

    def __repr__(self) -> str:
        lines = [f"{name:<10} {value}" for name, value in self._table()]
        return "\n".join(["Certificate", *("  " + line for line in lines)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._table()
        )
        return f"<table><caption>Certificate</caption>{rows}</table>"

    def _table(self) -> list[tuple[str, str]]:
        table = []
        if not math.isnan(self.gap):
            table.append(("primal", f"{self.primal:.10g}"))
            if not math.isnan(self.dual):
                table.append(("dual", f"{self.dual:.10g}"))
            table.append(("gap", f"{self.gap:.3g} (relative {self.relative_gap:.2g})"))
        table.append(("violation", f"{self.violation:.3g} of the optimality conditions"))
        if self.moved:
            table.append(("moved", f"{self.moved:.3g} to satisfy the constraints"))
        if self.rounding > 0.01 * self.gap and self.relative_gap > 1e-9:
            table.append(("rounding", f"{self.rounding:.3g} of the gap only bounds rounding"))
        if self.parts:
            table.append(("problems", f"{len(self.parts)}, the sums of their values and the largest violation"))
        if self.reason:
            table.append(("note", self.reason))
        return table


def _finite(size: float) -> float:
    """Infinite where numbers overflowed or there are none."""
    return size if math.isfinite(size) else math.inf


def unproved(reason: str, bias: float = math.nan, norm: float = math.nan) -> Certificate:
    """A certificate that proves nothing, and says why."""
    return Certificate(math.nan, math.nan, math.nan, math.inf, bias, norm, reason=reason)


def combine(parts: list[Certificate]) -> Certificate:
    """One certificate for several problems: sums of the values, the largest violation."""
    if len(parts) == 1:
        return parts[0]
    return Certificate(
        primal=sum(part.primal for part in parts),
        dual=sum(part.dual for part in parts),
        gap=sum(part.gap for part in parts),
        violation=max(part.violation for part in parts),
        bias=math.nan,
        norm=math.nan,
        moved=max(part.moved for part in parts),
        rounding=sum(part.rounding for part in parts),
        reason="; ".join(dict.fromkeys(part.reason for part in parts if part.reason)),
        parts=tuple(parts),
    )


class Progress(NamedTuple):
    """One line of a solver's history; also what callbacks receive.

    ``objective`` is the dual value; for linear machines that of the solver, primal or dual, and ``violation`` is their
    relative gap.
    """

    iteration: int
    seconds: float
    violation: float
    objective: float


class Trace(tuple):
    """The history of one solve: a tuple of ``Progress``.

    Pickled without its seconds (they become NaN): those are of the run and not of the model, and equal fits have equal
    pickles and hashes without them.
    """

    def __reduce__(self) -> Any:
        return Trace, (tuple(seen._replace(seconds=math.nan) for seen in self),)

    def then(self, later: Trace) -> Trace:
        """The history, and that of a solve which went on from its end: iterations and seconds are counted on."""
        return Trace((*self, *map(self.counted_on, later)))

    def counted_on(self, seen: Progress) -> Progress:
        """``seen`` of a solve that goes on from the end of this history."""
        if not self:
            return seen
        end = self[-1]
        return seen._replace(iteration=seen.iteration + end.iteration, seconds=seen.seconds + end.seconds)

    def column(self, name: str) -> list[float]:
        """All values of one field, for plotting: ``plt.semilogy(*map(trace.column, ("seconds", "violation")))``."""
        return [getattr(entry, name) for entry in self]

    def __repr__(self) -> str:
        if not self:
            return "Trace(empty)"
        first, last = self[0], self[-1]
        return (
            f"Trace({len(self)} entries, {last.iteration} iterations, {last.seconds:.3g} s, "
            f"violation {first.violation:.3g} -> {last.violation:.3g})"
        )


class Scores(NamedTuple):
    """f = K beta, and by how much each may be off."""

    f: Array
    errors: Array


class Point(NamedTuple):
    """Where a solver is: weights ``v``, signed multipliers ``beta``, or both.

    Linear machines have v = (w, bias entry), and None where a solver has no multipliers. Kernel machines have
    multipliers only: their weights live in feature space. ``biases`` are those that the solver itself would take, one
    per group of the problem. ``edges`` are the largest slopes upwards of the groups: with them as biases every row
    whose multiplier could still grow is on the side where it need not. ``scores`` are those that a solver kept.
    """

    v: Any = None
    beta: Any = None
    biases: Any = None
    edges: Any = None
    scores: Scores | None = None

    def copied(self) -> Point:
        """The same point, without scores, in memory of its own: solvers go on writing into theirs."""
        return Point(*(None if part is None else part.copy() for part in self[:-1]))


class Proof(NamedTuple):
    """A certificate, the feasible point that it holds for, and the scores f = K beta worked out on the way."""

    point: Point
    certificate: Certificate
    scores: Any = None


class Solution(NamedTuple):
    """A point with its status, proof and history.

    ``solver`` is the name of the one that ended the solve, ``reason`` why it ran, ``passes`` how often all rows (or all
    kernel values) were read. ``scores`` are those that the proof worked out, None where it was given up.
    """

    point: Point
    status: Status
    certificate: Certificate
    trace: Trace
    iterations: int
    solver: str
    reason: str
    passes: float
    scores: Any = None

    @property
    def beta(self) -> Array:
        """The signed multipliers."""
        return self.point.beta
