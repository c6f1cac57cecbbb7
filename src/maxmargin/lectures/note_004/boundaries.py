"""Boundaries, multipliers and slacks in the plane (note 004)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, frame, label, line, mark, panels, plane, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import hard_margin, margins, perceptron


def good_boundaries() -> Shown:
    r"""Good boundaries and bad ones

    Many lines separate two classes, and the perceptron finds one of them (004:33-54); which one depends on the order
    of the examples. Here it visits the 14 points of table 23.1 in 200 random orders. The large margin machine has one
    answer, as far from both classes as a line can be: $m = 2/\|w\|$ between the lines $w^Tx + b = \pm 1$, measured
    here as the gap between the classes in direction $w$.

    The distance between the origin and the line $w^Tx = k$ is $|k|/\|w\|$. The note writes $k/\|w\|$ (004:50), which
    is negative on one side of the origin.
    """
    X, y = data.TABLE_23_1, data.SIGNS_23_1
    found = [perceptron.perceptron(X, y, rng=np.random.default_rng(seed))[0] for seed in range(200)]
    reach = np.array([margins.distance(X, w, b).min() for w, b in found])
    machine = SVC(kernel="linear", C=math.inf).fit(X, y)
    w, b, m = machine.coef_[0], machine.intercept_[0], 2 * float(machine.margin_)
    ks = np.array([-3.0, 3.0, -1.5, 1.5, 0.0])
    feet = [_nearest_to_origin(w, k) for k in ks]
    along, norm = X @ w / np.linalg.norm(w), np.linalg.norm(w)
    order = np.argsort(reach)
    chosen = {"worst perceptron": order[0], "middling perceptron": order[100], "best perceptron": order[-1]}
    rows = [(name, *found[i][0], found[i][1], 2 * float(reach[i])) for name, i in chosen.items()]
    rows.append(("large margin", *w, b, m))

    def picture() -> Any:
        figure, (left, middle, right) = panels(2, 1, height=3.3)
        draw_perceptrons(left, X, y, found[:40], found[reach.argmin()], (w, b))
        draw_histogram_of_margins(middle, 2 * reach, m)
        draw_distances_of_lines(right, w, ks, feet)
        return figure

    return Shown(picture, (Table(("boundary", "w1", "w2", "b", "m"), rows),), (
        ("all 200 perceptrons separate the classes", all(np.all(y * (X @ v + c) > 0) for v, c in found)),
        ("none has a larger margin than the machine", bool(2 * reach.max() <= m * (1 + 1e-9))),
        (f"half of them have less than {2 * np.median(reach) / m:.0%} of it", bool(2 * np.median(reach) < 0.5 * m)),
        ("the gap between the classes in direction w is 2/||w||",
         math.isclose(along[y > 0].min() - along[y < 0].max(), 2 / norm, rel_tol=1e-6)),
        ("the nearest point of a line is |k|/||w|| away, also where k < 0",
         bool(np.allclose(np.linalg.norm(feet, axis=1), np.abs(ks) / norm, atol=1e-6))),
    ))  # fmt: skip


def _nearest_to_origin(w: Any, k: float) -> Any:
    """The point of w'x = k with the smallest norm, by search along the line."""
    t = np.linspace(-5, 5, 100_001)[:, None]
    on_line = np.array([k / w[0], 0.0]) + t * np.array([-w[1], w[0]]) / np.linalg.norm(w)
    return on_line[np.argmin((on_line**2).sum(axis=1))]


def draw_perceptrons(axes: Any, X: Any, y: Any, found: Any, worst: Any, best: tuple[Any, Any]) -> None:
    """Boundaries (w, b) of perceptrons, the worst of them, and the large margin."""
    frame(axes, X)
    for boundary in found:
        line(axes, *boundary, color=GREY, lw=0.6)
    line(axes, *worst, color=PALETTE[4], label="worst order")
    line(axes, best[0], best[1], (0, -1, 1), label="large margin")
    points(axes, X, y)
    plane(axes, "perceptrons (grey), large margin")
    axes.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def draw_histogram_of_margins(axes: Any, found: Any, largest: float) -> None:
    """Margins of perceptrons, and the largest margin as a line."""
    axes.hist(found, 30, color=PALETTE[0])
    axes.axvline(largest, color=INK)
    axes.text(largest, 0.9 * axes.get_ylim()[1], "$2/\\|w\\|$ ", ha="right", va="top")
    label(axes, "twice the distance of the nearest example", "orders", "margins of 200 perceptrons")


def draw_distances_of_lines(axes: Any, w: Any, ks: Any, feet: Any) -> None:
    """Lines w'x = k, and the way from the origin to the nearest point of each."""
    axes.set(xlim=(-9, 9), ylim=(-4.2, 4.2), aspect="equal")
    plane(axes, "distance of $w^Tx = k$ from the origin")
    for k, foot, colour in zip(ks, feet, PALETTE, strict=False):
        line(axes, w, -k, color=colour, lw=1.4)
        axes.plot([0, foot[0]], [0, foot[1]], "-", color=colour, lw=3, solid_capstyle="butt")
        text, height = f"k = {k:g}: {np.linalg.norm(foot):.2f}", -2.8 if abs(k) == 1.5 else -3.6
        box = {"fc": "white", "ec": "none", "pad": 1}
        axes.text((k - w[1] * height) / w[0], height, text, fontsize=9, color=colour, ha="center", bbox=box)
    axes.plot(0, 0, "o", color=INK)


def alphas_and_slacks() -> Shown:
    r"""Multipliers on the points, slacks as lines

    The geometrical interpretation (004:122): most points have $\alpha_i = 0$ and could be removed; those with
    $\alpha_i > 0$ lie on the margin and carry the hyperplane, $w = \sum_i\alpha_iy_ix_i$. Read as forces
    $\alpha_iy_i$ along $w/\|w\|$ they balance, since $\sum_i\alpha_iy_i = 0$.

    The conditions that the note gives for an optimum (004:76-78) lack one, $\alpha_ig_i = 0$: doubled $w$, $b$ and
    $\alpha$ satisfy all that is printed, and are not optimal.

    With slack (004:126-148) the line from a point to its margin has length $\xi_i/\|w\|$. Two sentences need care.
    "$\xi_i = 0$ if there is no error" (004:140) fails for points inside the margin on their own side, which have
    $0 < \xi_i \le 1$. And not $\xi_i$ bounds the number of errors (004:129, 141) but $\sum_i\xi_i$ does, because
    every error has $\xi_i \ge 1$.
    """
    X = np.array([[0.5, 1.0], [1, 2.6], [1.8, 0.4], [2.2, 1.8], [0.2, 3.4],
                  [3.2, 4.3], [4.6, 2.1], [5, 3.6], [4.1, 5], [5.8, 1.2]])  # fmt: skip
    y = np.repeat([-1.0, 1.0], 5)
    w, b, _, _ = hard_margin.primal(X, y)
    alpha, _ = hard_margin.dual(X @ X.T, y)
    Z, signs = data.two_clouds(8, apart=2.2, seed=2004)
    soft = SVC(kernel="linear", C=1.0).fit(Z, signs)
    right_by = signs * soft.decision_function(Z)
    xi, wrong = np.maximum(0, 1 - right_by), right_by < 0
    Cs = np.geomspace(1e-3, 1e2, 16)
    sums, errors = np.transpose([_slack_and_errors(C, *data.two_clouds(40, apart=1.5, seed=1)) for C in Cs])
    doubled = hard_margin.kkt(2 * w, 2 * b, 2 * alpha, X, y)
    products = doubled.pop("alpha_i [y_i (w'x_i + b) - 1]")
    inside = (xi > 1e-6) & ~wrong

    def picture() -> Any:
        figure, (left, middle, right) = panels(2, 1, height=3.5)
        draw_multipliers(left, X, y, w, b, alpha)
        draw_slacks(middle, Z, signs, soft.coef_[0], soft.intercept_[0])
        right.semilogx(Cs, sums, "o-", color=PALETTE[1], ms=4, label="$\\sum_i\\xi_i$")
        right.semilogx(Cs, errors, "s-", color=PALETTE[0], ms=4, label="training errors")
        label(right, "C", "sum and number", "80 points: slacks bound the errors", ylim=(0, None))
        right.legend(fontsize=9)
        return figure

    return Shown(picture, claims=(
        ("points with alpha > 0 lie on the margin", bool(np.allclose((y * (X @ w + b))[alpha > 0], 1, atol=1e-6))),
        (f"w is the sum of alpha y x over {np.sum(alpha > 0)} of {len(y)} points",
         bool(np.allclose((alpha * y) @ X, w, atol=1e-6))),
        ("the forces balance: sum alpha y = 0", bool(abs(alpha @ y) < 1e-8)),
        ("doubled, the solution satisfies all that 004:76-78 prints, but not alpha_i g_i = 0",
         bool(max(doubled.values()) < 1e-6 < products)),
        (f"{np.sum(inside)} points have slack and no error, contrary to 004:140", bool(np.any(inside))),
        ("a point is an error exactly if its slack exceeds 1", bool(np.all((xi > 1) == wrong))),
        ("for every C the sum of slacks is at least the number of errors", bool(np.all(sums >= errors))),
    ))  # fmt: skip


def _slack_and_errors(C: float, X: Any, y: Any) -> tuple[float, float]:
    right_by = y * SVC(kernel="linear", C=C).fit(X, y).decision_function(X)
    return float(np.maximum(0, 1 - right_by).sum()), float(np.sum(right_by < 0))


def draw_multipliers(axes: Any, X: Any, y: Any, w: Any, b: float, alpha: Any) -> None:
    """The hyperplane, and alpha written at each point."""
    frame(axes, X, pad=0.2)
    line(axes, w, b, (0, -1, 1))
    points(axes, X, y)
    for x, a in zip(X, alpha, strict=True):
        mark(axes, f"{a:.2f}" if a > 0 else "0", x, weight="bold" if a > 0 else "normal", color=INK if a > 0 else GREY)
    plane(axes, "hard margin: $\\alpha_i$ at each point")


def draw_slacks(axes: Any, X: Any, y: Any, w: Any, b: float) -> None:
    """The soft margin, and a line from each point with slack to its margin."""
    frame(axes, X)
    line(axes, w, b, (0, -1, 1))
    points(axes, X, y)
    for x, sign in zip(X, y, strict=True):
        f = x @ w + b
        if sign * f < 1 - 1e-6:
            axes.plot(*np.transpose([x, x + (sign - f) / (w @ w) * w]), color=PALETTE[2], lw=1.5)
            away = -13 * sign * w / np.linalg.norm(w)  # on the other side of the point than its line
            box = {"fc": "white", "ec": "none", "pad": 0.5, "alpha": 0.8}
            mark(axes, f"{1 - sign * f:.1f}", x, tuple(away), color=PALETTE[2], ha="center", va="center", bbox=box)
    plane(axes, "soft margin: $\\xi_i$, to the margin")
