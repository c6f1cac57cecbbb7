"""How few examples matter (note 002)."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, frame, line, panels, points
from maxmargin.lectures.page import Shown, Table


def few_examples() -> Shown:
    r"""Very few examples matter

    In the separable case very few examples decide where the hyperplane is (002:309-316). Fitted again on the support
    vectors alone the machine is the same; without any other example it does not move; without one of the support
    vectors it does. (The cost must be kept as $C$ per example: the $\lambda$ of a *mean* means something else when
    there are fewer examples.)

    The note adds that this extends to other cases, where "a very small set of examples" decides. The first half is
    true: examples beyond the margin never matter. The second is not: every example within the margin or on the wrong
    side is a support vector, so when the classes overlap they are a large share of the data (last picture).
    """
    X, y = data.two_clouds(40, 6.0, seed=3)
    machine = _fit_at_cost(X, y)
    support = machine.support_
    alone = _moved(machine, _fit_at_cost(X[support], y[support]))
    moved = np.array([_moved(machine, _fit_at_cost(np.delete(X, i, axis=0), np.delete(y, i))) for i in range(len(y))])
    dropped = support[moved[support].argmax()]
    others = np.setdiff1d(np.arange(len(y)), support)
    rows = [_overlap(apart) for apart in (6.0, 4.0, 3.0, 2.0, 1.0)]
    header = ("distance of the means", "support vectors", "with gamma y < 1", "examples")

    def picture() -> Any:
        figure, (left, middle, right) = panels(2, 1, height=3.3)
        without = _fit_at_cost(np.delete(X, dropped, axis=0), np.delete(y, dropped))
        draw_without(left, X, y, machine, int(dropped), without)
        draw_overlap(right, rows)
        middle.semilogy(np.arange(len(y)), np.maximum(moved, 1e-12), ".", color=GREY, label="other examples (clipped)")
        middle.plot(support, moved[support], "o", color=PALETTE[1], label="support vectors")
        middle.set(xlabel="example left out", ylabel=r"change of $(\mathbf{a}, b)$", ylim=(1e-13, 30))
        middle.set_title("leaving out one example")
        middle.legend(fontsize=9, loc="center left")
        return figure

    return Shown(picture, (Table(header, rows),), (
        (f"{len(support)} of {len(y)} examples alone give the same machine, to 1e-6",
         len(support) < 6 and alone < 1e-6),
        ("leaving out any other example moves nothing, to 1e-6", moved[others].max() < 1e-6),
        ("leaving out any support vector moves the line", moved[support].min() > 1e-3),
        ("there are at least as many support vectors as examples with gamma y < 1", all(r[1] >= r[2] for r in rows)),
        (f"at one deviation between the classes {rows[-1][1] / rows[-1][3]:.0%} of the examples are support vectors",
         rows[-1][1] > 0.5 * rows[-1][3]),
    ))  # fmt: skip


def _fit_at_cost(X: Array, y: Array) -> SVC:
    return SVC(kernel="linear", C=10.0).fit(X, y)


def _moved(one: SVC, two: SVC) -> float:
    return float(np.linalg.norm(np.append(one.coef_ - two.coef_, one.intercept_ - two.intercept_)))


def _overlap(apart: float) -> tuple[float, int, int, int]:
    X, y = data.two_clouds(100, apart, seed=5)
    machine = SVC(kernel="linear", C=1.0).fit(X, y)
    return apart, len(machine.support_), int(np.sum(y * machine.decision_function(X) < 1 - 1e-6)), len(y)


def draw_without(ax: Any, X: Array, y: Array, machine: SVC, dropped: int, without: SVC) -> None:
    """The line of all examples, and the one without a support vector."""
    points(ax, X, y)
    frame(ax, X)
    ax.scatter(*X[machine.support_].T, s=110, facecolor="none", edgecolor=INK, zorder=4, label="support vectors")
    ax.plot(*X[dropped], "x", color=PALETTE[4], ms=12, mew=2, zorder=5, label="left out")
    line(ax, machine.coef_[0], machine.intercept_[0], (0.0, -1.0, 1.0), label="all examples")
    line(ax, without.coef_[0], without.intercept_[0], color=PALETTE[4], label="without the cross")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"{len(machine.support_)} of {len(y)} examples decide")
    ax.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def draw_overlap(ax: Any, rows: list[tuple[float, int, int, int]]) -> None:
    """Shares of support vectors and of examples within the margin."""
    apart, vectors, inside, n = np.array(rows).T
    ax.plot(apart, vectors / n, "o-", color=PALETTE[0], label="support vectors")
    ax.plot(apart, inside / n, "s-", color=PALETTE[2], label=r"$\gamma y < 1$")
    ax.set(xlabel="distance of the class means", ylabel="share of the examples", ylim=(0, 1))
    ax.set_title("more overlap, more support vectors")
    ax.legend(fontsize=9)
