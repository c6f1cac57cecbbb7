"""The one-class machine (Schoelkopf et al. 2001): a hyperplane between the origin and all but a share nu of the rows.

minimise  1/2 ||w||^2 - rho nu W + sum_i c_i max(0, rho - w'phi(x_i)),    W = sum_i c_i.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.losses.box import Box
from maxmargin.models.canonical import solvable, weights_of
from maxmargin.problems.box import BoxQP, GramMatrix, one_group


def one_class(gram: GramMatrix, nu: float, weights: Array | float = 1.0) -> BoxQP:
    """At most a share ``nu`` of the weight lies outside; the bias of the solution is -rho."""
    if not 0 < nu <= 1:
        raise ValueError(f"nu={nu:g} is infeasible: it is a share of the rows, above 0 and at most 1.")
    c, zero = weights_of(gram, weights), np.zeros(gram.n)
    return solvable(gram, Box(zero, zero, c, zero, zero), *one_group(gram.n, nu * float(c.sum())))
