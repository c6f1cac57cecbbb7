"""Bias, variance and irreducible error (note 002), in a world that is known.

20 normal features, of which two matter: the label is +1 above a parabola and -1 below it, and some are flipped.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures.drawing import GREY, INK, PALETTE, panels
from maxmargin.lectures.note_002 import linear_machines as linear
from maxmargin.lectures.page import Shown, Table

FLIPPED = 0.1  # share of the labels, wrong whatever one predicts


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
    best = best_line_error()
    lams, sizes = np.logspace(-4, 1, 6), np.array([30, 100, 300, 1000])
    sets = [examples(60, rng) for _ in range(20)]
    by_lam = [errors_trained(sets, lam) for lam in lams]
    by_size = [errors_trained([examples(n, rng) for _ in range(20)], 0.1) for n in sizes]
    price_paid = [error(*endless(lam)) for lam in lams]
    bias = best - FLIPPED
    rows = [(lam, FLIPPED, bias, errors.mean() - best, price - best, errors.mean() - price, errors.mean(),
             fresh.mean())
            for lam, price, (errors, fresh) in zip(lams.tolist(), price_paid, by_lam, strict=True)]  # fmt: skip
    variances, prices, chances = np.array([row[3:6] for row in rows]).T
    header = ("lambda", "irreducible", "bias", "variance", "of it price of lambda (endless data)", "of it chance",
              "error", "on 20000 fresh examples")  # fmt: skip
    every = [errors.min() for errors, _ in by_lam + by_size]

    def picture() -> Any:
        figure, (left, right) = panels(2)
        draw_stack(left, lams, [errors.mean() for errors, _ in by_lam], best)
        left.plot(lams, price_paid, "--", color=INK, lw=1.5, label="endless data")
        left.set(xlabel=r"$\lambda$", ylabel="error on future data", title="60 examples")
        left.legend(fontsize=9, loc="upper left")
        draw_stack(right, sizes, [errors.mean() for errors, _ in by_size], best)
        right.axhline(error(*endless(0.1)), ls="--", color=INK, lw=1.5)
        right.set(xlabel="examples", ylabel="error on future data", title=r"$\lambda = 0.1$")
        right.set_xticks(sizes, sizes.astype(str))
        right.set_xticks([], minor=True)
        return figure

    return Shown(picture, (Table(header, rows),), (
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


def draw_stack(axes: Any, x: Array, errors: list[float], best: float) -> None:
    """The parts of the error, one on the other."""
    parts = [np.full(len(x), FLIPPED), np.full(len(x), best - FLIPPED), np.array(errors) - best]
    axes.stackplot(x, parts, labels=["irreducible", "bias", "variance"], colors=[GREY, *PALETTE[:2]], alpha=0.6)
    axes.set(xscale="log", xlim=(x[0], x[-1]), ylim=(0, 0.62))


def parabola(x: Array) -> Array:
    """x_2 on the border between the better labels."""
    return 0.6 * (x**2 - 1)


def examples(n: int, rng: Any) -> tuple[Array, Array]:
    """n examples."""
    X = rng.normal(size=(n, 20))
    return X, np.where(X[:, 1] > parabola(X[:, 0]), 1.0, -1.0) * np.where(rng.random(n) < FLIPPED, -1, 1)


def normal_nodes(n: int) -> Array:
    """Values of a standard normal variable, each of probability 1/n."""
    return ndtri((np.arange(n) + 0.5) / n)


def error(a: Array, b: float) -> float:
    """Of sign(a'x + b): quadrature over x_1 and over the part of a'x that comes from features without meaning."""
    x_1, noise = normal_nodes(300)[:, None], normal_nodes(40)[None, :] * np.linalg.norm(a[2:])
    line_at = -(a[0] * x_1 + noise + b) / a[1]  # predicted label changes there, the better label at the parabola
    differ = np.abs(ndtr(line_at) - ndtr(parabola(x_1))).mean()
    return float(FLIPPED + (1 - 2 * FLIPPED) * (differ if a[1] > 0 else 1 - differ))


def best_line_error() -> float:
    """Weights on features without meaning only mix lines of several b, so two weights are enough."""
    starts = ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0))
    found = [minimize(lambda u: error(np.array([u[0], 1.0]), u[1]), start, method="Nelder-Mead") for start in starts]
    return float(min(result.fun for result in found))


def endless(lam: float) -> tuple[Array, float]:
    """The machine of the whole distribution: a grid of equally probable points, each with both labels."""
    X = np.stack(np.meshgrid(normal_nodes(60), normal_nodes(60)), axis=-1).reshape(-1, 2)
    better = np.where(X[:, 1] > parabola(X[:, 0]), 1.0, -1.0)
    weights = np.repeat([1 - FLIPPED, FLIPPED], len(X))
    machine = LinearSVC(loss="hinge", lam=lam).fit(np.vstack([X, X]), np.append(better, -better), weights)
    return machine.coef_[0], float(machine.intercept_[0])


def errors_trained(sets: list[tuple[Array, Array]], lam: float) -> tuple[Array, Array]:
    """Of the machine of every training set: the error by quadrature, and on fresh examples."""
    machines = [linear.hinge_machine(X, y, lam) for X, y in sets]
    fresh = examples(20_000, np.random.default_rng(1))
    return np.array([error(*m) for m in machines]), np.array([1 - linear.accuracy(*m, *fresh) for m in machines])
