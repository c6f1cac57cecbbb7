"""What a cost should be (note 002): wishes, and the argument for small weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.lectures.drawing import GREY, PALETTE, panels
from maxmargin.lectures.note_002 import linear_machines as linear
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import newton, sgd


def desired_costs() -> Shown:
    r"""What a cost should do, checked

    Three wishes (002:65-72). Prediction wrong: the cost is big, and grows with $|\gamma|$, "but not too fast".
    Prediction right, $|\gamma|$ small: not zero, falling as $|\gamma|$ grows. Prediction right, $|\gamma|$ big: zero.
    Each is a test on arrays of $t = \gamma y$; "not too fast" is read as: an example that is wrong by twice as much
    costs at most twice as much. The hinge passes all of them. The logistic loss misses the last one, by less and less:
    it is below $e^{-t}$ but never zero, so every example pulls at the machine forever. The square of the hinge grows
    too fast, and one example that is far on the wrong side outweighs many. The number of mistakes knows only right and
    wrong.
    """
    costs = {
        "hinge": lambda t: sgd.c(t, 1.0, "hinge"),
        "logistic": lambda t: sgd.c(t, 1.0, "logistic"),
        "squared hinge": lambda t: newton.cost(t, "squared_hinge")[0],
        "0/1": lambda t: (t < 0) * 1.0,
    }
    passed = {name: _wishes(c) for name, c in costs.items()}
    wishes = list(passed["hinge"])
    rows = [(wish, *("yes" if passed[name][wish] else "no" for name in costs)) for wish in wishes]
    tail = costs["logistic"](np.array([1.0, 10.0, 30.0]))
    failed = {name: [wish for wish in wishes if not passed[name][wish]] for name in costs}
    return Shown(lambda: draw_wishes(costs), (Table(("wish", *costs), rows),), (
        ("the hinge loss fulfils every wish", not failed["hinge"]),
        ("the logistic loss fails the last one alone", failed["logistic"] == [wishes[-1]]),
        (f"at t = 1, 10 and 30 it is {tail[0]:.2g}, {tail[1]:.1e} and {tail[2]:.1e}", bool(np.all(tail > 0))),
        ("the squared hinge fails 'not too fast' alone", failed["squared hinge"] == [wishes[2]]),
        ("the number of mistakes neither grows on the wrong side nor is positive on the right one",
         failed["0/1"] == [wishes[1], wishes[3], wishes[4]]),
    ))  # fmt: skip


def _wishes(c: Any) -> dict[str, bool]:
    m = np.linspace(0.01, 50, 5000)  # |gamma|
    small, big = m[m < 0.99], m[m > 1]
    return {
        "wrong: at least as big as anything right": bool(c(-m).min() >= c(m).max()),
        "wrong: grows with the magnitude": bool(np.all(np.diff(c(-m)) > 0)),
        "wrong: not too fast": bool(np.all(c(-2 * m) <= 2 * c(-m))),
        "right, small: not zero": bool(np.all(c(small) > 0)),
        "right, small: falls with the magnitude": bool(np.all(np.diff(c(small)) < 0)),
        "right, big: zero": bool(np.all(c(big) == 0)),
    }


def draw_wishes(costs: dict[str, Any]) -> Any:
    """The costs, their growth and their tails."""
    figure, (near, wrong, right) = panels(2, 1, height=3.2)
    t, m, tail = np.linspace(-2, 3, 501), np.logspace(-1, 3, 200), np.linspace(0.01, 12, 300)
    for (name, c), colour in zip(costs.items(), PALETTE, strict=False):
        near.plot(t, c(t), color=colour, lw=2, label=name)
        wrong.loglog(m, c(-m), color=colour, lw=2)
        right.semilogy(tail, np.where(c(tail) > 0, c(tail), np.nan), color=colour, lw=2)
    near.axvspan(0, 1, color=GREY, alpha=0.25, lw=0)
    for place, text in ((-1.7, "wrong"), (0.5, "right,\nsmall"), (2, "right, big")):
        near.text(place, 4.65, text, ha="center", va="top", fontsize=9)
    near.set(xlabel=r"$\gamma y$", ylabel="cost", ylim=(-0.1, 4.8), title="the costs")
    near.legend(fontsize=9, loc="center right")
    wrong.set(xlabel=r"$|\gamma|$ of a wrong example", ylabel="cost", title="growth: the square outruns the rest")
    right.set(xlabel=r"$|\gamma|$ of a right example", ylabel="cost", ylim=(1e-6, 2), title="tail: logistic never ends")
    return figure


def scaling_argument() -> Shown:
    r"""Scaling a and b: why large weights are punished

    Multiplying $\mathbf a$ and $b$ by $s > 0$ changes no prediction, but it changes the hinge loss of future examples
    (002:98-118). The printed formula has a parenthesis at the wrong place (002:109). It should be

    $$c(s\mathbf a, sb, \mathbf x) = 1 - s(\mathbf a^T\mathbf x + b)\,y \quad\text{where}\quad s\,\gamma y < 1 ;$$

    the printed $(1 - s\gamma)\,y$ is too small by exactly 2 for every example with $y = -1$, and it is the product
    $s\gamma y$, not $\gamma y$, that must be below 1.

    The argument goes on: so the loss can be reduced by scaling, hence look for small $\mathbf a$ and $b$. That holds
    for a future example that is *wrong*: its loss is $1 + s|\gamma|$, and $s < 1$ makes it smaller. One that is right
    but within the margin costs $1 - s|\gamma|$, and for it $s > 1$ is better. Which side wins depends on the machine:
    after training with too small a $\lambda$ (few examples, many features) the best $s$ for future data is far below 1,
    after training with a large one it is above 1. $\lambda$ makes this choice during training, together with that of
    the direction.
    """
    rng = np.random.default_rng(0)
    X, y = linear.normal_clouds(30, 10, 2.0, rng)
    future = linear.normal_clouds(20_000, 10, 2.0, rng)
    s = np.logspace(-2, 1.5, 141)
    machines = {lam: linear.hinge_machine(X, y, lam) for lam in (1e-4, 1.0)}
    losses = {lam: np.array([sgd.c(k * sgd.gamma(*u, future[0]), future[1], "hinge").mean() for k in s])
              for lam, u in machines.items()}  # fmt: skip
    best = {lam: float(s[values.argmin()]) for lam, values in losses.items()}
    g, label = sgd.gamma(*machines[1e-4], future[0]), future[1]
    table, gains = _gains_of_scaling(g, label)
    return Shown(lambda: draw_scaling(s, losses), (table,), (
        ("no scale changes a prediction", all(np.array_equal(np.sign(k * g), np.sign(g)) for k in s)),
        *_formula_of_scaling(g, label),
        ("s = 1/2 helps the wrong ones and harms those within the margin",
         gains["wrong", 0.5] < 0 < gains["right, within the margin", 0.5]),
        ("s = 2 does the opposite", gains["wrong", 2.0] > 0 > gains["right, within the margin", 2.0]),
        (f"best for future data: s = {best[1e-4]:.2g} after lambda = 1e-4, s = {best[1.0]:.2g} after lambda = 1",
         best[1e-4] < 0.5 and best[1.0] > 1.2),
    ))  # fmt: skip


def _formula_of_scaling(g: Array, y: Array) -> list[tuple[str, bool]]:
    s = np.array([0.25, 0.5, 1.0, 2.0, 4.0])[:, None]
    cost, holds = sgd.c(s * g, y, "hinge"), s * g * y < 1
    corrected, printed = 1 - s * g * y, (1 - s * g) * y
    off = (corrected - printed)[holds & (y < 0)]
    only_at_1 = (g * y < 1) & ~holds
    return [
        ("the corrected formula is the hinge loss wherever s gamma y < 1", np.allclose(cost[holds], corrected[holds])),
        ("the printed one is too small by 2 wherever y = -1", np.allclose(off, 2) and len(off) > 0),
        (f"where gamma y < 1 but not s gamma y < 1 ({only_at_1.sum()} cases) even the corrected formula is negative",
         bool(only_at_1.any() and np.all(corrected[only_at_1] <= 0))),
    ]  # fmt: skip


def _gains_of_scaling(g: Array, y: Array) -> tuple[Table, dict[tuple[str, float], float]]:
    kinds = {
        "wrong": g * y < 0,
        "right, within the margin": (g * y >= 0) & (g * y < 1),
        "right, beyond the margin": g * y >= 1,
    }
    changes, rows = {}, []
    for kind, here in kinds.items():
        losses = {s: sgd.c(s * g[here], y[here], "hinge").mean() for s in (0.5, 1.0, 2.0)}
        changes |= {(kind, s): value - losses[1.0] for s, value in losses.items()}
        rows.append((kind, f"{here.mean():.1%}", *losses.values()))
    return Table(("future examples, lambda = 1e-4", "share", "loss at s = 1/2", "s = 1", "s = 2"), rows), changes


def draw_scaling(s: Array, losses: dict[float, Array]) -> Any:
    """Hinge losses of three examples, and of future data, against the scale s."""
    figure, (left, right) = panels(2)
    one = np.linspace(0, 3, 301)
    examples = {"wrong": -0.5, "right, within": 0.4, "right, beyond": 1.6}
    for colour, (name, t) in zip(PALETTE, examples.items(), strict=False):
        left.plot(one, sgd.c(one * t, 1.0, "hinge"), color=colour, lw=2, label=rf"{name}: $\gamma y$ = {t}")
    left.axvline(1, ymax=0.75, color=GREY, lw=1)
    left.set(xlabel="s", ylabel="hinge loss", ylim=(-0.05, 3.4), title="three examples")
    left.legend(fontsize=9, loc="upper left")
    for colour, (lam, values) in zip(PALETTE[3:], losses.items(), strict=False):
        right.loglog(s, values, color=colour, lw=2, label=rf"trained with $\lambda$ = {lam:g}")
        right.plot(s[values.argmin()], values.min(), "o", color=colour, ms=8)
    right.axvline(1, ymax=0.8, color=GREY, lw=1)
    right.set(xlabel="s", ylabel="mean hinge loss", title="future data (dot: best s)")
    right.legend(fontsize=9, loc="upper left")
    return figure
