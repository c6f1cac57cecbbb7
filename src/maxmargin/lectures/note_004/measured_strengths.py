"""What note 004 counts among the strengths and weaknesses of support vector machines, measured."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.datasets import make_circles
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, field, frame, label, line, panels, plane, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.report.plots import COLOURS


def strengths() -> Shown:
    r"""Strengths and weaknesses, measured

    The list of 004:784-794, one panel for each:

    - *No local optimum*: from rows in ten orders, and continued from ten other values of $C$, the machine ends at one
      objective; a network with two hidden units, trained from ten random starts, ends at several.
    - *High dimension*: the dual has as many variables as there are examples, however many features. 1000 features of
      noise beside two good ones cost accuracy, but less than they cost the nearest neighbour.
    - *Tradeoff controlled explicitly*: as $C$ grows the margin shrinks and so does the sum of slacks, always.
    - *Strings as input*: a kernel that counts common triples of letters is all that the machine needs.
    - *Inherent feature selection* is not so: with $\frac12\|w\|^2$ no weight is exactly zero, useless features
      included. Of the machine with $\|w\|_1$ (`penalty="l1"`) it is true.
    - *Need to choose a good kernel*: two rings and a linear kernel, little better than chance.
    """
    objectives, networks = objectives_of_machines(), losses_of_networks()
    noise = with_noise_features()
    (few, ours, nearest), (Cs, margin, slack) = np.transpose(noise), margin_against_slack().T
    reader = SVC(kernel=common_triples, C=0.1).fit(*strands(40, seed=0))
    unseen, labels = strands(100, seed=1)
    read = float(reader.score(unseen, labels))
    weights, (X, y, linear, gaussian) = weights_by_penalty(), rings()
    zeros = {name: int(np.sum(w == 0)) for name, w in weights.items()}
    on_rings = [float(machine.score(X, y)) for machine in (linear, gaussian)]

    def picture() -> Any:
        figure, axes = panels(2, 2, 2, height=3.0)
        draw_starts(axes[0], objectives, networks)
        draw_noise_features(axes[1], few, ours, nearest)
        draw_tradeoff(axes[2], Cs, margin, slack)
        draw_strands(axes[3], reader.decision_function(unseen), labels)
        draw_sorted_weights(axes[4], weights)
        draw_rings(axes[5], X, y, linear, gaussian)
        return figure

    return Shown(picture, (Table(("features of noise", "linear machine", "nearest neighbour"), noise),), (
        (f"{len(objectives)} starts of the machine end within 1e-6 of one objective",
         bool(np.ptp(objectives) < 1e-6 * objectives.mean())),
        (f"{len(networks)} starts of the network end at losses from {networks.min():.2f} to {networks.max():.2f}",
         bool(networks.max() > 1.5 * networks.min())),
        (f"with 1000 features of noise the machine still has {ours[-1]:.0%}, the nearest neighbour {nearest[-1]:.0%}",
         bool(ours[-1] > nearest[-1] + 0.05)),
        ("with growing C neither the margin nor the sum of slacks ever grows",
         bool(np.all(np.diff(margin) <= 1e-6) and np.all(np.diff(slack) <= 1e-6))),
        (f"strings: {read:.1%} of 200 unseen strands, certified to {reader.certificate_.relative_gap:.0e}",
         read > 0.95 and reader.certificate_.relative_gap < 1e-6),
        (f"of 60 weights {zeros['l2']} are zero with l2 and {zeros['l1']} with l1",
         zeros["l2"] == 0 and zeros["l1"] >= 30),
        (f"rings: the linear kernel has {on_rings[0]:.0%}, the Gaussian {on_rings[1]:.0%}",
         on_rings[0] < 0.7 and on_rings[1] == 1),
    ))  # fmt: skip


def objectives_of_machines(starts: int = 10) -> Array:
    """The certified optimum from rows in random orders, and continued from machines with other values of C."""
    X, y = data.moons(120, noise=0.2, seed=3)
    found = []
    for seed in range(starts):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        found.append(SVC(C=10.0, gamma=1.0, random_state=seed).fit(X[order], y[order]).certificate_.primal)
        warm = SVC(C=10.0 ** rng.uniform(-2, 3), gamma=1.0, warm_start=True).fit(X, y)
        found.append(warm.set_params(C=10.0).fit(X, y).certificate_.primal)
    return np.array(found)


def losses_of_networks(starts: int = 10) -> Array:
    """Where training ends for a network of two hidden units, from random weights; each end is stationary."""
    X, y = data.moons(120, noise=0.2, seed=3)
    network = MLPClassifier((2,), activation="tanh", solver="lbfgs", alpha=1e-2, tol=1e-6, max_iter=5000)
    return np.array([network.set_params(random_state=seed).fit(X, y).loss_ for seed in range(starts)])


def with_noise_features(counts: tuple[int, ...] = (0, 10, 100, 1000)) -> list[tuple[int, float, float]]:
    """Accuracies of the linear machine and of the nearest neighbour as features of pure noise are added to two."""
    X, y = data.two_clouds(50, apart=4.0, seed=0)
    Z, labels = data.two_clouds(250, apart=4.0, seed=1)
    rng = np.random.default_rng(2)
    noise, more = rng.normal(size=(len(X), max(counts))), rng.normal(size=(len(Z), max(counts)))
    rows = []
    for count in counts:
        seen, unseen = np.hstack([X, noise[:, :count]]), np.hstack([Z, more[:, :count]])
        models = SVC(kernel="linear", C=0.1), KNeighborsClassifier(1)
        machine, nearest = (float(model.fit(seen, y).score(unseen, labels)) for model in models)
        rows.append((count, machine, nearest))
    return rows


def margin_against_slack() -> Array:
    """For values of C, in rows: C, the margin 1/||w|| and the sum of slacks of the machine with that C."""
    (X, y), found = data.two_clouds(60, apart=2.0), []
    for C in np.geomspace(1e-3, 1e2, 16):
        machine = SVC(kernel="linear", C=C).fit(X, y)
        found.append((C, machine.margin_, np.maximum(0, 1 - y * machine.decision_function(X)).sum()))
    return np.array(found)


def common_triples(s: str, t: str) -> float:
    """A kernel of strings: the inner product of their counts of three letters in a row."""
    left, right = (Counter(word[i : i + 3] for i in range(len(word) - 2)) for word in (s, t))
    return float(sum(times * right[triple] for triple, times in left.items()))


def strands(n: int, seed: int) -> tuple[list[str], Array]:
    """Random strands of 24 letters, n with TATAAA somewhere (+1) and n with CCGGAA (-1)."""
    rng, words = np.random.default_rng(seed), []
    for motif in n * ["TATAAA"] + n * ["CCGGAA"]:
        letters, at = "".join(rng.choice(list("ACGT"), 24)), rng.integers(19)
        words.append(letters[:at] + motif + letters[at + 6 :])
    return words, np.repeat([1.0, -1.0], n)


def weights_by_penalty() -> dict[str, Array]:
    """Weights of the linear machine on breast cancer data with 30 features of noise added, for both penalties."""
    X, y = data.cancer()
    noisy = np.hstack([X, np.random.default_rng(0).normal(size=X.shape)])
    return {penalty: LinearSVC(penalty=penalty, C=0.05).fit(noisy, y).coef_[0] for penalty in ("l2", "l1")}


def rings() -> tuple[Array, Array, SVC, SVC]:
    """Two rings, and the machines of the wrong kernel and of a right one."""
    X, y = (np.asarray(part) for part in make_circles(160, factor=0.5, noise=0.08, random_state=0))
    return X, y, SVC(kernel="linear").fit(X, y), SVC(kernel="rbf", gamma=1.0).fit(X, y)


def draw_starts(axes: Any, objectives: Any, networks: Any) -> None:
    """Where machine and network end, from many starts."""
    named = {"network, 10 starts": (networks, "s", PALETTE[1]), "machine, 20 starts": (objectives, "o", PALETTE[0])}
    for name, (values, shape, colour) in named.items():
        ends = np.sort(values) / values.min()
        axes.plot(np.linspace(0, 1, len(values)), ends, shape, ms=5, color=colour, label=name)
    label(axes, "starts, best first", "objective / best", "no local optimum", xticks=[])
    axes.legend(fontsize=9, loc="upper left")


def draw_noise_features(axes: Any, counts: Any, machine: Any, nearest: Any) -> None:
    """Accuracy against the number of useless features."""
    axes.plot(counts + 1, machine, "o-", color=PALETTE[0], label="linear machine")
    axes.plot(counts + 1, nearest, "s-", color=PALETTE[1], label="nearest neighbour")
    label(axes, "features of noise, plus 1", "accuracy, unseen", "high dimension, 100 examples", xscale="log")
    axes.legend(fontsize=9)


def draw_tradeoff(axes: Any, Cs: Any, margin: Any, slack: Any) -> None:
    """The margin against the sum of slacks, as C varies."""
    axes.plot(slack, margin, "o-", color=PALETTE[2], ms=4)
    for k, side in ((0, "right"), (len(Cs) // 3, "left"), (-1, "left")):
        axes.text(slack[k], margin[k], f"  C = {Cs[k]:.3g}  ", ha=side, va="center", fontsize=9)
    label(axes, "sum of slacks", "margin $1/\\|w\\|$", "C trades margin for slack", yscale="log")


def draw_strands(axes: Any, f: Any, signs: Any) -> None:
    """Decision values of strings of both kinds."""
    for sign, motif, colour in ((-1, "CCGGAA", COLOURS[0]), (1, "TATAAA", COLOURS[1])):
        axes.hist(f[signs == sign], np.linspace(-4, 4, 33), color=colour, alpha=0.7, label=f"strands with {motif}")
    label(axes, "f", "unseen strands", "strings, common triples", ylim=(0, 30))
    axes.legend(fontsize=9, loc="upper left")


def draw_sorted_weights(axes: Any, weights: dict[str, Any]) -> None:
    """Absolute weights, largest first, for each penalty."""
    for (name, w), colour in zip(weights.items(), PALETTE, strict=False):
        axes.semilogy(np.maximum(np.sort(np.abs(w))[::-1], 1e-5), ".-", color=colour, label=f"penalty {name}")
    label(axes, "features, largest weight first", "|weight|, zero at the bottom", "feature selection needs l1")
    axes.legend(fontsize=9)


def draw_rings(axes: Any, X: Any, y: Any, linear: Any, gaussian: Any) -> None:
    """The line that a linear kernel finds, and the circle of a Gaussian one."""
    frame(axes, X)
    field(axes, gaussian.decision_function, levels=(0,))
    line(axes, linear.coef_[0], linear.intercept_[0], color=PALETTE[4])
    points(axes, X, y, size=12)
    plane(axes, "line and Gaussian kernel on rings")
