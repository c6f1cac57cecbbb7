r"""Note 000: linear soft margin machines

"Lecture 11: Linear soft margin support vector machines" (P. Felzenszwalb; scribes D. Xiang and T. D. Devlin). The
objective is $F(w) = \frac12\|w\|^2 + C\sum_i \max\{0, 1 - y_i w^Tx_i\}$, labels are $-1$ and $+1$, there is no bias.
The algorithms are in `maxmargin.textbook.gradient_descent` and `maxmargin.textbook.multiclass`, the machine for work is
`LinearSVC(fit_intercept=False)`.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

from maxmargin.bayes import GaussianNB
from maxmargin.core.rows import Array
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.preprocessing import Whitener
from maxmargin.report.plots import draw_regions
from maxmargin.textbook import gradient_descent, multiclass, newton


def losses() -> Shown:
    r"""The hinge loss and its relatives

    $H(w, x, y) = \max\{0, 1 - y w^Tx\}$ is zero only where an example lies on its own side *and* beyond the margin. Its
    derivative with respect to $w$ is $0$ where $y w^Tx \ge 1$ and $-yx$ elsewhere; at the kink the note takes $0$.
    Beside it: its square (p = 2 of note 003), the logistic loss of note 002 and the number of mistakes, which all of
    them bound (the logistic one when divided by $\ln 2$).
    """
    t = np.linspace(-2, 3, 501)
    hinge = gradient_descent.H(np.ones(1), t[:, None], 1.0)
    mistakes = (t < 0) * 1.0
    logistic = newton.cost(t, "logistic")[0] / np.log(2)
    curves = {"hinge": hinge, "squared hinge": hinge**2, "logistic / ln 2": logistic, "mistakes": mistakes}
    figure, (left, right) = panels(2)
    for (name, values), colour in zip(curves.items(), PALETTE, strict=False):
        left.plot(t, values, label=name, color=colour, lw=2)
    left.set(xlabel="$y\\,w^Tx$", ylabel="loss", ylim=(-0.1, 4), title="losses of one example")
    left.legend(fontsize=9)
    right.plot(t, np.where(t < 1, -1.0, 0.0), color=PALETTE[0], lw=2, label="hinge")
    right.plot(t, newton.cost(t, "squared_hinge")[1], color=PALETTE[1], lw=2, label="squared hinge")
    right.plot(t, newton.cost(t, "logistic")[1] / np.log(2), color=PALETTE[2], lw=2, label="logistic / ln 2")
    right.set(xlabel="$y\\,w^Tx$", ylabel="derivative", ylim=(-4, 0.3), title="their slopes: only the hinge's jumps")
    right.legend(fontsize=9)
    bounds = all(np.all(values >= mistakes - 1e-12) for values in curves.values())
    at_kink = gradient_descent.gradient_of_H(np.ones(1), np.ones(1), 1.0)[0]
    return Shown(figure, claims=(
        ("hinge, squared hinge and logistic / ln 2 are nowhere below the number of mistakes", bounds),
        ("at the kink the note's derivative is 0", at_kink == 0),
    ))  # fmt: skip


def convexity() -> Shown:
    r"""Convexity, checked along segments

    $F(\alpha w_1 + (1-\alpha)w_2) \le \alpha F(w_1) + (1-\alpha)F(w_2)$ holds because sums and maxima of convex
    functions are convex. Here it is measured: for 200 pairs $(w_1, w_2)$ and 21 values of $\alpha$ the chord minus the
    function is never negative, for both joint objectives of several classes as well. The number of mistakes fails the
    same test.
    """
    X, y = data.cancer()
    rng, alphas = np.random.default_rng(0), np.linspace(0, 1, 21)

    def least(F, shape):
        chords = []
        for _ in range(200):
            one, two = rng.normal(size=shape), rng.normal(size=shape)
            ends = F(one), F(two)
            chords.append([a * ends[0] + (1 - a) * ends[1] - F(a * one + (1 - a) * two) for a in alphas])
        return np.array(chords)

    labels = np.arange(len(y)) % 3
    functions = {
        "F, hinge": (lambda w: gradient_descent.F(w, X, y, 1.0), 30),
        "joint, maximum": (lambda W: multiclass.F(W, X, labels, 1.0, "max"), (3, 30)),
        "joint, sum": (lambda W: multiclass.F(W, X, labels, 1.0, "sum"), (3, 30)),
        "number of mistakes": (lambda w: float(np.sum(y * (X @ w) <= 0)), 30),
    }
    found = {name: least(F, shape) for name, (F, shape) in functions.items()}
    figure, axes = panels(2, 2, height=3.0)
    for ax, (name, chords) in zip(axes, found.items(), strict=True):
        ax.plot(alphas, chords[:40].T, color=GREY, lw=0.7)
        ax.axhline(0, color=INK, lw=1)
        ax.set(title=name, xlabel="$\\alpha$", ylabel="chord minus function")
    rows = [(name, float(chords.min()), float(chords.max())) for name, chords in found.items()]
    smallest = {name: low for name, low, _ in rows}
    convex = all(low > -1e-8 for name, low in smallest.items() if name != "number of mistakes")
    return Shown(figure, (Table(("function", "smallest chord minus function", "largest"), rows),), (
        ("the three objectives lie below every chord", convex),
        ("the number of mistakes does not", smallest["number of mistakes"] < -1),
    ))  # fmt: skip


def stalling_descent() -> Shown:
    r"""Descent that stalls

    Algorithms 1 and 2 as printed, on the breast cancer data at $C = 1$. The line search halves $r$ from $1/2$ until $F$
    does not rise. The note promises a lower $F$ at every step, and the optimum at the end, since $F$ is convex. But $F$
    has kinks: at a point where several examples have $y_i w^Tx_i = 1$ the vector $-\nabla F$ of the note's convention
    can lead upwards for every $r > 0$, although the point is no minimum. $r$ is then halved until the step vanishes,
    the values agree and the algorithm stops.

    The corrected variant gives up the line search: $r_t = 2/(t+1)$ and an average of the iterates, which converges
    because $F$ is strongly convex (`subgradient_descent`).

    On smooth objectives there are no kinks, and on [those of the breast cancer data](convergence.md#smooth-convergence)
    the printed rule converges. But line 3 of the line search accepts equality. $F(w) = 2w^2$ has the gradient $4w$, so
    that $r = 1/2$ takes $w$ to $-w$: $F$ is the same on both sides and the algorithm stops there. A squared hinge can
    do it too: $\frac12w^2 + \frac34[\max(0, 1-w)^2 + \max(0, 1+w)^2]$ is $2w^2 + \frac32$ where $|w| \le 1$.
    """
    X, y = data.cancer()
    best = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-9).fit(X, y).certificate_.primal
    _, printed = gradient_descent.soft_margin(X, y, 1.0)
    _, random = gradient_descent.soft_margin(X, y, 1.0, start=np.random.default_rng(0))
    _, corrected = gradient_descent.subgradient_descent(
        lambda w: gradient_descent.F(w, X, y, 1.0), lambda w: gradient_descent.gradient_of_F(w, X, y, 1.0), np.zeros(30)
    )
    runs = {
        "algorithms 1 and 2, w = 0": printed,
        "the same, random start": random,
        "diminishing steps, average": corrected,
    }
    figure, (left, right) = panels(2)
    for (name, history), colour in zip(runs.items(), PALETTE, strict=False):
        left.loglog([row["iteration"] + 1 for row in history], [row["F"] / best - 1 for row in history],
                    color=colour, lw=2, label=name)  # fmt: skip
    left.set(xlabel="iteration", ylabel="$F / F^* - 1$", title="above the certified optimum")
    left.legend(fontsize=9)
    right.semilogy(
        [row["iteration"] for row in printed[1:]], [row["r"] for row in printed[1:]], ".", color=PALETTE[0], ms=4
    )
    right.set(xlabel="iteration", ylabel="r", title="the step that line search returns")
    ends = {name: history[-1]["F"] / best - 1 for name, history in runs.items()}
    rows = [(name, len(runs[name]) - 1, f"{end:.2%}") for name, end in ends.items()]
    return Shown(figure, (Table(("algorithm", "iterations", "above the optimum at its end"), rows),), (
        (f"as printed it ends {ends['algorithms 1 and 2, w = 0']:.0%} above the optimum",
         0.2 < ends["algorithms 1 and 2, w = 0"] < 0.25),
        ("its last step is below 1e-9", printed[-1]["r"] < 1e-9),
        ("F never rose on the way", all(b["F"] <= a["F"] for a, b in pairwise(printed))),
        ("with diminishing steps it ends within 1e-3", 0 <= ends["diminishing steps, average"] < 1e-3),
        ("F = 2 w^2: from w = 1 the printed rule ends at w = -1, F = 2", _reflected(1.0, 0.0) == (-1.0, 2.0)),
        ("that squared hinge: from w = 1/2 it ends at w = -1/2, F = 2, and the optimum is 3/2",
         _reflected(0.5, 0.75) == (-0.5, 2.0) and _with_squares(0.0, 0.75) == 1.5),
    ))  # fmt: skip


def _with_squares(w: Any, c: float) -> float:
    """2 w^2 for c = 0; else 1/2 w^2 + c times the squared hinges of x = 1 with y = 1 and of x = 1 with y = -1."""
    w = float(np.sum(w))
    return 0.5 * w**2 + c * (max(0.0, 1 - w) ** 2 + max(0.0, 1 + w) ** 2) if c else 2 * w**2


def _reflected(start: float, c: float) -> tuple[float, float]:
    """Where algorithms 1 and 2 end, and F there; both functions have the gradient 4 w between -1 and 1."""
    w, history = gradient_descent.gradient_descent(lambda w: _with_squares(w, c), lambda w: 4 * w, np.array([start]))
    return float(w[0]), float(history[-1]["F"])


def multiclass_regions() -> Shown:
    r"""Several classes: a score each, the highest wins

    $y(x) = \operatorname{argmax}_j w_j^Tx$. The constraint $w_{y_i}^Tx_i > \max_{j\ne y_i} w_j^Tx_i + 1$ asks the right
    class to lead by a margin of 1; what is missing is the multiclass hinge loss of example $i$. The note's objective
    has no $C$ (it is 1). A constant feature stands for the bias. The regions are convex, and all three meet in one
    point; descent with diminishing steps on the note's objective (`textbook.multiclass.descend`) and
    `LinearSVC(multi_class="crammer_singer")` find the same machine; descent with the printed line search stalls here as
    well.
    """
    X, y = data.three_clouds()
    rows = np.column_stack([X, np.ones(len(X))])
    machine = LinearSVC(multi_class="crammer_singer", loss="hinge", C=1.0, tol=1e-8).fit(X, y)
    best = machine.certificate_.primal
    W, corrected = multiclass.descend(rows, y, 1.0, "max", max_iter=3000)
    _, printed = multiclass.descend(rows, y, 1.0, "max", literal=True, max_iter=1000)
    figure, (left, right) = panels(2)
    draw_regions(machine, X, y, left)
    left.set(title=f"highest score, {machine.score(X, y):.0%} right", xlabel="$x_1$", ylabel="$x_2$")
    for name, history, colour in (("printed line search", printed, PALETTE[0]), ("diminishing", corrected, PALETTE[2])):
        right.loglog([row["iteration"] + 1 for row in history], [row["F"] / best - 1 for row in history], color=colour,
                     lw=2, label=name)  # fmt: skip
    right.set(xlabel="iteration", ylabel="$F / F^* - 1$", title="above the certified optimum")
    right.legend(fontsize=9)
    ends = corrected[-1]["F"] / best - 1, printed[-1]["F"] / best - 1
    same = np.mean(multiclass.classify(W, rows) == machine.predict(X))
    return Shown(figure, claims=(
        (f"diminishing steps end {ends[0]:.1e} above the optimum (below 1e-3)", -1e-7 < ends[0] < 1e-3),
        (f"the printed line search ends {ends[1]:.1%} above it", ends[1] > 2 * ends[0]),
        ("both machines put at least 99 % of the points in the same class", bool(same >= 0.99)),
    ))  # fmt: skip


def fish() -> Shown:
    r"""The fish with 1 to 999 copies of its weight

    A fish has a length and a weight; the weight is entered 1 to 999 times. The features are the same information, but
    naive Bayes multiplies $P(x_2|y)$ once per copy: $P(x|y) = P(x_1|y)P(x_2|y)^{999}$, and the length hardly counts any
    more.

    Is the support vector machine spared? Copying $k$ times replaces the feature by one of $\sqrt k$ times its size:
    both have the same inner products, $k\,x_2x_2' = (\sqrt k x_2)(\sqrt k x_2')$, and the machine sees nothing else
    (checked below). So

    - a *linear* machine with large $C$ is spared: $w_2 / \sqrt k$ undoes the scale, and the penalty hardly counts;
    - a linear machine with small $C$ moves, since weight has become cheaper than length by the factor $k$ in
      $\|w\|^2$. Scaled fish lose by it. Fish that are centred only *gain* at $C = 0.001$: their weight varies by some 2
      hg and their length by some 4 cm, so that weight was the dear feature, and the machine could not afford to
      subtract it from length (what tells the kinds apart is being long *for one's weight*). Copies make it as cheap as
      length, and cheaper;
    - an *RBF* machine of fixed width moves: distances are distances in weight, and rows become strangers to each other;
    - scaling each column to variance 1 does not undo the copies, for each copy has variance 1 already. *Decorrelating*
      does, for machines that see inner products: the copies are one direction of the covariance, and that is scaled to
      1 as a whole (`Whitener(decorrelate=True)`).
    - Naive Bayes is right about decorrelated fish as long as there are no copies, and not spared by decorrelation when
      there are: the one direction is still written in $k$ columns, and it still multiplies $k$ densities. The cure is
      to keep one column per direction.
    """
    train, test = data.fish(300, 0), data.fish(4000, 1)
    copies = [1, 5, 30, 170, 999]
    machines = {
        "naive Bayes": GaussianNB(covariance="shared"),
        "linear SVM, C = 100": SVC(kernel="linear", C=100.0),
        "linear SVM, C = 0.1": SVC(kernel="linear", C=0.1),
        "linear SVM, C = 0.001": SVC(kernel="linear", C=0.001),
        "RBF SVM, gamma = 0.1": SVC(gamma=0.1),
    }
    preparations = {
        "centred": Whitener(scale=False),
        "centred, each column scaled": Whitener(),
        "decorrelated": Whitener(decorrelate=True),
    }
    scores = {how: {name: [] for name in machines} for how in preparations}
    for (how, whitener), k in product(preparations.items(), copies):
        whitener.fit(data.with_copies(train[0], k))
        rows, others = (whitener.transform(data.with_copies(X, k)) for X in (train[0], test[0]))
        for name, machine in machines.items():
            scores[how][name].append(float(machine.fit(rows, train[1]).score(others, test[1])))
    figure, axes = panels(2, 2, height=3.2)
    for ax, (how, curves) in zip(axes[:3], scores.items(), strict=True):
        for (name, values), colour in zip(curves.items(), PALETTE, strict=False):
            ax.semilogx(copies, values, "o-", ms=3.5, color=colour, label=name)
        ax.set(title=how, xlabel="copies of the weight", ylabel="accuracy on 4,000 other fish", ylim=(0.45, 0.95))
    axes[3].axis("off")
    axes[3].legend(*axes[0].get_legend_handles_labels(), fontsize=10, loc="center")
    rows = [(how, name, values[0], values[-1]) for how, curves in scores.items() for name, values in curves.items()]
    centred, plain, whitened = scores.values()
    few, many = _weight_against_length(train, 1), _weight_against_length(train, 999)
    apart = max(_copies_against_scale(train, k) for k in copies)
    return Shown(figure, (Table(("preparation", "machine", "1 copy", "999 copies"), rows),), (
        (f"k copies and one column times sqrt(k) have the same decision values, to {apart:.0e}", apart < 1e-6),
        ("scaled, naive Bayes loses more than 10 points to the copies", _lost(plain["naive Bayes"]) > 0.1),
        ("the linear machine with C = 100 moves by less than 1 point", _moved(plain["linear SVM, C = 100"]) < 0.01),
        ("the linear machine with C = 0.001 loses more than 5 points", _lost(plain["linear SVM, C = 0.001"]) > 0.05),
        ("the RBF machine loses more than 10 points", _lost(plain["RBF SVM, gamma = 0.1"]) > 0.1),
        ("centred only, the linear machine with C = 0.001 gains more than 3 points",
         _lost(centred["linear SVM, C = 0.001"]) < -0.03),
        (f"there it subtracts {-few:.2f} deviations of weight from one of length, with 999 copies {-many:.2f}",
         -0.3 < few < 0 and many < 2 * few),
        ("decorrelated, no support vector machine moves by half a point",
         all(_moved(values) < 0.005 for name, values in whitened.items() if name != "naive Bayes")),
        ("decorrelated, naive Bayes gains more than 5 points without copies and loses more than 10 with them",
         whitened["naive Bayes"][0] - plain["naive Bayes"][0] > 0.05 and _lost(whitened["naive Bayes"]) > 0.1),
    ))  # fmt: skip


def _lost(values: list[float]) -> float:
    """Accuracy with one copy minus that with the most: negative for a gain."""
    return values[0] - values[-1]


def _moved(values: list[float]) -> float:
    return max(values) - min(values)


def _weight_against_length(fish: tuple[Array, Array], k: int) -> float:
    """Of the linear machine at C = 0.001 on centred fish: the weights of all copies beside that of length, each times
    the standard deviation of its feature.
    """
    X = Whitener(scale=False).fit_transform(data.with_copies(fish[0], k))
    w = SVC(kernel="linear", C=0.001).fit(X, fish[1]).coef_[0] * X.std(axis=0)
    return float(w[1:].sum() / w[0])


def _copies_against_scale(fish: tuple[Array, Array], k: int) -> float:
    """The largest difference of decision values between k copies and one column times sqrt(k), at C = 0.1."""
    X = Whitener().fit_transform(fish[0])
    both = data.with_copies(X, k), X * [1.0, k**0.5]
    one, other = (SVC(kernel="linear", C=0.1, tol=1e-8).fit(Z, fish[1]).decision_function(Z) for Z in both)
    return float(np.abs(one - other).max())
