"""Stochastic gradient descent (note 002): drawn gradients, schedules, a part of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, panels
from maxmargin.lectures.note_002 import linear_machines as linear
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import newton, sgd


def unbiased_costs() -> Shown:
    r"""A few examples have the right expected value

    $C_k$ is the mean cost of $k$ examples drawn uniformly at random, and $\mathbb E[C_k]$ is the mean over all of them
    (002:164-173); so is the expected value of its gradient, since a gradient of a mean is a mean of gradients. This is
    checked exactly, over all $N^2$ ways to draw two of $N = 40$ examples, and by drawing from the breast cancer data.
    "It isn't right" (002:185) is the spread: it falls like $1/\sqrt k$, so a hundred times the work buys one digit.
    """
    X, y = data.cancer()
    a, b, lam = newton.newton(X, y, 0.1, "logistic")[0] + (0.1,)
    rng, ks, draws = np.random.default_rng(0), (1, 4, 16, 64, 256), 2000
    costs = {k: np.array([sgd.C_k(a, b, X, y, k, rng) for _ in range(draws)]) for k in ks}
    steps = {k: np.array([drawn_gradient(a, b, X, y, lam, k, rng) for _ in range(draws)]) for k in ks}
    whole_cost, whole = sgd.c(sgd.gamma(a, b, X), y, "hinge").mean(), np.append(*sgd.gradient(a, b, X, y, lam))
    spread = {k: (costs[k].std(), np.sqrt(steps[k].var(axis=0).sum())) for k in ks}
    off = {k: (costs[k].mean() - whole_cost) / (spread[k][0] / np.sqrt(draws)) for k in ks}
    rows = [(k, float(costs[k].mean()), float(off[k]), *map(float, spread[k])) for k in ks]
    falls = [np.polyfit(np.log(ks), np.log([spread[k][i] for k in ks]), 1)[0] for i in (0, 1)]
    two = all_pairs(a, b, X[:40], y[:40], lam)
    apart = np.linalg.norm(steps[1].mean(axis=0) - whole) / (spread[1][1] / np.sqrt(draws))
    header = ("k", f"mean of C_k (all: {whole_cost:.4f})", "off, in standard errors", "spread", "of the gradient")
    return Shown(lambda: draw_spread(costs, spread, whole_cost), (Table(header, rows),), (
        ("over all pairs of 40 examples, mean cost and mean gradient are those of all, to 1e-12", two < 1e-12),
        ("drawn means of C_k are within three standard errors", all(abs(value) < 3 for value in off.values())),
        ("so is the mean of the gradients of single examples", bool(apart < 3)),
        (f"spreads fall like k to the power {falls[0]:.2f} (cost) and {falls[1]:.2f} (gradient)",
         all(abs(power + 0.5) < 0.03 for power in falls)),
    ))  # fmt: skip


def drawn_gradient(a: Array, b: float, X: Array, y: Array, lam: float, k: int, rng: Any) -> Array:
    """The gradient of S with k examples drawn."""
    drawn = rng.integers(len(y), size=k)
    return np.append(*sgd.gradient(a, b, X[drawn], y[drawn], lam))


def all_pairs(a: Array, b: float, X: Array, y: Array, lam: float) -> float:
    """How far the means over all draws of two examples are from cost and gradient of all."""
    draws = [[i, j] for i in range(len(y)) for j in range(len(y))]
    costs = [sgd.c(sgd.gamma(a, b, X[two]), y[two], "hinge").mean() for two in draws]
    steps = [np.append(*sgd.gradient(a, b, X[two], y[two], lam)) for two in draws]
    cost_off = np.mean(costs) - sgd.c(sgd.gamma(a, b, X), y, "hinge").mean()
    return float(max(abs(cost_off), np.abs(np.mean(steps, axis=0) - np.append(*sgd.gradient(a, b, X, y, lam))).max()))


def draw_spread(costs: dict[int, Array], spread: dict[int, Any], whole: float) -> Any:
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


def fixed_schedule() -> Shown:
    r"""1000 steps at 1e-3, 1000 at 1e-4, and so on

    How far to step? Searching is too hard, says the note, so the lengths are fixed: "eg. 1000 steps at 1e-3; 1000 steps
    at 1e-4; etc"; and convergence is too hard to test, so one takes a large number of steps and watches the error
    (002:192-195). Here that is done, one example at a time, with 400 rows of the breast cancer data, $\lambda = 0.01$,
    and 169 rows to watch (scaled by what the 400 show). The steps sum to 1.1, and with all further seasons to 1.111...:
    the way that they can go is bounded, however long one waits. After the first season the gradient of $S$ is short,
    what is left of the steps is not enough to reach the optimum, and $S$ stays at more than twice its least value. The
    watched rows show little of this: after the first season their accuracy is that of the optimum to within two points,
    and all further seasons change it by a single row. An accuracy that has settled is no sign that $S$ is near its
    minimum.

    Steps that fall like $1/(\lambda t)$ become as short as one likes, but their sum has no bound (second picture); with
    them the distance to the certified optimum shrinks for as long as one waits (`diminishing_seasons`, the mean of the
    second half of the steps).
    """
    train, watched = data.scaled_by_first(*data.cancer_parts())
    lam, rng = 0.01, np.random.default_rng
    machine = LinearSVC(loss="hinge", lam=lam, tol=1e-9).fit(*train)
    best, goal = machine.certificate_.primal * lam, float(machine.score(*watched))
    regimes = {"of the note, continued": (sgd.seasons_of_the_note(6), False),
               "diminishing": (sgd.diminishing_seasons(lam, 20), True)}  # fmt: skip
    found = {}
    for name, (regime, average) in regimes.items():
        parts = [(steps // 10, eta) for steps, eta in regime for _ in range(10)]  # ten looks a season
        _, history = sgd.stochastic_gradient_descent(*train, lam, parts, rng(0), held_out=watched, average=average)
        found[name] = {"sum": np.cumsum([steps * eta for steps, eta in parts]),
                       "above": np.array([row["S"] / best - 1 for row in history]),
                       "accuracy": np.array([row["accuracy"] for row in history])}  # fmt: skip
    note, falling = found.values()
    stopped, later = note["above"][[19, 59]]
    (a, b), _ = sgd.stochastic_gradient_descent(*train, lam, sgd.seasons_of_the_note(1), rng(0))
    slope = float(np.linalg.norm(np.append(*sgd.gradient(a, b, *train, lam))))
    away = float(np.linalg.norm([*machine.coef_[0] - a, machine.intercept_[0] - b]))
    rest = sum(steps * eta for steps, eta in sgd.seasons_of_the_note(30)[1:])
    way = rest * slope
    places = {"note, 1000 steps": (note, 9), "note, 2000 steps": (note, 19), "note, 6000 steps": (note, 59),
              "diminishing, 2000 steps": (falling, 19), "diminishing, 20000 steps": (falling, 199)}  # fmt: skip
    rows = [(name, float(run["sum"][at]), f"{run['above'][at]:.1%}", float(run["accuracy"][at]))
            for name, (run, at) in places.items()]  # fmt: skip
    header = ("schedule", "sum of the steps", "S above the optimum", f"accuracy (optimum: {goal:.3f})")
    return Shown(lambda: draw_schedules(found, goal), (Table(header, rows),), (
        (f"the note's steps sum to {note['sum'][19]:.1f}, with 28 more seasons to {1 + rest:.4f}",
         bool(np.isclose(note["sum"][19], 1.1) and np.isclose(1 + rest, 10 / 9))),
        (f"after 1000 steps the others sum to {rest:.3f}, times the gradient {way:.2f}; the optimum is {away:.2f} away",
         way < 0.1 * away),
        (f"after 2000 steps S is {stopped:.0%} above the certified optimum, after four more seasons {later:.0%}",
         bool(1 < later < stopped < later + 0.02)),
        ("after its first season the accuracy changes by one row of 169 at most, within two points of the optimum's",
         bool(np.ptp(note["accuracy"][9:]) < 1.5 / 169 and np.abs(note["accuracy"][9:] - goal).max() < 0.02)),
        (f"diminishing steps: {falling['above'][19]:.0%} above after 2000, {falling['above'][-1]:.0%} after 20000",
         bool(falling["above"][19] < 0.6 * stopped and falling["above"][-1] < 0.05)),
    ))  # fmt: skip


def draw_schedules(found: dict[str, dict[str, Array]], goal: float) -> Any:
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


def partial_data() -> Shown:
    r"""About the right classifier without seeing all data

    "Good evidence you don't need to see all the training data" (002:219-220). Accuracy on held-out examples against the
    number of steps, one example each, as the mean of five runs; the dashed line is the machine that minimises $S$ on
    all examples. Of 40000 generated examples a small share is enough for almost the whole accuracy; of 1297 digits most
    have to be seen. The steps needed are alike: what counts is the number of examples seen, not the share that it is.
    The digits also show that the optimum of $S$ is not the aim: stopped early, SGD does better than it.
    """
    rng = np.random.default_rng(0)
    digits, signs = linear.high_digits(1297, scale=True)
    big, labels = linear.normal_clouds(45_000, 20, 2.5, rng)
    tasks = {
        "40000 of two clouds, d = 20": (big, labels, 40_000),
        "1297 digits, d = 64": (digits, signs, 1297),
    }
    runs = {name: accuracy_by_steps(*task) for name, task in tasks.items()}
    found, rows = {}, []
    for name, (seen, accuracy, goal) in runs.items():
        near, n = accuracy > goal - 0.01, tasks[name][2]
        enough = int(seen[near.argmax()])
        distinct = 1 - (1 - 1 / n) ** enough  # expected share of different examples among those drawn
        found[name] = enough, distinct if near.any() else np.inf
        rows.append((name, goal, float(accuracy[-1]), enough, f"{distinct:.1%}"))
    header = ("data", "optimum on all", "SGD at its end", "steps to within 0.01", "share of different examples seen")
    (few, share), (many, most) = found.values()

    def picture() -> Any:
        figure, axes = panels(2)
        for ax, (name, (seen, accuracy, goal)) in zip(axes, runs.items(), strict=True):
            ax.semilogx(seen, accuracy, "o-", color=PALETTE[0], ms=4, label="SGD")
            ax.axhline(goal, color=INK, ls="--", lw=1.2, label="all examples, optimum")
            ax.axvline(tasks[name][2], color=PALETTE[1], lw=1.2, label="as many steps as examples")
            ax.set(xlabel="steps (one example each)", ylabel="held-out accuracy", title=name)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
        return figure

    return Shown(picture, (Table(header, rows),), (
        (f"of 40000 examples {share:.1%} are enough to be within 0.01 of the optimum on all", share < 0.1),
        (f"of 1297 digits {most:.0%} are seen until then", 0.5 < most < 1),
        (f"the numbers of steps, {few} and {many}, differ far less than the shares", many / few < 0.1 * most / share),
        ("on the digits SGD ends above the accuracy of the optimum", rows[1][2] > rows[1][1]),
    ))  # fmt: skip


def accuracy_by_steps(X: Array, y: Array, n: int) -> tuple[Array, Array, float]:
    """Numbers of steps, mean held-out accuracies of five runs after them, and that of the optimum."""
    lam, held_out = 1e-3, (X[n:], y[n:])
    lengths = [10, 10, 20, 40, 80, 160, 320, 640, 1280, 2560]
    seen = np.cumsum(lengths)
    seasons = [(steps, 0.05 / (1 + 0.2 * np.sqrt(at))) for steps, at in zip(lengths, seen, strict=True)]
    runs = [
        sgd.stochastic_gradient_descent(X[:n], y[:n], lam, seasons, np.random.default_rng(k), held_out=held_out)
        for k in range(5)
    ]
    accuracy = np.mean([[row["accuracy"] for row in history] for _, history in runs], axis=0)
    whole = LinearSVC(loss="hinge", lam=lam).fit(X[:n], y[:n])
    return seen, accuracy, float(whole.score(*held_out))
