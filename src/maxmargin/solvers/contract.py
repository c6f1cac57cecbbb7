"""What the one loop (``drive``) asks of a solver and of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from maxmargin.core.rows import Array
from maxmargin.problems.solution import Certificate, Point, Progress, Proof

Watch = Callable[[Progress, Callable[[], Point]], bool | None]


@dataclass(frozen=True)
class Options:
    """How far a solve may go, where it starts and who watches.

    ``watch(progress, point)`` is called after every step and stops the solve by returning True; ``point()`` is where
    the solver is. The time limit covers the certificate too: the solver is stopped early enough for it. With
    ``interrupt="keep"`` Ctrl-C ends the solve with its best point instead of raising. ``to_the_end`` is whether to go
    on beyond ``tol`` to what rounding allows, None where the problem is small.

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

    def start(self) -> Point:
        """A feasible point, zero where that is feasible."""
        ...

    def shortfall(self, certificate: Certificate) -> float:
        """What of a certificate is held against ``tol``: the relative gap, or the violation."""
        ...

    def proof_seconds(self, point: Point, elapsed: float) -> float:
        """About how long a certificate of ``point`` takes, when the solve has taken ``elapsed`` seconds so far."""
        ...


class Solver(ABC):
    """One solve in progress: made of a problem, a start and options, it takes steps until it thinks that it is done.

    A solver is believed only when the certificate, recomputed from its point alone, agrees. Facts that the loop goes by
    are declared here and never guessed from a name.
    """

    name: ClassVar[str]
    exact: ClassVar[bool] = True  # False: cannot promise tol, so steps are limited and small problems not taken further
    idle_steps: ClassVar[float] = float("inf")  # steps without a smaller shortfall after which no progress is left
    refinable: ClassVar[bool] = False  # whether scores worked out afresh free it where it is stuck

    iterations: int = 0
    objective: float = 0.0
    shortfall: float = float("inf")  # its own estimate of what is still to do, in units of tol
    exhausted: bool = False  # further steps bring nothing

    @abstractmethod
    def __init__(self, problem: Any, start: Point, options: Options) -> None: ...

    @property
    @abstractmethod
    def point(self) -> Point:
        """Where it is."""

    @property
    def goal(self) -> float:
        """The shortfall that it aims at first; ``tol`` unless it is more ambitious."""
        return self.options.tol

    options: Options

    @abstractmethod
    def step(self, most: float) -> None:
        """A step of tens of milliseconds, of at most ``most`` iterations."""

    @abstractmethod
    def refine(self, goal: float, proof: Proof) -> None:
        """Aim at ``goal``, from what the certificate worked out afresh: it did not agree that the last one is met."""

    @classmethod
    def refuses(cls, problem: Any) -> str:
        """Why this solver does not apply to ``problem``; empty where it does."""
        return ""


class Leg(NamedTuple):
    """A solver, why it runs, and its patience: it hands over when its gap falls less than tenfold in that many passes.

    ``settings`` are further arguments of the solver.
    """

    solver: type[Solver]
    reason: str
    patience: float = float("inf")
    settings: dict[str, Any] = {}  # noqa: RUF012
