"""Several classes (note 000): a score each, the highest wins."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, panels
from maxmargin.lectures.page import Shown
from maxmargin.report.plots import draw_regions
from maxmargin.textbook import multiclass


def multiclass_regions() -> Shown:
    r"""Several classes: a score each, the highest wins

    $y(x) = \operatorname{argmax}_j w_j^Tx$. The constraint $w_{y_i}^Tx_i > \max_{j\ne y_i} w_j^Tx_i + 1$ asks the right
    class to lead by a margin of 1; what is missing is the multiclass hinge loss of example $i$. The note's objective
    has no $C$ (it is 1). A constant feature stands for the bias. The regions are convex, and all three meet in one
    point; descent with diminishing steps on the note's objective (`textbook.multiclass.descend`) and
    `LinearSVC(multi_class="crammer_singer")` find the same machine; descent with the printed line search stalls here as
    well.
    """
    X, y = data.three_clouds()
    rows = np.column_stack([X, np.ones(len(X))])
    machine = LinearSVC(multi_class="crammer_singer", loss="hinge", C=1.0, tol=1e-8).fit(X, y)
    best = machine.certificate_.primal
    W, corrected = multiclass.descend(rows, y, 1.0, "max", max_iter=3000)
    _, printed = multiclass.descend(rows, y, 1.0, "max", literal=True, max_iter=1000)
    ends = corrected[-1]["F"] / best - 1, printed[-1]["F"] / best - 1
    same = np.mean(multiclass.classify(W, rows) == machine.predict(X))

    def picture() -> Any:
        figure, (left, right) = panels(2)
        draw_regions(machine, X, y, left)
        left.set(title=f"highest score, {machine.score(X, y):.0%} right", xlabel="$x_1$", ylabel="$x_2$")
        runs = {"printed line search": (printed, PALETTE[0]), "diminishing": (corrected, PALETTE[2])}
        for name, (history, colour) in runs.items():
            steps, above = [row["iteration"] + 1 for row in history], [row["F"] / best - 1 for row in history]
            right.loglog(steps, above, color=colour, lw=2, label=name)
        right.set(xlabel="iteration", ylabel="$F / F^* - 1$", title="above the certified optimum")
        right.legend(fontsize=9)
        return figure

    return Shown(picture, claims=(
        (f"diminishing steps end {ends[0]:.1e} above the optimum (below 1e-3)", -1e-7 < ends[0] < 1e-3),
        (f"the printed line search ends {ends[1]:.1%} above it", ends[1] > 2 * ends[0]),
        ("both machines put at least 99 % of the points in the same class", bool(same >= 0.99)),
    ))  # fmt: skip
