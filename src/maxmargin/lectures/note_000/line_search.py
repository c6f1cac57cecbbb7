"""Algorithms 1 and 2 of note 000: descent with a line search, and where it stops."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import gradient_descent


def stalling_descent() -> Shown:
    r"""Descent that stalls

    Algorithms 1 and 2 as printed, on the breast cancer data at $C = 1$. The line search halves $r$ from $1/2$ until $F$
    does not rise. The note promises a lower $F$ at every step, and the optimum at the end, since $F$ is convex. But $F$
    has kinks: at a point where several examples have $y_i w^Tx_i = 1$ the vector $-\nabla F$ of the note's convention
    can lead upwards for every $r > 0$, although the point is no minimum. $r$ is then halved until the step vanishes,
    the values agree and the algorithm stops.

    The corrected variant gives up the line search: $r_t = 2/(t+1)$ and an average of the iterates, which converges
    because $F$ is strongly convex (`subgradient_descent`).

    On smooth objectives there are no kinks, and on [those of the breast cancer data](convergence.md#smooth-convergence)
    the printed rule converges. But line 3 of the line search accepts equality. $F(w) = 2w^2$ has the gradient $4w$, so
    that $r = 1/2$ takes $w$ to $-w$: $F$ is the same on both sides and the algorithm stops there. A squared hinge can
    do it too: $\frac12w^2 + \frac34[\max(0, 1-w)^2 + \max(0, 1+w)^2]$ is $2w^2 + \frac32$ where $|w| \le 1$.
    """
    X, y = data.cancer()
    best = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-9).fit(X, y).certificate_.primal
    _, printed = gradient_descent.soft_margin(X, y, 1.0)
    _, random = gradient_descent.soft_margin(X, y, 1.0, start=np.random.default_rng(0))
    _, corrected = gradient_descent.subgradient_descent(
        lambda w: gradient_descent.F(w, X, y, 1.0), lambda w: gradient_descent.gradient_of_F(w, X, y, 1.0), np.zeros(30)
    )
    runs = {
        "algorithms 1 and 2, w = 0": printed,
        "the same, random start": random,
        "diminishing steps, average": corrected,
    }
    ends = {name: history[-1]["F"] / best - 1 for name, history in runs.items()}
    rows = [(name, len(runs[name]) - 1, f"{end:.2%}") for name, end in ends.items()]

    def picture() -> Any:
        figure, (left, right) = panels(2)
        for (name, history), colour in zip(runs.items(), PALETTE, strict=False):
            left.loglog([row["iteration"] + 1 for row in history], [row["F"] / best - 1 for row in history],
                        color=colour, lw=2, label=name)  # fmt: skip
        left.set(xlabel="iteration", ylabel="$F / F^* - 1$", title="above the certified optimum")
        left.legend(fontsize=9)
        right.semilogy(
            [row["iteration"] for row in printed[1:]], [row["r"] for row in printed[1:]], ".", color=PALETTE[0], ms=4
        )
        right.set(xlabel="iteration", ylabel="r", title="the step that line search returns")
        return figure

    return Shown(picture, (Table(("algorithm", "iterations", "above the optimum at its end"), rows),), (
        (f"as printed it ends {ends['algorithms 1 and 2, w = 0']:.0%} above the optimum",
         0.2 < ends["algorithms 1 and 2, w = 0"] < 0.25),
        ("its last step is below 1e-9", printed[-1]["r"] < 1e-9),
        ("F never rose on the way", all(b["F"] <= a["F"] for a, b in pairwise(printed))),
        ("with diminishing steps it ends within 1e-3", 0 <= ends["diminishing steps, average"] < 1e-3),
        ("F = 2 w^2: from w = 1 the printed rule ends at w = -1, F = 2", _reflected(1.0, 0.0) == (-1.0, 2.0)),
        ("that squared hinge: from w = 1/2 it ends at w = -1/2, F = 2, and the optimum is 3/2",
         _reflected(0.5, 0.75) == (-0.5, 2.0) and _with_squares(0.0, 0.75) == 1.5),
    ))  # fmt: skip


def _with_squares(w: Any, c: float) -> float:
    """2 w^2 for c = 0; else 1/2 w^2 + c times the squared hinges of x = 1 with y = 1 and of x = 1 with y = -1."""
    w = float(np.sum(w))
    return 0.5 * w**2 + c * (max(0.0, 1 - w) ** 2 + max(0.0, 1 + w) ** 2) if c else 2 * w**2


def _reflected(start: float, c: float) -> tuple[float, float]:
    """Where algorithms 1 and 2 end, and F there; both functions have the gradient 4 w between -1 and 1."""
    w, history = gradient_descent.gradient_descent(lambda w: _with_squares(w, c), lambda w: 4 * w, np.array([start]))
    return float(w[0]), float(history[-1]["F"])
