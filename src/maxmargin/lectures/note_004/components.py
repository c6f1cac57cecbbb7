"""What comes after the machines of note 004: principal components, of vectors and in feature spaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.decomposition import KernelPCA
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import GREY, INK, PAGE, PALETTE, field, frame, label, panels, plane, points
from maxmargin.lectures.page import Shown, Table

NOISE = 0.4  # standard deviation of what is added to the ink of a square, which is between 0 and 1


def dual_components() -> Shown:
    r"""Principal components and their dual view

    "What's next?" the note asks at its end, and answers: principal component analysis and its variants (004:851-852),
    to which the techniques of the machines have been extended (004:825). Let the rows of $X$ be centred. The directions
    in which they spread most are the eigenvectors $X^TXv = \lambda v$. Multiplied by $X$ this reads
    $XX^T(Xv) = \lambda(Xv)$: the matrix of all inner products between rows has the same eigenvalues $\lambda > 0$, and

    $$u = \frac{Xv}{\sqrt\lambda}, \quad v = \frac{X^Tu}{\sqrt\lambda} = \sum_i \frac{u_i}{\sqrt\lambda} x_i.$$

    So a direction is a weighted sum of the rows, as the weights of a support vector machine are, and the coordinates
    of the rows along it are $Xv = \sqrt\lambda u$. Left: fish, their two directions, and each fish in the colour
    of its weight $u_i$ in the longer one. Right: 300 digits of 64 squares; $XX^T$ has 300 eigenvalues, and those
    beyond the ones of $X^TX$ are zero. Only inner products enter the second way, so a kernel may take their place: that
    is kernel principal component analysis (Schölkopf, Smola and Müller 1998), here `KernelPCA`.
    """
    fish, digits = data.fish(80, seed=2)[0], data.digits()[0][:300]
    X, D = fish - fish.mean(axis=0), digits - digits.mean(axis=0)
    (values, V), (all_values, U) = _spectrum(X.T @ X), _spectrum(X @ X.T)
    wide, tall = _spectrum(D.T @ D)[0], _spectrum(D @ D.T)[0]
    coef = U[:, :2] / np.sqrt(values)
    model = KernelPCA().fit(fish)
    proved = model.residuals_.max() / values[0]

    def picture() -> Any:
        figure, (left, right) = panels(2, height=3.5)
        draw_directions(figure, left, fish, V * np.sign(V[0]) * np.sqrt(values / len(X)))
        draw_spectra(right, wide, tall)
        return figure

    return Shown(picture, claims=(
        ("the eigenvalues of $X^TX$ are the largest of $XX^T$, of fish and of digits, to 1e-12 of the first one",
         _near(all_values[:2], values) and _near(tall[:64], wide)),
        ("all other eigenvalues of $XX^T$ are below 1e-12 of the first one",
         _near(all_values[2:], 0 * all_values[2:], values[0]) and _near(tall[64:], 0 * tall[64:], wide[0])),
        ("$\\sum_i u_ix_i/\\sqrt\\lambda$ is $v$, up to its sign", _same_up_to_signs(X.T @ coef, V)),
        ("$\\sqrt\\lambda u$ are the coordinates $Xv$, up to their sign",
         _same_up_to_signs(U[:, :2] * np.sqrt(values), X @ V)),
        ("`KernelPCA` with the linear kernel has these eigenvalues and, also for new fish, these coordinates",
         _near(model.eigenvalues_, values) and _same_up_to_signs(model.transform(fish + 1), (X + 1) @ V)),
        (f"its residuals say that its eigenvalues are right to {proved:.0e} of the first one", proved < 1e-12),
    ))  # fmt: skip


def _spectrum(A: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of a symmetric matrix, the largest first."""
    values, vectors = np.linalg.eigh(A)
    return values[::-1], vectors[:, ::-1]


def _near(a: Array, b: Array, unit: float | None = None) -> bool:
    return bool(np.abs(a - b).max() < 1e-12 * (b[0] if unit is None else unit))


def _same_up_to_signs(A: Array, B: Array) -> bool:
    return bool(np.allclose(A * np.sign(np.sum(A * B, axis=0)), B))


def draw_directions(figure: Any, axes: Any, X: Array, deviations: Array) -> None:
    """Rows in the colours of their weights in v_1, and from the mean two standard deviations along each direction."""
    mean = X.mean(axis=0)
    weights = (X - mean) @ deviations[:, 0]
    weights /= np.linalg.norm(weights)
    bound = np.abs(weights).max()
    drawn = axes.scatter(*X.T, s=26, c=weights, cmap="coolwarm", vmin=-bound, vmax=bound, edgecolor=INK, linewidth=0.4)
    for column, name in zip(deviations.T, ("$v_1$", "$v_2$"), strict=True):
        axes.annotate("", mean + 2 * column, mean, arrowprops={"arrowstyle": "->", "color": INK, "lw": 2})
        axes.text(*(mean + 2 * column + 0.8 * np.sign(column)), name, color=INK, ha="center", va="center", fontsize=11)
    axes.set_aspect("equal")
    axes.margins(0.1)
    label(axes, "length (cm)", "weight (hg)", "directions are sums of rows")
    figure.colorbar(drawn, ax=axes, location="bottom", shrink=0.9, label="weight $u_i$ of each fish in $v_1$")


def draw_spectra(axes: Any, wide: Array, tall: Array) -> None:
    """Eigenvalues of both matrices; those that are rounding lie on the line of zeros."""
    zero = 1e-5
    styles = {"$XX^T$, 300 x 300": {"marker": ".", "ms": 5, "color": PALETTE[0]},
              "$X^TX$, 64 x 64": {"marker": "o", "ms": 7, "mfc": "none", "color": PALETTE[1]}}  # fmt: skip
    for values, (name, style) in zip((tall, wide), styles.items(), strict=True):
        shown = np.where(values > 1e-12 * values[0], values, zero)
        axes.semilogy(np.arange(1, len(values) + 1), shown, ls="none", label=name, **style)
    axes.set_yticks([zero, 1e-3, 1e-1, 1e1, 1e3], ["0", "0.001", "0.1", "10", "1000"])
    axes.minorticks_off()
    label(axes, "number", "eigenvalue", "300 digits: one spectrum", ylim=(zero / 4, 1e3))
    axes.legend(fontsize=9)


def unrolled_components() -> Shown:
    r"""Components that bend: rings and spirals

    With $K(x, z) = e^{-\gamma\|x - z\|^2}$ in the place of $x^Tz$, centred in feature space as
    $A = HKH$ with $H = I - \frac1n\mathbf{1}\mathbf{1}^T$, the components are functions in the plane:
    $f(x) = \sum_i u_iK(x_i, x)/\sqrt\lambda$ and a constant. Two rings have the same spread in every direction, and
    no linear component tells them apart. The first component with the kernel is high on one ring and low on the other:
    a threshold on one number separates what no line in the plane does.

    Two spirals take more: a linear machine on the first fifteen components is right on all new points, where in the
    plane it is right on three out of five. The components were found without any label. They are a feature map for the
    kernel, fifteen numbers for each point, and all that is nonlinear is in them.
    """
    rng = np.random.default_rng(0)
    rings, y = _rings(300, rng)
    spirals, new = _spirals(400, rng), _spirals(400, rng)
    linear, bent = KernelPCA(2).fit(rings), KernelPCA(2, kernel="rbf", gamma=0.4).fit(rings)
    flat, high = ([_best_threshold(column, y) for column in model.transform(rings).T] for model in (linear, bent))
    model = KernelPCA(20, kernel="rbf", gamma=2.0).fit(spirals[0])
    counts = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20]
    shares = [_linear_share(model.transform(spirals[0])[:, :k], spirals[1], model.transform(new[0])[:, :k], new[1])
              for k in counts]  # fmt: skip
    in_plane = _linear_share(*spirals, *new)
    machine = LinearSVC(C=100.0).fit(model.transform(spirals[0])[:, :15], spirals[1])

    def picture() -> Any:
        figure, axes = panels(3, 2, height=3.0)
        draw_component(axes[0], bent, rings, y)
        draw_coordinates(axes[1], linear.transform(rings), y, "linear components")
        axes[1].set_aspect("equal")
        draw_coordinates(axes[2], bent.transform(rings), y, "Gaussian components")
        frame(axes[3], spirals[0])
        field(axes[3], lambda P: machine.decision_function(model.transform(P)[:, :15]), levels=(0,))
        points(axes[3], *spirals, size=9)
        plane(axes[3], "a linear machine on 15 components")
        draw_shares(axes[4], counts, shares, in_plane)
        return figure

    rows = [("linear", *(f"{share:.1%}" for share in flat)), ("Gaussian", *(f"{share:.1%}" for share in high))]
    return Shown(picture, (Table(("rings", "first component", "second component"), rows),), (
        ("the best threshold on a linear component is right on less than 75 % of the rings", max(flat) < 0.75),
        ("a threshold on the first Gaussian component is right on all of them", high[0] == 1.0),
        (f"on the spirals a linear machine is right on {in_plane:.0%} of new points in the plane", in_plane < 0.8),
        ("and on all of them with fifteen Gaussian components or more",
         all(share == 1.0 for k, share in zip(counts, shares, strict=True) if k >= 15)),
        ("residuals say that all eigenvalues of the spirals are right to 1e-9 of the first one",
         bool(model.residuals_.max() < 1e-9 * model.eigenvalues_[0])),
    ))  # fmt: skip


def _rings(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    y, angle = np.repeat([-1.0, 1.0], n // 2), rng.uniform(0, 2 * np.pi, n)
    radius = np.where(y > 0, 3.0, 1.0) + 0.15 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def _spirals(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """One and a half turns each."""
    angle, y = 3 * np.pi * np.sqrt(rng.uniform(0.05, 1, n)), np.where(np.arange(n) % 2, 1.0, -1.0)
    X = (y * angle / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + 0.08 * rng.normal(size=(n, 2)), y


def _best_threshold(f: Array, y: Array) -> float:
    """Share of points on the right side of the best threshold on f, whichever side is which."""
    lead = np.concatenate([[0.0], np.cumsum(y[np.argsort(f)])])  # positive minus negative points below each threshold
    return float(0.5 + np.abs(lead - 0.5 * y.sum()).max() / len(y))


def _linear_share(X: Array, y: Array, new: Array, labels: Array) -> float:
    return float(LinearSVC(C=100.0).fit(X, y).score(new, labels))


def draw_component(axes: Any, model: KernelPCA, X: Array, y: Array) -> None:
    """The first component as a function in the plane."""
    frame(axes, X)
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    ticks = np.linspace(x0, x1, 90), np.linspace(y0, y1, 90)
    values = model.transform(np.stack(np.meshgrid(*ticks), axis=-1).reshape(-1, 2))[:, 0].reshape(90, 90)
    axes.contourf(*ticks, values, levels=12, cmap="viridis", alpha=0.85)
    points(axes, X, y, size=9)
    plane(axes, "first Gaussian component")


def draw_coordinates(axes: Any, Y: Array, y: Array, title: str) -> None:
    """Rows by their first two components."""
    points(axes, Y, y, size=9)
    label(axes, "first", "second", title)


def draw_shares(axes: Any, counts: list[int], shares: list[float], in_plane: float) -> None:
    """Accuracy on new points against the number of components."""
    axes.plot(counts, shares, "o-", color=PALETTE[2])
    axes.axhline(in_plane, color=GREY, ls="--")
    axes.text(20, in_plane + 0.012, "in the plane", color=INK, ha="right", fontsize=9)
    label(axes, "components", "right on new points", "spirals, linear machines", ylim=(0.45, 1.04))


def denoised_digits() -> Shown:
    r"""Noise taken out of digits

    Components of a noisy picture and back again: what lies outside of the space of the components is lost, the noise
    there as well. With linear components the way back is $x = \bar x + \sum_c y_cv_c$. In feature space the point
    $\rho = \bar\phi + \sum_c y_cv_c = \sum_i g_i\phi(x_i)$ is in general the image of no picture, so one looks for the
    picture $z$ whose image is nearest. For the Gaussian kernel $\|\phi(z) - \rho\|^2$ is least where

    $$z = \frac{\sum_i g_i K(z, x_i) x_i}{\sum_i g_i K(z, x_i)},$$

    a fixed point that is found by putting $z$ in on the right again and again (Mika et al. 1998). Linear components
    are in a dilemma: few of them cannot draw a digit, and many of them draw the noise, too; all 64 give the noisy
    picture back. The fixed point is a weighted mean of training pictures however many components there are, so more of
    them do not bring the noise back. Trained on 1,000 clean digits, tried on 200 others, to whose ink, between 0 and 1,
    noise of standard deviation 0.4 was added.
    """
    X = data.digits()[0]
    clean, test = X[:1000], X[1000:1200]
    noisy = test + NOISE * np.random.default_rng(0).normal(size=test.shape)
    counts = [2, 4, 8, 16, 32, 64, 128]
    mean = clean.mean(axis=0)
    directions = _spectrum((clean - mean).T @ (clean - mean))[1]
    linear = {k: mean + (noisy - mean) @ directions[:, :k] @ directions[:, :k].T for k in counts if k <= 64}
    models = {k: KernelPCA(k, kernel="rbf", gamma=0.1).fit(clean) for k in counts}
    gaussian = {k: model.inverse_transform(model.transform(noisy)) for k, model in models.items()}
    errors, others = (
        {k: float(np.mean((found - test) ** 2)) for k, found in way.items()} for way in (linear, gaussian)
    )
    before = float(np.mean((noisy - test) ** 2))

    def picture() -> Any:
        figure, axes = panels(1, 1, width=PAGE, height=3.9)
        draw_digits(axes[0], {"clean": test, "noisy": noisy, "linear, 8": linear[8], "linear, 32": linear[32],
                              "kernel, 32": gaussian[32], "kernel, 128": gaussian[128]})  # fmt: skip
        draw_errors(axes[1], errors, others, before)
        return figure

    rows = [(k, errors.get(k, "-"), others[k]) for k in counts]
    fell = f"with 32 components the squared error falls from {before:.3f} to {errors[32]:.3f} with linear ones"
    return Shown(picture, (Table(("components", "mean squared error, linear", "Gaussian"), rows),), (
        (f"{fell}, to {others[32]:.3f} with Gaussian ones: less than half of it", others[32] < 0.5 * errors[32]),
        ("the best number of linear components leaves more than 1.4 times the error of 128 Gaussian ones",
         min(errors.values()) > 1.4 * others[128]),
        ("all 64 linear components give the noisy picture back", bool(np.allclose(linear[64], noisy))),
        ("with Gaussian components the error falls with every doubling of their number",
         all(others[k] > others[2 * k] for k in counts[:6])),
    ))  # fmt: skip


def draw_digits(axes: Any, rows: dict[str, Array], count: int = 12) -> None:
    """Some pictures in four states, one below the other."""
    tiles = [
        np.hstack([np.pad(X[k].reshape(8, 8), 1, constant_values=np.nan) for k in range(count)]) for X in rows.values()
    ]
    axes.imshow(np.vstack(tiles), cmap="gray_r", vmin=0, vmax=1)
    axes.set(
        xticks=[], yticks=[10 * k + 4.5 for k in range(len(rows))], title="digits, and what components make of them"
    )
    axes.set_yticklabels(rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def draw_errors(axes: Any, linear: dict[int, float], gaussian: dict[int, float], before: float) -> None:
    """Errors against the number of components."""
    axes.loglog(*zip(*linear.items(), strict=True), "s-", color=PALETTE[0], label="linear")
    axes.loglog(*zip(*gaussian.items(), strict=True), "o-", color=PALETTE[1], label="Gaussian, fixed point")
    axes.axhline(before, color=GREY, ls="--", label="noisy")
    label(axes, "components", "mean squared error", "200 digits that no component has seen")
    axes.set_xticks(list(gaussian), [str(k) for k in gaussian])
    axes.minorticks_off()
    axes.set_yticks([0.03, 0.05, 0.1, 0.15], ["0.03", "0.05", "0.10", "0.15"])
    axes.legend(fontsize=9)
