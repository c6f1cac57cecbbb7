"""Example 23.3 of note 004 with and without rounding: its multipliers, and all others that are optimal."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

from maxmargin.certificates import certify
from maxmargin.estimators import SVC
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.lectures import data
from maxmargin.lectures.data import SIGNS_23_1, TABLE_23_1
from maxmargin.lectures.drawing import PALETTE, frame, label, line, mark, panels, plane, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.models import soft_margin
from maxmargin.textbook import hard_margin, kernels

ON_MARGIN = np.array([0, 1, 3, 12, 13])  # x1, x2, x4, x13, x14
PRINTED_W = np.array([0.833, 0.334])
PRINTED_PRODUCTS = np.array([4.332, 4.331, 4.331, 2.333, 2.332])  # w'x_i, first column of the note's second table
W, B = (Fraction(5, 6), Fraction(1, 3)), Fraction(-10, 3)
CONDITIONS = np.vstack([(SIGNS_23_1[ON_MARGIN, None] * TABLE_23_1[ON_MARGIN]).T, SIGNS_23_1[ON_MARGIN]])
TARGET = np.array([5 / 6, 1 / 3, 0.0])  # sum alpha_i y_i x_i = w, sum alpha_i y_i = 0


def example_23_3() -> Shown:
    r"""Example 23.3, with and without rounding

    The 14 points of table 23.1 (004:356-412). Without rounding, $w = (5/6, 1/3)$, $b = -10/3$ and the dual is
    $29/72$: five points have $y_i(w^Tx_i + b) = 1$ exactly, the others more. The multipliers are *not unique*: five
    unknowns meet three equations, $\sum_i\alpha_iy_ix_i = w$ and $\sum_i\alpha_iy_i = 0$. The note prints one
    solution with five support vectors; others need three. So "the number of support vectors" (004:813) is not a
    property of the machine alone, and of "all other points are not support vectors" (004:392) only this much is
    certain: they have $\alpha_i = 0$ in every solution.

    The second entry of the printed $w = (0.833, 0.334)$ is neither $1/3$ rounded nor the sum of its own terms,
    $0.333475$, rounded. It looks as if it was rounded twice: to $0.3335$, and that to $0.334$. The table of $w^Tx_i$
    (004:402-408) was made with the unrounded sum; its 4.331 for $x_2$ is 4.332.
    """
    X, y, here = data.TABLE_23_1, data.SIGNS_23_1, ON_MARGIN
    machine = SVC(kernel="linear", C=math.inf).fit(X, y)
    printed, ours, K = data.ALPHA_23_1, np.zeros(14), kernels.linear(X, X)
    ours[machine.support_] = np.abs(machine.dual_coef_[0])
    problem = soft_margin(Gram(Linear(), X), y, np.float64(np.inf))
    (by_program, _), (v, c, _, _) = hard_margin.dual(K, y), hard_margin.primal(X, y)
    duals = [certify(problem, alpha).dual for alpha in (printed, ours, by_program, 0.5 * (printed + ours))]
    found = [[*machine.coef_[0], machine.intercept_[0]], [*v, c],
             [*(by_program * y) @ X, hard_margin.bias(by_program, K, y)]]  # fmt: skip
    w = (printed * y) @ X
    products, exact, sparse = X[here] @ w, exact_margins(), corners()

    def picture() -> Any:
        figure, (left, right) = panels(2, height=3.8)
        draw_figure_23_2(left, machine, X, y)
        draw_optimal_multipliers(right, ranges(), ours[here])
        return figure

    return Shown(picture, _tables_23_3(ours[here], sparse, products), (
        ("in fractions: margins are exactly 1 at x1, x2, x4, x13, x14 and larger elsewhere",
         [i for i, value in enumerate(exact) if value == 1] == here.tolist() and min(exact) == 1),
        (f"in fractions: {len(sparse)} sets of three multipliers give exactly this w, so it is optimal",
         len(sparse) > 1 and all(is_exactly_optimal(corner) for corner in sparse)),
        ("the multipliers of the note, of SVC, of the dual program, and a mean of two have the dual 29/72, to 1e-6",
         bool(np.allclose(duals, 29 / 72, atol=1e-6))),
        ("SVC, the primal program and the dual one (b a mean over S) find w = (5/6, 1/3) and b = -10/3, to 1e-6",
         bool(np.allclose(found, [5 / 6, 1 / 3, -10 / 3], atol=1e-6))),
        ("the interior point on the dual ends within the set of solutions: all five multipliers are positive",
         np.flatnonzero(by_program).tolist() == here.tolist()),
        (f"the note's own terms sum to w = ({w[0]:.6f}, {w[1]:.6f}); rounded twice the second is 0.334, as printed",
         rounded_twice(w[1]) == PRINTED_W[1] != np.round(w[1], 3)),
        ("of the printed products that of x2 alone is not the rounded one",
         np.flatnonzero(np.round(products, 3) != PRINTED_PRODUCTS).tolist() == [1]),
        ("with the printed w the product of x1 would be 4.335", math.isclose(X[0] @ PRINTED_W, 4.335)),
    ))  # fmt: skip


def _tables_23_3(ours: Any, corners: Any, products: Any) -> tuple[Table, Table]:
    names = [f"$x_{{{i + 1}}}$" for i in ON_MARGIN]
    at_corners = [", ".join(str(corner.get(int(i), 0)) for corner in corners) for i in ON_MARGIN]
    low, high = np.transpose(ranges()).tolist()
    alphas = list(zip(names, data.ALPHA_23_1[ON_MARGIN].tolist(), ours.tolist(), low, high, at_corners, strict=True))
    y = data.SIGNS_23_1[ON_MARGIN]
    biases = [(name, old, f"{new:.4f}", "13/3" if sign > 0 else "7/3", f"{sign - new:.4f}")
              for name, old, new, sign in zip(names, PRINTED_PRODUCTS, products, y, strict=True)]  # fmt: skip
    of_alpha = Table(("point", "alpha of the note", "of SVC", "least", "largest", "corners of the set"), alphas)
    return of_alpha, Table(("point", "$w^Tx_i$ printed", "recomputed", "exact", "$b_i$ recomputed"), biases)


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


SHADE = "#cbd5e0"


def draw_figure_23_2(axes: Any, machine: Any, X: Any, y: Any) -> None:
    """The note's figure: examples on the margin shaded, the margin 1/||w|| as arrows."""
    w, b = machine.coef_[0], machine.intercept_[0]
    frame(axes, X)
    line(axes, w, b, (0, -1, 1))
    axes.scatter(*X[ON_MARGIN].T, s=150, color=SHADE, zorder=1)
    points(axes, X, y, size=36)
    for i, x in enumerate(X):
        mark(axes, f"$x_{{{i + 1}}}$", x, (-18, 6) if i == 12 else (6, 5))
    for i in (1, 12):
        foot = X[i] - y[i] / (w @ w) * w
        arrow = {"arrowstyle": "<->", "color": PALETTE[2], "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", foot, X[i], arrowprops=arrow)
        style: Any = {"color": PALETTE[2], "ha": "center", "va": "center"}
        mark(axes, f"{machine.margin_:.3f}", 0.5 * (foot + X[i]), (-4, 11), **style)
    plane(axes, "figure 23.2: margin $1/\\|w\\|$ (arrows),\non the margin (shaded)")


def draw_optimal_multipliers(axes: Any, ranges: Any, ours: Any) -> None:
    """All optimal values of each multiplier, the note's and ours."""
    rows, (low, high) = np.arange(5), np.transpose(ranges)
    axes.barh(rows, high - low, left=low, height=0.35, color=SHADE, label="all optimal values")
    axes.plot(data.ALPHA_23_1[ON_MARGIN], rows, "o", color=PALETTE[1], label="printed in the note")
    axes.plot(ours, rows, "D", color=PALETTE[0], ms=5, label="SVC")
    names = [f"$x_{{{i + 1}}}$" for i in ON_MARGIN]
    label(axes, "$\\alpha_i$", "", "the multipliers are not unique", yticks=rows, yticklabels=names)
    axes.set(ylim=(6.2, -0.6), xlim=(-0.02, 0.43))
    axes.legend(fontsize=9, loc="lower right")
