"""The pictures of note 004: each function draws on axes what a demonstration has computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.lectures import _example_23_3, _slide_losses, _support_counts, _tanks, data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, field, frame, line, points
from maxmargin.report.plots import COLOURS

SHADE = "#cbd5e0"


def label(axes: Any, x: str, y: str, title: str, **more: Any) -> None:
    """Names of both axes and a title; ``more`` are other properties."""
    axes.set(xlabel=x, ylabel=y, title=title, **more)


def plane(axes: Any, title: str) -> None:
    """Names for axes that show the plane of the examples."""
    label(axes, "$x_1$", "$x_2$", title)


def mark(axes: Any, text: str, at: Any, offset: tuple[float, ...] = (5, 4), **style: Any) -> None:
    """A word beside a point."""
    axes.annotate(text, at, offset, textcoords="offset points", **({"fontsize": 9} | style))


# --- boundaries, solvers, multipliers --------------------------------------------------------------------------------


def perceptrons(axes: Any, X: Any, y: Any, found: Any, worst: Any, best: tuple[Any, Any]) -> None:
    """Boundaries (w, b) of perceptrons, the worst of them, and the large margin."""
    frame(axes, X)
    for boundary in found:
        line(axes, *boundary, color=GREY, lw=0.6)
    line(axes, *worst, color=PALETTE[4], label="worst order")
    line(axes, best[0], best[1], (0, -1, 1), label="large margin")
    points(axes, X, y)
    plane(axes, "perceptrons (grey), large margin")
    axes.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def histogram_of_margins(axes: Any, found: Any, largest: float) -> None:
    """Margins of perceptrons, and the largest margin as a line."""
    axes.hist(found, 30, color=PALETTE[0])
    axes.axvline(largest, color=INK)
    axes.text(largest, 0.9 * axes.get_ylim()[1], "$2/\\|w\\|$ ", ha="right", va="top")
    label(axes, "twice the distance of the nearest example", "orders", "margins of 200 perceptrons")


def distances_of_lines(axes: Any, w: Any, ks: Any, feet: Any) -> None:
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


def interior_steps(axes: Any, history: Any, best: float) -> None:
    """Violation, gap and objective of the interior point method."""
    steps = [row["iteration"] for row in history]
    away = [abs(row["objective"] - best) for row in history]
    named = {"violation of the conditions": [row["violation"] for row in history]}
    named |= {"gap $s^Tz$": [row["gap"] for row in history], "objective, away from the optimum": away}
    for name, values in named.items():
        axes.semilogy(steps, np.maximum(values, 1e-13), "o-", ms=3, label=name)
    label(axes, "iteration", "size", "interior point, from outside", ylim=(1e-14, 1e9))
    axes.legend(fontsize=9, loc="upper right")


def dual_steps(axes: Any, histories: dict[str, Any], best: float) -> None:
    """How far each dual is below its maximum."""
    for name, history in histories.items():
        steps, away = [row["iteration"] + 1 for row in history], [best - row["dual"] for row in history]
        axes.loglog(steps, np.maximum(away, 1e-12), label=name)
    label(axes, "iteration", "dual below its maximum", "SMO and decomposition, feasible", ylim=(1e-13, 1e7))
    axes.legend(fontsize=9, loc="upper right")


def multipliers(axes: Any, X: Any, y: Any, w: Any, b: float, alpha: Any) -> None:
    """The hyperplane, and alpha written at each point."""
    frame(axes, X, pad=0.2)
    line(axes, w, b, (0, -1, 1))
    points(axes, X, y)
    for x, a in zip(X, alpha, strict=True):
        mark(axes, f"{a:.2f}" if a > 0 else "0", x, weight="bold" if a > 0 else "normal", color=INK if a > 0 else GREY)
    plane(axes, "hard margin: $\\alpha_i$ at each point")


def slacks(axes: Any, X: Any, y: Any, w: Any, b: float) -> None:
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


# --- kernels ---------------------------------------------------------------------------------------------------------


def points_on_a_line(axes: Any, x: Any, y: Any, title: str) -> None:
    """One-dimensional examples."""
    axes.axhline(0, color=GREY, lw=1)
    points(axes, np.column_stack([x, 0 * x]), y, size=50, labels=True)
    label(axes, "x", "", title, yticks=[], ylim=(-1, 1))
    axes.legend(fontsize=9, loc="upper left")


def parabola(axes: Any, z: Any, y: Any, w: Any, b: float, roots: Any) -> None:
    """Lifted points z = (x, x^2) and the line that separates them."""
    curve = np.linspace(-3.6, 3.6, 200)
    axes.plot(curve, curve**2, color=GREY, lw=1)
    label(axes, "x", "$x^2$", "lifted: $z = (x, x^2)$", xlim=(-3.8, 3.8), ylim=(-1.5, 13))
    line(axes, w, b, (0, -1, 1))
    points(axes, z, y, size=40)
    axes.vlines(roots, -1.5, roots**2, color=PALETTE[2], ls=":")


def tanh_maps(figure: Any, axes: Any, regions: dict[int, Any]) -> None:
    """Where tanh is positive semidefinite on samples of several sizes."""
    levels, colours = [-np.inf, -1e-2, -1e-10, np.inf], ["#c05621", "#f6ad55", "#2b6cb0"]
    for ax, (n, region) in zip(axes, regions.items(), strict=False):
        found = region.smallest_eigenvalue
        ax.contourf(region.thetas, region.kappas, found, levels=levels, colors=colours, alpha=0.75)
        label(ax, "$\\theta$", "$\\kappa$", f"tanh on {n} points", yscale="log")
    legend = "blue: positive semidefinite;  light orange: an eigenvalue from $-0.01$ to 0;  orange: below $-0.01$"
    figure.suptitle(legend, fontsize=9)


def shares(axes: Any, sizes: Any, passed: dict[str, Any]) -> None:
    """Share of a kernel's parameters that pass Mercer's test, against the size of the sample."""
    for (name, share), shape in zip(passed.items(), "os^", strict=True):
        axes.semilogx(sizes, share, shape + "-", label=name)
    label(axes, "points", "share of parameters that pass", "who passes", xticks=sizes, xticklabels=sizes)
    axes.minorticks_off()
    axes.legend(fontsize=9, loc="center right")


def angles_from(figure: Any, axes: Any, kernel: Any, origin: Any, name: str) -> None:
    """Angles in feature space between one point and all points of the plane."""
    ticks = np.linspace(-3, 3, 121)
    nodes = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    degrees = np.degrees(kernel.angles(nodes, origin)).reshape(121, 121)
    drawn = axes.contourf(ticks, ticks, degrees, levels=np.arange(0, 91, 10), cmap="viridis")
    axes.plot(*origin[0], "*", color="white", ms=12)
    axes.set_aspect("equal")
    plane(axes, f"angle in degrees, {name}")
    figure.colorbar(drawn, ax=axes, shrink=0.85)


def two_distances(axes: Any, named: dict[str, Any], origin: Any) -> None:
    """Distances from one point, in feature space against those in the plane."""
    nodes = np.random.default_rng(0).uniform(-3, 3, size=(1500, 2))
    for name, kernel in named.items():
        axes.plot(np.linalg.norm(nodes - origin, axis=1), kernel.distances(nodes, origin)[:, 0], ".", ms=3, label=name)
    axes.axhline(math.sqrt(2), color=INK, lw=1, ls="--")
    label(axes, "distance in the plane", "distance in feature space", "distances", ylim=(0, 6))
    axes.legend(fontsize=9, loc="upper right")


def dimensions(axes: Any, ds: Any, counted: dict[int, Any]) -> None:
    """Numbers of monomials, counted and by formula."""
    for (p, numbers), colour in zip(counted.items(), PALETTE, strict=False):
        axes.semilogy(ds, numbers, "o", color=colour, label=f"p = {p}")
        axes.semilogy(ds, [math.comb(d + p, p) for d in ds], color=colour, lw=1)
    label(axes, "d, features", "monomials", "counted (dots), $\\binom{d+p}{p}$ (lines)")
    axes.legend(fontsize=9)


def regions(axes: Any, machine: Any, X: Any, y: Any, title: str) -> None:
    """A machine in the plane: sides, f = 0 and f = +-1, examples."""
    frame(axes, X)
    field(axes, machine.decision_function, n=110)
    points(axes, X, y, size=10)
    plane(axes, title)
    axes.title.set_fontsize(10)


def figure_23_2(axes: Any, machine: Any, X: Any, y: Any) -> None:
    """The note's figure: examples on the margin shaded, the margin 1/||w|| as arrows."""
    w, b = machine.coef_[0], machine.intercept_[0]
    frame(axes, X)
    line(axes, w, b, (0, -1, 1))
    axes.scatter(*X[_example_23_3.ON_MARGIN].T, s=150, color=SHADE, zorder=1)
    points(axes, X, y, size=36)
    for i, x in enumerate(X):
        mark(axes, f"$x_{{{i + 1}}}$", x, (-18, 6) if i == 12 else (6, 5))
    for i in (1, 12):
        foot = X[i] - y[i] / (w @ w) * w
        arrow = {"arrowstyle": "<->", "color": PALETTE[2], "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", foot, X[i], arrowprops=arrow)
        style: Any = {"color": PALETTE[2], "ha": "center", "va": "center"}
        mark(axes, f"{machine.margin_:.3f}", 0.5 * (foot + X[i]), (-4, 11), **style)
    plane(axes, "figure 23.2: margin $1/\\|w\\|$ (arrows),\non the margin (shaded)")


def optimal_multipliers(axes: Any, ranges: Any, ours: Any) -> None:
    """All optimal values of each multiplier, the note's and ours."""
    rows, (low, high) = np.arange(5), np.transpose(ranges)
    axes.barh(rows, high - low, left=low, height=0.35, color=SHADE, label="all optimal values")
    axes.plot(data.ALPHA_23_1[_example_23_3.ON_MARGIN], rows, "o", color=PALETTE[1], label="printed in the note")
    axes.plot(ours, rows, "D", color=PALETTE[0], ms=5, label="SVC")
    names = [f"$x_{{{i + 1}}}$" for i in _example_23_3.ON_MARGIN]
    label(axes, "$\\alpha_i$", "", "the multipliers are not unique", yticks=rows, yticklabels=names)
    axes.set(ylim=(6.2, -0.6), xlim=(-0.02, 0.43))
    axes.legend(fontsize=9, loc="lower right")


def centres(axes: Any, machine: Any, X: Any, y: Any) -> None:
    """Support vectors as circles whose area is alpha."""
    regions(axes, machine, X, y, f"{len(machine.support_)} centres, area by $\\alpha_i$")
    weights = machine.dual_coef_[0]
    for sign, colour in zip((-1, 1), COLOURS, strict=True):
        here, size = np.sign(weights) == sign, 140 * np.abs(weights)
        axes.scatter(*machine.support_vectors_[here].T, s=size[here], facecolor="none", edgecolor=colour, lw=1.3)


def worth_of_centres(axes: Any, random: dict[int, Any], means: dict[int, float], machine: tuple[int, float]) -> None:
    """Accuracy against the number of centres, for three ways to choose them."""
    average, spread = ([f(random[c]) for c in random] for f in (np.mean, np.std))
    style: Any = {"fmt": "o-", "capsize": 3, "color": PALETTE[0]}
    axes.errorbar(list(random), average, spread, label="random centres, 10 draws", **style)
    axes.plot(list(means), list(means.values()), "s-", color=PALETTE[2], label="k-means centres")
    axes.plot(*machine, "*", ms=15, color=PALETTE[1], label="support vectors")
    label(axes, "centres", "accuracy on 2000 unseen points", "what the choice of centres is worth")
    axes.legend(fontsize=9, loc="lower right")


def ascents(left: Any, right: Any, runs: Any) -> None:
    """Algorithm 23.1: the dual against passes, and the multipliers at the end."""
    for run, colour in zip(runs, PALETTE, strict=False):
        below = [max(1 - row["dual"] / run.best, 1e-13) for row in run.history]
        left.loglog(np.arange(1, len(below) + 1), below, color=colour, lw=2, label=run.name)
        right.plot(np.sort(run.alpha)[::-1][:120] / run.C, color=colour, lw=2, label=run.name)
    label(left, "passes", "dual below its maximum, relative", "ascent of the dual")
    label(right, "multipliers, largest first", "$\\alpha_k / C$", "line 13 clips at C")


# --- losses, strengths, warnings -------------------------------------------------------------------------------------


def room_of_the_car(axes: Any, changes: dict[str, Any]) -> None:
    """The loss of the car's image as its scores change."""
    t = np.linspace(-1, 4, 101)
    for (name, change), colour in zip(changes.items(), PALETTE, strict=False):
        moved = [_slide_losses.losses(data.SLIDE_SCORES + s * np.outer([0, 1, 0], change))[1] for s in t]
        axes.plot(t, moved, color=colour, label=name)
    label(axes, "change", "loss of the car", "room for the car's scores")
    axes.legend(fontsize=9)


def worked_example(axes: Any, losses: Any) -> None:
    """The three images' losses and their mean."""
    axes.bar(_slide_losses.IMAGES, losses, color=PALETTE[:3])
    axes.axhline(losses.mean(), color=INK, lw=1, ls="--")
    axes.text(1, losses.mean() + 0.2, f"mean {losses.mean():.2f}", ha="center", fontsize=9)
    label(axes, "image", "loss", "the worked example")


def scaled_and_squared(left: Any, right: Any, scales: Any, along: Any, Cs: Any, apart: Any) -> None:
    """The mean loss of sW, and the angle between the minimisers of sum and squares."""
    left.plot(scales, along, color=PALETTE[3], lw=2)
    left.plot([0, 1, 2], np.interp([0, 1, 2], scales, along), "o", color=INK)
    label(left, "s", "mean loss of sW", "K - 1 at s = 0, and 0 from s = 1 on", ylim=(-0.05, None))
    right.semilogx(Cs, apart, "o-", color=PALETTE[4], ms=4)
    label(right, "C of the squares", "angle, degrees", "W of the sum, W of squares", ylim=(0, None))


def starts(axes: Any, objectives: Any, networks: Any) -> None:
    """Where machine and network end, from many starts."""
    named = {"network, 10 starts": (networks, "s", PALETTE[1]), "machine, 20 starts": (objectives, "o", PALETTE[0])}
    for name, (values, shape, colour) in named.items():
        ends = np.sort(values) / values.min()
        axes.plot(np.linspace(0, 1, len(values)), ends, shape, ms=5, color=colour, label=name)
    label(axes, "starts, best first", "objective / best", "no local optimum", xticks=[])
    axes.legend(fontsize=9, loc="upper left")


def noise_features(axes: Any, counts: Any, machine: Any, nearest: Any) -> None:
    """Accuracy against the number of useless features."""
    axes.plot(counts + 1, machine, "o-", color=PALETTE[0], label="linear machine")
    axes.plot(counts + 1, nearest, "s-", color=PALETTE[1], label="nearest neighbour")
    label(axes, "features of noise, plus 1", "accuracy, unseen", "high dimension, 100 examples", xscale="log")
    axes.legend(fontsize=9)


def tradeoff(axes: Any, Cs: Any, margin: Any, slack: Any) -> None:
    """The margin against the sum of slacks, as C varies."""
    axes.plot(slack, margin, "o-", color=PALETTE[2], ms=4)
    for k, side in ((0, "right"), (len(Cs) // 3, "left"), (-1, "left")):
        axes.text(slack[k], margin[k], f"  C = {Cs[k]:.3g}  ", ha=side, va="center", fontsize=9)
    label(axes, "sum of slacks", "margin $1/\\|w\\|$", "C trades margin for slack", yscale="log")


def strands(axes: Any, f: Any, signs: Any) -> None:
    """Decision values of strings of both kinds."""
    for sign, motif, colour in ((-1, "CCGGAA", COLOURS[0]), (1, "TATAAA", COLOURS[1])):
        axes.hist(f[signs == sign], np.linspace(-4, 4, 33), color=colour, alpha=0.7, label=f"strands with {motif}")
    label(axes, "f", "unseen strands", "strings, common triples", ylim=(0, 30))
    axes.legend(fontsize=9, loc="upper left")


def sorted_weights(axes: Any, weights: dict[str, Any]) -> None:
    """Absolute weights, largest first, for each penalty."""
    for (name, w), colour in zip(weights.items(), PALETTE, strict=False):
        axes.semilogy(np.maximum(np.sort(np.abs(w))[::-1], 1e-5), ".-", color=colour, label=f"penalty {name}")
    label(axes, "features, largest weight first", "|weight|, zero at the bottom", "feature selection needs l1")
    axes.legend(fontsize=9)


def rings(axes: Any, X: Any, y: Any, linear: Any, gaussian: Any) -> None:
    """The line that a linear kernel finds, and the circle of a Gaussian one."""
    frame(axes, X)
    field(axes, gaussian.decision_function, levels=(0,))
    line(axes, linear.coef_[0], linear.intercept_[0], color=PALETTE[4])
    points(axes, X, y, size=12)
    plane(axes, "line and Gaussian kernel on rings")


def errors_and_support(left: Any, middle: Any, grid: Any) -> None:
    """Errors of Gaussian machines against their share of support vectors, and against C."""
    share = [found.support for found in grid]
    left.plot(share, [found.left_out for found in grid], "o", ms=6, color=PALETTE[1], alpha=0.8, label="left out")
    left.plot(share, [found.test for found in grid], "s", ms=6, color=PALETTE[0], alpha=0.8, label="unseen")
    left.plot([0, 1], [0, 1], color=INK, lw=1, ls="--")
    limits: Any = {"xlim": (0.2, 1.04), "ylim": (-0.03, 1.04)}
    label(left, "support vectors / n", "error", "16 Gaussian machines, n = 30", **limits)
    left.legend(fontsize=9, loc="upper left")
    for gamma, colour in zip(_support_counts.GAMMAS, PALETTE, strict=False):
        here = [found for found in grid if found.gamma == gamma]
        Cs = [found.C for found in here]
        middle.semilogx(Cs, [found.test for found in here], "o-", color=colour, label=f"$\\gamma$ = {gamma:g}")
        middle.semilogx(Cs, [found.train for found in here], "s--", color=colour, ms=4, lw=1)
    label(middle, "C", "error", "unseen (solid) and training (dashed)", ylim=(-0.02, 0.62))
    middle.legend(fontsize=9, ncols=2, loc="upper right")


def bound_and_error(axes: Any, errors: Any, supports: Any) -> None:
    """Linear machines of many samples: exact error against the note's bound."""
    jitter = np.random.default_rng(1).uniform(-0.008, 0.008, len(errors))
    axes.scatter(errors, supports + jitter, s=10, color=np.where(errors > supports, PALETTE[4], GREY))
    axes.plot(errors.mean(), supports.mean(), "*", ms=14, color=INK, label="means")
    axes.plot([0, 0.4], [0, 0.4], color=INK, lw=1, ls="--")
    label(axes, "exact error", "support vectors / n", f"{len(errors)} linear machines, n = 20")
    axes.legend(fontsize=9, loc="upper right")


def misread(axes: Any, pictures: Any, labels: Any, predicted: Any) -> None:
    """Up to three digits side by side, with what they are and what was read."""
    axes.imshow(np.hstack([picture.reshape(8, 8) for picture in pictures[:3]]), cmap="gray_r")
    names = [f"{is_} read as {read}" for is_, read in zip(labels[:3], predicted[:3], strict=True)]
    axes.set(title="mistakes", yticks=[], xticks=3.5 + 8 * np.arange(len(names)))
    axes.set_xticklabels(names, fontsize=9)


def accuracies(figure: Any, axes: Any, means: Any, good: Any, Cs: Any, gammas: Any) -> None:
    """Cross-validated accuracies as a map, the good cells bold."""
    figure.colorbar(axes.imshow(means, origin="lower", vmin=0.6, vmax=1), ax=axes, shrink=0.85)
    for a, c in np.ndindex(*means.shape):
        colour, weight = "white" if means[a, c] < 0.85 else INK, "bold" if good[a, c] else "normal"
        axes.text(c, a, f"{100 * means[a, c]:.1f}", ha="center", va="center", fontsize=9, color=colour, weight=weight)
    ticks = [[f"$10^{{{round(math.log10(value))}}}$" for value in values] for values in (Cs, gammas)]
    label(axes, "$\\gamma$", "C", "accuracy in percent,\nbold: within 1 of the best")
    axes.set(xticks=range(len(gammas)), yticks=range(len(Cs)), xticklabels=ticks[1], yticklabels=ticks[0])


def top_of_the_grid(axes: Any, means: Any, error: float) -> None:
    """All cells' accuracies, best first."""
    best = means.max()
    axes.plot(np.sort(means.ravel())[::-1], "o", color=PALETTE[0])
    axes.axhspan(best - 0.01, best, color=PALETTE[2], alpha=0.25, label="best minus 1 %")
    axes.errorbar(0, best, error, color=PALETTE[0], capsize=4, label="standard error of the best")
    label(axes, "cells, best first", "cross-validated accuracy", "how flat the top is")
    axes.legend(fontsize=9, loc="center right")


def photographs(axes: Any, pictures: Any) -> None:
    """One picture for each combination of side and hour."""
    kinds = {"enemy, morning": (1, 1), "own, dusk": (-1, -1), "enemy, dusk": (1, -1), "own, morning": (-1, 1)}
    for ax, (name, (side, hour)) in zip(axes, kinds.items(), strict=True):
        k = np.flatnonzero((pictures.side == side) & (pictures.hour == hour))[0]
        ax.imshow(pictures.X[k].reshape(_tanks.SIDE, _tanks.SIDE), cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(name + ("\n(in training)" if side == hour else ""), fontsize=10)


def weight_images(axes: Any, found: dict[str, Any]) -> None:
    """What the machines look at."""
    for ax, name in zip(axes, ("all pixels", "balanced training", "light taken out"), strict=True):
        w = found[name].weights.reshape(_tanks.SIDE, _tanks.SIDE)
        ax.imshow(w, cmap="RdBu_r", vmin=-np.abs(w).max(), vmax=np.abs(w).max())
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"weights: {name}", fontsize=10)


def bars_of_accuracy(axes: Any, found: dict[str, Any]) -> None:
    """Accuracy of each machine on each kind of pictures."""
    for k, (name, recogniser) in enumerate(found.items()):
        axes.bar(np.arange(3) + 0.2 * k - 0.3, recogniser.accuracy.values(), 0.2, color=PALETTE[k], label=name)
    axes.axhline(0.5, color=INK, lw=0.8, ls="--")
    axes.set(xticks=range(3), ylim=(0, 1.35), yticks=[0, 0.5, 1], ylabel="accuracy")
    axes.set_xticklabels(found["all pixels"].accuracy)
    axes.legend(fontsize=9, loc="upper center", ncols=4)
