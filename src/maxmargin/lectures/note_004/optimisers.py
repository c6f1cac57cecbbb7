"""Solvers of the dual (note 004): interior points, SMO, decomposition, and algorithm 23.1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificates import certify
from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.gram import Gram
from maxmargin.kernels import Linear
from maxmargin.lectures import data
from maxmargin.lectures.drawing import PALETTE, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.models import Bias, soft_margin
from maxmargin.problems.solution import Certificate
from maxmargin.textbook import decomposition, dual_ascent, kernels, smo
from maxmargin.textbook import soft_margin as textbook_soft


def infeasible_start() -> Shown:
    r"""An interior point method that starts outside

    Most solvers of quadratic programs, says the note, start with a solution that can violate the constraints and
    reduce the violation on the way (004:110-120). Left: Mehrotra's method on the primal of a soft margin machine. Its
    first point (`interior_point.start`) weighs the objective against squared violations of the constraints
    $y_i(w^Tx_i + b) \ge 1 - \xi_i$, $\xi_i \ge 0$. Its objective starts *below* the optimum, even below zero, which
    only a point outside can do. Right: SMO, which solves for two
    multipliers at a time (004:117-119), and decomposition, which solves for ten (004:826), on the dual of the same
    problem. Theirs stay feasible, and climb.

    As a black box (004:120) all three are the same: one optimum, certified from the multipliers alone.
    """
    X, y = data.two_clouds(60, apart=2.0)
    K, C = X @ X.T, 1.0
    _, (multipliers, _), outside = textbook_soft.primal(X, y, C)
    of_interior, _ = textbook_soft.dual(K, y, C)
    of_pairs, _, pairs = smo.smo(K, y, C)
    of_tens, _, tens = decomposition.decompose(K, y, C, q=10)
    problem = soft_margin(Gram(Linear(), X), y, np.float64(C))
    ends = {"interior point": (outside, certify(problem, of_interior))}
    ends |= {"SMO": (pairs, certify(problem, of_pairs)), "decomposition, by ten": (tens, certify(problem, of_tens))}
    best, first = ends["SMO"][1].dual, outside[0]["objective"]
    rows = [(name, history[-1]["iteration"], proof.primal, f"{proof.relative_gap:.1e}")
            for name, (history, proof) in ends.items()]  # fmt: skip

    def picture() -> Any:
        figure, (left, right) = panels(2)
        draw_interior_steps(left, outside, best)
        draw_dual_steps(right, {"SMO": pairs, "decomposition, by ten": tens}, best)
        return figure

    return Shown(picture, (Table(("solver", "iterations", "objective", "certified relative gap"), rows),), (
        (f"the start violates the conditions by up to {outside[0]['violation']:.0f} and has the objective {first:.0f}",
         bool(outside[0]["violation"] > 1 and first < 0 < best)),
        (f"after {outside[-1]['iteration']} iterations violation and gap are below 1e-7",
         bool(max(outside[-1]["violation"], outside[-1]["gap"]) < 1e-7)),
        ("the primal program's multipliers are the solution of the dual program, to 1e-6",
         bool(np.allclose(multipliers, of_interior, atol=1e-6))),
        ("the duals of SMO and decomposition never fall", _never_falls(pairs) and _never_falls(tens)),
        ("all three end at one objective, to 1e-6", float(np.ptp([row[2] for row in rows])) < 1e-6 * best),
        ("every certificate has a relative gap below 1e-6", all(p.relative_gap < 1e-6 for _, p in ends.values())),
    ))  # fmt: skip


def _never_falls(history: Any) -> bool:
    return bool(np.all(np.diff([row["dual"] for row in history]) >= -1e-9))


def draw_interior_steps(axes: Any, history: Any, best: float) -> None:
    """Violation, gap and objective of the interior point method."""
    steps = [row["iteration"] for row in history]
    away = [abs(row["objective"] - best) for row in history]
    named = {"violation of the conditions": [row["violation"] for row in history]}
    named |= {"gap $s^Tz$": [row["gap"] for row in history], "objective, away from the optimum": away}
    for name, values in named.items():
        axes.semilogy(steps, np.maximum(values, 1e-13), "o-", ms=3, label=name)
    label(axes, "iteration", "size", "interior point, from outside", ylim=(1e-14, 1e9))
    axes.legend(fontsize=9, loc="upper right")


def draw_dual_steps(axes: Any, histories: dict[str, Any], best: float) -> None:
    """How far each dual is below its maximum."""
    for name, history in histories.items():
        steps, away = [row["iteration"] + 1 for row in history], [best - row["dual"] for row in history]
        axes.loglog(steps, np.maximum(away, 1e-12), label=name)
    label(axes, "iteration", "dual below its maximum", "SMO and decomposition, feasible", ylim=(1e-13, 1e7))
    axes.legend(fontsize=9, loc="upper right")


def algorithm_23_1() -> Shown:
    r"""Algorithm 23.1, as printed and corrected

    Dual ascent on one multiplier at a time (004:423-445), on the breast cancer data with the linear kernel.
    $1/K(x_k,x_k)$ is the exact step along a coordinate, so the dual never falls, and the order is fixed: "stochastic"
    it is not. With the hinge loss it reaches the certified optimum.

    With the quadratic loss line 13 is wrong. There $\alpha_k = 2C\xi_k$ has no upper bound; clipped at $C$ the ascent
    stops elsewhere, at $C = 1$ with a duality gap of almost half the objective. Without line 13 it reaches the
    certified optimum, though it takes about a thousand passes. (Lines 6 and 11 must read from the matrix of line 5, not
    from $K(x_i, x_k)$ as printed, else the loss would make no difference; line 16 repeats line 14 with an index that is
    one too large.)

    Line 1 appends a 1 to every example, to make up for the bias. A Gaussian kernel sees only differences, in which
    the 1 cancels: its kernel matrix is unchanged and the machine has no bias at all.
    """
    hinge = ascend("hinge, C = 0.1", Hinge(), 0.1, True, 300)
    printed = ascend("quadratic as printed, C = 1", SquaredHinge(), 1.0, True, 250)
    corrected = ascend("quadratic without line 13, C = 1", SquaredHinge(), 1.0, False, 1200)
    runs = hinge, printed, corrected
    gaps, largest = [run.proof.relative_gap for run in runs], [float(run.alpha.max() / run.C) for run in runs]
    rows = [(run.name, len(run.history), run.proof.primal, run.proof.dual, f"{gap:.1e}", most)
            for run, gap, most in zip(runs, gaps, largest, strict=True)]  # fmt: skip
    late = printed.history[-1]["dual"] / printed.history[-100]["dual"] - 1
    changed, apart = change_by_appended_one(), decided_apart(hinge)
    header = ("run", "passes", "primal", "dual", "certified relative gap", "largest alpha / C")

    def picture() -> Any:
        figure, (left, right) = panels(2)
        draw_ascents(left, right, runs)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
        return figure

    return Shown(picture, (Table(header, rows),), (
        ("the dual never falls", all(_never_falls(run.history) for run in runs)),
        (f"hinge: a certified relative gap of {gaps[0]:.0e}", gaps[0] < 1e-6),
        (f"quadratic as printed: a gap of {gaps[1]:.0%}, and the last 100 passes raised the dual by {late:.0e} only",
         0.45 < gaps[1] < 0.5 and late < 1e-3),
        (f"without line 13: a gap of {gaps[2]:.0e} after {len(corrected.history)} passes, alpha to {largest[2]:.1f} C",
         gaps[2] < 1e-6 and largest[2] > 1),
        (f"hinge: f(x) = sum alpha_i y_i K(x_i, x) is that of LinearSVC on all rows, to {apart:.0e}", apart < 1e-5),
        (f"appending 1 changes a Gaussian kernel matrix by {changed:.0e}", changed < 1e-12),
    ))  # fmt: skip


class Ascent(NamedTuple):
    """One run: its multipliers, their certificate, the dual after each pass, and the optimum by another solver."""

    name: str
    C: float
    alpha: Array
    history: list[dict[str, Any]]
    proof: Certificate
    best: float


def ascend(name: str, loss: Any, C: float, literal: bool, passes: int) -> Ascent:
    """The algorithm with the linear kernel; ``literal`` keeps line 13 for the quadratic loss too."""
    X, y = data.cancer()
    word = "hinge" if isinstance(loss, Hinge) else "quadratic"
    alpha, history = dual_ascent.svm_dual(X, y, kernels.linear, C, loss=word, literal=literal, max_iter=passes)
    problem = soft_margin(Gram(Linear(), dual_ascent.append_one(X)), y, np.float64(C), loss, Bias.NONE)
    machine = LinearSVC(loss=loss, C=C, fit_intercept="regularized", tol=1e-7).fit(X, y)
    return Ascent(name, C, alpha, history, certify(problem, alpha), machine.certificate_.dual)


def decided_apart(run: Ascent) -> float:
    """The largest difference, on all rows, of f by the algorithm's multipliers and by ``LinearSVC`` (hinge loss)."""
    X, y = data.cancer()
    f = dual_ascent.decide(X, X, y, run.alpha, kernels.linear)
    machine = LinearSVC(loss="hinge", C=run.C, fit_intercept="regularized", tol=1e-10).fit(X, y)
    return float(np.abs(f - machine.decision_function(X)).max())


def change_by_appended_one(sigma: float = 3.0) -> float:
    """The largest change of a Gaussian kernel's matrix when line 1 appends a 1 to every example."""
    X, _ = data.cancer()
    K, longer = kernels.gaussian(sigma), dual_ascent.append_one(X)
    return float(np.abs(K(X, X) - K(longer, longer)).max())


def draw_ascents(left: Any, right: Any, runs: Any) -> None:
    """Algorithm 23.1: the dual against passes, and the multipliers at the end."""
    for run, colour in zip(runs, PALETTE, strict=False):
        below = [max(1 - row["dual"] / run.best, 1e-13) for row in run.history]
        left.loglog(np.arange(1, len(below) + 1), below, color=colour, lw=2, label=run.name)
        right.plot(np.sort(run.alpha)[::-1][:120] / run.C, color=colour, lw=2, label=run.name)
    label(left, "passes", "dual below its maximum, relative", "ascent of the dual")
    label(right, "multipliers, largest first", "$\\alpha_k / C$", "line 13 clips at C")
