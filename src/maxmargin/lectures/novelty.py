r"""Novelty: where the data are

With examples of one class only there is nothing to separate, but one can still ask where the class is. Two answers
have the same support vectors: the hyperplane in feature space that keeps the examples furthest from the origin
(`OneClassSVM`; Schölkopf and others 2001), and the smallest ball around them (`SVDD`; Tax and Duin 2004). Both leave
at most a share $\nu$ outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import OneClassSVM as PeerOneClassSVM

from maxmargin.core.rows import Array
from maxmargin.estimators import SVDD, OneClassSVM
from maxmargin.kernels import RBF
from maxmargin.lectures.drawing import COLOURS, GREY, INK, PALETTE, frame, label, line, panels, plane
from maxmargin.lectures.page import Shown, Table


def crescent(n: int, seed: int) -> Array:
    """n points along half a circle, and a cloud apart from it."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, n - n // 4)
    arc = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.12 * rng.normal(size=len(angle)))[:, None]
    return np.vstack([arc, np.array([0.1, -0.7]) + 0.15 * rng.normal(size=(n // 4, 2))])


def ball_and_plane() -> Shown:
    r"""The ball and the plane

    In the plane itself (linear kernel, left) the two look different: a circle around the points and a line between
    them and the origin. In the feature space of a Gaussian kernel every point has the length
    $\|\phi(x)\|^2 = K(x, x) = 1$, so all lie on a sphere; a plane cuts a cap from it, and so does a ball: the regions
    are the same (right), to the last digit. The multipliers are the same up to the factor $\nu n$.
    """
    X = crescent(200, seed=0)
    away = X + np.array([2.0, 2.2])
    ball, flat = SVDD(kernel="linear", nu=0.1).fit(away), OneClassSVM(kernel="linear", nu=0.1).fit(away)
    kernel = RBF(sigma=0.3)
    ball_of, cap_of = SVDD(kernel=kernel, nu=0.1).fit(X), OneClassSVM(kernel=kernel, nu=0.1).fit(X)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.6, 1.6, 90)] * 2), axis=-1).reshape(-1, 2)
    distance = np.linalg.norm(away - ball.center_, axis=1)
    decided, other = ball_of.decision_function(grid), cap_of.decision_function(grid)
    near = np.abs(other) < 1e-6  # on the border rounding decides
    factor = 0.1 * len(X)
    beta, alpha = np.zeros(len(X)), np.zeros(len(X))
    beta[ball_of.support_], alpha[cap_of.support_] = ball_of.dual_coef_[0], cap_of.dual_coef_[0]

    def picture() -> Any:
        figure, (left, right) = panels(2, height=3.9)
        draw_ball_and_plane(left, away, ball, flat)
        draw_region(right, X, cap_of, "Gaussian kernel: both are this region")
        return figure

    return Shown(picture, (), (
        ("the ball leaves at most 10 % outside", bool(np.mean(distance > ball.radius_) <= 0.1)),
        ("its centre is a mean of support vectors: weights >= 0 that add up to 1",
         bool(ball.dual_coef_.min() > 0 and abs(ball.dual_coef_.sum() - 1) < 1e-9)),
        ("with the Gaussian kernel ball and plane agree on every point of a grid",
         bool(np.all((decided >= 0) == (other >= 0) | near))),
        ("their multipliers are the same up to the factor nu n", bool(np.allclose(factor * beta, alpha, atol=1e-6))),
    ))  # fmt: skip


def draw_ball_and_plane(axes: Any, X: Array, ball: SVDD, flat: OneClassSVM) -> None:
    """A circle, a line and the origin."""
    frame(axes, np.vstack([X, np.zeros((1, 2)), ball.center_ + ball.radius_, ball.center_ - ball.radius_]))
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = ball.center_[:, None] + ball.radius_ * np.array([np.cos(turn), np.sin(turn)])
    axes.plot(*circle, color=PALETTE[0], lw=1.8, label="SVDD")
    axes.plot(*ball.center_, "+", color=PALETTE[0], ms=9)
    line(axes, flat.coef_[0], -flat.offset_[0], color=PALETTE[1], label="one-class")
    axes.scatter(*X.T, s=7, color=INK, zorder=3)
    axes.plot(0, 0, "x", color=GREY, ms=8)
    plane(axes, "linear kernel: a circle and a line")
    axes.legend(fontsize=9, loc="lower right")


def draw_region(axes: Any, X: Array, machine: Any, title: str) -> None:
    """Inside and outside as colour, and the points."""
    frame(axes, X, pad=0.2)
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    xs, ys = np.linspace(x0, x1, 150), np.linspace(y0, y1, 150)
    f = machine.decision_function(np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)).reshape(150, 150)
    axes.contourf(xs, ys, f, levels=[0, np.inf], colors=[COLOURS[0]], alpha=0.18)
    axes.contour(xs, ys, f, levels=[0], colors=INK, linewidths=1.3)
    inside = machine.predict(X) > 0
    axes.scatter(*X[inside].T, s=7, color=INK, zorder=3)
    axes.scatter(*X[~inside].T, s=16, color=PALETTE[1], marker="x", zorder=3)
    plane(axes, title)


def promise_of_nu() -> Shown:
    r"""The share that is promised, also where it is small

    At the optimum free support vectors lie *on* the boundary, where their decision is zero up to rounding, and rounding
    falls on either side. A machine with $\nu = 10^{-4}$ may leave no example of a thousand outside, and hundreds of
    them lie on its boundary: half of those are then called outliers, or nearly all, depending on the last digit. Here
    `offset_` is set at the lowest score of any row that may not be outside, less what predictions can be off by: the
    promise holds for what `predict` says, and not only on paper.
    """
    X = np.random.default_rng(0).normal(size=(1000, 5))
    shares = (1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.5)
    rows = []
    for nu in shares:
        machine = OneClassSVM(nu=nu, gamma=0.1).fit(X)
        outside = float(np.mean(machine.predict(X) < 0))
        peer: Any = PeerOneClassSVM(nu=nu).set_params(gamma=0.1)
        theirs = float(np.mean(peer.fit(X).predict(X) < 0))
        rows.append((nu, outside, theirs, len(machine.support_) / len(X)))

    def picture() -> Any:
        figure, (axes,) = panels(1, width=5.6)
        nu, ours, theirs, support = (np.maximum(column, 5e-5) for column in np.array(rows).T)
        axes.loglog(nu, nu, color=GREY, ls="--", label="promised: $\\nu$")
        axes.loglog(nu, support, "^-", ms=4, color=PALETTE[2], label="support vectors")
        axes.loglog(nu, ours, "o-", ms=4, color=PALETTE[0], label="outside, here")
        axes.loglog(nu, theirs, "s-", ms=4, color=PALETTE[1], label="outside, scikit-learn")
        label(axes, "$\\nu$", "share of the training rows", "what predict calls an outlier")
        axes.legend(fontsize=9)
        return figure

    table = Table(("nu", "outside here", "outside in scikit-learn", "support vectors"), rows)
    return Shown(picture, (table,), (
        ("at most a share nu is outside, for every nu", all(row[1] <= row[0] + 1e-12 for row in rows)),
        ("at least that share are support vectors", all(row[3] >= row[0] - 1e-12 for row in rows)),
        ("scikit-learn's predictions break the promise at the smallest nu", rows[0][2] > 10 * rows[0][0]),
    ))  # fmt: skip


DEMONSTRATIONS = (ball_and_plane, promise_of_nu)
