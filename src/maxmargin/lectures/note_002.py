r"""Note 002: linear classifiers and the linear SVM

"Linear Classifiers and the Linear SVM" (D. A. Forsyth). An example is $(\mathbf x_i, y_i)$ with $y_i = \pm 1$,
$\gamma_i = \mathbf a^T\mathbf x_i + b$, and the label predicted is the sign of $\gamma_i$. The objective is

$$S(\mathbf a, b; \lambda) = \frac1N\sum_i \max(0, 1 - \gamma_i y_i) + \frac\lambda2\,\mathbf a^T\mathbf a .$$

The algorithms are in `maxmargin.textbook.sgd`, `newton`, `margins` and `reductions`; the machine for work is
`LinearSVC(loss="hinge", lam=...)`, or with the steps of the note `SGDSVC`. With `SVC` the same objective is
$C = 1/(N\lambda)$. References such as (002:192) are lines of the note.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import _bits as bits
from maxmargin.lectures import _descents as descents
from maxmargin.lectures import _known_world as world
from maxmargin.lectures import _linear_002 as linear
from maxmargin.lectures import _pictures_002 as draw
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, frame, line, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.preprocessing import Whitener
from maxmargin.textbook import margins, newton, reductions, sgd

# Bias, variance, irreducible error ---------------------------------------------------------------------------------


def bias_and_variance() -> Shown:
    r"""Bias, variance and irreducible error

    The note divides the error on future data into three parts (002:18-36): what no classifier avoids; what even the
    best one of the family adds to it (bias); and what is added because training does not find that best one (variance).
    This is approximation and estimation error: it is not the decomposition of a squared error, and nothing in it is
    squared. By this definition the parts add up to the error exactly.

    Here the world is known: 20 normal features, of which two matter; the label is $+1$ above a parabola and $-1$ below
    it, and one label in ten is flipped. So the irreducible error is 0.1, and the best line is found by quadrature. The
    family is that of all lines, so bias does not depend on $\lambda$. What $\lambda$ moves is the variance, by the
    note's definition everything else; it has two parts that have little in common. The dashed line is the machine with
    the same $\lambda$ trained on endless data: what it adds to the best line is a systematic error, the price of the
    hinge loss and of $\lambda$ (others would call it bias). The rest is chance, what 60 examples add to that. Too small
    a $\lambda$, and each training set pulls the line its own way: chance. Too large, and $\mathbf a$ vanishes beside
    $b$, so that the most frequent label is predicted everywhere: mostly price. More examples (right) remove the chance,
    never the bias and the price.
    """
    rng = np.random.default_rng(0)
    best = world.best_line_error()
    lams, sizes = np.logspace(-4, 1, 6), np.array([30, 100, 300, 1000])
    sets = [world.draw(60, rng) for _ in range(20)]
    by_lam = [world.errors_trained(sets, lam) for lam in lams]
    by_size = [world.errors_trained([world.draw(n, rng) for _ in range(20)], 0.1) for n in sizes]
    endless = [world.error(*world.endless(lam)) for lam in lams]
    figure, (left, right) = panels(2)
    draw.stack(left, lams, [errors.mean() for errors, _ in by_lam], best)
    left.plot(lams, endless, "--", color=INK, lw=1.5, label="endless data")
    left.set(xlabel=r"$\lambda$", ylabel="error on future data", title="60 examples")
    left.legend(fontsize=9, loc="upper left")
    draw.stack(right, sizes, [errors.mean() for errors, _ in by_size], best)
    right.axhline(world.error(*world.endless(0.1)), ls="--", color=INK, lw=1.5)
    right.set(xlabel="examples", ylabel="error on future data", title=r"$\lambda = 0.1$")
    right.set_xticks(sizes, sizes.astype(str))
    right.set_xticks([], minor=True)
    bias = best - world.FLIPPED
    rows = [(lam, world.FLIPPED, bias, errors.mean() - best, price - best, errors.mean() - price, errors.mean(),
             fresh.mean())
            for lam, price, (errors, fresh) in zip(lams.tolist(), endless, by_lam, strict=True)]  # fmt: skip
    variances, prices, chances = np.array([row[3:6] for row in rows]).T
    header = ("lambda", "irreducible", "bias", "variance", "of it price of lambda (endless data)", "of it chance",
              "error", "on 20000 fresh examples")  # fmt: skip
    every = [errors.min() for errors, _ in by_lam + by_size]
    return Shown(figure, (Table(header, rows),), (
        ("no trained machine is better than the best line", min(every) >= best),
        ("irreducible error, bias, price and chance add up to the error, to 1e-12",
         all(abs(r[1] + r[2] + r[4] + r[5] - r[6]) < 1e-12 for r in rows)),
        ("the error by quadrature is that on fresh examples within 0.003", all(abs(r[6] - r[7]) < 0.003 for r in rows)),
        ("no part is negative; up to lambda = 0.1 more than nine tenths of the variance are chance, at 10 of price",
         bool(min(prices.min(), chances.min()) >= 0 and np.all(chances[:4] > 0.9 * variances[:4])
              and prices[-1] > 0.9 * variances[-1])),
        (f"the variance is least at lambda = {lams[variances.argmin()]:g}, neither the smallest nor the largest",
         0 < int(variances.argmin()) < len(lams) - 1),
        ("more examples leave less variance", all(b.mean() < a.mean() for (a, _), (b, _) in pairwise(by_size))),
    ))  # fmt: skip


# What a cost should be ---------------------------------------------------------------------------------------------


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
    return Shown(draw.wishes(costs), (Table(("wish", *costs), rows),), (
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
    return Shown(draw.scaling(s, losses), (table,), (
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


# Stochastic gradient descent ---------------------------------------------------------------------------------------


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
    steps = {k: np.array([descents.drawn_gradient(a, b, X, y, lam, k, rng) for _ in range(draws)]) for k in ks}
    whole_cost, whole = sgd.c(sgd.gamma(a, b, X), y, "hinge").mean(), np.append(*sgd.gradient(a, b, X, y, lam))
    spread = {k: (costs[k].std(), np.sqrt(steps[k].var(axis=0).sum())) for k in ks}
    off = {k: (costs[k].mean() - whole_cost) / (spread[k][0] / np.sqrt(draws)) for k in ks}
    rows = [(k, float(costs[k].mean()), float(off[k]), *map(float, spread[k])) for k in ks]
    falls = [np.polyfit(np.log(ks), np.log([spread[k][i] for k in ks]), 1)[0] for i in (0, 1)]
    two = descents.all_pairs(a, b, X[:40], y[:40], lam)
    apart = np.linalg.norm(steps[1].mean(axis=0) - whole) / (spread[1][1] / np.sqrt(draws))
    header = ("k", f"mean of C_k (all: {whole_cost:.4f})", "off, in standard errors", "spread", "of the gradient")
    return Shown(draw.spread(costs, spread, whole_cost), (Table(header, rows),), (
        ("over all pairs of 40 examples, mean cost and mean gradient are those of all, to 1e-12", two < 1e-12),
        ("drawn means of C_k are within three standard errors", all(abs(value) < 3 for value in off.values())),
        ("so is the mean of the gradients of single examples", bool(apart < 3)),
        (f"spreads fall like k to the power {falls[0]:.2f} (cost) and {falls[1]:.2f} (gradient)",
         all(abs(power + 0.5) < 0.03 for power in falls)),
    ))  # fmt: skip


def fixed_schedule() -> Shown:
    r"""1000 steps at 1e-3, 1000 at 1e-4, and so on

    How far to step? Searching is too hard, says the note, so the lengths are fixed: "eg. 1000 steps at 1e-3; 1000 steps
    at 1e-4; etc"; and convergence is too hard to test, so one takes a large number of steps and watches the error
    (002:192-195). Here that is done, one example at a time, with 400 rows of the breast cancer data, $\lambda = 0.01$,
    and 169 rows to watch. The steps sum to 1.1, and with all further seasons to 1.111...: the way that they can go is
    bounded, however long one waits. After the first season the gradient of $S$ is short, what is left of the steps is
    not enough to reach the optimum, and $S$ stays at more than twice its least value. The watched rows show little of
    this: after the first season their accuracy is that of the optimum to within two points, and stays. An accuracy
    that has settled is no sign that $S$ is near its minimum.

    Steps that fall like $1/(\lambda t)$ become as short as one likes, but their sum has no bound (second picture); with
    them the distance to the certified optimum shrinks for as long as one waits (`diminishing_seasons`, the mean of the
    second half of the steps).
    """
    train, watched = data.cancer_parts()
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
    return Shown(draw.schedules(found, goal), (Table(header, rows),), (
        (f"the note's steps sum to {note['sum'][19]:.1f}, with 28 more seasons to {1 + rest:.4f}",
         bool(np.isclose(note["sum"][19], 1.1) and np.isclose(1 + rest, 10 / 9))),
        (f"after 1000 steps the others sum to {rest:.3f}, times the gradient {way:.2f}; the optimum is {away:.2f} away",
         way < 0.1 * away),
        (f"after 2000 steps S is {stopped:.0%} above the certified optimum, after four more seasons {later:.0%}",
         bool(1 < later < stopped < later + 0.02)),
        ("from the end of its first season on the accuracy is the same, within two points of that of the optimum",
         bool(np.ptp(note["accuracy"][9:]) == 0 and abs(note["accuracy"][9] - goal) < 0.02)),
        (f"diminishing steps: {falling['above'][19]:.0%} above after 2000, {falling['above'][-1]:.0%} after 20000",
         bool(falling["above"][19] < 0.5 * stopped and falling["above"][-1] < 0.05)),
    ))  # fmt: skip


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
    figure, axes = panels(2)
    found, rows = {}, []
    for ax, (name, (X, y, n)) in zip(axes, tasks.items(), strict=True):
        seen, accuracy, goal = descents.accuracy_by_steps(X, y, n)
        near = accuracy > goal - 0.01
        enough = int(seen[near.argmax()])
        distinct = 1 - (1 - 1 / n) ** enough  # expected share of different examples among those drawn
        found[name] = enough, distinct if near.any() else np.inf
        rows.append((name, goal, float(accuracy[-1]), enough, f"{distinct:.1%}"))
        ax.semilogx(seen, accuracy, "o-", color=PALETTE[0], ms=4, label="SGD")
        ax.axhline(goal, color=INK, ls="--", lw=1.2, label="all examples, optimum")
        ax.axvline(n, color=PALETTE[1], lw=1.2, label="as many steps as examples")
        ax.set(xlabel="steps (one example each)", ylabel="held-out accuracy", title=name)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    header = ("data", "optimum on all", "SGD at its end", "steps to within 0.01", "share of different examples seen")
    (few, share), (many, most) = found.values()
    return Shown(figure, (Table(header, rows),), (
        (f"of 40000 examples {share:.1%} are enough to be within 0.01 of the optimum on all", share < 0.1),
        (f"of 1297 digits {most:.0%} are seen until then", 0.5 < most < 1),
        (f"the numbers of steps, {few} and {many}, differ far less than the shares", many / few < 0.1 * most / share),
        ("on the digits SGD ends above the accuracy of the optimum", rows[1][2] > rows[1][1]),
    ))  # fmt: skip


# Choosing lambda ---------------------------------------------------------------------------------------------------


def choosing_lambda() -> Shown:
    r"""The regularisation weight, by factors of ten

    Try values that differ by factors of ten and keep the one whose classifier is best, on data that trained nothing
    (002:222-233). That needs three held-out parts: one to compare the values of $\lambda$, one to watch training, and
    one to know how well the final classifier works, which is used once. Here 1797 digits (5 to 9 against the rest) are
    divided into 900 for training and three parts of 299. Training is watched for SGD at the chosen $\lambda$; a solver
    that proves its optimum, such as `LinearSVC`, does not need to be watched. At the end the machine is fitted again on
    everything but the test part.

    The best accuracy on the part that chose $\lambda$ is the largest of several, and so it flatters; the test part does
    not, because it had no say.
    """
    X, y = linear.high_digits(900)
    train, choose, watch, test = np.split(np.arange(len(y)), [900, 1199, 1498])
    lams = np.logspace(-6, 1, 8)
    fits = [LinearSVC(loss="hinge", lam=lam).fit(X[train], y[train]) for lam in lams]
    accuracy = {name: np.array([fit.score(X[part], y[part]) for fit in fits])
                for name, part in (("training", train), ("choosing", choose))}  # fmt: skip
    chosen = float(lams[accuracy["choosing"].argmax()])
    _, history = sgd.stochastic_gradient_descent(X[train], y[train], chosen, linear.steps_like(0.2, 10, 30, 300),
                                                 np.random.default_rng(0), held_out=(X[watch], y[watch]))  # fmt: skip
    rest = np.concatenate([train, choose, watch])
    final = LinearSVC(loss="hinge", lam=chosen).fit(X[rest], y[rest]).score(X[test], y[test])
    watched = np.array([row["accuracy"] for row in history])
    optimum = fits[accuracy["choosing"].argmax()].score(X[watch], y[watch])
    rows = [(lam, *(float(accuracy[name][i]) for name in accuracy), float(np.linalg.norm(fits[i].coef_)))
            for i, lam in enumerate(lams.tolist())]  # fmt: skip
    reasonable = accuracy["choosing"][lams < 0.5]
    largest = np.abs(np.diff(reasonable)).max()
    figure = draw.choice(lams, accuracy, chosen, watched, optimum, final)
    return Shown(figure, (Table(("lambda", "accuracy, training", "accuracy, choosing", "norm of a"), rows),), (
        (f"chosen: lambda = {chosen:g}; accuracy on the test part, looked at once: {final:.3f}", final > 0.85),
        (f"up to lambda = 0.1 neighbouring factors of ten differ by at most {largest:.3f}", largest < 0.03),
        ("the training part would choose the smallest lambda: its accuracy never rises with lambda",
         bool(np.all(np.diff(accuracy["training"]) <= 0)) and chosen > lams[0]),
        (f"the part that chose flatters: {accuracy['choosing'].max():.3f} there", accuracy["choosing"].max() > final),
        (f"watched, SGD is level from season 16 on, within {np.ptp(watched[15:]):.3f}, and near the proved optimum",
         bool(np.ptp(watched[15:]) < 0.02) and abs(watched[-10:].mean() - optimum) < 0.02),
    ))  # fmt: skip


def seasons() -> Shown:
    r"""Figure 11.3: norm and accuracy, season by season

    The figure shows $\|\mathbf a\|$ and the accuracy on held-out data at the end of each season of SGD, for values of
    $\lambda$ that differ by factors of 100 (002:240). The note has only the caption; here 1297 digits (5 to 9 against
    the rest) train in 40 seasons of 300 steps with $\eta = 1/(e + 10)$ in season $e$. The caption makes four claims.
    That accuracy is not sensitive to $\lambda$, that it settles quickly, and that too large a $\lambda$ loses accuracy
    is seen here as well (at $\lambda = 0.1$, where $\mathbf a$ is short, the last steps still shake it). The first,
    that $\lambda$ decides the norm, needs a condition: a step multiplies $\mathbf a$ by $1 - \eta\lambda$, so $\lambda$
    is felt only after about $1/(\eta\lambda)$ steps. The optima for $10^{-7}$ and $10^{-5}$ (crosses) have different
    norms, but this regime is over long before SGD could tell them apart: it is the number of steps that regularises
    there.
    """
    X, y = linear.high_digits(1297)
    train, held_out = (X[:1297], y[:1297]), (X[1297:], y[1297:])
    regime = linear.steps_like(1.0, 10, 40, 300)
    lams = (1e-7, 1e-5, 1e-3, 1e-1, 10.0)
    norms, accuracy, optima = {}, {}, {}
    for lam in lams:
        _, history = sgd.stochastic_gradient_descent(*train, lam, regime, np.random.default_rng(0), held_out=held_out)
        norms[lam] = np.array([row["norm"] for row in history])
        accuracy[lam] = np.array([row["accuracy"] for row in history])
        optima[lam] = float(np.linalg.norm(LinearSVC(loss="hinge", lam=lam).fit(*train).coef_))
    shrunk = {lam: float(np.prod([(1 - eta * lam) ** steps for steps, eta in regime])) for lam in lams}
    late = {lam: float(accuracy[lam][-10:].mean()) for lam in lams}
    ends = {lam: float(norms[lam][-10:].mean()) for lam in lams}
    rows = [(lam, ends[lam], optima[lam], shrunk[lam], late[lam]) for lam in lams]
    header = ("lambda", "norm of a, last ten seasons", "norm of a, optimum", "product of 1 - eta lambda", "accuracy")
    settled = max(np.abs(accuracy[lam][9:] - late[lam]).max() for lam in lams[:3])
    return Shown(draw.seasons(norms, accuracy, optima), (Table(header, rows),), (
        ("from 1e-5 to 10 every factor of 100 changes the norm by at least a tenth",
         all(ends[small] > 1.1 * ends[large] for small, large in pairwise(lams[1:]))),
        ("but 1e-7 and 1e-5 end within 2% of each other, although their optima differ by more than 10%",
         abs(ends[1e-7] / ends[1e-5] - 1) < 0.02 and optima[1e-7] / optima[1e-5] > 1.1),
        (f"accuracy is not sensitive: from 1e-7 to 1e-3 it varies by {np.ptp([late[k] for k in lams[:3]]):.3f}",
         bool(np.ptp([late[k] for k in lams[:3]]) < 0.01)),
        (f"for these it settles quickly: from season 10 on within {settled:.3f} of its end", settled < 0.03),
        (f"too large a lambda loses: {late[10.0]:.2f} at 10, {max(late.values()):.2f} at best",
         late[10.0] < max(late.values()) - 0.1),
    ))  # fmt: skip


# Geometry of a step ------------------------------------------------------------------------------------------------


def line_geometry() -> Shown:
    r"""A little line geometry

    $\mathbf a^T\mathbf x + b = 0$ is a line with normal $\mathbf a$, and
    $|\mathbf a^T\mathbf x + b| / \sqrt{\mathbf a^T\mathbf a}$ is the distance of $\mathbf x$ from it (002:263-282), in
    any number of dimensions. The foot of the perpendicular is $\mathbf x - \gamma\,\mathbf a/\mathbf a^T\mathbf a$. As
    a check that knows nothing of the formula, the nearest point is found by least squares among all points of the
    hyperplane, written with a basis of the directions in it. "Magnitude is proportional to distance" (002:63) holds
    with the factor $1/\|\mathbf a\|$: for one line, not between lines.
    """
    rng = np.random.default_rng(2)
    rows = [(d, *_distance_check(d, rng)) for d in (2, 3, 10, 50)]
    a, b = np.array([1.0, 2.0]), -2.0
    X = np.array([[-1.5, -1.0], [-0.2, -0.5], [1.0, -1.2], [2.6, -1.1], [-1.0, 2.2], [1.4, 1.6], [2.6, 0.6]])
    g = sgd.gamma(a, b, X)
    feet = X - g[:, None] * a / (a @ a)
    scaled = np.abs(margins.distance(X, 7 * a, 7 * b) - margins.distance(X, a, b)).max()
    figure, (ax,) = panels(1, width=5.0, height=4.2)
    points(ax, X, np.sign(g), size=40)
    for x, foot, distance in zip(X, feet, margins.distance(X, a, b), strict=True):
        ax.plot(*np.array([x, foot]).T, color=GREY, lw=1.2)
        ax.annotate(f"{distance:.2f}", x, (6, 4), textcoords="offset points", fontsize=9)
    frame(ax, np.vstack([X, feet]), pad=0.15)
    line(ax, a, b)
    start = np.array([0.0, 1.0])
    ax.annotate("", start + a / 2, start, arrowprops={"arrowstyle": "-|>", "color": PALETTE[2], "lw": 2})
    ax.annotate(r"$\mathbf{a}$", start + a / 2, (4, -2), textcoords="offset points", color=PALETTE[2], fontsize=11)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=r"$x_1 + 2x_2 - 2 = 0$: distances, normal, sides")
    header = ("dimensions", "largest distance", "largest difference from least squares")
    return Shown(figure, (Table(header, rows),), (
        ("formula and least squares agree to 1e-10 in 2 to 50 dimensions", all(row[2] < 1e-10 for row in rows)),
        ("the feet lie on the line", bool(np.abs(sgd.gamma(a, b, feet)).max() < 1e-12)),
        ("a and b times 7 leave every distance", scaled < 1e-12),
    ))  # fmt: skip


def _distance_check(d: int, rng: Any) -> tuple[float, float]:
    a, b, X = rng.normal(size=d), float(rng.normal()), 3 * rng.normal(size=(20, d))
    within = np.linalg.svd(a[None])[2][1:]  # a basis of the directions in the hyperplane
    on_it = np.append(-b / a[0], np.zeros(d - 1))
    places = np.linalg.lstsq(within.T, (X - on_it).T)[0]
    nearest = on_it + places.T @ within
    distances = margins.distance(X, a, b)
    return float(distances.max()), float(np.abs(distances - np.linalg.norm(X - nearest, axis=1)).max())


def push_and_turn() -> Shown:
    r"""What a step does to the line

    Where $\gamma_i y_i > 1$ the note says "push line away from example", elsewhere "turn line and push towards example"
    (002:284-298). Both sentences need care.

    *Beyond the margin* the step is $\mathbf a \leftarrow (1-\eta\lambda)\mathbf a$ with $b$ as it was. The line keeps
    its direction, and its distance from the *origin*, $|b|/\|\mathbf a\|$, is divided by $1-\eta\lambda$. So it moves
    away from the origin, wherever the example is: away from the example if that lies on the origin's side of the line,
    towards it if not. The example is not even used; what it decides is that no other change is made.

    *Otherwise* $y_i\mathbf x_i$ is added as well, and $b$ changes by $\eta y_i$. For a short step the signed distance
    $\gamma_i y_i/\|\mathbf a\|$ changes at the rate
    $(\|\mathbf x_i\|^2 + 1 + \lambda b y_i - \gamma_i\,\mathbf a^T \mathbf x_i/\|\mathbf a\|^2)/\|\mathbf a\|$, which
    is positive for most examples. For a *misclassified* example this means that the line comes nearer, in order to pass
    it. One on its own side but within the margin is left further behind: the line is pushed away from it. Seen from the
    example, then, the words of the note are right for mistakes only.
    """
    cases = {
        "beyond, origin on its side": ((1.0, 0.6), -1.2, (-0.9, -0.4), -1.0, 0.3),
        "beyond, origin on the other side": ((1.0, 0.6), -1.2, (2.1, 1.2), 1.0, 0.3),
        "misclassified": ((1.0, 0.6), -1.2, (0.1, 1.3), 1.0, 0.15),
        "right, within the margin": ((1.0, 0.6), -1.2, (0.8, 1.3), 1.0, 0.15),
    }
    figure, axes = panels(2, 2, height=3.6)
    rows = []
    for ax, (name, case) in zip(axes, cases.items(), strict=True):
        before, after, origin = draw.a_step(ax, name, *case)
        rows.append((name, *before, *after, *origin))
    named = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5, fontsize=9)
    nearer = [row[4] < row[2] for row in rows]
    parallel = [row[6] / row[5] for row in rows[:2]]
    shares = descents.shares_of_steps(np.random.default_rng(0))
    header = ("example", "gamma y", "distance", "gamma y after", "distance after", "origin's distance", "after")
    counts = Table(("100000 random steps", "line comes nearer"), [(k, f"{v:.1%}") for k, v in shares["nearer"].items()])
    return Shown(figure, (Table(header, rows), counts), (
        ("beyond the margin: away from the example on the origin's side, towards the one on the other side",
         nearer[:2] == [False, True]),
        ("the origin's distance grows by 1 / (1 - eta lambda) in both", np.allclose(parallel, 1 / (1 - 0.3))),
        ("misclassified: nearer; right, within the margin: further away", nearer[2:] == [True, False]),
        ("in random steps beyond the margin: nearer if and only if the origin is on the other side", shares["rule"]),
        ("in the other steps the signed distance changes at the rate of the formula", shares["rate"]),
        ("the line comes nearer to misclassified examples in over 9 cases of 10, to right ones in under 1 of 10",
         shares["nearer"]["misclassified"] > 0.9 and shares["nearer"]["right, within the margin"] < 0.1),
    ))  # fmt: skip


def never_zero_gradient() -> Shown:
    r"""The gradient is not zero when every example is right

    A perceptron stops as soon as every training example is right. SGD on $S$ does not (002:304-307): examples within
    the margin still push, and $\lambda\mathbf a$ always pulls. Two separable clouds: the first line to get everything
    right passes very close to an example; in the steps after it the distance of the nearest example grows to almost the
    largest that any line has (the hard margin). That is why it is "a good thing": of all lines without mistakes the
    steps go on to one that has room for future examples.

    One condition is missing: $\lambda$ must not be zero. With $\lambda = 0$ the gradient does vanish, as soon as
    $\gamma_i y_i > 1$ for all $i$, and the line stays where it is, short of the largest distance. With $\lambda > 0$
    the norm shrinks by $1 - \eta\lambda$ at each step until an example is within the margin again, which lengthens
    $\mathbf a$; the larger $\lambda$, the smaller the norm at which both agree (last picture).
    """
    X, y = data.two_clouds(40, 6.0, seed=1)
    X, eta = X + np.array([2.0, -1.0]), 0.2 / (1 + 0.01 * np.arange(6000))
    largest = float(SVC(kernel="linear", C=np.inf).fit(X, y).margin_)
    lams = (0.0, 1e-3, 1e-2, 1e-1)
    walks = {lam: descents.walk(X, y, lam, eta) for lam in lams}
    gaps = {lam: (A @ X.T + B[:, None]) * y for lam, (A, B) in walks.items()}
    norms = {lam: np.linalg.norm(A, axis=1) for lam, (A, _) in walks.items()}
    nearest = {lam: gaps[lam].min(axis=1)[1:] / norms[lam][1:] for lam in lams}  # the first a is zero
    right = {lam: int(np.argmax((gaps[lam] > 0).all(axis=1))) for lam in lams}
    A, B = walks[1e-2]
    left_over = [np.append(*sgd.gradient(A[right[1e-2]], B[right[1e-2]], X, y, lam)) for lam in (0.0, 1e-2)]
    beyond = int(np.argmax((gaps[0.0] > 1).all(axis=1)))
    shrinks = (gaps[1e-2][1:-1] > 1).all(axis=1)
    factors = norms[1e-2][2:] / norms[1e-2][1:-1]
    rows = [(lam, right[lam], float(nearest[lam][right[lam] - 1]), float(nearest[lam][-1]), float(norms[lam][-1]))
            for lam in lams]  # fmt: skip
    shares = rows[2][2] / largest, rows[2][3] / largest
    header = ("lambda", "all right at step", f"nearest example then (best: {largest:.3f})", "at the end", "norm of a")
    return Shown(draw.walks(X, y, walks[1e-2], right[1e-2], nearest, norms, largest), (Table(header, rows),), (
        ("when everything is right for the first time the gradient is not zero, even without lambda",
         all(np.linalg.norm(g) > 0.01 for g in left_over)),
        (f"lambda = 0.01: nearest example at {shares[0]:.0%} of the largest distance then, at {shares[1]:.0%} later",
         shares[0] < 0.1 and shares[1] > 0.95),
        (f"lambda = 0: once every gamma y is above 1 nothing moves, at {rows[0][3] / largest:.0%}",
         beyond > 0 and bool(np.all(walks[0.0][0][beyond:] == walks[0.0][0][beyond])) and rows[0][3] < 0.8 * largest),
        ("lambda = 0.01: the norm is multiplied by 1 - eta lambda at each step with all examples beyond the margin",
         bool(shrinks.any()) and np.allclose(factors[shrinks], (1 - eta * 1e-2)[1:][shrinks])),
        ("a larger lambda ends at a smaller norm", all(a[4] > b[4] for a, b in pairwise(rows))),
    ))  # fmt: skip


# Features, support vectors, other costs, more classes --------------------------------------------------------------


def why_translate() -> Shown:
    r"""Whitening, and why to translate as well

    "Whitening features is a very good idea; important to translate as well - why?" (002:302-303). Length and weight of
    400 fish of two kinds, far from the origin. Three answers, each measured.

    *Steps.* A step changes $(\mathbf a, b)$ by the error times $(\mathbf x, 1)$, so what descent feels is the matrix
    $\mathbb E[(\mathbf x, 1)(\mathbf x, 1)^T]$, and the number of steps grows with the ratio of its largest to its
    smallest eigenvalue. Scaling alone leaves it in the thousands: far from the origin all $(\mathbf x, 1)$ point the
    same way. Translation does most; decorrelated features make the matrix the identity. Above: gradient descent on the
    logistic $S$ with the step $1/L$.

    *SGD.* The same for the note's steps, given the best of seven step lengths for each kind of features.

    *Penalty.* With a free $b$ a translation changes neither $\mathbf a$ nor $S$ at the optimum, only the way there.
    With the bias in the penalty (the appended 1 of note 004) it changes the machine: far from the origin a large $b$ is
    needed, and paid for. Shrinking $\mathbf a$ moves the line away from the origin, too (see
    [what a step does](#push-and-turn)); that is harmless if the origin is in the middle of the data.
    """
    (X, y), (X_test, y_test) = data.fish(400, 0), data.fish(4000, 1)
    kinds = {
        "raw": Whitener(center=False, scale=False),
        "scaled": Whitener(center=False),
        "translated": Whitener(scale=False),
        "translated, scaled": Whitener(),
        "decorrelated as well": Whitener(decorrelate=True),
    }
    found = {name: descents.speed(whitener.fit(X).transform(X), y, whitener.transform(X_test), y_test)
             for name, whitener in kinds.items()}  # fmt: skip
    steps = {name: f["steps"] if f["steps"] < descents.LIMIT else f"over {descents.LIMIT}" for name, f in found.items()}
    rows = [(name, f["condition"], steps[name], f["sgd"], f["penalised"], f["free"]) for name, f in found.items()]
    header = ("features", "ratio of eigenvalues", "steps of descent", "accuracy of SGD", "penalised bias", "free bias")
    raw, scaled, moved, both, white = found.values()
    same = abs(raw["S"] - moved["S"]), float(np.abs(raw["a"] - moved["a"]).max())
    return Shown(draw.descent(found), (Table(header, rows),), (
        ("translation changes neither a nor the smallest S when b is free, to 1e-6", max(same) < 1e-6),
        (f"{descents.LIMIT} steps are too few for raw and scaled features, {moved['steps']} enough for translated ones",
         min(raw["steps"], scaled["steps"]) >= descents.LIMIT and moved["steps"] < 0.1 * descents.LIMIT),
        (f"{both['steps']} are enough if they are scaled as well, {white['steps']} if they are decorrelated too",
         white["steps"] < both["steps"] < moved["steps"]),
        ("scaling without translation leaves a ratio above 1000, decorrelation makes it 1",
         scaled["condition"] > 1000 and abs(white["condition"] - 1) < 1e-6),
        (f"2000 steps of SGD: accuracy {raw['sgd']:.2f} raw, {both['sgd']:.2f} translated and scaled",
         both["sgd"] > raw["sgd"] + 0.05),
        (f"penalised bias: accuracy {scaled['penalised']:.2f} scaled, {both['penalised']:.2f} translated as well",
         scaled["penalised"] < both["penalised"] - 0.03),
        ("with a free bias both give the same", abs(scaled["free"] - both["free"]) < 1e-3),
    ))  # fmt: skip


def few_examples() -> Shown:
    r"""Very few examples matter

    In the separable case very few examples decide where the hyperplane is (002:309-316). Fitted again on the support
    vectors alone the machine is the same; without any other example it does not move; without one of the support
    vectors it does. (The cost must be kept as $C$ per example: the $\lambda$ of a *mean* means something else when
    there are fewer examples.)

    The note adds that this extends to other cases, where "a very small set of examples" decides. The first half is
    true: examples beyond the margin never matter. The second is not: every example within the margin or on the wrong
    side is a support vector, so when the classes overlap they are a large share of the data (last picture).
    """
    X, y = data.two_clouds(40, 6.0, seed=3)
    machine = _fit_at_cost(X, y)
    support = machine.support_
    alone = _moved(machine, _fit_at_cost(X[support], y[support]))
    moved = np.array([_moved(machine, _fit_at_cost(np.delete(X, i, axis=0), np.delete(y, i))) for i in range(len(y))])
    dropped = support[moved[support].argmax()]
    others = np.setdiff1d(np.arange(len(y)), support)
    rows = [_overlap(apart) for apart in (6.0, 4.0, 3.0, 2.0, 1.0)]
    figure, (left, middle, right) = panels(2, 1, height=3.3)
    without = _fit_at_cost(np.delete(X, dropped, axis=0), np.delete(y, dropped))
    draw.without(left, X, y, machine, int(dropped), without)
    draw.overlap(right, rows)
    middle.semilogy(np.arange(len(y)), np.maximum(moved, 1e-12), ".", color=GREY, label="other examples (clipped)")
    middle.plot(support, moved[support], "o", color=PALETTE[1], label="support vectors")
    middle.set(xlabel="example left out", ylabel=r"change of $(\mathbf{a}, b)$", ylim=(1e-13, 30))
    middle.set_title("leaving out one example")
    middle.legend(fontsize=9, loc="center left")
    header = ("distance of the means", "support vectors", "with gamma y < 1", "examples")
    return Shown(figure, (Table(header, rows),), (
        (f"{len(support)} of {len(y)} examples alone give the same machine, to 1e-6",
         len(support) < 6 and alone < 1e-6),
        ("leaving out any other example moves nothing, to 1e-6", moved[others].max() < 1e-6),
        ("leaving out any support vector moves the line", moved[support].min() > 1e-3),
        ("there are at least as many support vectors as examples with gamma y < 1", all(r[1] >= r[2] for r in rows)),
        (f"at one deviation between the classes {rows[-1][1] / rows[-1][3]:.0%} of the examples are support vectors",
         rows[-1][1] > 0.5 * rows[-1][3]),
    ))  # fmt: skip


def _fit_at_cost(X: Array, y: Array) -> SVC:
    return SVC(kernel="linear", C=10.0).fit(X, y)


def _moved(one: SVC, two: SVC) -> float:
    return float(np.linalg.norm(np.append(one.coef_ - two.coef_, one.intercept_ - two.intercept_)))


def _overlap(apart: float) -> tuple[float, int, int, int]:
    X, y = data.two_clouds(100, apart, seed=5)
    machine = SVC(kernel="linear", C=1.0).fit(X, y)
    return apart, len(machine.support_), int(np.sum(y * machine.decision_function(X) < 1 - 1e-6)), len(y)


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
    return Shown(draw.both_losses(X, y, pair), (Table(header, rows),), (
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


def wrong_bits() -> Shown:
    r"""Ten classes from machines for two

    Three ways to use binary machines for the ten digits (002:370-380): a machine per bit of the label (the "bad
    option"), one versus one, one versus all. Bits are worst, for two reasons. All four bits must be right, so the
    errors of the machines add up. And each bit asks an odd question: "is the label one of 1, 3, 5, 7, 9?" is no natural
    division of the pictures, so its machine errs more often than those that know one class (right). Some patterns of
    bits are no label at all. That it "doesn't work" is too strong: it works, several times worse.

    "Neither is perfect" of the other two: pairs can tie in their votes; of the machines one versus all, none or several
    may claim an example, which only their scores decide. A machine per bit is repaired by more bits than needed, so
    that wrong ones are outvoted (error-correcting codes, `multi_class="codes"`).
    """
    X, y = data.digits()
    train, test = slice(0, 1200), slice(1200, None)
    ways = {"one versus one": reductions.one_vs_one, "one versus all": reductions.one_vs_all, "bits": reductions.bits}
    accuracy, signs, errors, unknown = {}, {}, {}, 0
    for name, way in ways.items():
        machines: list[LinearSVC] = []
        predicted = way(X[train], y[train], bits.trainer(machines))(X[test])
        accuracy[name] = float(np.mean(predicted == y[test]))
        signs[name] = np.array([machine.decision_function(X[test]) >= 0 for machine in machines])
        errors[name] = bits.errors_of_machines(name, signs[name], y[test])
        unknown = int(np.sum(predicted == -1))
    codes = LinearSVC(loss="hinge", C=1.0, multi_class="codes", code="random").fit(X[train], y[train])
    accuracy["long code"] = float(codes.score(X[test], y[test]))
    every = float(np.mean(np.all(signs["bits"] == bits.of(y[test]), axis=0)))
    claimed = signs["one versus all"].sum(axis=0)
    ties = bits.tied_votes(signs["one versus one"])
    rows = [(name, len(signs[name]) if name in signs else len(codes.coef_), value,
             float(errors[name].mean()) if name in errors else "") for name, value in accuracy.items()]  # fmt: skip
    header = ("way", "machines", "accuracy", "mean error of a machine")
    better = min(accuracy["one versus one"], accuracy["one versus all"])
    return Shown(draw.bits(accuracy, errors), (Table(header, rows),), (
        (f"bits are worst: {1 - accuracy['bits']:.0%} errors, the others at most {1 - better:.0%}",
         1 - accuracy["bits"] > 2 * (1 - better)),
        ("a prediction by bits is right exactly when all four machines are", every == accuracy["bits"]),
        ("every bit's machine errs more often than the mean machine of the other ways",
         errors["bits"].min() > max(errors["one versus one"].mean(), errors["one versus all"].mean())),
        (f"{unknown} of {len(y[test])} bit patterns are no digit", unknown > 0),
        (f"one versus all: {np.sum(claimed == 0)} examples are claimed by no machine, {np.sum(claimed > 1)} by several",
         bool(np.any(claimed == 0) and np.any(claimed > 1))),
        (f"one versus one: {ties} ties for the most votes", ties > 0),
        (f"a random code of {rows[-1][1]} bits gets {accuracy['long code']:.3f}",
         accuracy["long code"] > accuracy["bits"] + 0.05),
    ))  # fmt: skip
