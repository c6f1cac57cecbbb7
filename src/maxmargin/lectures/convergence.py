r"""Every algorithm on one problem

The soft margin on the breast cancer data (569 rows, 30 features of variance 1), $C = 0.1$, by each algorithm of the
notes, beside the solvers of this library. What is drawn is the distance to the certified optimum, relative to it: of
the primal value for descent methods, of the dual value for multipliers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PAGE, PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import (
    decomposition,
    dual_ascent,
    gradient_descent,
    hinge_regularized_gd,
    kernels,
    newton,
    sgd,
    smo,
    soft_margin,
)

C = 0.1


class Run(NamedTuple):
    """One algorithm: its distance to the optimum after this many iterations and seconds."""

    name: str
    iterations: list[int]
    seconds: list[float]
    distance: list[float]


def convergence() -> Shown:
    r"""Hinge loss: objective against iterations and seconds

    Three kinds of lines. Subgradient methods (algorithms 1, 24 and stochastic gradient descent) see the primal alone
    and crawl: the printed line search stops altogether. Methods on multipliers (algorithm 23.1, SMO, decomposition)
    know when they are done, and get there. The interior-point method needs few iterations, a number that grows slowly
    with the number of rows (claimed below), and pays for each with a factorisation. `LinearSVC` and `SVC` are the
    solvers for work.

    An iteration is a pass for some and a pair of multipliers for others: that is why there is a second picture. Its
    seconds are those of one run on one machine, plain NumPy beside compiled code; of the textbook's runs the whole
    time, spread evenly over the iterations. Of long runs a hundred iterations are drawn. Of `LinearSVC` the certified
    gap is drawn, which bounds the distance; `SVC` records few points, here its start and its end. Algorithm 23.1
    has its bias as the weight of an appended 1 and algorithm 1 has none; each is compared with the certified optimum of
    its own problem.
    """
    X, y = data.cancer()
    free = LinearSVC(loss="hinge", C=C, tol=1e-10).fit(X, y).certificate_.primal
    runs = [*_descents(X, y, free), *_multipliers(X, y, free), *_production(X, y, free)]
    ends = {run.name: run.distance[-1] for run in runs}
    exact = [name for name in ends if name in _EXACT]
    part = soft_margin.dual(X[:57] @ X[:57].T, y[:57], C)[1][-1]["iteration"]
    whole = next(run.iterations[-1] for run in runs if run.name == "interior point, dual")
    return Shown(lambda: _draw(runs), (_table(runs),), (
        ("algorithm 1 with its line search stops above 0.5 %", ends["1: line search"] > 5e-3),
        ("diminishing steps end below 1e-3", max(ends["1: diminishing"], ends["24: diminishing"]) < 1e-3),
        ("stochastic gradient descent with falling steps ends below 1e-3", ends["SGD"] < 1e-3),
        ("methods on multipliers and the interior point end below 1e-6", max(ends[name] for name in exact) < 1e-6),
        ("SVC has recorded two points", len(runs[-1].iterations) == 2),
        (f"the interior point on the dual needs {part} iterations for 57 rows and {whole}, not twice as many, for 569",
         part <= whole < 2 * part),
    ))  # fmt: skip


def smooth_convergence() -> Shown:
    r"""Smooth losses: Newton's method and descent

    With the squared hinge and the logistic loss of these data the line search of note 000 converges (there are smooth
    objectives on which it [stops at once](000.md#stalling-descent)), and Newton's method (note 002: second derivatives
    help) needs fewer than ten steps. Its last steps about square the distance. `LinearSVC` is the solver for work; of
    it the certified gap is drawn, which bounds the distance.
    """
    X, y = data.cancer()
    lam, runs = 1 / (C * len(y)), []
    for loss in ("squared_hinge", "logistic"):
        best = LinearSVC(loss=loss, C=C, tol=1e-12).fit(X, y).certificate_.primal * lam

        def S(u, loss=loss):
            return newton.value_gradient_hessian(u, X, y, lam, loss)[0]

        def slope(u, loss=loss):
            return newton.value_gradient_hessian(u, X, y, lam, loss)[1]

        def by_newton(loss=loss):
            return newton.newton(X, y, lam, loss)[1]

        def by_descent(S=S, slope=slope):
            return gradient_descent.gradient_descent(S, slope, np.zeros(31))[1]

        runs.append(_timed(f"Newton, {loss}", by_newton, "S", best))
        runs.append(_timed(f"1: line search, {loss}", by_descent, "F", best))
        runs.append(_fitted(f"LinearSVC, {loss}", LinearSVC(loss=loss, C=C, tol=1e-8), X, y, best / lam))
    ends = [run.distance[-1] for run in runs]
    late = [pair for run in runs[::3] for pair in pairwise(run.distance) if 1e-7 < pair[0] < 0.1]
    return Shown(lambda: _draw(runs), (_table(runs),), (
        ("all six end below 1e-6", max(ends) < 1e-6),
        ("Newton's method needs fewer than ten steps", max(run.iterations[-1] for run in runs[::3]) < 10),
        ("from a distance below 0.1 on, each of its steps leaves at most 5 times the square of the last distance",
         len(late) >= 6 and all(after < 5 * before**2 for before, after in late)),
    ))  # fmt: skip


DEMONSTRATIONS = (convergence, smooth_convergence)

# A colour and a mark for each of twelve lines.
COLOURS = (*PALETTE, "#000000", "#e53e3e", "#63b3ed", "#84cc16")
MARKERS = "os^vD<>Xphd*"
_NOISY = ("24: eta = 1e-3", "SGD")
_EXACT = ("23.1: dual ascent", "SMO", "decomposition, q = 20", "interior point, dual", "interior point, primal")


def _timed(name: str, run: Callable[[], list], key: str, best: float) -> Run:
    begun = time.perf_counter()
    history = run()
    seconds = time.perf_counter() - begun
    iterations = [row["iteration"] if "iteration" in row else row["season"] * 1000 for row in history]
    spread = [seconds * (k + 1) / len(history) for k in range(len(history))]
    return Run(name, iterations, spread, [abs(row[key] / best - 1) for row in history])


def _descents(X, y, free: float) -> list[Run]:
    n = len(y)
    without = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-10).fit(X, y).certificate_.primal
    lam = 1 / (C * n)
    return [
        _timed("1: line search", lambda: gradient_descent.soft_margin(X, y, C)[1], "F", without),
        _timed("1: diminishing", lambda: gradient_descent.subgradient_descent(
            lambda w: gradient_descent.F(w, X, y, C), lambda w: gradient_descent.gradient_of_F(w, X, y, C),
            np.zeros(30), 5000)[1], "F", without),
        _timed("24: eta = 1e-3", lambda: hinge_regularized_gd.hinge_regularized_gd(X, y, 1 / C, 5000)[1],
               "objective", free / C),
        _timed("24: diminishing", lambda: hinge_regularized_gd.diminishing(X, y, 1 / C, 5000, 0.1)[1],
               "objective", free / C),
        _timed("SGD", lambda: sgd.stochastic_gradient_descent(
            X, y, lam, sgd.diminishing_seasons(lam, 40), np.random.default_rng(0), k=16, average=True)[1],
               "S", free * lam),
    ]  # fmt: skip


def _multipliers(X, y, free: float) -> list[Run]:
    K = X @ X.T
    appended = LinearSVC(loss="hinge", C=C, fit_intercept="regularized", tol=1e-10).fit(X, y).certificate_.primal
    ascent = _timed(
        "23.1: dual ascent", lambda: dual_ascent.svm_dual(X, y, kernels.linear, C, epsilon=1e-7)[1], "dual", appended
    )
    inner = _timed("interior point, primal", lambda: soft_margin.primal(X, y, C)[2], "objective", free)
    outer = _timed("interior point, dual", lambda: soft_margin.dual(K, y, C)[1], "objective", -free)
    pairs = _timed("SMO", lambda: smo.smo(K, y, C)[2], "dual", free)
    parts = _timed("decomposition, q = 20", lambda: decomposition.decompose(K, y, C, q=20)[2], "dual", free)
    return [ascent, pairs, parts, inner, outer]


def _production(X, y, free: float) -> list[Run]:
    linear, kernel = LinearSVC(loss="hinge", C=C, tol=1e-8), SVC(kernel="linear", C=C, tol=1e-6)
    return [_fitted("LinearSVC", linear, X, y, free), _fitted("SVC", kernel, X, y, free)]


def _fitted(name: str, machine: LinearSVC | SVC, X, y, best: float) -> Run:
    trace = machine.fit(X, y).fit(X, y).trace_  # compiled by the first fit, timed in the second
    # A linear machine's trace has the relative gap, which bounds the distance; that of SVC has the dual value.
    linear = isinstance(machine, LinearSVC)
    bounds = trace.column("violation") if linear else [abs(1 - v / best) for v in trace.column("objective")]
    return Run(name, [int(k) for k in trace.column("iteration")], list(trace.column("seconds")), list(bounds))


def _draw(runs: list[Run]):
    figure, (above, below) = panels(1, 1, width=PAGE, height=4.2)
    for run, colour, marker in zip(runs, COLOURS, MARKERS, strict=False):
        some = _evenly_on_a_log_axis(len(run.distance))
        style: Any = {"color": colour, "marker": marker, "ms": 6, "markevery": 0.1, "lw": 1.5, "label": run.name}
        if run.name in _NOISY:
            style |= {"alpha": 0.5, "zorder": 1}
        if len(run.distance) == 2:  # nothing is known of what lies between
            style |= {"ls": ":"}
        distance = np.maximum(run.distance, 1e-13)[some]
        above.loglog(np.maximum(run.iterations, 1)[some], distance, **style)
        below.loglog(np.maximum(run.seconds, 1e-5)[some], distance, **style)
    for axes, against in ((above, "iterations"), (below, "seconds")):
        axes.set(xlabel=against, ylabel="relative distance to the optimum", title=f"against {against}")
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncol=3, fontsize=9)
    return figure


def _evenly_on_a_log_axis(n: int, most: int = 100):
    """The indices 0 to n - 1, or if they are more than ``most`` about as many of them, first and last included."""
    return np.unique(np.geomspace(1, n, min(n, most)).round().astype(int)) - 1 if n > most else np.arange(n)


def _table(runs: list[Run]) -> Table:
    rows = [(run.name, run.iterations[-1], f"{run.seconds[-1]:.3f}", f"{run.distance[-1]:.1e}") for run in runs]
    return Table(("algorithm", "iterations", "seconds", "at its end"), rows)
