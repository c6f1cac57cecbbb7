"""All jobs of a plan on the pool, each to its end or to what it has when it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from maxmargin.core.threads import task_map
from maxmargin.machines.plan import Crossed, Effort, Job
from maxmargin.machines.watching import TimeShares
from maxmargin.problems.solution import STOPS, Point, Solution, Status, Trace, ended_by, unproved

Solved = tuple[Solution, Sequence[Crossed]]
CUT_SHORT = (Status.STOPPED, Status.TIME_LIMIT, Status.INTERRUPTED)  # then no fold is begun


def solve_jobs(
    jobs: Sequence[Job],
    effort: Effort,
    workers: int,
    one: Callable[[int, TimeShares], Solved],
    zero: Callable[[Job], Point],
    turns: Sequence[int] | None = None,
) -> dict[int, Solved]:
    """``one(number, shares)`` for the jobs in ``turns``, in that order; ``zero(job)`` if it cannot begin."""
    turns = range(len(jobs)) if turns is None else turns
    sizes = [size for number in turns for size in jobs[number].sizes]
    shares = TimeShares(effort.seconds_left(), sizes, min(workers, len(turns)))

    def ended(number: int) -> Solved:
        try:
            return one(number, shares)
        except STOPS as stop:
            return unsolved(zero(jobs[number]), ended_by(stop, effort.keeps)), ()

    return dict(zip(turns, task_map(ended, turns, workers, effort.keeps), strict=True))


def unsolved(zero: Point, status: Status) -> Solution:
    """Of a job that was stopped before its problem was stated."""
    nothing = unproved("stopped before the problem was set up", bias=0.0, norm=0.0)
    return Solution(zero, status, nothing, Trace(), 0, "none", "", 0.0)
