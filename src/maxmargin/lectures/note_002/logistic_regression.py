"""Logistic regression beside the hinge (note 002)."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, frame, line, panels, points
from maxmargin.lectures.note_002 import linear_machines as linear
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import sgd


def logistic_and_hinge() -> Shown:
    r"""Logistic regression beside the hinge

    $\log(1 + e^{-\gamma y})$ is "very like the hinge loss when plotted, but smooth" (002:326-331), and its gradient is
    very like that of the linear SVM (002:347-359): the share $e^{-\gamma y}/(1 + e^{-\gamma y})$ of $-y\mathbf x$
    instead of all or nothing. The slope goes smoothly from $-1$ to 0 where the hinge's jumps. The difference of the
    costs is never more than 1, which it approaches far on the wrong side; there the slopes agree, so training does not
    feel it.

    The machines are alike as well: nearly the same line on overlapping clouds, nearly the same predictions on the
    breast cancer data. What differs is who takes part: with the logistic loss all examples do, and $\gamma$ is the
    logarithm of the odds; with the hinge only the support vectors do.
    """
    t = np.linspace(-40, 40, 8001)
    hinge, logistic = sgd.c(t, 1.0, "hinge"), sgd.c(t, 1.0, "logistic")
    apart = hinge - logistic
    slopes = {loss: sgd.slope(t, 1.0, loss) for loss in ("hinge", "logistic")}
    jump = {loss: float(np.abs(np.diff(values)).max()) for loss, values in slopes.items()}
    gradient_off = _gradient_against_differences()
    X, y = data.two_clouds(100, 2.0, seed=7)
    pair = _pair(X, y)
    rows = [_agreement(name, *task) for name, task in (("clouds", (X, y)), ("breast cancer", data.cancer()))]
    header = ("data", "same prediction", "angle in degrees", "examples the hinge feels", "the logistic loss feels")
    return Shown(lambda: draw_both_losses(X, y, pair), (Table(header, rows),), (
        (f"hinge minus logistic lies between {apart.min():.3f} (at gamma y = {t[apart.argmin()]:.0f}) and 1",
         bool(apart.max() < 1 + 1e-12 and np.isclose(t[apart.argmin()], 1))),
        ("the hinge's slope jumps by 1; from point to point (0.01 apart) the logistic one changes by less than 0.003",
         jump["hinge"] == 1 and jump["logistic"] < 0.003),
        ("the note's logistic gradient agrees with difference quotients to 1e-7", gradient_off < 1e-7),
        (f"on the clouds the two lines differ by {rows[0][2]:.1f} degrees", rows[0][2] < 10),
        ("both machines predict the same for over 95% of the examples", all(row[1] > 0.95 for row in rows)),
        ("the hinge feels a part of the examples, the logistic loss all of them", all(r[3] < r[4] for r in rows)),
    ))  # fmt: skip


def _gradient_against_differences() -> float:
    """Of the logistic S of one example, in five dimensions and the bias."""
    rng, h = np.random.default_rng(0), 1e-6
    u, x, y = rng.normal(size=6), rng.normal(size=(1, 5)), np.array([-1.0])
    values = [[sgd.S(v[:-1], v[-1], x, y, 0.3, "logistic") for v in (u + step, u - step)] for step in h * np.eye(6)]
    quotients = np.array([(up - down) / (2 * h) for up, down in values])
    return float(np.abs(quotients - np.append(*sgd.gradient(u[:-1], u[-1], x, y, 0.3, "logistic"))).max())


def _pair(X: Array, y: Array) -> dict[str, LinearSVC]:
    return {loss: LinearSVC(loss=loss, lam=1e-2, tol=1e-8).fit(X, y) for loss in ("hinge", "logistic")}


def _agreement(name: str, X: Array, y: Array) -> tuple[Any, ...]:
    """Share of equal predictions, angle of the normals, and how many examples have a slope that is not zero."""
    hinge, logistic = _pair(X, y).values()
    same = float(np.mean(hinge.predict(X) == logistic.predict(X)))
    felt = int(np.sum(y * hinge.decision_function(X) <= 1 + 1e-6))
    felt_too = int(np.sum(sgd.slope(logistic.decision_function(X), y, "logistic") != 0))
    return name, same, linear.angle(hinge.coef_[0], logistic.coef_[0]), felt, felt_too


def draw_both_losses(X: Array, y: Array, pair: dict[str, LinearSVC]) -> Any:
    """Hinge beside logistic loss: costs, slopes, lines."""
    figure, (left, middle, right) = panels(2, 1, height=3.3)
    t = np.linspace(-3, 4, 1401)
    for colour, loss in zip(PALETTE, ("hinge", "logistic"), strict=False):
        slope = sgd.slope(t, 1.0, loss)
        if loss == "hinge":
            slope[np.isclose(t, 1.0)] = np.nan  # no line across the jump
        left.plot(t, sgd.c(t, 1.0, loss), color=colour, lw=2, label=loss)
        middle.plot(t, slope, color=colour, lw=2, label=loss)
    left.set(xlabel=r"$\gamma y$", ylabel="cost", title="costs")
    middle.set(xlabel=r"$\gamma y$", ylabel=r"$y\,\partial c/\partial\gamma$", title="slopes: a jump, or none")
    points(right, X, y, size=16)
    frame(right, X)
    for colour, (loss, machine) in zip(PALETTE[2:], pair.items(), strict=False):
        line(right, machine.coef_[0], machine.intercept_[0], (0.0, -1.0, 1.0), label=loss, color=colour)
    right.set(xlabel="$x_1$", ylabel="$x_2$", title=r"$\gamma = 0$; dashed: $\gamma = \pm 1$")
    for ax, where in ((left, "upper right"), (middle, "upper left")):
        ax.legend(fontsize=9, loc=where)
    right.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.03, 0.5))
    return figure
