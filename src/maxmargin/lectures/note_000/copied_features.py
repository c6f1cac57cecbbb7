"""The question of note 000: what if a feature is entered many times?"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from maxmargin.bayes import GaussianNB
from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.preprocessing import Whitener


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
      hg and their length by some 4 cm, so that weight was the costly feature, and the machine could not afford to
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
    rows = [(how, name, values[0], values[-1]) for how, curves in scores.items() for name, values in curves.items()]
    centred, plain, whitened = scores.values()
    few, many = _weight_against_length(train, 1), _weight_against_length(train, 999)
    apart = max(_copies_against_scale(train, k) for k in copies)

    def picture() -> Any:
        figure, axes = panels(2, 2, height=3.2)
        for ax, (how, curves) in zip(axes[:3], scores.items(), strict=True):
            for (name, values), colour in zip(curves.items(), PALETTE, strict=False):
                ax.semilogx(copies, values, "o-", ms=3.5, color=colour, label=name)
            ax.set(title=how, xlabel="copies of the weight", ylabel="accuracy on 4,000 other fish", ylim=(0.45, 0.95))
        axes[3].axis("off")
        axes[3].legend(*axes[0].get_legend_handles_labels(), fontsize=10, loc="center")
        return figure

    return Shown(picture, (Table(("preparation", "machine", "1 copy", "999 copies"), rows),), (
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
