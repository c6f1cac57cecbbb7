r"""A share instead of a cost: the nu-machines

$C$ is a price, and nobody knows prices in advance. The machines of Schölkopf, Smola, Williamson and Bartlett (2000)
are told a share $\nu$ instead: of examples that may lie on the wrong side of the margin (`NuSVC`), outside of the tube
(`NuSVR`) or outside of the region (`OneClassSVM`, `SVDD`). The price is found along the way: every one of them is the
machine of some $C$ or $\varepsilon$.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC, SVR, NuSVC, NuSVR
from maxmargin.kernels import RBF
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, PALETTE, boundary, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.lectures.regression import draw_tube, wave

KERNEL = RBF(sigma=0.7)
EDGE = 1e-6  # scores this near to the margin are on it


def nu_fractions() -> Shown:
    r"""nu is a fraction

    `NuSVC` minimises $\frac12\|w\|^2 - \nu n\rho + \sum_i\max(0, \rho - y_i(w^T\phi(x_i) + b))$: the margin $\rho$ is
    a variable, and pays $\nu$ for every example. At the optimum the multipliers of each class add up to $\nu n/2$ and
    none exceeds 1, which is all the proof needs: at most a share $\nu$ of the examples can be margin errors, and at
    least that share must be support vectors. Both are drawn for all $\nu$ up to the largest feasible one, twice the
    share of the smaller class: beyond it the smaller class has not enough multipliers, and the fit says so before it
    computes a kernel value.
    """
    X, y = data.moons(150, 0.35, seed=1)
    keep = np.concatenate([np.flatnonzero(y > 0)[:50], np.flatnonzero(y < 0)])  # 50 of one class, more of the other
    X, y = X[keep], y[keep]
    largest = 2.0 * float(min(np.mean(y > 0), np.mean(y < 0)))
    shares = np.linspace(0.15, largest, 20)
    machines = [NuSVC(nu=float(nu), kernel=KERNEL).fit(X, y) for nu in shares]
    errors = np.array([np.mean(y * m.decision_function(X) < 1.0 - EDGE) for m in machines])
    support = np.array([len(m.support_) / len(y) for m in machines])
    try:
        NuSVC(nu=min(1.0, largest + 0.01), kernel=KERNEL).fit(X, y)
        refusal = ""
    except ValueError as problem:
        refusal = str(problem)

    def picture() -> Any:
        figure, (left, right) = panels(2)
        left.plot(shares, support, "o-", ms=3, color=PALETTE[1], label="support vectors")
        left.plot(shares, shares, color=GREY, ls="--", label="$\\nu$")
        left.plot(shares, errors, "s-", ms=3, color=PALETTE[0], label="margin errors")
        left.axvline(largest, color=GREY, lw=0.8)
        label(left, "$\\nu$", "share of the examples", "what $\\nu$ bounds from both sides")
        left.legend(fontsize=9)
        boundary(right, machines[5], X, y, f"$\\nu$ = {shares[5]:.2f}: {support[5]:.0%} support vectors")
        return figure

    return Shown(picture, (), (
        ("the share of margin errors is at most nu, for all twenty nu", bool(np.all(errors <= shares + 1e-9))),
        ("the share of support vectors is at least nu", bool(np.all(support >= shares - 1e-9))),
        ("beyond the largest nu there is no machine, and the error names it", f"{largest:.6g}" in refusal),
        ("every fit is certified to a relative gap of 1e-7",
         max(m.certificate_.relative_gap for m in machines) < 1e-7),
    ))  # fmt: skip


def nu_is_C() -> Shown:
    r"""The same machines, another knob

    Divided by its $\rho$, a `NuSVC` is the `SVC` with $C = 1/\rho$. So the two families are one, and $\nu$ is the
    better knob only because one knows what it means. Small steps of $\nu$ can be large steps of $C$: near the smallest
    $\nu$ that the overlap of the classes allows $\rho$ tends to zero.
    """
    X, y = data.moons(150, 0.3, seed=2)
    shares = (0.15, 0.3, 0.5, 0.7, 0.9)
    rows, apart = [], []
    for nu in shares:
        machine = NuSVC(nu=nu, kernel=KERNEL).fit(X, y)
        C = 1.0 / machine.rho_
        other = SVC(C=C, kernel=KERNEL).fit(X, y)
        apart.append(float(np.abs(machine.decision_function(X) - other.decision_function(X)).max()))
        rows.append((nu, float(machine.rho_), C, len(machine.support_), apart[-1]))
    costs = [row[2] for row in rows]

    def picture() -> Any:
        figure, (axes,) = panels(1)
        axes.semilogy(shares, costs, "o-", color=PALETTE[0])
        label(axes, "$\\nu$", "$C = 1/\\rho$", "the price that belongs to a share")
        return figure

    table = Table(("nu", "rho", "C", "support vectors", "largest difference of decisions"), rows)
    return Shown(picture, (table,), (
        ("NuSVC and SVC with C = 1 / rho decide alike, to 1e-5", max(apart) < 1e-5),
        ("a larger nu is a smaller C", bool(np.all(np.diff(costs) < 0))),
    ))  # fmt: skip


def nu_tube() -> Shown:
    r"""A tube that finds its own width

    `NuSVR` has the width of its tube as a variable with a price: at most a share $\nu$ of the examples lies outside,
    at least that share are support vectors. Where the noise is twice as large, the tube is twice as wide, and nobody
    has to know: `epsilon_` is what was found, and `SVR` with that $\varepsilon$ is the same function.
    """
    machines, rows, same = {}, [], []
    for noise in (0.1, 0.2, 0.4):
        X, y = wave(150, seed=4, noise=noise)
        machine = NuSVR(nu=0.3, C=10.0, kernel=RBF(sigma=1.0)).fit(X, y)
        other = SVR(epsilon=machine.epsilon_, C=10.0, kernel=RBF(sigma=1.0)).fit(X, y)
        outside = float(np.mean(np.abs(y - machine.predict(X)) > machine.epsilon_ + EDGE))
        same.append(float(np.abs(machine.predict(X) - other.predict(X)).max()))
        machines[noise] = (machine, X, y)
        rows.append((noise, machine.epsilon_, outside, len(machine.support_) / 150))

    def picture() -> Any:
        figure, axes = panels(3, height=3.0)
        for here, (noise, (machine, X, y)) in zip(axes, machines.items(), strict=True):
            draw_tube(here, machine, X, y, machine.epsilon_)
            here.set_title(f"noise {noise}: $\\varepsilon$ = {machine.epsilon_:.2f}")
            here.set_ylim(-3, 3)
        return figure

    widths: Array = np.array([row[1] for row in rows])
    table = Table(("noise", "epsilon found", "outside the tube", "support vectors"), rows)
    return Shown(picture, (table,), (
        ("at most a share nu = 0.3 is outside", all(row[2] <= 0.3 + 1e-9 for row in rows)),
        ("at least that share are support vectors", all(row[3] >= 0.3 - 1e-9 for row in rows)),
        ("the width grows with the noise, to within a fifth in proportion",
         bool(np.all(np.abs(widths / widths[0] / np.array([1.0, 2.0, 4.0]) - 1.0) < 0.2))),
        ("SVR with the epsilon found is the same function, to 1e-5", max(same) < 1e-5),
    ))  # fmt: skip


DEMONSTRATIONS = (nu_fractions, nu_is_C, nu_tube)
