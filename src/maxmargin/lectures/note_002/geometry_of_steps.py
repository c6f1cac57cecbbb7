"""Lines, distances, and what a step does to a line (note 002)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PALETTE, frame, line, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import margins, sgd


def line_geometry() -> Shown:
    r"""A little line geometry

    $\mathbf a^T\mathbf x + b = 0$ is a line with normal $\mathbf a$, and
    $|\mathbf a^T\mathbf x + b| / \sqrt{\mathbf a^T\mathbf a}$ is the distance of $\mathbf x$ from it (002:263-282), in
    any number of dimensions. The foot of the perpendicular is $\mathbf x - \gamma\,\mathbf a/\mathbf a^T\mathbf a$. As
    a check that knows nothing of the formula, the nearest point is found by least squares among all points of the
    hyperplane, written with a basis of the directions in it. "Magnitude is proportional to distance" (002:63) holds
    with the factor $1/\|\mathbf a\|$: for one line, not between lines.
    """
    rng = np.random.default_rng(2)
    rows = [(d, *_distance_check(d, rng)) for d in (2, 3, 10, 50)]
    a, b = np.array([1.0, 2.0]), -2.0
    X = np.array([[-1.5, -1.0], [-0.2, -0.5], [1.0, -1.2], [2.6, -1.1], [-1.0, 2.2], [1.4, 1.6], [2.6, 0.6]])
    g = sgd.gamma(a, b, X)
    feet = X - g[:, None] * a / (a @ a)
    scaled = np.abs(margins.distance(X, 7 * a, 7 * b) - margins.distance(X, a, b)).max()
    header = ("dimensions", "largest distance", "largest difference from least squares")

    def picture() -> Any:
        figure, (ax,) = panels(1, width=5.0, height=4.2)
        points(ax, X, np.sign(g), size=40)
        for x, foot, distance in zip(X, feet, margins.distance(X, a, b), strict=True):
            ax.plot(*np.array([x, foot]).T, color=GREY, lw=1.2)
            ax.annotate(f"{distance:.2f}", x, (6, 4), textcoords="offset points", fontsize=9)
        frame(ax, np.vstack([X, feet]), pad=0.15)
        line(ax, a, b)
        start = np.array([0.0, 1.0])
        ax.annotate("", start + a / 2, start, arrowprops={"arrowstyle": "-|>", "color": PALETTE[2], "lw": 2})
        ax.annotate(r"$\mathbf{a}$", start + a / 2, (4, -2), textcoords="offset points", color=PALETTE[2], fontsize=11)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", title=r"$x_1 + 2x_2 - 2 = 0$: distances, normal, sides")
        return figure

    return Shown(picture, (Table(header, rows),), (
        ("formula and least squares agree to 1e-10 in 2 to 50 dimensions", all(row[2] < 1e-10 for row in rows)),
        ("the feet lie on the line", bool(np.abs(sgd.gamma(a, b, feet)).max() < 1e-12)),
        ("a and b times 7 leave every distance", scaled < 1e-12),
    ))  # fmt: skip


def _distance_check(d: int, rng: Any) -> tuple[float, float]:
    a, b, X = rng.normal(size=d), float(rng.normal()), 3 * rng.normal(size=(20, d))
    within = np.linalg.svd(a[None])[2][1:]  # a basis of the directions in the hyperplane
    on_it = np.append(-b / a[0], np.zeros(d - 1))
    places = np.linalg.lstsq(within.T, (X - on_it).T)[0]
    nearest = on_it + places.T @ within
    distances = margins.distance(X, a, b)
    return float(distances.max()), float(np.abs(distances - np.linalg.norm(X - nearest, axis=1)).max())


def push_and_turn() -> Shown:
    r"""What a step does to the line

    Where $\gamma_i y_i > 1$ the note says "push line away from example", elsewhere "turn line and push towards example"
    (002:284-298). Both sentences need care.

    *Beyond the margin* the step is $\mathbf a \leftarrow (1-\eta\lambda)\mathbf a$ with $b$ as it was. The line keeps
    its direction, and its distance from the *origin*, $|b|/\|\mathbf a\|$, is divided by $1-\eta\lambda$. So it moves
    away from the origin, wherever the example is: away from the example if that lies on the origin's side of the line,
    towards it if not. The example is not even used; what it decides is that no other change is made.

    *Otherwise* $y_i\mathbf x_i$ is added as well, and $b$ changes by $\eta y_i$. For a short step the signed distance
    $\gamma_i y_i/\|\mathbf a\|$ changes at the rate
    $(\|\mathbf x_i\|^2 + 1 + \lambda b y_i - \gamma_i\,\mathbf a^T \mathbf x_i/\|\mathbf a\|^2)/\|\mathbf a\|$, which
    is positive for most examples. For a *misclassified* example this means that the line comes nearer, in order to pass
    it. One on its own side but within the margin is left further behind: the line is pushed away from it. Seen from the
    example, then, the words of the note are right for mistakes only.
    """
    cases = {
        "beyond, origin on its side": ((1.0, 0.6), -1.2, (-0.9, -0.4), -1.0, 0.3),
        "beyond, origin on the other side": ((1.0, 0.6), -1.2, (2.1, 1.2), 1.0, 0.3),
        "misclassified": ((1.0, 0.6), -1.2, (0.1, 1.3), 1.0, 0.15),
        "right, within the margin": ((1.0, 0.6), -1.2, (0.8, 1.3), 1.0, 0.15),
    }
    steps = {name: take_step(*case) for name, case in cases.items()}
    rows = [(name, step.gaps[0], step.apart[0], step.gaps[1], step.apart[1], *step.of_origin)
            for name, step in steps.items()]  # fmt: skip
    nearer = [step.apart[1] < step.apart[0] for step in steps.values()]
    parallel = [step.of_origin[1] / step.of_origin[0] for step in steps.values()][:2]
    shares = shares_of_steps(np.random.default_rng(0))
    header = ("example", "gamma y", "distance", "gamma y after", "distance after", "origin's distance", "after")
    counts = Table(("100000 random steps", "line comes nearer"), [(k, f"{v:.1%}") for k, v in shares["nearer"].items()])

    def picture() -> Any:
        figure, axes = panels(2, 2, height=3.6)
        for ax, (name, step) in zip(axes, steps.items(), strict=True):
            draw_step(ax, name, step)
        named = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5, fontsize=9)
        return figure

    return Shown(picture, (Table(header, rows), counts), (
        ("beyond the margin: away from the example on the origin's side, towards the one on the other side",
         nearer[:2] == [False, True]),
        ("the origin's distance grows by 1 / (1 - eta lambda) in both", np.allclose(parallel, 1 / (1 - 0.3))),
        ("misclassified: nearer; right, within the margin: further away", nearer[2:] == [True, False]),
        ("in random steps beyond the margin: nearer if and only if the origin is on the other side", shares["rule"]),
        ("in the other steps the signed distance changes at the rate of the formula", shares["rate"]),
        ("the line comes nearer to misclassified examples in over 9 cases of 10, to right ones in under 1 of 10",
         shares["nearer"]["misclassified"] > 0.9 and shares["nearer"]["right, within the margin"] < 0.1),
    ))  # fmt: skip


def shares_of_steps(rng: Any, n: int = 100_000, eta: float = 1e-4, lam: float = 0.1) -> dict[str, Any]:
    """Random lines and examples in the plane: what a short step does to the distance."""
    a, b, x = rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=(n, 2))
    y, norm = rng.choice([-1.0, 1.0], size=n), np.linalg.norm(a, axis=1)
    along = np.sum(a * x, axis=1)
    g = along + b
    inside = g * y <= 1
    new_a = (1 - eta * lam) * a + eta * (inside * y)[:, None] * x
    new_g = np.sum(new_a * x, axis=1) + b + eta * inside * y
    change = new_g * y / np.linalg.norm(new_a, axis=1) - g * y / norm
    nearer = np.where(g * y > 0, change < 0, change > 0)
    rate = (np.sum(x * x, axis=1) + 1 + lam * b * y - g * along / norm**2) / norm
    kinds = {"beyond the margin": ~inside, "misclassified": g * y < 0, "right, within the margin": inside & (g * y > 0)}
    clear = inside & (norm > 0.5)  # where eta is a short step
    return {
        "nearer": {kind: float(nearer[here].mean()) for kind, here in kinds.items()},
        "rule": bool(np.array_equal(nearer[~inside], (b * g < 0)[~inside])),
        "rate": bool(np.allclose(change[clear] / eta, rate[clear], rtol=1e-2, atol=1e-2)),
    }


class Step(NamedTuple):
    """A step with one example (x, y): the line before and after, and before and after gamma y and both distances."""

    lines: tuple[tuple[Array, float], tuple[Array, float]]
    x: Array
    y: float
    gaps: list[float]
    apart: list[float]
    of_origin: list[float]


def take_step(a: Any, b: float, x: Any, y: float, eta: float) -> Step:
    """With lambda = 1."""
    a, x = np.array(a), np.array(x)
    g_a, g_b = sgd.gradient(a, b, x[None], np.array([y]), 1.0)
    lines = (a, b), (a - eta * g_a, b - eta * g_b)
    gaps = [float(y * sgd.gamma(*u, x)) for u in lines]
    apart, of_origin = ([float(margins.distance(p, *u)) for u in lines] for p in (x, np.zeros(2)))
    return Step(lines, x, y, gaps, apart, of_origin)


def draw_step(ax: Any, name: str, step: Step) -> None:
    """The line before and after, the example, and how its distance changes."""
    ax.set(xlim=(-2.3, 3), ylim=(-2.3, 3), aspect="equal", title=name, xlabel="$x_1$", ylabel="$x_2$")
    ax.title.set_fontsize(9)
    for (a, b), colour, when in zip(step.lines, (GREY, PALETTE[2]), ("before", "after"), strict=True):
        line(ax, a, b, color=colour, lw=2.2, label=when)
    ax.plot(0, 0, "+", color=INK, ms=10, label="origin")
    colour, marker = (PALETTE[1], "s") if step.y > 0 else (PALETTE[0], "o")
    ax.scatter(*step.x, s=70, color=colour, marker=marker, zorder=4, label=f"example, y = {step.y:+g}")
    distances = f"distance\n{step.apart[0]:.2f} to {step.apart[1]:.2f}"
    ax.text(0.04, 0.04, distances, transform=ax.transAxes, fontsize=9)


def never_zero_gradient() -> Shown:
    r"""The gradient is not zero when every example is right

    A perceptron stops as soon as every training example is right. SGD on $S$ does not (002:304-307): examples within
    the margin still push, and $\lambda\mathbf a$ always pulls. Two separable clouds: the first line to get everything
    right passes very close to an example; in the steps after it the distance of the nearest example grows to almost the
    largest that any line has (the hard margin). That is why it is "a good thing": of all lines without mistakes the
    steps go on to one that has room for future examples.

    One condition is missing: $\lambda$ must not be zero. With $\lambda = 0$ the gradient does vanish, as soon as
    $\gamma_i y_i > 1$ for all $i$, and the line stays where it is, short of the largest distance. With $\lambda > 0$
    the norm shrinks by $1 - \eta\lambda$ at each step until an example is within the margin again, which lengthens
    $\mathbf a$; the larger $\lambda$, the smaller the norm at which both agree (last picture).
    """
    X, y = data.two_clouds(40, 6.0, seed=1)
    X, eta = X + np.array([2.0, -1.0]), 0.2 / (1 + 0.01 * np.arange(6000))
    largest = float(SVC(kernel="linear", C=np.inf).fit(X, y).margin_)
    lams = (0.0, 1e-3, 1e-2, 1e-1)
    walks = {lam: walk(X, y, lam, eta) for lam in lams}
    gaps = {lam: (A @ X.T + B[:, None]) * y for lam, (A, B) in walks.items()}
    norms = {lam: np.linalg.norm(A, axis=1) for lam, (A, _) in walks.items()}
    nearest = {lam: gaps[lam].min(axis=1)[1:] / norms[lam][1:] for lam in lams}  # the first a is zero
    right = {lam: int(np.argmax((gaps[lam] > 0).all(axis=1))) for lam in lams}
    A, B = walks[1e-2]
    left_over = [np.append(*sgd.gradient(A[right[1e-2]], B[right[1e-2]], X, y, lam)) for lam in (0.0, 1e-2)]
    beyond = int(np.argmax((gaps[0.0] > 1).all(axis=1)))
    shrinks = (gaps[1e-2][1:-1] > 1).all(axis=1)
    factors = norms[1e-2][2:] / norms[1e-2][1:-1]
    rows = [(lam, right[lam], float(nearest[lam][right[lam] - 1]), float(nearest[lam][-1]), float(norms[lam][-1]))
            for lam in lams]  # fmt: skip
    shares = rows[2][2] / largest, rows[2][3] / largest
    header = ("lambda", "all right at step", f"nearest example then (best: {largest:.3f})", "at the end", "norm of a")
    return Shown(lambda: draw_walks(X, y, walks[1e-2], right[1e-2], nearest, norms, largest), (Table(header, rows),), (
        ("when everything is right for the first time the gradient is not zero, even without lambda",
         all(np.linalg.norm(g) > 0.01 for g in left_over)),
        (f"lambda = 0.01: nearest example at {shares[0]:.0%} of the largest distance then, at {shares[1]:.0%} later",
         shares[0] < 0.1 and shares[1] > 0.95),
        (f"lambda = 0: once every gamma y is above 1 nothing moves, at {rows[0][3] / largest:.0%}",
         beyond > 0 and bool(np.all(walks[0.0][0][beyond:] == walks[0.0][0][beyond])) and rows[0][3] < 0.8 * largest),
        ("lambda = 0.01: the norm is multiplied by 1 - eta lambda at each step with all examples beyond the margin",
         bool(shrinks.any()) and np.allclose(factors[shrinks], (1 - eta * 1e-2)[1:][shrinks])),
        ("a larger lambda ends at a smaller norm", all(a[4] > b[4] for a, b in pairwise(rows))),
    ))  # fmt: skip


def walk(X: Array, y: Array, lam: float, etas: Array) -> tuple[Array, Array]:
    """Every point of SGD with single examples."""
    rng = np.random.default_rng(1)
    A, B = np.zeros((len(etas) + 1, X.shape[1])), np.zeros(len(etas) + 1)
    for t, eta in enumerate(etas):
        i = rng.integers(len(y), size=1)
        g_a, g_b = sgd.gradient(A[t], B[t], X[i], y[i], lam)
        A[t + 1], B[t + 1] = A[t] - eta * g_a, B[t] - eta * g_b
    return A, B


def draw_walks(X: Array, y: Array, walk: Any, first: int, nearest: Any, norms: Any, largest: float) -> Any:
    """Two lines of a walk; nearest example and norm at every step."""
    figure, (plane, room, size) = panels(2, 1, height=3.3)
    points(plane, X, y)
    frame(plane, X)
    line(plane, walk[0][first], walk[1][first], color=GREY, lw=2, label=f"step {first}: all right")
    line(plane, walk[0][-1], walk[1][-1], label="at the end")
    plane.set(xlabel="$x_1$", ylabel="$x_2$", title=r"$\lambda = 0.01$")
    plane.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
    for colour, lam in zip(PALETTE, norms, strict=False):
        steps = np.arange(1, len(norms[lam]))
        room.semilogx(steps, nearest[lam], color=colour, lw=1.2, label=rf"$\lambda$ = {lam:g}")
        size.semilogx(steps, norms[lam][1:], color=colour, lw=1.2)
    room.axhline(largest, color=INK, lw=1, ls="--", label="largest possible")
    room.axhline(0, color=GREY, lw=0.8)
    room.set(xlabel="step", ylabel=r"least $\gamma_i y_i / \|\mathbf{a}\|$", title="the nearest example")
    room.set_ylim(-1.5, 1.15 * largest)
    size.set(xlabel="step", ylabel=r"$\|\mathbf{a}\|$", title=r"$\lambda$ shrinks $\mathbf{a}$ (colours as before)")
    room.legend(fontsize=9, loc="lower right")
    return figure
