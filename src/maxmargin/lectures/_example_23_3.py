"""Example 23.3 of note 004 without rounding: its multipliers, and all others that are optimal."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from maxmargin.lectures.data import SIGNS_23_1, TABLE_23_1

ON_MARGIN = np.array([0, 1, 3, 12, 13])  # x1, x2, x4, x13, x14
PRINTED_W = np.array([0.833, 0.334])
PRINTED_PRODUCTS = np.array([4.332, 4.331, 4.331, 2.333, 2.332])  # w'x_i, first column of the note's second table
W, B = (Fraction(5, 6), Fraction(1, 3)), Fraction(-10, 3)
CONDITIONS = np.vstack([(SIGNS_23_1[ON_MARGIN, None] * TABLE_23_1[ON_MARGIN]).T, SIGNS_23_1[ON_MARGIN]])
TARGET = np.array([5 / 6, 1 / 3, 0.0])  # sum alpha_i y_i x_i = w, sum alpha_i y_i = 0


def rounded_twice(value: float) -> float:
    """To six digits, which undoes binary rounding, then to four, then to three."""
    places = (Decimal(10) ** -digits for digits in (6, 4, 3))
    rounded = Decimal(value)
    for place in places:
        rounded = rounded.quantize(place, ROUND_HALF_UP)
    return float(rounded)


def exact_margins() -> list[Fraction]:
    """y_i (w'x_i + b) of all 14 points; every number of table 23.1 is a fraction."""
    rows = [[Fraction(str(value)) for value in row] for row in TABLE_23_1]
    return [int(sign) * (W[0] * x + W[1] * z + B) for sign, (x, z) in zip(SIGNS_23_1, rows, strict=True)]


def corners() -> list[dict[int, Fraction]]:
    """The corners of the set of optimal multipliers, as fractions: three support vectors each."""
    found = []
    for chosen in combinations(range(5), 3):
        system = CONDITIONS[:, chosen]
        if abs(np.linalg.det(system)) > 1e-9 and (alpha := np.linalg.solve(system, TARGET)).min() > 0:
            fractions = [Fraction(value).limit_denominator(10_000) for value in alpha]
            found.append(dict(zip(ON_MARGIN[list(chosen)].tolist(), fractions, strict=True)))
    return found


def is_exactly_optimal(alpha: dict[int, Fraction]) -> bool:
    """Whether sum alpha_i y_i = 0 and sum alpha_i y_i x_i = w hold without any rounding."""
    rows = {i: [Fraction(str(value)) for value in TABLE_23_1[i]] for i in alpha}
    signed = {i: int(SIGNS_23_1[i]) * value for i, value in alpha.items()}
    w = tuple(sum((signed[i] * rows[i][k] for i in alpha), Fraction(0)) for k in (0, 1))
    return min(alpha.values()) >= 0 and sum(signed.values()) == 0 and w == W


def ranges() -> list[tuple[float, float]]:
    """The least and the largest value of each multiplier among all optimal ones, by linear programming."""
    ends = []
    for i in range(5):
        cost = np.eye(5)[i]
        ends.append(tuple(s * linprog(s * cost, A_eq=CONDITIONS, b_eq=TARGET).fun for s in (1, -1)))
    return ends
