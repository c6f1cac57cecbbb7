"""Points, lines and regions, drawn the same in every lecture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.report.plots import COLOURS, pyplot

PAGE = 7.8  # inches: 750 pixels at 96 for an inch
GREY, INK = "#a0aec0", "#2d3748"
PALETTE = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#b7791f", "#00838f", "#718096")


def panels(*rows: int, width: float | None = None, height: float = 3.4) -> tuple[Any, Any]:
    """A figure with this many panels in its first row, second row and so on, each row spread over the whole width.

    Returns the figure and its axes, row by row. ``height`` is that of a row; a figure with more than one panel in a row
    is as wide as a page, so that its letters are as large for the reader as their font size says.
    """
    columns = math.lcm(*rows)
    names = [[f"{row}, {k * count // columns}" for k in range(columns)] for row, count in enumerate(rows)]
    size = (width or (PAGE if max(rows) > 1 else 5.0), height * len(rows))
    figure, axes = pyplot().subplot_mosaic(names, figsize=size, layout="constrained")
    return figure, np.array([axes[name] for row in names for name in dict.fromkeys(row)])


def points(axes: Any, X: Any, y: Any, size: float = 26, labels: bool = False) -> None:
    """Two classes in the plane: the negative one blue circles, the positive one orange squares."""
    for sign, colour, marker in zip((-1, 1), COLOURS, "os", strict=True):
        here = X[np.sign(y - 0.5 * (y.min() + y.max())) == sign]
        axes.scatter(*here.T, s=size, color=colour, marker=marker, edgecolor="white", linewidth=0.6, zorder=3,
                     label=("y = +1" if sign > 0 else "y = -1") if labels else None)  # fmt: skip


def line(axes: Any, w: Any, b: Any, levels: tuple[float, ...] = (0.0,), label: str | None = None, **style: Any) -> None:
    """The lines w'x + b = level within the present limits, dashed where the level is not 0."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    w = np.asarray(w, float)
    reach = np.hypot(x1 - x0, y1 - y0)
    middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    for level in levels:
        foot = middle + (level - b - w @ middle) / (w @ w) * w
        ends = np.array([foot - reach * along, foot + reach * along])
        dashes = "-" if level == 0 else "--"
        drawn = {"color": INK, "lw": 1.8 if level == 0 else 1.0, "ls": dashes} | style
        axes.plot(*ends.T, label=label if level == levels[0] else None, zorder=2, **drawn)
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)


def frame(axes: Any, X: Any, pad: float = 0.12) -> None:
    """Limits around the points, both axes at one scale."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = pad * (high - low).max()
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)
    axes.set_aspect("equal")


def field(axes: Any, decide: Any, levels: tuple[float, ...] = (-1, 0, 1), n: int = 160) -> None:
    """The sign of ``decide`` as colour and its levels as lines, over the present limits."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    xs, ys = np.linspace(x0, x1, n), np.linspace(y0, y1, n)
    f = np.asarray(decide(np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2))).reshape(n, n)
    axes.contourf(xs, ys, f, levels=[-np.inf, 0, np.inf], colors=COLOURS, alpha=0.12)
    marks = [level for level in levels if f.min() < level < f.max()]
    if marks:
        styles = ["-" if level == 0 else "--" for level in marks]
        axes.contour(xs, ys, f, levels=marks, colors=INK, linestyles=styles, linewidths=1.2)


def label(axes: Any, x: str, y: str, title: str, **more: Any) -> None:
    """Names of both axes and a title; ``more`` are other properties."""
    axes.set(xlabel=x, ylabel=y, title=title, **more)


def plane(axes: Any, title: str) -> None:
    """Names for axes that show the plane of the examples."""
    label(axes, "$x_1$", "$x_2$", title)


def mark(axes: Any, text: str, at: Any, offset: tuple[float, ...] = (5, 4), **style: Any) -> None:
    """A word beside a point."""
    axes.annotate(text, at, offset, textcoords="offset points", **({"fontsize": 9} | style))


def boundary(axes: Any, machine: Any, X: Any, y: Any, title: str) -> None:
    """A machine in the plane: sides, f = 0 and f = +-1, examples."""
    frame(axes, X)
    field(axes, machine.decision_function, n=110)
    points(axes, X, y, size=10)
    plane(axes, title)
    axes.title.set_fontsize(10)
