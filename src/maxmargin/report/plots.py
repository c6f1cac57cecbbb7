"""Pictures of fitted machines. Matplotlib is optional (the extra ``plots``)."""

from __future__ import annotations

import importlib
import os
import pathlib
import tempfile
from typing import Any

import numpy as np

from maxmargin.core.files import whole_file
from maxmargin.estimators import SVC

GRID = 240
COLOURS = ("#2b6cb0", "#c05621")
ON_MARGIN = 1e-6  # how far f may be from 1 or -1 on the margin


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as missing:
        raise ImportError(
            'Pictures need matplotlib: pip install matplotlib, or pip install "maxmargin[plots]".'
        ) from missing


def check_picture(path: pathlib.Path) -> None:
    """An error, before anything is computed, if there will be no picture at that path.

    Rights and names are tried out, in a folder that is removed at once.
    """
    pyplot()
    known = importlib.import_module("matplotlib.backend_bases").FigureCanvasBase.get_supported_filetypes()
    if _format(path) not in known:
        raise ValueError(f"no picture ends in {path.suffix}, but in .{', .'.join(sorted(known))}")
    if os.path.isdir(path):
        raise IsADirectoryError("it is a folder; name a file in it")
    folder = next(parent for parent in path.absolute().parents if os.path.exists(parent))
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"{folder} is no folder")
    below = path.absolute().relative_to(folder)
    with tempfile.TemporaryDirectory(dir=folder) as place, whole_file(place / below) as trial:
        trial.touch()


def _format(path: pathlib.Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"


def save_figure(figure: Any, path: pathlib.Path) -> None:
    """Write the picture, never half of it; then close the figure."""
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=120, format=_format(path))
    pyplot().close(figure)


def draw_path(path: Any, axes: Any, names: Any = None, top: int = 8) -> None:
    """The weights of a ``Path`` against C, one line per feature; the ``top`` largest at the end are named."""
    weights = path.coef[:, 0, :]
    order = np.argsort(path.Cs)
    largest = np.argsort(-np.abs(weights[order[-1]]))[:top]
    for j in range(weights.shape[1]):
        shown = j in largest
        axes.plot(
            path.Cs[order], weights[order, j], lw=1.8 if shown else 0.8, color=None if shown else "#a0aec0",
            label=(names[j] if names is not None else f"feature {j}") if shown else None, zorder=2 if shown else 1,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlabel("C")
    axes.set_ylabel("weight")
    axes.axhline(0.0, color="#2d3748", lw=0.8)
    axes.legend(fontsize=7, framealpha=0.9)


def draw_regions(machine: Any, X: Any, y: Any, axes: Any) -> None:
    """Any number of classes in the plane: the region of each, and its points."""
    X, y = np.asarray(X, np.float64), np.asarray(y)
    if X.shape[1] != 2:
        raise ValueError(f"draw_regions draws points in the plane; these have {X.shape[1]} features.")
    colours = pyplot().get_cmap("tab10").colors
    xs, ys, mesh = _mesh(X)
    regions = np.searchsorted(machine.classes_, machine.predict(mesh)).reshape(GRID, GRID)
    levels = np.arange(len(machine.classes_) + 1) - 0.5
    axes.contourf(xs, ys, regions, levels=levels, colors=[colours[c % 10] for c in range(len(levels) - 1)], alpha=0.18)
    for c, label in enumerate(machine.classes_):
        here = X[y == label]
        axes.scatter(*here.T, s=14, color=colours[c % 10], edgecolor="white", linewidth=0.4, label=f"class {label}")


def _mesh(X: Any) -> tuple[Any, Any, Any]:
    """A grid around the points: its two axes, and all its nodes."""
    pad = 0.08 * np.ptp(X, axis=0)
    low, high = X.min(axis=0) - pad, X.max(axis=0) + pad
    xs, ys = (np.linspace(low[k], high[k], GRID) for k in (0, 1))
    return xs, ys, np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


def draw_machine(machine: SVC, X: Any, y: Any, axes: Any, title: str) -> None:
    """Two classes in the plane: regions, hyperplane f = 0, margins f = -1 and f = 1, support vectors.

    Points on the margin are circled also where their multipliers are zero: others could do their work.
    """
    X, y = np.asarray(X, np.float64), np.asarray(y)
    if X.shape[1] != 2 or len(machine.classes_) != 2:
        raise ValueError(
            f"draw_machine draws two classes in the plane; this machine has {len(machine.classes_)} classes and "
            f"{X.shape[1]} features."
        )
    xs, ys, mesh = _mesh(X)
    f = machine.decision_function(mesh).reshape(GRID, GRID)
    axes.contourf(xs, ys, f, levels=[-np.inf, 0, np.inf], colors=COLOURS, alpha=0.12)
    axes.contour(xs, ys, f, levels=[-1, 0, 1], colors="#2d3748", linestyles=["--", "-", "--"], linewidths=[1, 1.8, 1])
    for label, colour in zip(machine.classes_, COLOURS, strict=True):
        name = f"class {_number(label)}"
        axes.scatter(*X[y == label].T, s=26, color=colour, edgecolor="white", linewidth=0.6, label=name)
    touching = np.abs(np.abs(machine.decision_function(X)) - 1) < ON_MARGIN
    vectors = np.unique(np.concatenate([machine.support_vectors_, X[touching]]), axis=0)
    axes.scatter(*vectors.T, s=90, facecolor="none", edgecolor="#2d3748", label="support vectors, y f(x) <= 1")
    axes.set_title(title)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, fontsize=8, frameon=False)


def _number(label: Any) -> Any:
    """-1 for -1.0; anything but a float as it is."""
    return f"{label:g}" if isinstance(label, float) else label
