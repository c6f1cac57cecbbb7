r"""Regression: a tube around the data

"SVM techniques have been extended to a number of tasks such as regression" (004:825). Support vector regression fits a
function $f(x) = w^T\phi(x) + b$ as flat as it can be ($\frac12\|w\|^2$ small) with errors below $\varepsilon$ for
nothing and a cost $C$ for what lies outside of that tube:

$$\min_{w, b}\ \tfrac12\|w\|^2 + C\sum_i\max(0, |y_i - f(x_i)| - \varepsilon).$$

Its dual has one multiplier per example, $-C\le\beta_i\le C$ with $\sum_i\beta_i = 0$ and a price
$\varepsilon\sum_i|\beta_i|$, and the same conditions of optimality as the classifier: an example inside the tube has
$\beta_i = 0$, one outside $|\beta_i| = C$. The machines for work are `SVR`, `NuSVR` and `LinearSVR`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVR
from maxmargin.kernels import RBF
from maxmargin.lectures.drawing import GREY, INK, PALETTE, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.losses import EpsilonInsensitive, Huber, SquaredEpsilonInsensitive

GRID = np.linspace(-4.0, 4.0, 400)[:, None]
KERNEL = RBF(sigma=1.0)


def wave(n: int, seed: int, noise: float = 0.2) -> tuple[Array, Array]:
    """n points of sin(x) + x/4 with normal noise."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-4, 4, n))
    return x[:, None], truth(x) + noise * rng.normal(size=n)


def truth(x: Array) -> Array:
    """The function behind the points."""
    return np.sin(x) + 0.25 * x


def regression_tube() -> Shown:
    r"""The tube and its support vectors

    Sixty noisy points of $\sin x + x/4$, a Gaussian kernel, $C = 10$. Circles mark the support vectors: those on the
    border of the tube (they hold it, $0 < |\beta_i| < C$) and those outside ($|\beta_i| = C$). All others could be
    taken away without any change of $f$. A wider tube leaves fewer of them and a flatter function: the solution is as
    sparse as $\varepsilon$ allows.
    """
    X, y = wave(60, seed=0)
    widths = (0.1, 0.3, 0.6)
    machines = [SVR(kernel=KERNEL, C=10.0, epsilon=width).fit(X, y) for width in widths]
    counts = [len(machine.support_) for machine in machines]
    middle, width = machines[1], widths[1]
    error = y - middle.predict(X)
    beta = np.zeros(len(y))
    beta[middle.support_] = middle.dual_coef_[0]
    inside, outside = np.abs(error) < width - 1e-6, np.abs(error) > width + 1e-6
    again = SVR(kernel=KERNEL, C=10.0, epsilon=width).fit(X[middle.support_], y[middle.support_])
    rows = [
        (w, k, float(1.0 / m.certificate_.norm**2), float(m.certificate_.gap))
        for w, k, m in zip(widths, counts, machines, strict=True)
    ]

    def picture() -> Any:
        figure, axes = panels(3, height=3.0)
        for here, machine, w in zip(axes, machines, widths, strict=True):
            draw_tube(here, machine, X, y, w)
        return figure

    table = Table(("epsilon", "support vectors", "1 / ||w||^2", "certified gap"), rows)
    return Shown(picture, (table,), (
        ("no point strictly inside the tube has a multiplier", bool(np.all(beta[inside] == 0.0))),
        ("every point outside has |beta| = C", bool(np.allclose(np.abs(beta[outside]), 10.0))),
        ("the multipliers add up to zero", abs(float(beta.sum())) < 1e-9),
        ("fitted to its support vectors alone the function is the same, to 1e-6",
         bool(np.allclose(again.predict(GRID), middle.predict(GRID), atol=1e-6))),
        ("a wider tube has fewer support vectors", counts[0] > counts[1] > counts[2]),
        ("and smaller weights", bool(np.all(np.diff([m.certificate_.norm for m in machines]) < 0))),
    ))  # fmt: skip


def draw_tube(axes: Any, machine: SVR, X: Array, y: Array, width: float) -> None:
    """The function, its tube, the points, and circles around those that hold it."""
    f = machine.predict(GRID)
    axes.fill_between(GRID[:, 0], f - width, f + width, color=PALETTE[0], alpha=0.15, lw=0)
    axes.plot(GRID[:, 0], f, color=PALETTE[0], lw=1.8)
    axes.plot(GRID[:, 0], truth(GRID[:, 0]), color=GREY, lw=1.0, ls="--")
    axes.scatter(X[:, 0], y, s=9, color=INK, zorder=3)
    axes.scatter(X[machine.support_, 0], y[machine.support_], s=42, facecolor="none", edgecolor=PALETTE[1], lw=1.1)
    label(axes, "x", "y", f"$\\varepsilon$ = {width}: {len(machine.support_)} of {len(y)}")


def losses_of_numbers() -> Shown:
    r"""Three losses, and one wild point in ten

    The same points, but every tenth target is moved far away. What a loss does with large errors decides: the square
    of what lies outside the tube follows the wild points, the tube's own loss and Huber's (a parabola that goes on as
    a line) hardly notice them. All three are the same quadratic program with other boxes: $|\beta_i|\le C$; no bound
    and $1/(2C)$ on the diagonal of $K$; both a bound and $\delta/C$.
    """
    X, y = wave(120, seed=1)
    wild = np.arange(120) % 10 == 5
    moved = np.where(wild, y + 6.0, y)
    losses = {
        "epsilon-insensitive": EpsilonInsensitive(0.2),
        "its square": SquaredEpsilonInsensitive(0.2),
        "Huber": Huber(0.5, 0.0),
    }
    machines = {name: SVR(kernel=KERNEL, C=5.0, loss=loss).fit(X, moved) for name, loss in losses.items()}
    off = {name: float(np.sqrt(np.mean((m.predict(GRID) - truth(GRID[:, 0])) ** 2))) for name, m in machines.items()}
    gaps = [m.certificate_.relative_gap for m in machines.values()]

    def picture() -> Any:
        figure, (axes,) = panels(1, width=6.0)
        axes.scatter(X[:, 0], moved, s=9, color=INK, zorder=3)
        axes.plot(GRID[:, 0], truth(GRID[:, 0]), color=GREY, lw=1.2, ls="--", label="behind the points")
        for (name, machine), colour in zip(machines.items(), PALETTE, strict=False):
            axes.plot(GRID[:, 0], machine.predict(GRID), color=colour, lw=1.8, label=name)
        label(axes, "x", "y", "every tenth point is 6 too high")
        axes.legend(fontsize=9, loc="center right", bbox_to_anchor=(1.0, 0.64))
        return figure

    table = Table(("loss", "root mean square distance to the truth"), list(off.items()))
    return Shown(picture, (table,), (
        ("the square is pulled off by more than 0.5", off["its square"] > 0.5),
        ("the tube's loss stays within 0.2", off["epsilon-insensitive"] < 0.2),
        ("and so does Huber's", off["Huber"] < 0.2),
        ("all three are certified to a relative gap of 1e-8", max(gaps) < 1e-8),
    ))  # fmt: skip


def prediction_bands() -> Shown:
    r"""Intervals that keep their promise

    A function says nothing about how sure it is. `SVR(intervals=True)` fits the machine again without each of five
    folds, on the same kernel matrix; what those machines are off by on rows that they have not seen gives intervals
    with a promised coverage, whatever the noise looks like (cross-conformal prediction). Here they are held against
    ten thousand fresh points, for a good machine and for a bad one: the bad one keeps its promise with wider intervals.
    """
    X, y = wave(300, seed=2)
    fresh_x, fresh_y = wave(10_000, seed=3)
    machines = {"sigma = 1": SVR(kernel=KERNEL, C=10.0, intervals=True).fit(X, y),
                "linear": SVR(kernel="linear", C=10.0, intervals=True).fit(X, y)}  # fmt: skip
    rows, kept, widths = [], [], {}
    for name, machine in machines.items():
        for coverage in (0.5, 0.8, 0.9, 0.95):
            lower, upper = machine.predict_interval(fresh_x, coverage).T
            share, size = float(np.mean((lower <= fresh_y) & (fresh_y <= upper))), float(np.mean(upper - lower))
            rows.append((name, coverage, share, size))
            kept.append(abs(share - coverage) < 0.05)
            widths[name, coverage] = size

    def picture() -> Any:
        figure, axes = panels(2, height=3.2)
        for here, (name, machine) in zip(axes, machines.items(), strict=True):
            lower, upper = machine.predict_interval(GRID, 0.9).T
            here.fill_between(GRID[:, 0], lower, upper, color=PALETTE[2], alpha=0.2, lw=0, label="90 %")
            here.plot(GRID[:, 0], machine.predict(GRID), color=PALETTE[2], lw=1.6)
            here.scatter(fresh_x[::40, 0], fresh_y[::40], s=5, color=INK)
            label(here, "x", "y", name, ylim=(-2.6, 2.6))
        axes[0].legend(fontsize=9, loc="upper left")
        return figure

    table = Table(("machine", "promised", "covered", "mean width"), rows)
    return Shown(picture, (table,), (
        ("every promise is kept to within 5 %, the linear machine's too", all(kept)),
        ("the linear machine pays with intervals twice as wide", widths["linear", 0.9] > 2 * widths["sigma = 1", 0.9]),
    ))  # fmt: skip


DEMONSTRATIONS = (regression_tube, losses_of_numbers, prediction_bands)
