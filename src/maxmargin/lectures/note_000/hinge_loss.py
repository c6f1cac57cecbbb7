"""The hinge loss and the objective of note 000: bounds on mistakes, convexity."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import gradient_descent, multiclass, newton


def losses() -> Shown:
    r"""The hinge loss and its relatives

    $H(w, x, y) = \max\{0, 1 - y w^Tx\}$ is zero only where an example lies on its own side *and* beyond the margin. Its
    derivative with respect to $w$ is $0$ where $y w^Tx \ge 1$ and $-yx$ elsewhere; at the kink the note takes $0$.
    Beside it: its square (p = 2 of note 003), the logistic loss of note 002 and the number of mistakes, which all of
    them bound (the logistic one when divided by $\ln 2$).
    """
    t = np.linspace(-2, 3, 501)
    hinge = gradient_descent.H(np.ones(1), t[:, None], 1.0)
    mistakes = (t < 0) * 1.0
    logistic = newton.cost(t, "logistic")[0] / np.log(2)
    curves = {"hinge": hinge, "squared hinge": hinge**2, "logistic / ln 2": logistic, "mistakes": mistakes}
    bounds = all(np.all(values >= mistakes - 1e-12) for values in curves.values())
    at_kink = gradient_descent.gradient_of_H(np.ones(1), np.ones(1), 1.0)[0]

    def picture() -> Any:
        figure, (left, right) = panels(2)
        for (name, values), colour in zip(curves.items(), PALETTE, strict=False):
            left.plot(t, values, label=name, color=colour, lw=2)
        left.set(xlabel="$y\\,w^Tx$", ylabel="loss", ylim=(-0.1, 4), title="losses of one example")
        left.legend(fontsize=9)
        right.plot(t, np.where(t < 1, -1.0, 0.0), color=PALETTE[0], lw=2, label="hinge")
        right.plot(t, newton.cost(t, "squared_hinge")[1], color=PALETTE[1], lw=2, label="squared hinge")
        right.plot(t, newton.cost(t, "logistic")[1] / np.log(2), color=PALETTE[2], lw=2, label="logistic / ln 2")
        right.set(
            xlabel="$y\\,w^Tx$", ylabel="derivative", ylim=(-4, 0.3), title="their slopes: only the hinge's jumps"
        )
        right.legend(fontsize=9)
        return figure

    return Shown(picture, claims=(
        ("hinge, squared hinge and logistic / ln 2 are nowhere below the number of mistakes", bounds),
        ("at the kink the note's derivative is 0", at_kink == 0),
    ))  # fmt: skip


def convexity() -> Shown:
    r"""Convexity, checked along segments

    $F(\alpha w_1 + (1-\alpha)w_2) \le \alpha F(w_1) + (1-\alpha)F(w_2)$ holds because sums and maxima of convex
    functions are convex. Here it is measured: for 200 pairs $(w_1, w_2)$ and 21 values of $\alpha$ the chord minus the
    function is never negative, for both joint objectives of several classes as well. The number of mistakes fails the
    same test.
    """
    X, y = data.cancer()
    rng, alphas = np.random.default_rng(0), np.linspace(0, 1, 21)

    def least(F, shape):
        chords = []
        for _ in range(200):
            one, two = rng.normal(size=shape), rng.normal(size=shape)
            ends = F(one), F(two)
            chords.append([a * ends[0] + (1 - a) * ends[1] - F(a * one + (1 - a) * two) for a in alphas])
        return np.array(chords)

    labels = np.arange(len(y)) % 3
    functions = {
        "F, hinge": (lambda w: gradient_descent.F(w, X, y, 1.0), 30),
        "joint, maximum": (lambda W: multiclass.F(W, X, labels, 1.0, "max"), (3, 30)),
        "joint, sum": (lambda W: multiclass.F(W, X, labels, 1.0, "sum"), (3, 30)),
        "number of mistakes": (lambda w: float(np.sum(y * (X @ w) <= 0)), 30),
    }
    found = {name: least(F, shape) for name, (F, shape) in functions.items()}
    rows = [(name, float(chords.min()), float(chords.max())) for name, chords in found.items()]
    smallest = {name: low for name, low, _ in rows}
    convex = all(low > -1e-8 for name, low in smallest.items() if name != "number of mistakes")

    def picture() -> Any:
        figure, axes = panels(2, 2, height=3.0)
        for ax, (name, chords) in zip(axes, found.items(), strict=True):
            ax.plot(alphas, chords[:40].T, color=GREY, lw=0.7)
            ax.axhline(0, color=INK, lw=1)
            ax.set(title=name, xlabel="$\\alpha$", ylabel="chord minus function")
        return figure

    return Shown(picture, (Table(("function", "smallest chord minus function", "largest"), rows),), (
        ("the three objectives lie below every chord", convex),
        ("the number of mistakes does not", smallest["number of mistakes"] < -1),
    ))  # fmt: skip
