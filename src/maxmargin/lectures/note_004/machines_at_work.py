"""Machines at work (note 004): digits, a regression, and the tuning of C and gamma with certified fits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline

from maxmargin.estimators import SVC, LinearSVR
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.preprocessing import Whitener

CS, GAMMAS = 10.0 ** np.arange(-2, 4), 10.0 ** np.arange(-5, 1)


def applications() -> Shown:
    r"""Digits, and a regression

    Handwritten digits made these machines popular: 1.1 % test error, as good as LeNet 4 (004:20-22). Those were tens
    of thousands of large pictures; here are the 1797 digits of 8 x 8 pixels that come with scikit-learn, so the
    figures do not compare. A Gaussian machine on all 45 pairs of digits, learning from 100 to 1200 of them, tested on
    the other 597. Regression (004:825) in one line: `LinearSVR` on 300 patients of the diabetes data, scaled by what
    these show; errors below $\varepsilon$ cost nothing.
    """
    X, y = data.digits()
    unseen, labels = X[1200:], y[1200:]
    sizes, machine = (100, 300, 600, 1200), SVC(C=10.0, gamma=0.1, tol=1e-6)
    errors = [1 - float(machine.fit(X[:n], y[:n]).score(unseen, labels)) for n in sizes]
    linear = 1 - float(SVC(kernel="linear", C=1.0).fit(X[:1200], y[:1200]).score(unseen, labels))
    predicted = machine.predict(unseen)
    wrong = np.flatnonzero(predicted != labels)
    A, target = (np.asarray(part) for part in load_diabetes(return_X_y=True, scaled=False))
    regression = make_pipeline(Whitener(), LinearSVR(C=1.0, epsilon=10.0)).fit(A[:300], target[:300])
    explained = float(regression.score(A[300:], target[300:]))
    rows = [(n, f"{error:.2%}") for n, error in zip(sizes, errors, strict=True)]

    def picture() -> Any:
        figure, (left, right, below) = panels(2, 1, height=3.0)
        left.plot(sizes, 100 * np.array(errors), "o-", color=PALETTE[0])
        label(left, "training digits", "error on 597 unseen, %", "digits, Gaussian kernel", ylim=(0, None))
        draw_misread(below, unseen[wrong], labels[wrong], predicted[wrong])
        right.plot(target[300:], regression.predict(A[300:]), ".", color=PALETTE[2])
        right.axline((100, 100), slope=1, color=INK, lw=1)
        label(right, "measured", "predicted, unseen", "regression, diabetes")
        return figure

    return Shown(picture, (Table(("training digits", "error"), rows),), (
        (f"{len(wrong)} of {len(labels)} digits are misread, {errors[-1]:.1%}; with a linear kernel {linear:.1%}",
         errors[-1] < 0.01 and errors[-1] < linear),
        (f"from {sizes[0]} to {sizes[-1]} examples the error never rises", bool(np.all(np.diff(errors) <= 0))),
        (f"all 45 machines are certified, relative gap {machine.certificate_.relative_gap:.0e}",
         machine.certificate_.relative_gap < 1e-4),
        (f"the regression explains {explained:.0%} of the variance of unseen patients", explained > 0.4),
    ))  # fmt: skip


def draw_misread(axes: Any, pictures: Any, labels: Any, predicted: Any) -> None:
    """Up to three digits side by side, with what they are and what was read."""
    axes.imshow(np.hstack([picture.reshape(8, 8) for picture in pictures[:3]]), cmap="gray_r")
    names = [f"{is_} read as {read}" for is_, read in zip(labels[:3], predicted[:3], strict=True)]
    axes.set(title="mistakes", yticks=[], xticks=3.5 + 8 * np.arange(len(names)))
    axes.set_xticklabels(names, fontsize=9)


def black_art() -> Shown:
    r"""Tuning is a black art?

    Kernel and parameters are chosen in a "try-and-see manner" (004:827). Tried and seen: the Gaussian kernel on 400
    rows of the breast cancer data, $C$ and $\gamma$ in factors of ten, five-fold cross-validation with the features
    scaled anew in every fold, every one of the fits certified. What is left of the art: the cells within one percent of
    the best form a band across three factors of ten in $C$, up to the grid's largest, and three in $\gamma$: the larger
    $C$, the smaller $\gamma$, with $C\gamma$ between 0.01 and 0.1. Half steps around the best cell gain less than one
    standard error, and all cells of the band do about as well on the 169 rows kept aside. Factors of ten are enough.
    """
    Cs, gammas, half = CS, GAMMAS, (10**-0.5, 1, 10**0.5)
    grid = [[cross_validate(C, gamma) for gamma in gammas] for C in Cs]
    means = np.array([[tried.accuracy for tried in row] for row in grid])
    (i, j), best = np.unravel_index(means.argmax(), means.shape), float(means.max())
    finer = [cross_validate(Cs[i] * a, gammas[j] * c) for a in half for c in half]
    good, error = means >= best - 0.01 - 1e-12, math.sqrt(best * (1 - best) / 400)
    aside = [kept_aside(Cs[a], gammas[c]) for a, c in np.argwhere(good).tolist()]
    fits = [tried for row in (*grid, finer) for tried in row]
    gap, finest = max(tried.gap for tried in fits), max(tried.accuracy for tried in finer)
    span = [int(np.ptp(steps)) for steps in np.nonzero(good)]
    low, high = (float(end(np.outer(Cs, gammas)[good])) for end in (np.min, np.max))

    def picture() -> Any:
        figure, (left, right) = panels(2)
        draw_accuracies(figure, left, means, good, Cs, gammas)
        draw_top_of_the_grid(right, means, error)
        return figure

    return Shown(picture, claims=(
        (f"all {5 * len(fits)} fits are certified, largest relative gap {gap:.0e}", gap < 1e-6),
        (f"{good.sum()} of {means.size} cells are within one percent of the best, {best:.1%}", bool(good.sum() >= 5)),
        (f"they span {span[0]} factors of ten in C and {span[1]} in gamma, C gamma lies from {low:.2g} to {high:.2g}",
         span == [3, 3] and math.isclose(low, 0.01) and math.isclose(high, 0.1)),
        (f"half steps around the best cell reach {finest:.1%}, less than a standard error ({error:.1%}) more",
         finest - best < error),
        (f"on the rows kept aside these cells have {min(aside):.1%} to {max(aside):.1%}",
         max(aside) - min(aside) < 0.03),
    ))  # fmt: skip


class Tried(NamedTuple):
    """Mean accuracy over the folds, and the largest certified relative gap of the fits."""

    accuracy: float
    gap: float


def cross_validate(C: float, gamma: float, folds: int = 5) -> Tried:
    """A Gaussian machine on all folds of the 400 rows but one, tried on that one, which had no say in the scaling."""
    (X, y), _ = data.cancer_parts()
    fold, scores, gaps = np.arange(len(y)) % folds, [], []
    for k in range(folds):
        machine = SVC(C=C, gamma=gamma)
        scaled = make_pipeline(Whitener(), machine).fit(X[fold != k], y[fold != k])
        scores.append(scaled.score(X[fold == k], y[fold == k]))
        gaps.append(machine.certificate_.relative_gap)
    return Tried(float(np.mean(scores)), max(gaps))


def kept_aside(C: float, gamma: float) -> float:
    """Accuracy on the 169 rows kept aside."""
    tuned_on, aside = data.cancer_parts()
    return float(make_pipeline(Whitener(), SVC(C=C, gamma=gamma)).fit(*tuned_on).score(*aside))


def draw_accuracies(figure: Any, axes: Any, means: Any, good: Any, Cs: Any, gammas: Any) -> None:
    """Cross-validated accuracies as a map, the good cells bold."""
    figure.colorbar(axes.imshow(means, origin="lower", vmin=0.6, vmax=1), ax=axes, shrink=0.85)
    for a, c in np.ndindex(*means.shape):
        colour, weight = "white" if means[a, c] < 0.85 else INK, "bold" if good[a, c] else "normal"
        axes.text(c, a, f"{100 * means[a, c]:.1f}", ha="center", va="center", fontsize=9, color=colour, weight=weight)
    ticks = [[f"$10^{{{round(math.log10(value))}}}$" for value in values] for values in (Cs, gammas)]
    label(axes, "$\\gamma$", "C", "accuracy in percent,\nbold: within 1 of the best")
    axes.set(xticks=range(len(gammas)), yticks=range(len(Cs)), xticklabels=ticks[1], yticklabels=ticks[0])


def draw_top_of_the_grid(axes: Any, means: Any, error: float) -> None:
    """All cells' accuracies, best first."""
    best = means.max()
    axes.plot(np.sort(means.ravel())[::-1], "o", color=PALETTE[0])
    axes.axhspan(best - 0.01, best, color=PALETTE[2], alpha=0.25, label="best minus 1 %")
    axes.errorbar(0, best, error, color=PALETTE[0], capsize=4, label="standard error of the best")
    label(axes, "cells, best first", "cross-validated accuracy", "how flat the top is")
    axes.legend(fontsize=9, loc="center right")
