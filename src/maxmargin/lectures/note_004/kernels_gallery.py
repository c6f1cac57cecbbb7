"""Kernels (note 004): Mercer's condition, and a gallery on two moons."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.estimators import SVC
from maxmargin.kernels import RBF, Linear, Polynomial, Sigmoid, tanh_region
from maxmargin.lectures import data
from maxmargin.lectures.drawing import boundary, label, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import kernels


def mercer_map() -> Shown:
    r"""Mercer's condition, and where tanh breaks it

    A symmetric function is a kernel exactly if all its Gram matrices are positive semidefinite (004:236-248).
    Polynomial and Gaussian kernels pass on every sample. Of $\tanh(\kappa x^Ty + \theta)$ the note says that the
    condition does not hold "on all $\kappa$ and $\theta$" (004:280), as if for some it did. The maps show a random
    sample of points in the plane: with two or three points a region passes, with four it is gone. For $\theta \ge 0$
    and small $\kappa$ there is a reason: four points in the plane have a linear relation $\sum_ic_i = 0$,
    $\sum_ic_ix_i = 0$, so that $\sum_{ij}c_ic_jK(x_i,x_j)$ has no term below $t^2$, and the first that is left has a
    negative coefficient.

    On all data it is never a kernel: a function of $t = x^Ty$ is one only if no coefficient of its power series is
    negative. That of $\tanh(\kappa t + \theta)$ begins with $\tanh\theta$, negative for $\theta < 0$; its coefficient
    of $t^2$ is negative for $\theta > 0$; at $\theta = 0$ that of $t^3$ is. So for $\kappa > 0$ it holds for *no*
    $\theta$; a finite sample merely may not show it.
    """
    sample = np.random.default_rng(0).normal(size=(30, 2))
    kappas, thetas = np.geomspace(0.05, 5, 25), np.linspace(-2, 2, 25)
    sizes = (2, 3, 4, 6, 10, 30)
    regions = {n: tanh_region(sample[:n], kappas, thetas) for n in sizes}
    widths = [kernels.gaussian(sigma) for sigma in np.geomspace(0.05, 20, 9)]
    powers = [kernels.polynomial(d) for d in range(1, 9)]
    passed = {
        "tanh": [float(region.positive_semidefinite.mean()) for region in regions.values()],
        "Gaussian": [_share_of_kernels(widths, sample[:n]) for n in sizes],
        "polynomial": [_share_of_kernels(powers, sample[:n]) for n in sizes],
    }
    rows = [(n, *(f"{share[k]:.0%}" for share in passed.values())) for k, n in enumerate(sizes)]
    lowest = [_lowest_of_tanh(sample[:n], kappas, thetas) for n in sizes]

    def picture() -> Any:
        figure, axes = panels(2, 2, height=3.2)
        draw_tanh_maps(figure, axes[:3], regions)
        draw_shares(axes[3], sizes, passed)
        return figure

    return Shown(picture, (Table(("points", *passed), rows),), (
        ("every width of the Gaussian and every degree of the polynomial passes on every sample",
         min(passed["Gaussian"] + passed["polynomial"]) == 1),
        (f"of the tanh map {passed['tanh'][0]:.0%} passes with two points", 0 < passed["tanh"][0] < 1),
        ("from four points on none of it does", max(passed["tanh"][2:]) == 0),
        ("with theta >= 0 and kappa = 0.05 the relation of the first four points gives a negative sum",
         max(_by_relation(sample[:4], 0.05, theta) for theta in thetas[12:]) < -1e-12),
        ("the smallest eigenvalues behind the maps are those of the textbook's tanh, to 1e-9",
         all(np.allclose(regions[n].smallest_eigenvalue, lowest[k], atol=1e-9) for k, n in enumerate(sizes))),
    ))  # fmt: skip


def _share_of_kernels(candidates: Any, X: Any) -> float:
    """The share whose Gram matrix has no negative eigenvalue, up to rounding."""
    grams = [K(X, X) for K in candidates]
    return float(np.mean([kernels.smallest_eigenvalue(K) >= -1e-12 * len(K) * K.max() for K in grams]))


def _lowest_of_tanh(X: Any, kappas: Any, thetas: Any) -> Any:
    return np.array([[kernels.smallest_eigenvalue(kernels.tanh(k, t)(X, X)) for t in thetas] for k in kappas])


def _by_relation(X: Any, kappa: float, theta: float) -> float:
    """sum_ij c_i c_j K(x_i, x_j) of tanh, with sum c_i = 0 and sum c_i x_i = 0."""
    c = np.linalg.svd(np.column_stack([np.ones(4), X]).T)[2][-1]
    return float(c @ kernels.tanh(kappa, theta)(X, X) @ c)


def draw_tanh_maps(figure: Any, axes: Any, regions: dict[int, Any]) -> None:
    """Where tanh is positive semidefinite on samples of several sizes."""
    levels, colours = [-np.inf, -1e-2, -1e-10, np.inf], ["#c05621", "#f6ad55", "#2b6cb0"]
    for ax, (n, region) in zip(axes, regions.items(), strict=False):
        found = region.smallest_eigenvalue
        ax.contourf(region.thetas, region.kappas, found, levels=levels, colors=colours, alpha=0.75)
        label(ax, "$\\theta$", "$\\kappa$", f"tanh on {n} points", yscale="log")
    legend = "blue: positive semidefinite;  light orange: an eigenvalue from $-0.01$ to 0;  orange: below $-0.01$"
    figure.suptitle(legend, fontsize=9)


def draw_shares(axes: Any, sizes: Any, passed: dict[str, Any]) -> None:
    """Share of a kernel's parameters that pass Mercer's test, against the size of the sample."""
    for (name, share), shape in zip(passed.items(), "os^", strict=True):
        axes.semilogx(sizes, share, shape + "-", label=name)
    label(axes, "points", "share of parameters that pass", "who passes", xticks=sizes, xticklabels=sizes)
    axes.minorticks_off()
    axes.legend(fontsize=9, loc="center right")


def kernel_gallery() -> Shown:
    r"""A gallery of kernels

    The kernels of 004:264-280 and 317-324 on two moons, at $C = 10$: regions, $f = 0$ and $f = \pm1$. A wide Gaussian
    is almost linear, a narrow one remembers the examples; between them lies the reasonable width of 004:420. The
    square, $(x^Ty + 1)^2$, is no better than a line here, since the moons' border is S-shaped: the cube has that
    shape. tanh with these parameters is no kernel (`mercer_map`); the solver still ends at a point that satisfies the
    optimality conditions, but nothing certifies it as the best.
    """
    X, y = data.moons(200, noise=0.25, seed=3)
    Z, labels = data.moons(4000, noise=0.25, seed=4)
    gallery = {
        "linear": Linear(), "square": Polynomial(2, 1.0, 1.0), "cube": Polynomial(3, 1.0, 1.0),
        "tanh, $\\kappa = 0.2$, $\\theta = -0.5$": Sigmoid(0.2, -0.5), "Gaussian, $\\sigma = 3$": RBF(sigma=3.0),
        "Gaussian, $\\sigma = 0.5$": RBF(sigma=0.5), "Gaussian, $\\sigma = 0.05$": RBF(sigma=0.05),
        "tanh, $\\kappa = 5$, $\\theta = -1$": Sigmoid(5.0, -1.0),
    }  # fmt: skip
    machines = {name: SVC(kernel=kernel, C=10.0).fit(X, y) for name, kernel in gallery.items()}
    unseen = {name: float(machine.score(Z, labels)) for name, machine in machines.items()}
    proofs = {name: machine.certificate_ for name, machine in machines.items()}
    rows = [(name, f"{machine.score(X, y):.1%}", f"{unseen[name]:.1%}", len(machine.support_),
             proofs[name].reason or "certified") for name, machine in machines.items()]  # fmt: skip
    others = [share for name, share in unseen.items() if "tanh" not in name]  # linear, square, cube, wide to narrow

    def picture() -> Any:
        figure, axes = panels(2, 2, 2, 2, height=2.7)
        for ax, (name, machine) in zip(axes, machines.items(), strict=True):
            boundary(ax, machine, X, y, f"{name}: {unseen[name]:.1%}")
        figure.suptitle("accuracy on 4000 unseen points", fontsize=10)
        return figure

    return Shown(picture, (Table(("kernel", "training", "unseen", "support vectors of 200", "proof"), rows),), (
        ("the cube and the middle Gaussian beat line, square, wide and narrow Gaussian by 5 % and more",
         min(others[2], others[4]) > 0.05 + max(others[0], others[1], others[3], others[5])),
        ("the narrow Gaussian knows all training points", machines["Gaussian, $\\sigma = 0.05$"].score(X, y) == 1),
        ("machines with tanh come without a proof, the others are certified to 1e-6",
         all("semidefinite" in proof.reason if "tanh" in name else proof.relative_gap < 1e-6
             for name, proof in proofs.items())),
    ))  # fmt: skip
