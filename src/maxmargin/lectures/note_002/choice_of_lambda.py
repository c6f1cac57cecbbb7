"""The regularisation weight (note 002): chosen by factors of ten, watched season by season."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures.drawing import GREY, INK, PALETTE, panels
from maxmargin.lectures.note_002 import linear_machines as linear
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import sgd


def choosing_lambda() -> Shown:
    r"""The regularisation weight, by factors of ten

    Try values that differ by factors of ten and keep the one whose classifier is best, on data that trained nothing
    (002:222-233). That needs three held-out parts: one to compare the values of $\lambda$, one to watch training, and
    one to know how well the final classifier works, which is used once. Here 1797 digits (5 to 9 against the rest) are
    divided into 900 for training and three parts of 299. Training is watched for SGD at the chosen $\lambda$; a solver
    that proves its optimum, such as `LinearSVC`, does not need to be watched. At the end the machine is fitted again on
    everything but the test part.

    The best accuracy on the part that chose $\lambda$ is the largest of several, and so it flatters; the test part does
    not, because it had no say.
    """
    X, y = linear.high_digits(900)
    train, choose, watch, test = np.split(np.arange(len(y)), [900, 1199, 1498])
    lams = np.logspace(-6, 1, 8)
    fits = [LinearSVC(loss="hinge", lam=lam).fit(X[train], y[train]) for lam in lams]
    accuracy = {name: np.array([fit.score(X[part], y[part]) for fit in fits])
                for name, part in (("training", train), ("choosing", choose))}  # fmt: skip
    chosen = float(lams[accuracy["choosing"].argmax()])
    _, history = sgd.stochastic_gradient_descent(X[train], y[train], chosen, linear.steps_like(0.2, 10, 30, 300),
                                                 np.random.default_rng(0), held_out=(X[watch], y[watch]))  # fmt: skip
    rest = np.concatenate([train, choose, watch])
    final = LinearSVC(loss="hinge", lam=chosen).fit(X[rest], y[rest]).score(X[test], y[test])
    watched = np.array([row["accuracy"] for row in history])
    optimum = fits[accuracy["choosing"].argmax()].score(X[watch], y[watch])
    rows = [(lam, *(float(accuracy[name][i]) for name in accuracy), float(np.linalg.norm(fits[i].coef_)))
            for i, lam in enumerate(lams.tolist())]  # fmt: skip
    reasonable = accuracy["choosing"][lams < 0.5]
    largest = np.abs(np.diff(reasonable)).max()
    header = ("lambda", "accuracy, training", "accuracy, choosing", "norm of a")
    return Shown(lambda: draw_choice(lams, accuracy, chosen, watched, optimum, final), (Table(header, rows),), (
        (f"chosen: lambda = {chosen:g}; accuracy on the test part, looked at once: {final:.3f}", final > 0.85),
        (f"up to lambda = 0.1 neighbouring factors of ten differ by at most {largest:.3f}", largest < 0.03),
        ("the training part would choose the smallest lambda: its accuracy never rises with lambda",
         bool(np.all(np.diff(accuracy["training"]) <= 0)) and chosen > lams[0]),
        (f"the part that chose flatters: {accuracy['choosing'].max():.3f} there", accuracy["choosing"].max() > final),
        (f"watched, SGD is level from season 16 on, within {np.ptp(watched[15:]):.3f}, and near the proved optimum",
         bool(np.ptp(watched[15:]) < 0.02) and abs(watched[-10:].mean() - optimum) < 0.02),
    ))  # fmt: skip


def draw_choice(
    lams: Array, accuracy: dict[str, Array], chosen: float, watched: Array, optimum: float, final: float
) -> Any:
    """Accuracies against lambda, and those that are watched at the chosen one."""
    figure, (left, right) = panels(2)
    for colour, (name, values) in zip((GREY, PALETTE[0]), accuracy.items(), strict=True):
        left.semilogx(lams, values, "o-", color=colour, lw=2, label=f"{name} part")
    left.plot(chosen, final, "*", color=PALETTE[1], ms=14, label="final machine, test part")
    left.set(xlabel=r"$\lambda$", ylabel="accuracy", title="factors of ten")
    left.legend(fontsize=9, loc="lower left")
    right.plot(np.arange(1, len(watched) + 1), watched, "o-", color=PALETTE[2], ms=4, label="SGD")
    right.axhline(optimum, color=INK, lw=1.2, ls="--", label="proved optimum")
    right.legend(fontsize=9, loc="lower right")
    right.set(xlabel="season of 300 steps", ylabel="accuracy", title=rf"watching part, $\lambda$ = {chosen:g}")
    return figure


def seasons() -> Shown:
    r"""Figure 11.3: norm and accuracy, season by season

    The figure shows $\|\mathbf a\|$ and the accuracy on held-out data at the end of each season of SGD, for values of
    $\lambda$ that differ by factors of 100 (002:240). The note has only the caption; here 1297 digits (5 to 9 against
    the rest) train in 40 seasons of 300 steps with $\eta = 1/(e + 10)$ in season $e$. The caption makes four claims.
    That accuracy is not sensitive to $\lambda$, that it settles quickly, and that too large a $\lambda$ loses accuracy
    is seen here as well (at $\lambda = 0.1$, where $\mathbf a$ is short, the last steps still shake it). The first,
    that $\lambda$ decides the norm, needs a condition: a step multiplies $\mathbf a$ by $1 - \eta\lambda$, so $\lambda$
    is felt only after about $1/(\eta\lambda)$ steps. The optima for $10^{-7}$ and $10^{-5}$ (crosses) have different
    norms, but this regime is over long before SGD could tell them apart: it is the number of steps that regularises
    there.
    """
    X, y = linear.high_digits(1297)
    train, held_out = (X[:1297], y[:1297]), (X[1297:], y[1297:])
    regime = linear.steps_like(1.0, 10, 40, 300)
    lams = (1e-7, 1e-5, 1e-3, 1e-1, 10.0)
    norms, accuracy, optima = {}, {}, {}
    for lam in lams:
        _, history = sgd.stochastic_gradient_descent(*train, lam, regime, np.random.default_rng(0), held_out=held_out)
        norms[lam] = np.array([row["norm"] for row in history])
        accuracy[lam] = np.array([row["accuracy"] for row in history])
        optima[lam] = float(np.linalg.norm(LinearSVC(loss="hinge", lam=lam).fit(*train).coef_))
    shrunk = {lam: float(np.prod([(1 - eta * lam) ** steps for steps, eta in regime])) for lam in lams}
    late = {lam: float(accuracy[lam][-10:].mean()) for lam in lams}
    ends = {lam: float(norms[lam][-10:].mean()) for lam in lams}
    rows = [(lam, ends[lam], optima[lam], shrunk[lam], late[lam]) for lam in lams]
    header = ("lambda", "norm of a, last ten seasons", "norm of a, optimum", "product of 1 - eta lambda", "accuracy")
    settled = max(np.abs(accuracy[lam][9:] - late[lam]).max() for lam in lams[:3])
    return Shown(lambda: draw_seasons(norms, accuracy, optima), (Table(header, rows),), (
        ("from 1e-5 to 10 every factor of 100 changes the norm by at least a tenth",
         all(ends[small] > 1.1 * ends[large] for small, large in pairwise(lams[1:]))),
        ("but 1e-7 and 1e-5 end within 2% of each other, although their optima differ by more than 10%",
         abs(ends[1e-7] / ends[1e-5] - 1) < 0.02 and optima[1e-7] / optima[1e-5] > 1.1),
        (f"accuracy is not sensitive: from 1e-7 to 1e-3 it varies by {np.ptp([late[k] for k in lams[:3]]):.3f}",
         bool(np.ptp([late[k] for k in lams[:3]]) < 0.01)),
        (f"for these it settles quickly: from season 10 on within {settled:.3f} of its end", settled < 0.03),
        (f"too large a lambda loses: {late[10.0]:.2f} at 10, {max(late.values()):.2f} at best",
         late[10.0] < max(late.values()) - 0.1),
    ))  # fmt: skip


def draw_seasons(norms: dict[float, Array], accuracy: dict[float, Array], optima: dict[float, float]) -> Any:
    """Figure 11.3: norms and accuracies, season by season."""
    figure, (left, right) = panels(2)
    for colour, lam in zip(PALETTE, norms, strict=False):
        season = np.arange(1, len(norms[lam]) + 1)
        style = "--" if lam == 1e-5 else "-"  # it would hide the first
        left.semilogy(season, norms[lam], style, color=colour, lw=1.8, label=rf"$\lambda$ = {lam:g}")
        left.plot(season[-1] + 3, optima[lam], "x", color=colour, ms=8, mew=2)
        right.plot(season, accuracy[lam], style, color=colour, lw=1.6)
    left.set(xlabel="season", ylabel=r"$\|\mathbf{a}\|$", title="norm (crosses: optima)")
    right.set(xlabel="season", ylabel="accuracy", title="held-out data")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    return figure
