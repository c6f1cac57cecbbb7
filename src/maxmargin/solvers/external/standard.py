"""The box QP in the standard form of packages for quadratic programs, and what all of them share as solvers:

    minimise  1/2 x'P x + q'x    subject to    l <= A x <= u,        x = (beta, m).

A multiplier with a kink is split: m >= 0 and beta + m >= 0 are its negative and positive part, and their sum, which is
|beta| where one of them is zero, has the price kink.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from maxmargin.certificates.box import in_units
from maxmargin.certificates.kkt import gradient, objective_and_size, standing
from maxmargin.core import limits
from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP
from maxmargin.problems.feasible import feasible_point
from maxmargin.problems.solution import Point, Proof
from maxmargin.solvers.box.low_rank import values_among
from maxmargin.solvers.box.systems import INDEFINITE, MOST_WHOLE, definite
from maxmargin.solvers.contract import Options, Solver
from maxmargin.solvers.snapping import snapped, unit_of


class StandardForm(NamedTuple):
    """See the module's formula. P is its upper triangle; the first rows of A are the sums of the groups."""

    P: Any
    q: Array
    A: Any
    l: Array  # noqa: E741
    u: Array


def standard_form(problem: BoxQP) -> StandardForm:
    """``problem`` with all its kernel values."""
    n, (p, lower, upper, kink, ridge) = problem.n, problem.box
    split = np.flatnonzero(kink > 0.0)
    K = np.triu(values_among(problem.gram, np.arange(n)))
    K[np.diag_indices(n)] += ridge
    nothing = sparse.csc_matrix((len(split), len(split)))
    sums = sparse.csc_matrix((problem.group == np.arange(problem.n_groups)[:, None]).astype(np.float64))
    one, parts = sparse.identity(n), sparse.identity(len(split))
    picks = sparse.csc_matrix((np.ones(len(split)), (np.arange(len(split)), split)), shape=(len(split), n))
    zero, far = np.zeros(len(split)), np.full(len(split), np.inf)
    return StandardForm(
        P=sparse.block_diag([sparse.csc_matrix(K), nothing], format="csc"),
        q=np.concatenate([kink - p, 2.0 * kink[split]]),
        A=sparse.bmat([[sums, None], [one, None], [None, parts], [picks, parts]], format="csc"),
        l=np.concatenate([problem.totals, lower, zero, zero]),
        u=np.concatenate([problem.totals, upper, far, far]),
    )


class Answer(NamedTuple):
    """What a package found: x, the multipliers of the rows of A (those of the groups are biases), its iterations."""

    x: Array
    y: Array
    iterations: int


class PackageSolver(Solver):
    """A package that solves the standard form in one step: abstract, says only ``ask`` and its ``package``."""

    package: ClassVar[str]

    def __init__(self, problem: BoxQP, start: Point, options: Options) -> None:
        self.problem, self.options = problem, options
        self._package = package(self.package)
        self._keep(start.beta)

    @abstractmethod
    def ask(self, package: Any, form: StandardForm, most: float, seconds: float) -> Answer:
        """The answer of ``package`` after at most so many iterations and ``seconds``, infinite for no limit."""

    @classmethod
    def refuses(cls, problem: BoxQP) -> str:
        """K is indefinite or large."""
        if not definite(problem):
            return INDEFINITE
        most = min(MOST_WHOLE, problem.gram.working_rows)
        return f"{problem.n} rows are more than the {most} whose kernel values it may have." if problem.n > most else ""

    @property
    def point(self) -> Point:
        """The multipliers, and the biases that belong to them."""
        return Point(beta=self._beta, biases=self._biases)

    def refine(self, goal: float, proof: Proof) -> None:
        """It has done what it can."""

    def step(self, most: float = np.inf) -> None:
        """All of it: packages have loops of their own. Multipliers next to a bound or kink are put there."""
        problem, active = self.problem, limits.current()
        form = standard_form(problem)
        seconds = active.deadline - limits.now() if active else np.inf
        answer = self.ask(self._package, form, most, max(seconds, 0.0))
        self.iterations += answer.iterations
        self.exhausted = answer.iterations < most
        if np.isfinite(answer.x).all():
            beta = feasible_point(problem, answer.x[: problem.n])
            t = self._gradient(beta) - problem.by_row(answer.y[: problem.n_groups])
            unit = unit_of(problem.box, problem.gram.diagonal + problem.ridge)
            beta = snapped(problem.box, problem.group, problem.totals, beta, t, unit)
            self._keep(feasible_point(problem, beta))
        limits.checkpoint()  # where the package stopped at the deadline, that is how the solve ended

    def _gradient(self, beta: Array) -> Array:
        return gradient(self.problem.box, self.problem.gram.scores(beta, exact=True)[0], beta)

    def _keep(self, beta: Array) -> None:
        """Sets, where ``beta`` is better than what there is: optimality_error, objective, and what ``point`` is."""
        problem, v = self.problem, self._gradient(beta)
        at = standing(problem, beta, v)
        violation = in_units(at.violation, problem.unit(at.biases))
        if violation < self.optimality_error or self.iterations == 0:
            self._beta, self._biases, self.optimality_error = beta, at.biases, violation
            self.objective = objective_and_size(problem.p, problem.kink, v, beta)[0]


def package(name: str) -> Any:
    """An optional package, when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise ImportError(f'This solver is the package {name}: pip install "maxmargin[qp]".') from missing
