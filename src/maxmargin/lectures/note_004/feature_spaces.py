"""Feature spaces (note 004): lifted points, angles and distances, the map behind a kernel."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from maxmargin.estimators import SVC
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, boundary, field, label, line, panels, plane, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import hard_margin, kernels


def lifting() -> Shown:
    r"""Lifting data until a hyperplane fits

    On one line of points (004:166-219) a machine finds the middle of the gap. Where one class lies on both sides of
    the other no threshold can separate them, but $z = (x, x^2)$ puts the points on a parabola and a line cuts it
    twice. For XOR the new feature $x_1x_2$ alone decides (004:164).

    The note adds that the training set can *always* be mapped to a space where it is separable (004:232). Not if
    equal inputs carry different labels: then no map, however high its dimension, tells them apart.
    """
    easy, sides = np.array([-3.0, -2.2, -1.5, 0.5, 1.1, 2.4, 3.0]), np.repeat([-1.0, 1.0], [3, 4])
    hard = np.array([-3.2, -2.4, -1.8, -0.8, 0.1, 0.9, 1.9, 2.6, 3.3])
    around = np.repeat([1.0, -1.0, 1.0], 3)
    w, b, _, _ = hard_margin.primal(easy[:, None], sides)
    threshold, z = -b / w[0], kernels.lift_line(hard)
    v, c, _, _ = hard_margin.primal(z, around)
    roots = np.sort(np.roots([v[1], v[0], c]).real)
    u, d, _, _ = hard_margin.primal(kernels.lift_xor(data.XOR), data.XOR_SIGNS)
    inner, outer = np.abs(hard[around < 0]).max(), np.abs(hard[around > 0]).min()
    middle = 0.5 * (easy[sides < 0].max() + easy[sides > 0].min())
    twice = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]])

    def picture() -> Any:
        figure, (one, two, three, four) = panels(2, 2, height=3.2)
        draw_points_on_a_line(one, easy, sides, "easy: one threshold")
        one.axvline(threshold, color=INK)
        draw_points_on_a_line(two, hard, around, "harder: no threshold")
        draw_parabola(three, z, around, v, c, roots)
        four.set(xlim=(-1.8, 1.8), ylim=(-1.8, 1.8), aspect="equal")
        field(four, lambda P: kernels.lift_xor(P) @ u + d)
        points(four, data.XOR, data.XOR_SIGNS, size=60)
        plane(four, "XOR with $x_1x_2$")
        return figure

    return Shown(picture, claims=(
        (f"the easy threshold {threshold:.2f} is the middle of the gap", math.isclose(threshold, middle, abs_tol=1e-6)),
        ("a linear hard margin is refused on the harder line and on XOR",
         _refused(hard[:, None], around, Linear()) and _refused(data.XOR, data.XOR_SIGNS, Linear())),
        (f"on the parabola the line cuts at {roots[0]:.2f} and {roots[1]:.2f}, between the classes",
         bool(np.all((inner < np.abs(roots)) & (np.abs(roots) < outer)))),
        ("XOR has w = (0, 0, 1), b = 0: x1 x2 alone decides", bool(np.allclose([*u, d], [0, 0, 1, 0], atol=1e-6))),
        ("equal inputs with different labels are refused with a Gaussian kernel too",
         _refused(twice, np.array([1.0, -1.0, 1.0]), RBF(gamma=1.0))),
    ))  # fmt: skip


def _refused(X: Any, y: Any, kernel: Any) -> bool:
    """Whether no hyperplane separates the classes in the kernel's space."""
    try:
        SVC(kernel=kernel, C=math.inf).fit(X, y)
    except ValueError as refusal:
        return "no hyperplane separates" in str(refusal)
    return False


def draw_points_on_a_line(axes: Any, x: Any, y: Any, title: str) -> None:
    """One-dimensional examples."""
    axes.axhline(0, color=GREY, lw=1)
    points(axes, np.column_stack([x, 0 * x]), y, size=50, labels=True)
    label(axes, "x", "", title, yticks=[], ylim=(-1, 1))
    axes.legend(fontsize=9, loc="upper left")


def draw_parabola(axes: Any, z: Any, y: Any, w: Any, b: float, roots: Any) -> None:
    """Lifted points z = (x, x^2) and the line that separates them."""
    curve = np.linspace(-3.6, 3.6, 200)
    axes.plot(curve, curve**2, color=GREY, lw=1)
    label(axes, "x", "$x^2$", "lifted: $z = (x, x^2)$", xlim=(-3.8, 3.8), ylim=(-1.5, 13))
    line(axes, w, b, (0, -1, 1))
    points(axes, z, y, size=40)
    axes.vlines(roots, -1.5, roots**2, color=PALETTE[2], ls=":")


def angles() -> Shown:
    r"""Angles and distances in feature space

    Inner products are enough for geometry (004:259): $\|\phi(x) - \phi(y)\|^2 = K(x,x) - 2K(x,y) + K(y,y)$ and
    $\cos\angle = K(x,y)/\sqrt{K(x,x)K(y,y)}$. For the quadratic kernel both agree with the explicit $\phi$. The
    Gaussian kernel has $K(x,x) = 1$ and $K > 0$: all points lie on a sphere of radius 1, in a part of it so small
    that no two of them are more than $90°$ or $\sqrt2$ apart. Above: the angle to the marked point; below: distance in
    feature space against distance in the plane. The Gaussian one saturates: beyond a few $\sigma$ all
    points are equally strange.
    """
    X, origin = np.random.default_rng(1).normal(size=(40, 2)), np.array([[1.0, 0.5]])
    quadratic, gaussian = Polynomial(2, 1.0, 1.0), RBF(sigma=1.0)
    P, K, squares = kernels.phi(X), kernels.polynomial(2)(X, X), np.diag(kernels.polynomial(2)(X, X))
    lengths, apart = np.linalg.norm(P, axis=1), np.linalg.norm(P[:, None] - P, axis=2)
    by_kernel = kernels.distance(squares[:, None], K, squares)
    cosines = kernels.cosine(squares[:, None], K, squares)
    ball = kernels.gaussian(1.0)(X, X)
    widest = np.degrees(np.arccos(kernels.cosine(np.diag(ball)[:, None], ball, np.diag(ball)).min()))

    def picture() -> Any:
        figure, (left, middle, right) = panels(2, 1, height=3.3)
        draw_angles_from(figure, left, quadratic, origin, "$(1 + x^Ty)^2$")
        draw_angles_from(figure, middle, gaussian, origin, "Gaussian, $\\sigma = 1$")
        draw_two_distances(right, {"$(1 + x^Ty)^2$": quadratic, "Gaussian": gaussian}, origin)
        return figure

    return Shown(picture, claims=(
        ("distances from K alone equal those of phi, for 40 random points",
         bool(np.allclose(by_kernel, apart, atol=1e-6))),
        ("so do the cosines of angles", bool(np.allclose(cosines, P @ P.T / np.outer(lengths, lengths)))),
        ("with the Gaussian kernel every point has length 1", bool(np.allclose(np.diag(ball), 1))),
        ("and all angles between 40 points are below 90 degrees", bool(widest < 90)),
        ("the library's Gaussian kernel, its angles included, is the textbook's",
         bool(np.allclose(gaussian(X), ball) and np.isclose(np.degrees(gaussian.angles(X)).max(), widest))),
    ))  # fmt: skip


def draw_angles_from(figure: Any, axes: Any, kernel: Any, origin: Any, name: str) -> None:
    """Angles in feature space between one point and all points of the plane."""
    ticks = np.linspace(-3, 3, 121)
    nodes = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    degrees = np.degrees(kernel.angles(nodes, origin)).reshape(121, 121)
    drawn = axes.contourf(ticks, ticks, degrees, levels=np.arange(0, 91, 10), cmap="viridis")
    axes.plot(*origin[0], "*", color="white", ms=12)
    axes.set_aspect("equal")
    plane(axes, f"angle in degrees, {name}")
    figure.colorbar(drawn, ax=axes, shrink=0.85)


def draw_two_distances(axes: Any, named: dict[str, Any], origin: Any) -> None:
    """Distances from one point, in feature space against those in the plane."""
    nodes = np.random.default_rng(0).uniform(-3, 3, size=(1500, 2))
    for name, kernel in named.items():
        axes.plot(np.linalg.norm(nodes - origin, axis=1), kernel.distances(nodes, origin)[:, 0], ".", ms=3, label=name)
    axes.axhline(math.sqrt(2), color=INK, lw=1, ls="--")
    label(axes, "distance in the plane", "distance in feature space", "distances", ylim=(0, 6))
    axes.legend(fontsize=9, loc="upper right")


def quadratic_map() -> Shown:
    r"""The quadratic map behind a kernel

    $\phi(x) = (1, \sqrt2x_1, \sqrt2x_2, x_1^2, x_2^2, \sqrt2x_1x_2)$ has $\phi(x)^T\phi(y) = (1 + x^Ty)^2$
    (004:282-315). A machine with the map and the linear kernel is therefore the machine with the polynomial kernel:
    the same multipliers, the same $f$. Of power $p$ in $d$ dimensions the map has $\binom{d+p}{p}$ entries (004:322),
    one for each monomial of degree at most $p$; here they are enumerated. (On 004:268 $d$ is the degree, on 004:322
    the number of features.)

    Feature spaces are not "typically infinite-dimensional" (004:227): the rank of the Gram matrix of 60 points shows
    six dimensions for the quadratic kernel. The Gaussian one does have infinitely many, and 60 points span 60.
    """
    rng = np.random.default_rng(0)
    A, B, probe = rng.normal(size=(60, 2)), rng.normal(size=(60, 2)), rng.normal(size=(500, 2))
    by_map, by_kernel = kernels.phi(A) @ kernels.phi(B).T, kernels.polynomial(2)(A, B)
    X, y = data.moons(100, noise=0.2, seed=0)
    mapped = SVC(kernel="linear", C=1.0).fit(kernels.phi(X), y)
    machine = SVC(kernel=Polynomial(2, 1.0, 1.0), C=1.0).fit(X, y)
    alike = np.allclose(mapped.decision_function(kernels.phi(probe)), machine.decision_function(probe), atol=1e-5)
    ds, ps = range(1, 9), range(1, 5)
    counted = {p: [sum(1 for _ in combinations_with_replacement(range(d + 1), p)) for d in ds] for p in ps}
    ranks = [int(np.linalg.matrix_rank(K(A, A), tol=1e-9)) for K in (kernels.polynomial(2), kernels.gaussian(0.3))]
    rows = [(p, *(math.comb(d + p, p) for d in (2, 16, 256))) for p in (2, 3, 4, 5)]

    def picture() -> Any:
        figure, (left, middle, right) = panels(2, 1, height=3.3)
        left.loglog(by_kernel.ravel(), by_map.ravel(), ".", ms=2, color=PALETTE[0])
        label(left, "$(1 + x^Ty)^2$", "$\\phi(x)^T\\phi(y)$", "3600 pairs of random points")
        boundary(middle, machine, X, y, "one machine, by map or by kernel")
        draw_dimensions(right, ds, counted)
        return figure

    return Shown(picture, (Table(("power p", "d = 2", "d = 16", "d = 256, pixels of 16 x 16"), rows),), (
        ("phi(x)'phi(y) = (1 + x'y)^2 for 3600 random pairs", bool(np.allclose(by_map, by_kernel, atol=1e-12))),
        ("both machines have the same support vectors, and the same f at 500 other points",
         bool(alike) and set(mapped.support_) == set(machine.support_)),
        ("the monomials number binom(d + p, p) for d = 1..8 and p = 1..4",
         all(counted[p][d - 1] == math.comb(d + p, p) for p in ps for d in ds)),
        (f"the Gram matrix of 60 points has rank {ranks[0]} = binom(4, 2), with a narrow Gaussian {ranks[1]}",
         ranks == [math.comb(4, 2), 60]),
    ))  # fmt: skip


def draw_dimensions(axes: Any, ds: Any, counted: dict[int, Any]) -> None:
    """Numbers of monomials, counted and by formula."""
    for (p, numbers), colour in zip(counted.items(), PALETTE, strict=False):
        axes.semilogy(ds, numbers, "o", color=colour, label=f"p = {p}")
        axes.semilogy(ds, [math.comb(d + p, p) for d in ds], color=colour, lw=1)
    label(axes, "d, features", "monomials", "counted (dots), $\\binom{d+p}{p}$ (lines)")
    axes.legend(fontsize=9)
