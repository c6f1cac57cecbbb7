"""What the one loop (``drive``) asks of a solver and of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

from maxmargin.core.rows import Array
from maxmargin.problems.solution import Certificate, Point, Progress, Proof, Trace

Watch = Callable[[Progress, Callable[[], Point]], bool | None]


def continued(watch: Watch | None, before: Trace) -> Watch | None:
    """The watcher of a solve that goes on where another one, with the history ``before``, ended."""
    return None if watch is None else lambda seen, point: watch(before.counted_on(seen), point)


class Overflow(FloatingPointError):
    """Numbers of a solver that left float64; the next solver takes over. (Users' functions may raise its base.)"""


class Refused(ValueError):
    """A solver that does not apply to a problem: an error where it was asked for, else the next one takes over."""


def refused(solver: str, why: str) -> Refused:
    """What is raised where ``solver`` does not apply."""
    return Refused(f"solver={solver!r} cannot be used here: {why}")


OVERFLOW = "The numbers of this problem overflow float64: scale the features or the targets, or lower C."


@dataclass(frozen=True)
class Options:
    """How far a solve may go, where it starts and who watches.

    ``watch(progress, point)`` is called at the start and after every step and stops the solve by returning True;
    ``point()`` is where the solver is. The time limit covers the certificate too: the solver is stopped early enough
    for it. With ``interrupt="keep"`` Ctrl-C ends the solve with its best point instead of raising. ``to_the_end`` is
    whether to go on beyond ``tol`` to what rounding allows, None where the problem is small.

    Of working sets: ``shrinking`` leaves rows that look settled out of them, ``order`` breaks ties in the first one,
    and ``working_rows`` bounds them (None: as the solver likes).
    """

    tol: float = 1e-4
    start: Point | None = None
    max_iter: int = -1
    time_limit: float | None = None
    watch: Watch | None = None
    interrupt: Literal["raise", "keep"] = "raise"
    seed: int = 0
    to_the_end: bool | None = None
    shrinking: bool = True
    order: Array | None = None
    working_rows: int | None = None

    @property
    def keeps(self) -> bool:
        """Whether Ctrl-C ends the solve with its best point."""
        return self.interrupt == "keep"

    @property
    def free(self) -> bool:
        """Whether nobody watches, and nothing but ``tol`` ends the solve."""
        return self.watch is None and self.max_iter < 0 and self.time_limit is None


class Problem(Protocol):
    """What the loop asks of a problem."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def passes(self) -> float:
        """How often all rows, or all kernel values, were read so far."""
        ...

    def start(self, near: Point | None = None) -> Point:
        """A feasible point near a given one; without one, zero where that is feasible."""
        ...

    def optimality_error(self, certificate: Certificate) -> float:
        """What of a certificate is held against ``tol``: the relative gap, or the violation."""
        ...

    def proof_seconds(self, point: Callable[[], Point], elapsed: float) -> float:
        """About how long a certificate of ``point()`` takes, when the solve has taken ``elapsed`` seconds so far.

        Asked before every step. ``point`` is a function because working it out may take a pass over the rows.
        """
        ...

    def bias_of(self, point: Point) -> float:
        """The bias of the machine at ``point`` of a solver; NaN where it has none or several."""
        ...


class Solver(ABC):
    """One solve in progress: made of a problem, a start and options, it takes steps until it thinks that it is done.

    A solver is believed only when the certificate, which recomputes whatever could change it, agrees. Facts that the
    loop goes by are declared here and never guessed from a name. Numbers that overflow are an ``Overflow``, anywhere,
    and what only its constructor can find out of ``refuses`` is a ``Refused``: the next solver then takes over.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = True  # False: cannot promise tol, so steps are limited and small problems not taken further
    idle_steps: ClassVar[float] = float("inf")  # steps without a smaller optimality error: no progress is left
    refinable: ClassVar[bool] = False  # whether scores worked out afresh free it where it is stuck
    finishes: ClassVar[bool] = False  # whether its goal already is the last digits that rounding leaves

    iterations: int = 0
    objective: float = 0.0
    optimality_error: float = float("inf")  # its own estimate of what is still to do, on the scale of tol
    exhausted: bool = False  # further steps bring nothing
    options: Options

    @abstractmethod
    def __init__(self, problem: Any, start: Point, options: Options) -> None: ...

    @property
    @abstractmethod
    def point(self) -> Point:
        """Where it is."""

    @property
    def goal(self) -> float:
        """The optimality error that it aims at; ``tol`` unless it is more ambitious. May change from step to step."""
        return self.options.tol

    @abstractmethod
    def step(self, most: float) -> None:
        """A step of tens of milliseconds, of at most ``most`` iterations."""

    @abstractmethod
    def refine(self, goal: float, proof: Proof) -> None:
        """Aim at ``goal``, from what the certificate worked out afresh: it did not agree that the last one is met.

        The proof is of the present point, and its scores are the solver's to keep and write to.
        """

    @classmethod
    def refuses(cls, problem: Any) -> str:
        """Why this solver does not apply to ``problem``; empty where it does."""
        return ""


class Stage(NamedTuple):
    """A solver, why it runs, and its patience: it hands over when its gap falls less than tenfold in that many passes.

    ``settings`` are further arguments of the solver.
    """

    solver: type[Solver]
    reason: str = "as asked for"
    patience: float = float("inf")
    settings: dict[str, Any] = {}  # noqa: RUF012


# "auto" or a name that the problem's family knows, or a solver itself.
SolverChoice: TypeAlias = str | type[Solver] | Stage


def is_solver(value: Any) -> bool:
    """Whether ``value`` is a class that follows the contract, or such a class with settings."""
    return isinstance(value, Stage) or (isinstance(value, type) and issubclass(value, Solver))
