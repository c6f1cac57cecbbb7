"""Support vectors counted against errors (note 004, overfitting and Ockham's razor)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, label, panels
from maxmargin.lectures.page import Shown, Table

CS, GAMMAS = (0.1, 1.0, 10.0, 1000.0), (0.1, 1.0, 10.0, 100.0)


class Counted(NamedTuple):
    """One machine: shares of wrong training, unseen and left-out examples, and of support vectors."""

    C: float
    gamma: float
    train: float
    test: float
    left_out: float
    support: float


def ockham() -> Shown:
    r"""Overfitting and the number of support vectors

    The botanist who calls every new tree no tree (004:801-804) is a machine with a kernel so narrow that away from
    its own examples $f = b$: it knows all training examples and accepts no unseen tree.

    The note bounds the portion of *unseen* data that a machine gets wrong by (number of support vectors) / $n$
    (004:808-813). What can be shown is a bound on the *leave-one-out* error: leaving out an example with
    $\alpha_i = 0$ changes nothing, so only support vectors can turn out wrong. On average over samples it bounds the
    error of machines with one example less; the machine at hand may do worse. In the last picture every machine below
    the line breaks the note's bound, while the means obey it (errors there are exact, from the distribution of the
    data). Nor is the leave-one-out error itself always a good estimate: at $C = 0.1$ all multipliers are at their
    bound, the class of the example left out is then in the minority, and that example is wrong every time.

    Fewer support vectors mean a shorter formula (004:816), not always a better one: on this grid the machine with the
    fewest is not the one with the least error.
    """
    grid = [count(C, gamma) for C in CS for gamma in GAMMAS]
    errors, supports = simulate().T
    wrong, accepted, b = botanist()
    fewest, best = min(grid, key=lambda found: found.support), min(grid, key=lambda found: found.test)
    worst, broken = int(np.argmax(errors - supports)), float(np.mean(errors > supports))
    header = ("C", "gamma", "training error", "unseen", "leave-one-out", "support vectors / n")

    def picture() -> Any:
        figure, (left, middle, right) = panels(2, 1, height=3.3)
        draw_errors_and_support(left, middle, grid)
        draw_bound_and_error(right, errors, supports)
        return figure

    return Shown(picture, (Table(header, [tuple(found) for found in grid]),), (
        (f"the leave-one-out error is at most the share of support vectors, in all {len(grid)} cases",
         all(found.left_out <= found.support for found in grid)),
        ("at C = 0.1 every example left out is wrong, and fewer than half of the unseen",
         all(found.left_out == 1 and found.test < 0.5 for found in grid if found.C == 0.1)),
        (f"{broken:.0%} of the linear machines err more: one {errors[worst]:.0%}, its share is {supports[worst]:.0%}",
         broken > 0.02),
        (f"the means obey: error {errors.mean():.0%}, share {supports.mean():.0%}",
         bool(errors.mean() < supports.mean())),
        (f"the machine with the fewest support vectors has error {fewest.test:.1%}, the best {best.test:.1%} with more",
         fewest.test > best.test and fewest.support < best.support),
        (f"the botanist: training error {wrong:.0%}, {accepted:.0%} of 500 unseen trees accepted, b = {b:.2f}",
         wrong == 0 and accepted < 0.02 and b < 0),
    ))  # fmt: skip


def count(C: float, gamma: float, n: int = 30) -> Counted:
    """Fit a Gaussian machine to n points, to all but one of them in turn, and try it on 4000 others."""
    X, y = data.moons(n, noise=0.3, seed=0)
    Z, labels = data.moons(4000, noise=0.3, seed=1)
    machine = SVC(C=C, gamma=gamma).fit(X, y)
    wrong = [_left_out_is_wrong(i, X, y, C, gamma) for i in range(n)]
    errors = (1 - machine.score(X, y), 1 - machine.score(Z, labels), float(np.mean(wrong)))
    return Counted(C, gamma, *errors, len(machine.support_) / n)


def _left_out_is_wrong(i: int, X: Array, y: Array, C: float, gamma: float) -> bool:
    others = np.arange(len(y)) != i
    return bool(SVC(C=C, gamma=gamma).fit(X[others], y[others]).predict(X[i : i + 1])[0] != y[i])


def simulate(samples: int = 120, n: int = 20, apart: float = 2.4) -> Array:
    """For each of many samples of two Gaussian clouds: the machine's exact error, and its support vectors / n.

    The error needs no test data: w'x + b of a class is normal with variance ||w||^2.
    """
    rng, y, found = np.random.default_rng(0), np.repeat([-1.0, 1.0], n // 2), []
    for _ in range(samples):
        X = rng.normal(size=(n, 2)) + 0.5 * apart * y[:, None] * np.array([1.0, 0.0])
        machine = SVC(kernel="linear", C=1e4).fit(X, y)
        w, b = machine.coef_[0], machine.intercept_[0]
        wrong = norm.cdf((-0.5 * apart * w[0] + b * np.array([-1, 1])) / np.linalg.norm(w))
        found.append((wrong.mean(), len(machine.support_) / n))
    return np.array(found)


def botanist() -> tuple[float, float, float]:
    """A machine so narrow that it knows every tree by heart: its training error, unseen trees it accepts, and b."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat([1.0, -1.0], [20, 40])  # 20 trees, 40 other plants
    X[:20] *= 0.4
    machine = SVC(C=10.0, gamma=1e5).fit(X, y)
    unseen = 0.4 * rng.normal(size=(500, 2))
    return 1 - machine.score(X, y), float(np.mean(machine.predict(unseen) > 0)), float(machine.intercept_[0])


def draw_errors_and_support(left: Any, middle: Any, grid: Any) -> None:
    """Errors of Gaussian machines against their share of support vectors, and against C."""
    share = [found.support for found in grid]
    left.plot(share, [found.left_out for found in grid], "o", ms=6, color=PALETTE[1], alpha=0.8, label="left out")
    left.plot(share, [found.test for found in grid], "s", ms=6, color=PALETTE[0], alpha=0.8, label="unseen")
    left.plot([0, 1], [0, 1], color=INK, lw=1, ls="--")
    limits: Any = {"xlim": (0.2, 1.04), "ylim": (-0.03, 1.04)}
    label(left, "support vectors / n", "error", "16 Gaussian machines, n = 30", **limits)
    left.legend(fontsize=9, loc="upper left")
    for gamma, colour in zip(GAMMAS, PALETTE, strict=False):
        here = [found for found in grid if found.gamma == gamma]
        Cs = [found.C for found in here]
        middle.semilogx(Cs, [found.test for found in here], "o-", color=colour, label=f"$\\gamma$ = {gamma:g}")
        middle.semilogx(Cs, [found.train for found in here], "s--", color=colour, ms=4, lw=1)
    label(middle, "C", "error", "unseen (solid) and training (dashed)", ylim=(-0.02, 0.62))
    middle.legend(fontsize=9, ncols=2, loc="upper right")


def draw_bound_and_error(axes: Any, errors: Any, supports: Any) -> None:
    """Linear machines of many samples: exact error against the note's bound."""
    jitter = np.random.default_rng(1).uniform(-0.008, 0.008, len(errors))
    axes.scatter(errors, supports + jitter, s=10, color=np.where(errors > supports, PALETTE[4], GREY))
    axes.plot(errors.mean(), supports.mean(), "*", ms=14, color=INK, label="means")
    axes.plot([0, 0.4], [0, 0.4], color=INK, lw=1, ls="--")
    label(axes, "exact error", "support vectors / n", f"{len(errors)} linear machines, n = 20")
    axes.legend(fontsize=9, loc="upper right")
