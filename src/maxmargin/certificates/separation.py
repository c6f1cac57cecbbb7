"""Can any hyperplane separate the classes? A certificate for "no".

Weights alpha >= 0 with sum_i alpha_i y_i = 0 describe one point in the convex hull of each class, and

    2 ||sum_i alpha_i y_i phi(x_i)|| / sum_i alpha_i

is the distance of those two points. If it is zero the hulls meet, and then no hyperplane separates the classes.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.problems.box import BoxQP

# Distances below this fraction of the data's size are zero to working precision: w'w is a difference of numbers of
# size (sum alpha)^2 max K, known to about 1e-16 of that, so distances are known to about 1e-8 of the data's size.
RELATIVE_DISTANCE = 1e-7


def hull_distance(problem: BoxQP, beta: Array, scores: Array) -> float:
    """Distance between the two hull points that ``beta`` describes, relative to the largest ||phi(x_i)||."""
    weight = float(np.abs(beta).sum())
    size = float(np.sqrt(np.max(problem.gram.diagonal, initial=0.0)))
    if weight == 0.0 or size == 0.0:
        return np.inf if weight == 0.0 else 0.0
    return 2.0 * float(np.sqrt(max(float(beta @ scores), 0.0))) / (weight * size)


def separates(problem: BoxQP, beta: Array, scores: Array) -> bool:
    """False where ``beta`` proves, to working precision, that no hyperplane separates; True where it does not."""
    return hull_distance(problem, beta, scores) > RELATIVE_DISTANCE
