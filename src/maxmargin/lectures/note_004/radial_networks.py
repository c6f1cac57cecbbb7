"""Radial basis function networks whose centres are support vectors, random examples or means (note 004:421)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.kernels import RBF
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, boundary, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.report.plots import COLOURS
from maxmargin.textbook import dual_ascent, kernels


def rbf_network() -> Shown:
    r"""A Gaussian machine read as a network

    A radial basis function network has hidden units $\exp(-\|x - c_j\|^2/(2\sigma^2))$ and a linear output. The
    decision function of a Gaussian machine *is* one: its centres are the support vectors, its output weights
    $\alpha_iy_i$ and $b$ (004:274, 421). Computed as hidden layer and output it agrees with `decision_function`. So
    does the sum that algorithm 23.1 decides with (`dual_ascent.decide`), but for $b$, which a Gaussian machine of that
    algorithm has not.

    That the centres are chosen automatically does not make them the best ones: networks with a logistic output and
    random or k-means centres of the same number are as accurate to within two percent, and ten well-placed centres
    already do. Support vectors lie near the border; they are many because the sum of slacks, not the number of units,
    is minimised.
    """
    train, test, sigma = data.moons(200, 0.25, seed=3), data.moons(2000, 0.25, seed=4), 0.5
    X, probe = train[0], test[0][:200]
    machine = SVC(kernel=RBF(sigma=sigma), C=1.0).fit(*train)
    k, b, ours = len(machine.support_), machine.intercept_[0], float(machine.score(*test))
    weights, f = machine.dual_coef_[0], machine.decision_function(probe)
    by_hand = network(probe, machine.support_vectors_, weights, b, sigma)
    without_b = dual_ascent.decide(probe, machine.support_vectors_, np.sign(weights), np.abs(weights),
                                   kernels.gaussian(sigma))  # fmt: skip
    draws, random, means = range(10), {}, {}
    for count in (3, 5, 10, 20, k):
        chosen = [random_centres(X, count, seed) for seed in draws]
        random[count] = [accuracy(some, sigma, train, test) for some in chosen]
        means[count] = accuracy(mean_centres(X, count), sigma, train, test)
    rows = [(c, f"{np.mean(random[c]):.1%}", f"{means[c]:.1%}", f"{ours:.1%}" if c == k else "") for c in means]

    def picture() -> Any:
        figure, (left, right) = panels(2)
        draw_centres(left, machine, *train)
        draw_worth_of_centres(right, random, means, (k, ours))
        return figure

    return Shown(picture, (Table(("centres", "random", "k-means", "support vectors"), rows),), (
        ("hidden layer and linear output give decision_function, to 1e-6", bool(np.allclose(by_hand, f, atol=1e-6))),
        (f"the sum of algorithm 23.1 gives it less b = {b:.3f}, to 1e-6",
         bool(np.allclose(without_b, f - b, atol=1e-6))),
        (f"with {k} centres each, the three networks are within 2 % of each other",
         bool(np.ptp([ours, means[k], np.mean(random[k])]) < 0.02)),
        ("ten k-means centres are within 2 % of the machine", abs(means[10] - ours) < 0.02),
    ))  # fmt: skip


def network(Z: Array, centres: Array, weights: Array, b: float, sigma: float) -> Array:
    """The hidden layer's outputs exp(-||z - c_j||^2 / (2 sigma^2)), and a linear output of them."""
    return kernels.gaussian(sigma)(Z, centres) @ weights + b


def accuracy(centres: Array, sigma: float, train: tuple[Array, Array], test: tuple[Array, Array]) -> float:
    """Of the network with these centres and a logistic output layer."""
    hidden = kernels.gaussian(sigma)
    output = LogisticRegression(max_iter=5000).fit(hidden(train[0], centres), train[1])
    return float(output.score(hidden(test[0], centres), test[1]))


def random_centres(X: Array, k: int, seed: int) -> Array:
    """Some k of the examples."""
    return X[np.random.default_rng(seed).choice(len(X), k, replace=False)]


def mean_centres(X: Array, k: int) -> Array:
    """The means of k clusters."""
    return KMeans(k, random_state=0).fit(X).cluster_centers_


def draw_centres(axes: Any, machine: Any, X: Any, y: Any) -> None:
    """Support vectors as circles whose area is alpha."""
    boundary(axes, machine, X, y, f"{len(machine.support_)} centres, area by $\\alpha_i$")
    weights = machine.dual_coef_[0]
    for sign, colour in zip((-1, 1), COLOURS, strict=True):
        here, size = np.sign(weights) == sign, 140 * np.abs(weights)
        axes.scatter(*machine.support_vectors_[here].T, s=size[here], facecolor="none", edgecolor=colour, lw=1.3)


def draw_worth_of_centres(
    axes: Any, random: dict[int, Any], means: dict[int, float], machine: tuple[int, float]
) -> None:
    """Accuracy against the number of centres, for three ways to choose them."""
    average, spread = ([f(random[c]) for c in random] for f in (np.mean, np.std))
    style: Any = {"fmt": "o-", "capsize": 3, "color": PALETTE[0]}
    axes.errorbar(list(random), average, spread, label="random centres, 10 draws", **style)
    axes.plot(list(means), list(means.values()), "s-", color=PALETTE[2], label="k-means centres")
    axes.plot(*machine, "*", ms=15, color=PALETTE[1], label="support vectors")
    label(axes, "centres", "accuracy on 2000 unseen points", "what the choice of centres is worth")
    axes.legend(fontsize=9, loc="lower right")
