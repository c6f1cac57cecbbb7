"""The margin by algebra, with slack, and slack as hinge loss (note 001)."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, field, frame, label, line, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import hard_margin, margins, soft_margin


def margin_by_algebra() -> Shown:
    r"""The margin by algebra

    Let $x^+$ and $x^-$ be examples on the two margins: $w^Tx^+ + b = 1$ and $w^Tx^- + b = -1$. Their distances from the
    hyperplane are

    $$d^+ = \frac{w^Tx^+ + b}{\|w\|}, \qquad d^- = -\frac{w^Tx^- + b}{\|w\|},$$

    and the margin is their mean, $\gamma = \frac12[d^+ + d^-] = \frac{1}{\|w\|}$. The note's result is right; on the
    way it writes $b - 1$ outside the fraction and takes the difference $d^+ - d^-$ where $d^-$ already carries its
    sign: its second line is not its third. Both are computed below, for the hard margin of
    [table 23.1 of note 004](004.md#example-23-3) and for the same hyperplane in other scales.

    How is the first problem optimised? It is a quadratic program: `textbook.hard_margin` (note 003), found by the
    interior-point method of note 004.
    """
    X, y = data.TABLE_23_1, data.SIGNS_23_1
    w, b, _, _ = hard_margin.primal(X, y)
    on = np.abs(y * (X @ w + b) - 1) < 1e-6
    plus, minus = X[on & (y > 0)], X[on & (y < 0)]
    algebra = np.array([[margins.margin_by_algebra(p, m, w, b) for m in minus] for p in plus])
    norm = np.linalg.norm(w)
    p, m = plus[0], minus[0]
    as_printed = 0.5 * ((w @ p / norm + b - 1) - (-(w @ m) / norm - b + 1))
    scaled = margins.canonical(7 * w, 7 * b, X)
    rows = [
        ("1/||w||", float(margins.margin(w))),
        ("smallest distance of an example", float(margins.distance(X, w, b).min())),
        ("half of d+ + d-, smallest and largest over all pairs", f"{algebra.min():.6f} to {algebra.max():.6f}"),
        ("the note's second line", float(as_printed)),
    ]

    def picture() -> Any:
        figure, (left,) = panels(1, width=5.2, height=4.6)
        frame(left, X)
        points(left, X, y)
        line(left, w, b, (0.0, -1.0, 1.0))
        for point in (p, m):
            foot = point - (w @ point + b) / (w @ w) * w
            left.annotate("", foot, point, arrowprops={"arrowstyle": "<->", "color": INK})
            left.annotate("$1/\\|w\\|$", 0.5 * (foot + point), xytext=(4, -12), textcoords="offset points", fontsize=9)
        left.set(title=f"margin 1/||w|| = {1 / norm:.4f}", xlabel="$x_1$", ylabel="$x_2$")
        return figure

    return Shown(picture, (Table(("quantity", "value"), rows),), (
        ("half of d+ + d- is 1/||w|| for every pair on the margins", bool(np.allclose(algebra, 1 / norm, rtol=1e-6))),
        ("the second line as printed is another number", abs(as_printed - 1 / norm) > 0.1),
        ("7w and 7b, brought to min |w'x + b| = 1, are w and b again",
         bool(np.allclose(scaled[0], w, atol=1e-6) and abs(scaled[1] - b) < 1e-6)),
    ))  # fmt: skip


def margin_with_slack() -> Shown:
    r"""The margin with slack

    "How do you compute margin there?" The hyperplanes $w^Tx + b = \pm 1$ are still $1/\|w\|$ away from the boundary.
    What changes is what lies between them: examples with slack. $C$ buys a wide margin with slack or little slack with
    a narrow margin: $\frac12\|w\|^2$ and $\sum_i\xi_i$ move against each other, monotonically.

    The note states the problem with $\|w\|^2$ and, a page later, with $\frac12\|w\|^2$: the same machine needs twice
    the $C$ in the first form.
    """
    X, y = data.two_clouds(apart=3.0, seed=3)
    Cs = [0.01, 0.1, 1.0, 100.0]
    machines = [SVC(kernel="linear", C=C, tol=1e-8).fit(X, y) for C in Cs]
    rows = []
    for C, machine in zip(Cs, machines, strict=True):
        w, b = machine.coef_[0], machine.intercept_[0]
        xi = margins.slack(w, b, X, y)
        rows.append((C, float(1 / np.linalg.norm(w)), float(xi.sum()), int(np.sum(xi > 1e-6)), int(np.sum(xi > 1))))
    wide, slack = [row[1] for row in rows], [row[2] for row in rows]
    (without_half, b_without, _), _, _ = soft_margin.primal(X * np.sqrt(0.5), y, 1.0)  # ||v||^2 = 1/2 ||sqrt2 v||^2
    v = without_half * np.sqrt(0.5)
    half = LinearSVC(loss="hinge", C=0.5, tol=1e-9).fit(X, y)
    same = np.allclose([*v, b_without], [*half.coef_[0], half.intercept_[0]], atol=1e-4)
    header = ("C", "margin 1/||w||", "sum of slacks", "examples with slack", "misclassified")

    def picture() -> Any:
        figure, axes = panels(2, 2, height=3.4)
        for ax, C, machine in zip(axes, Cs, machines, strict=True):
            frame(ax, X)
            field(ax, machine.decision_function)
            points(ax, X, y, 14)
            ax.set_title(f"C = {C:g}: margin {machine.margin_:.2f}", fontsize=10)
        return figure

    return Shown(picture, (Table(header, rows),), (
        ("the margin narrows as C grows", wide == sorted(wide)[::-1]),
        ("the slack falls as C grows", slack == sorted(slack)[::-1]),
        ("||w||^2 + C sum xi at C = 1 has the machine of 1/2 ||w||^2 + C sum xi at C = 1/2", bool(same)),
    ))  # fmt: skip


def slack_is_hinge() -> Shown:
    r"""The optimal slack is the hinge loss

    $\xi_n = 0$ where $y_n(w^Tx_n + b) \ge 1$ and $1 - y_n(w^Tx_n + b)$ otherwise: nothing smaller satisfies the
    constraints, and anything larger costs more. So the program with constraints, solved with its slacks as variables,
    and the hinge loss of its hyperplane agree, and the constraints can go: $\min_{w,b} \frac12\|w\|^2 + C\sum_n
    \ell(y_n, w^Tx_n + b)$.
    """
    X, y = (part[:250] for part in data.cancer())
    (w, b, xi), _, _ = soft_margin.primal(X, y, 1.0)
    hinge = margins.slack(w, b, X, y)
    best = LinearSVC(loss="hinge", C=1.0, tol=1e-9).fit(X, y).certificate_.primal
    value, apart = margins.objective(w, b, X, y, 1.0), np.abs(xi - hinge).max()

    def picture() -> Any:
        figure, (left,) = panels(1, width=4.6)
        left.plot([0, hinge.max()], [0, hinge.max()], color=INK, lw=1)
        left.scatter(xi, hinge, s=18, color=PALETTE[0], zorder=3)
        label(left, "slack as a variable of the program", "hinge loss of its hyperplane", f"{len(y)} examples")
        return figure

    return Shown(picture, claims=(
        (f"slacks and hinge losses differ by at most {apart:.1e}", bool(apart < 1e-6)),
        ("the program with constraints and the one without have the same optimum (1e-8)", abs(value / best - 1) < 1e-8),
    ))  # fmt: skip
