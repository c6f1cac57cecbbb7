"""The questions of note 004's slides about the multiclass loss, answered by computing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.data import SLIDE_SCORES
from maxmargin.lectures.drawing import INK, PALETTE, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import multiclass

IMAGES = ("cat", "car", "frog")
LABELS = np.arange(3)


def slide_losses() -> Shown:
    r"""The multiclass loss, and the slides' questions

    $L_i = \sum_{j \ne y_i}\max(0, s_j - s_{y_i} + 1)$ of the scores $s = Wx_i$ (004:447-782). The worked example,
    three images of a cat, a car and a frog, has the losses 2.9, 0 and 12.9, mean 5.27. The questions with computed
    answers; the notes lack the third to the fifth (their numbers jump from 2 to 6), which are taken from the lecture
    where these slides come from (Stanford's CS231n):

    - *The car's scores change a bit?* (004:672) Nothing changes, up to the room that the table gives.
    - *Smallest and largest loss?* (004:699) 0, and no largest: it grows with the scores without bound.
    - *At the start, all scores near 0?* (not in the notes) The number of classes minus 1: a check of a program's
      first step.
    - *The sum over all $j$, with $j = y_i$?* (not in the notes) It adds exactly 1 to every example; gradient and
      minimiser are the same.
    - *The mean over the other classes instead of the sum?* (not in the notes) It divides by $K - 1$, as $C/(K-1)$ in
      place of $C$ would: without regularisation nothing changes.
    - *Squares?* (004:726) Another loss: one large violation costs more than many small ones. On the irises no value
      of $C$ on a grid over six factors of ten gives both the same direction of $W$.
    - *$L = 0$: is $W$ unique?* (004:747) No: $2W$ has $L = 0$ too. So does $W$ plus the same row in every class.
      $\frac12\|W\|^2$ chooses. (The note doubles the car's scores only; the other two losses grow when $W$ is
      doubled.)
    """
    base, squared, doubled = (losses(data.SLIDE_SCORES), losses(data.SLIDE_SCORES, "squared"),
                              losses(2 * data.SLIDE_SCORES))  # fmt: skip
    changes = {"cat up": (1, 0, 0), "car down": (0, -1, 0), "frog up": (0, 0, 1), "car down, others up": (1, -1, 1)}
    rooms = {name: room(change) for name, change in changes.items()}
    X, y = separable()
    W, scales = smallest_without_loss(X, y), np.linspace(0, 3, 61)
    along = [multiclass.losses(s * W, X, y).mean() for s in scales]
    irises, kinds = flowers()
    Cs, hinge = np.geomspace(1e-4, 1e2, 25), joint(irises, kinds, 0.1)
    apart = [angle(hinge, joint(irises, kinds, C, "squared_hinge")) for C in Cs]
    by_image = list(zip((*IMAGES, "mean"), *([*v, v.mean()] for v in (base, squared, doubled)), strict=True))
    tables = (Table(("image", "loss", "with squares", "with W doubled"), by_image),
              Table(("change of the car's scores", "room before its loss leaves 0"), list(rooms.items())))  # fmt: skip
    zero = [multiclass.losses(np.zeros((K, 4)), irises, kinds) for K in (3, 5, 10)]
    without = [multiclass.losses(V, X, y).sum() for V in (W, 2 * W, 1.001 * W + np.array([[3.0, -5.0]]))]
    slopes, formula = slopes_with_own_class(irises, kinds)
    twin = [(objective_of_mean(V, irises, kinds, 1.0), multiclass.F(V, irises, kinds, 1 / 2, "sum"))
            for V in np.random.default_rng(0).normal(size=(20, 3, 4))]  # fmt: skip
    around, of_sum = rises_of_mean(irises, kinds, 0.1)

    def picture() -> Any:
        figure, axes = panels(2, 2, height=3.2)
        draw_worked_example(axes[0], base)
        draw_room_of_the_car(axes[1], changes)
        draw_scaled_and_squared(axes[2], axes[3], scales, along, Cs, apart)
        return figure

    return Shown(picture, tables, (
        ("losses 2.9, 0, 12.9, mean 5.27", bool(np.allclose(base, [2.9, 0, 12.9])) and round(base.mean(), 2) == 5.27),
        ("the slide's code gives the same", bool(np.allclose(base, by_the_slides_code()))),
        (f"one of the car's scores may move by {rooms['car down']:.1f}, all by {rooms['car down, others up']:.2f}",
         math.isclose(rooms["car down"], 4.9 - 2.0 - 1) and math.isclose(rooms["car down, others up"], 0.95)),
        ("no loss of 1000 random tables is negative, and scores of a million have one above a million",
         bool(of_random_scores().min() >= 0 and losses(1e6 * data.SLIDE_SCORES).max() > 1e6)),
        ("scores of 0 have the loss K - 1", [set(values.tolist()) for values in zero] == [{2.0}, {4.0}, {9.0}]),
        ("with j = y_i every loss is larger by exactly 1, for 20 random W, and the gradient is the same, to 1e-6",
         bool(np.allclose(added_by_own_class(irises, kinds), 1) and np.allclose(slopes, formula, atol=1e-6))),
        ("the mean has the objective of C / (K - 1), for 20 random W", bool(np.allclose(*np.transpose(twin)))),
        (f"irises: the sum's W at C / (K - 1) minimises the mean's objective; 200 steps raise it, W at C {of_sum:.1%}",
         around > 0 and of_sum > 0.01),
        (f"squares: W differs in direction by {min(apart):.1f} degrees or more, at {len(Cs)} values of C",
         min(apart) > 2),
        ("a W has loss 0 on separable classes, 2W too, W plus one row for all classes too, and W/2 has not",
         max(without) == 0 < multiclass.losses(W / 2, X, y).sum()),
        ("doubled, the cat's and the frog's losses grow", bool(np.all((doubled > base) == [True, False, True]))),
    ))  # fmt: skip


def losses(scores: Array, kind: str = "sum") -> Array:
    """The loss of each of the three images, of scores instead of W and x."""
    return multiclass.losses(np.eye(3), scores, LABELS, kind)


def by_the_slides_code() -> list[float]:
    """The losses of the three images by the function printed on the slide (004:734-741)."""
    return [float(multiclass.L_i_vectorized(scores, i, np.eye(3))) for i, scores in enumerate(SLIDE_SCORES)]


def of_random_scores(n: int = 1000) -> Array:
    """Losses of n tables of random scores."""
    return np.array([losses(scores) for scores in 5 * np.random.default_rng(0).normal(size=(n, 3, 3))])


def room(change: Any, most: float = 100.0) -> float:
    """How far the scores of the car can go in a direction before its loss leaves 0, by bisection."""
    low, high = 0.0, most
    while high - low > 1e-12:
        t = 0.5 * (low + high)
        moved = SLIDE_SCORES.copy()
        moved[1] += t * np.asarray(change)
        low, high = (t, high) if losses(moved)[1] == 0 else (low, t)
    return low


def loss_with_own_class(W: Array, X: Array, y: Array) -> Array:
    """The sum over all classes, the right one too: line "margins[y] = 0" of the slide's code left out."""
    scores = X @ W.T
    own = scores[np.arange(len(y)), y][:, None]
    return np.maximum(0.0, scores - own + 1).sum(axis=1)


def added_by_own_class(X: Array, y: Array, samples: int = 20) -> Array:
    """How much every loss grows when the sum includes j = y_i, for random W."""
    Ws = np.random.default_rng(0).normal(size=(samples, y.max() + 1, X.shape[1]))
    return np.array([loss_with_own_class(W, X, y) - multiclass.losses(W, X, y) for W in Ws])


def slopes_with_own_class(X: Array, y: Array, samples: int = 5, h: float = 1e-6) -> tuple[Array, Array]:
    """Gradients at random W: of the sum over all classes by differences, of the slides' sum by its formula."""
    Ws = np.random.default_rng(1).normal(size=(samples, y.max() + 1, X.shape[1]))
    steps = h * np.eye(Ws[0].size).reshape(-1, *Ws[0].shape)
    measured = [
        [(loss_with_own_class(W + s, X, y) - loss_with_own_class(W - s, X, y)).sum() / (2 * h) for s in steps]
        for W in Ws
    ]
    formula = [multiclass.gradient_of_F(W, X, y, 1.0, "sum") - W for W in Ws]
    return np.reshape(measured, Ws.shape), np.array(formula)


def objective_of_mean(W: Array, X: Array, y: Array, C: float) -> float:
    """1/2 ||W||^2 + C sum_i of the mean over the K - 1 other classes."""
    others = np.arange(len(W)) != y[:, None]
    return 0.5 * np.sum(W**2) + C * multiclass.margins(W, X, y)[others].reshape(len(y), -1).mean(axis=1).sum()


def rises_of_mean(X: Array, y: Array, C: float, samples: int = 200) -> tuple[float, float]:
    """By how much the objective of the mean at C is higher, relatively, than at the W of the sum at C / (K - 1): the
    least over random steps from there, and at the W of the sum at C.
    """
    W = joint(X, y, C / y.max())
    best, rng = objective_of_mean(W, X, y, C), np.random.default_rng(2)
    steps = 0.01 * np.linalg.norm(W) * rng.normal(size=(samples, *W.shape)) / np.sqrt(W.size)
    around = min(objective_of_mean(W + step, X, y, C) for step in steps)
    return around / best - 1, objective_of_mean(joint(X, y, C), X, y, C) / best - 1


def flowers() -> tuple[Array, Array]:
    """The irises, features of mean 0 and variance 1."""
    X, y = (np.asarray(part) for part in load_iris(return_X_y=True))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def joint(X: Array, y: Array, C: float, loss: str = "hinge") -> Array:
    """W that minimises 1/2 ||W||^2 + C sum of the slides' losses (or with each term squared)."""
    machine = LinearSVC(multi_class="weston_watkins", loss=loss, C=C, fit_intercept=False, tol=1e-6).fit(X, y)
    return machine.coef_


def angle(V: Array, W: Array) -> float:
    """Between two matrices of weights, in degrees: 0 where one is a multiple of the other."""
    cosine = np.sum(V * W) / np.linalg.norm(V) / np.linalg.norm(W)
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def separable(n: int = 30) -> tuple[Array, Array]:
    """Three clouds in the plane that lines through the origin separate."""
    rng = np.random.default_rng(0)
    y = np.repeat(LABELS, n)
    centres = 3.0 * np.array([(np.cos(t), np.sin(t)) for t in 2 * np.pi * LABELS / 3])
    return centres[y] + 0.5 * rng.normal(size=(3 * n, 2)), y


def smallest_without_loss(X: Array, y: Array) -> Array:
    """W of loss 0 that regularisation prefers: the joint machine at a large C, scaled until its least margin is 1."""
    W = joint(X, y, 10.0)
    scores = X @ W.T
    ahead = scores[np.arange(len(y)), y][:, None] - scores
    least = ahead[np.arange(scores.shape[1]) != y[:, None]].min()
    return W / least * (1 + 1e-12)


def draw_worked_example(axes: Any, losses: Any) -> None:
    """The three images' losses and their mean."""
    axes.bar(IMAGES, losses, color=PALETTE[:3])
    axes.axhline(losses.mean(), color=INK, lw=1, ls="--")
    axes.text(1, losses.mean() + 0.2, f"mean {losses.mean():.2f}", ha="center", fontsize=9)
    label(axes, "image", "loss", "the worked example")


def draw_room_of_the_car(axes: Any, changes: dict[str, Any]) -> None:
    """The loss of the car's image as its scores change."""
    t = np.linspace(-1, 4, 101)
    for (name, change), colour in zip(changes.items(), PALETTE, strict=False):
        moved = [losses(data.SLIDE_SCORES + s * np.outer([0, 1, 0], change))[1] for s in t]
        axes.plot(t, moved, color=colour, label=name)
    label(axes, "change", "loss of the car", "room for the car's scores")
    axes.legend(fontsize=9)


def draw_scaled_and_squared(left: Any, right: Any, scales: Any, along: Any, Cs: Any, apart: Any) -> None:
    """The mean loss of sW, and the angle between the minimisers of sum and squares."""
    left.plot(scales, along, color=PALETTE[3], lw=2)
    left.plot([0, 1, 2], np.interp([0, 1, 2], scales, along), "o", color=INK)
    label(left, "s", "mean loss of sW", "K - 1 at s = 0, and 0 from s = 1 on", ylim=(-0.05, None))
    right.semilogx(Cs, apart, "o-", color=PALETTE[4], ms=4)
    label(right, "C of the squares", "angle, degrees", "W of the sum, W of squares", ylim=(0, None))
