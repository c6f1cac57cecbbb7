"""Proofs for all families of problems: ``prove`` goes by the type of the problem, ``certify`` is its public face.

Each family registers its own ``prove`` beside its formulas.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

from maxmargin.core.rows import Array
from maxmargin.problems.solution import Certificate, Point, Proof


@singledispatch
def prove(problem: Any, point: Point, *, exact: bool = False, seconds: float = math.inf) -> Proof:
    """The certificate of ``point``, the feasible point that it holds for, and the scores worked out on the way.

    With ``exact`` every kernel value is float64. Of what a proof may leave out, it works out as much as ``seconds``
    allow.
    """
    raise TypeError(f"There is no certificate for a problem of type {type(problem).__name__}.")


def certify(problem: Any, point: Point | Array, *, exact: bool = False) -> Certificate:
    """Primal value, dual value, duality gap and KKT violation at ``point``, from the problem and the point alone.

    Of a kernel machine ``point`` may also be the notes' multipliers alpha >= 0, an array. Multipliers outside the
    constraints are first brought inside. With ``exact`` every kernel value is float64.
    """
    point = point._replace(scores=None) if isinstance(point, Point) else problem.point_of(point)
    return prove(problem, point, exact=exact).certificate
