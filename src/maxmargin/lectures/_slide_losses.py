"""The questions of note 004's slides about the multiclass loss, answered by computing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures.data import SLIDE_SCORES
from maxmargin.textbook import multiclass

IMAGES = ("cat", "car", "frog")
LABELS = np.arange(3)


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
