"""The pictures of note 002: each function draws what a demonstration has computed."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import _known_world as world
from maxmargin.lectures.drawing import GREY, INK, PAGE, PALETTE, frame, line, panels, points
from maxmargin.textbook import margins, sgd


def stack(axes: Any, x: Array, errors: list[float], best: float) -> None:
    """The parts of the error, one on the other."""
    parts = [np.full(len(x), world.FLIPPED), np.full(len(x), best - world.FLIPPED), np.array(errors) - best]
    axes.stackplot(x, parts, labels=["irreducible", "bias", "variance"], colors=[GREY, *PALETTE[:2]], alpha=0.6)
    axes.set(xscale="log", xlim=(x[0], x[-1]), ylim=(0, 0.62))


def wishes(costs: dict[str, Any]) -> Any:
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


def scaling(s: Array, losses: dict[float, Array]) -> Any:
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


def spread(costs: dict[int, Array], spread: dict[int, Any], whole: float) -> Any:
    """Costs of k examples drawn, and how their spread falls with k."""
    figure, (left, right) = panels(2)
    ks = np.array(list(spread))
    for share, width in ((0.98, 2), (0.5, 7)):
        low, high = np.quantile(list(costs.values()), [0.5 - share / 2, 0.5 + share / 2], axis=1)
        left.vlines(ks, low, high, color=PALETTE[0], lw=width, alpha=0.5, label=f"{share:.0%} of the draws")
    left.plot(ks, [values.mean() for values in costs.values()], "o", color=PALETTE[1], label="their mean")
    left.axhline(whole, color=INK, lw=1, ls="--", label="all examples")
    left.set(xlabel="k", ylabel="$C_k$", xscale="log", title="2000 draws for every k")
    left.legend(fontsize=9)
    for i, name in enumerate(("$C_k$", "gradient")):
        values = np.array([spread[k][i] for k in spread])
        right.loglog(ks, values, "o", color=PALETTE[i], label=name)
        right.loglog(ks, values[0] / np.sqrt(ks), color=PALETTE[i], lw=1, ls="--")
    right.set(xlabel="k", ylabel="spread", title=r"spread; dashed: $1/\sqrt{k}$")
    right.legend(fontsize=9)
    return figure


def schedules(found: dict[str, dict[str, Array]], goal: float) -> Any:
    """Of each schedule: S, the sum of the steps, and the accuracy watched."""
    figure, axes = panels(2, 1, height=3.3)
    for colour, (name, run) in zip(PALETTE, found.items(), strict=False):
        for ax, what in zip(axes, ("above", "sum", "accuracy"), strict=True):
            ax.plot(100 * np.arange(1, len(run["sum"]) + 1), run[what], color=colour, lw=1.8, label=name)
            ax.set(xscale="log", xlabel="steps")
    axes[0].set(yscale="log", ylabel="$S / S^* - 1$", title="above the certified optimum")
    axes[1].set(yscale="log", ylabel="sum of the steps", title="how far steps can lead")
    axes[2].axhline(goal, color=INK, ls="--", lw=1.2, label="optimum of S")
    axes[2].set(ylabel="accuracy", title="169 rows watched", ylim=(0.9, 1))
    figure.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return figure


def choice(lams: Array, accuracy: dict[str, Array], chosen: float, watched: Array, optimum: float, final: float) -> Any:
    """Accuracies against lambda, and those that are watched at the chosen one."""
    figure, (left, right) = panels(2)
    for colour, (name, values) in zip((GREY, PALETTE[0]), accuracy.items(), strict=True):
        left.semilogx(lams, values, "o-", color=colour, lw=2, label=f"{name} part")
    left.plot(chosen, final, "*", color=PALETTE[1], ms=14, label="final machine, test part")
    left.set(xlabel=r"$\lambda$", ylabel="accuracy", title="factors of ten")
    left.legend(fontsize=9, loc="lower left")
    right.plot(np.arange(1, len(watched) + 1), watched, "o-", color=PALETTE[2], ms=4, label="SGD")
    right.axhline(optimum, color=INK, lw=1.2, ls="--", label="proved optimum")
    right.legend(fontsize=9, loc="lower right")
    right.set(xlabel="season of 300 steps", ylabel="accuracy", title=rf"watching part, $\lambda$ = {chosen:g}")
    return figure


def seasons(norms: dict[float, Array], accuracy: dict[float, Array], optima: dict[float, float]) -> Any:
    """Figure 11.3: norms and accuracies, season by season."""
    figure, (left, right) = panels(2)
    for colour, lam in zip(PALETTE, norms, strict=False):
        season = np.arange(1, len(norms[lam]) + 1)
        style = "--" if lam == 1e-5 else "-"  # it would hide the first
        left.semilogy(season, norms[lam], style, color=colour, lw=1.8, label=rf"$\lambda$ = {lam:g}")
        left.plot(season[-1] + 3, optima[lam], "x", color=colour, ms=8, mew=2)
        right.plot(season, accuracy[lam], style, color=colour, lw=1.6)
    left.set(xlabel="season", ylabel=r"$\|\mathbf{a}\|$", title="norm (crosses: optima)")
    right.set(xlabel="season", ylabel="accuracy", title="held-out data")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    return figure


def a_step(ax: Any, name: str, a: Any, b: float, x: Any, y: float, eta: float) -> tuple[Any, Any, Any]:
    """Line before and after a step with lambda = 1; gamma y and distance before and after, distances of the origin."""
    a, x, origin = np.array(a), np.array([x]), np.zeros(2)
    g_a, g_b = sgd.gradient(a, b, x, np.array([y]), 1.0)
    new_a, new_b = a - eta * g_a, b - eta * g_b
    ax.set(xlim=(-2.3, 3), ylim=(-2.3, 3), aspect="equal", title=name, xlabel="$x_1$", ylabel="$x_2$")
    ax.title.set_fontsize(9)
    line(ax, a, b, color=GREY, lw=2.2, label="before")
    line(ax, new_a, new_b, color=PALETTE[2], lw=2.2, label="after")
    ax.plot(0, 0, "+", color=INK, ms=10, label="origin")
    colour, marker = (PALETTE[1], "s") if y > 0 else (PALETTE[0], "o")
    ax.scatter(*x.T, s=70, color=colour, marker=marker, zorder=4, label=f"example, y = {y:+g}")
    gaps = [float(y * sgd.gamma(*u, x)[0]) for u in ((a, b), (new_a, new_b))]
    apart = [[float(margins.distance(p, *u)) for u in ((a, b), (new_a, new_b))] for p in (x[0], origin)]
    ax.text(0.04, 0.04, f"distance\n{apart[0][0]:.2f} to {apart[0][1]:.2f}", transform=ax.transAxes, fontsize=9)
    return (gaps[0], apart[0][0]), (gaps[1], apart[0][1]), apart[1]


def walks(X: Array, y: Array, walk: Any, first: int, nearest: Any, norms: Any, largest: float) -> Any:
    """Two lines of a walk; nearest example and norm at every step."""
    figure, (plane, room, size) = panels(2, 1, height=3.3)
    points(plane, X, y)
    frame(plane, X)
    line(plane, walk[0][first], walk[1][first], color=GREY, lw=2, label=f"step {first}: all right")
    line(plane, walk[0][-1], walk[1][-1], label="at the end")
    plane.set(xlabel="$x_1$", ylabel="$x_2$", title=r"$\lambda = 0.01$")
    plane.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
    for colour, lam in zip(PALETTE, norms, strict=False):
        steps = np.arange(1, len(norms[lam]))
        room.semilogx(steps, nearest[lam], color=colour, lw=1.2, label=rf"$\lambda$ = {lam:g}")
        size.semilogx(steps, norms[lam][1:], color=colour, lw=1.2)
    room.axhline(largest, color=INK, lw=1, ls="--", label="largest possible")
    room.axhline(0, color=GREY, lw=0.8)
    room.set(xlabel="step", ylabel=r"least $\gamma_i y_i / \|\mathbf{a}\|$", title="the nearest example")
    room.set_ylim(-1.5, 1.15 * largest)
    size.set(xlabel="step", ylabel=r"$\|\mathbf{a}\|$", title=r"$\lambda$ shrinks $\mathbf{a}$ (colours as before)")
    room.legend(fontsize=9, loc="lower right")
    return figure


def descent(found: dict[str, Any]) -> Any:
    """Gradient descent on each kind of features, and the accuracies."""
    figure, (left, right) = panels(1, 1, width=PAGE, height=3.1)
    for colour, (name, f) in zip(PALETTE, found.items(), strict=False):
        left.loglog(np.arange(1, len(f["curve"]) + 1), f["curve"], color=colour, lw=2, label=name)
    left.set(xlabel="steps of gradient descent", ylabel="$S$ above its minimum", xlim=(0.8, 3e4), title="logistic $S$")
    left.legend(fontsize=9, loc="lower right")
    places = np.arange(len(found))
    for shift, colour, key, label in ((-0.2, PALETTE[0], "sgd", "SGD, 2000 steps"),
                                      (0.2, PALETTE[1], "penalised", "penalised bias, optimum")):  # fmt: skip
        right.bar(places + shift, [f[key] for f in found.values()], 0.38, color=colour, label=label)
    right.axhline(found["translated, scaled"]["free"], color=INK, lw=1.2, ls="--", label="free bias, optimum")
    right.set_xticks(places, [textwrap.fill(name, 13) for name in found])
    right.set(ylabel="accuracy", ylim=(0.4, 1.0), title="4000 new fish")
    right.legend(fontsize=9, loc="upper center", ncols=3)
    return figure


def without(ax: Any, X: Array, y: Array, machine: SVC, dropped: int, without: SVC) -> None:
    """The line of all examples, and the one without a support vector."""
    points(ax, X, y)
    frame(ax, X)
    ax.scatter(*X[machine.support_].T, s=110, facecolor="none", edgecolor=INK, zorder=4, label="support vectors")
    ax.plot(*X[dropped], "x", color=PALETTE[4], ms=12, mew=2, zorder=5, label="left out")
    line(ax, machine.coef_[0], machine.intercept_[0], (0.0, -1.0, 1.0), label="all examples")
    line(ax, without.coef_[0], without.intercept_[0], color=PALETTE[4], label="without the cross")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"{len(machine.support_)} of {len(y)} examples decide")
    ax.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)


def overlap(ax: Any, rows: list[tuple[float, int, int, int]]) -> None:
    """Shares of support vectors and of examples within the margin."""
    apart, vectors, inside, n = np.array(rows).T
    ax.plot(apart, vectors / n, "o-", color=PALETTE[0], label="support vectors")
    ax.plot(apart, inside / n, "s-", color=PALETTE[2], label=r"$\gamma y < 1$")
    ax.set(xlabel="distance of the class means", ylabel="share of the examples", ylim=(0, 1))
    ax.set_title("more overlap, more support vectors")
    ax.legend(fontsize=9)


def both_losses(X: Array, y: Array, pair: dict[str, LinearSVC]) -> Any:
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


def bits(accuracy: dict[str, float], errors: dict[str, Array]) -> Any:
    """Errors of each way, and of its machines."""
    figure, (left, right) = panels(2)
    names = list(accuracy)
    bars = left.bar(names, [1 - accuracy[name] for name in names], color=PALETTE[: len(names)], width=0.6)
    left.bar_label(bars, [f"{1 - accuracy[name]:.1%}" for name in names], fontsize=9)
    left.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=9)
    left.set(ylabel="error", title="error in ten classes", ylim=(0, 1.15 * (1 - min(accuracy.values()))))
    rng = np.random.default_rng(0)
    for place, (colour, values) in enumerate(zip(PALETTE, errors.values(), strict=False)):
        right.plot(place + rng.uniform(-0.12, 0.12, len(values)), values, "o", color=colour, ms=5, alpha=0.8)
        right.hlines(values.mean(), place - 0.3, place + 0.3, color=INK, lw=1.5)
    right.set_xticks(range(len(errors)), [name.replace(" ", "\n") for name in errors], fontsize=9)
    right.set(ylabel="error", title="each binary machine (line: mean)")
    return figure
