"""Pictures of tanks for the cautionary example of note 004: whose tank it is, and at what hour it was photographed.

A picture is terrain plus a vehicle under light. Enemy tanks (+1) have the turret at the back and a long gun, own ones
(-1) the turret in the middle and a short gun. In the morning the light is strong and comes from the left, at dusk it is
weak and comes from the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC
from maxmargin.lectures.drawing import INK, PALETTE, panels
from maxmargin.lectures.page import Shown, Table

SIDE = 24
ROWS, COLUMNS = np.mgrid[:SIDE, :SIDE]
PLANE = np.column_stack([np.ones(SIDE**2), ROWS.ravel() / SIDE - 0.5, COLUMNS.ravel() / SIDE - 0.5])


class Photographs(NamedTuple):
    """Pictures as rows of grey values, and for each the side (enemy +1, own -1) and hour (morning +1, dusk -1)."""

    X: Array
    side: Array
    hour: Array


class Recogniser(NamedTuple):
    """A linear machine, what of a picture it sees, and its accuracy on each kind of pictures."""

    weights: Array
    see: Callable[[Array], Array]
    accuracy: dict[str, float]
    machine: SVC


def tanks() -> Shown:
    r"""The machine that told dusk from dawn

    A cautionary tale (004:829-843): a classifier of tanks was perfect on its photographs and failed in reality,
    because all enemy tanks had been taken in the morning and all own ones at the other end of the day. (The note says
    "in dawn"; its last line, dusk from dawn, shows what is meant.) Here the pictures are drawn: 24 x 24 grey values,
    two shapes of tanks, strong light from the left in the morning and weak light from the right at dusk.

    A linear machine on confounded pictures is perfect on *held-out* pictures of the same kind: a test set that shares
    the flaw does not show it. On balanced light it is right half the time, on swapped light never. Three checks reveal
    this: its weight image shows a slope of light and no tank; a machine that sees nothing but the mean brightness
    scores as well; and the accuracy by side and hour, on a few pictures that break the pattern, is 0 or 1. Two
    remedies: pictures of both sides at both hours, or taking the light out (subtracting the best plane, dividing by
    what varies).
    """
    rng = np.random.default_rng(0)
    train, fair = confounded(200, rng), balanced(200, rng)
    tests = {"same kind": confounded(200, rng), "balanced": balanced(400, rng)}
    tests["swapped"] = confounded(200, rng, hour_of_enemy=-1.0)
    found = {
        "all pixels": recogniser(train, pixels, tests),
        "brightness only": recogniser(train, brightness, tests),
        "balanced training": recogniser(fair, pixels, tests),
        "light taken out": recogniser(train, without_light, tests),
    }
    first, light, *remedies = (recogniser.accuracy for recogniser in found.values())
    groups = by_group(found["all pixels"], tests["balanced"])
    rows = [(name, *(f"{share:.1%}" for share in recogniser.accuracy.values())) for name, recogniser in found.items()]
    tables = (Table(("machine", *tests), rows),
              Table(("tank and hour", "accuracy of the first machine"), list(groups.items())))  # fmt: skip
    fixed = min(min(accuracy.values()) for accuracy in remedies)

    def picture() -> Any:
        figure, axes = panels(4, 3, 1, height=2.4)
        draw_photographs(axes[:4], tests["balanced"])
        draw_weight_images(axes[4:7], found)
        draw_bars_of_accuracy(axes[7], found)
        return figure

    return Shown(picture, tables, (
        ("the first machine is right on 99 % or more of held-out pictures of the same kind",
         first["same kind"] >= 0.99),
        ("on balanced light it has 50 % to within 5 %, on swapped light less than 5 %",
         abs(first["balanced"] - 0.5) < 0.05 and first["swapped"] < 0.05),
        ("mean brightness alone scores the same, to within 1 %, on all three kinds",
         all(abs(first[kind] - light[kind]) <= 0.01 for kind in tests)),
        ("by side and hour its accuracy is above 95 % or below 5 %",
         all(min(share, 1 - share) < 0.05 for share in groups.values())),
        (f"with either remedy it is right on {fixed:.1%} or more of each kind", fixed > 0.9),
    ))  # fmt: skip


def silhouette(side: float, row: int, column: int) -> Array:
    """Where the tank is: hull, turret and gun, the upper left corner of all at (row, column)."""
    r, c = ROWS - row, COLUMNS - column
    enemy = side > 0
    hull = (r >= 4) & (r < 8) & (c >= 0) & (c < 14)
    turret = (r >= 1) & (r < 4) & ((c >= 8) & (c < 13) if enemy else (c >= 4) & (c < 9))
    gun = (r == 2) & ((c >= 0) & (c < 8) if enemy else (c >= 1) & (c < 4))
    return hull | turret | gun


def photograph(side: Array, hour: Array, rng: np.random.Generator) -> Photographs:
    """One picture for each pair of side and hour."""
    pictures = []
    for owner, when in zip(side, hour, strict=True):
        row, column = int(rng.integers(6, 10)), int(rng.integers(2, 7))
        scene = 0.5 + 0.07 * rng.normal(size=(SIDE, SIDE)) - 0.22 * silhouette(owner, row, column)
        strength = 0.12 * when + 0.03 * rng.normal()
        slope = -0.25 * when + 0.06 * rng.normal()
        pictures.append((scene + strength + slope * (COLUMNS / SIDE - 0.5)).ravel())
    return Photographs(np.array(pictures), side, hour)


def confounded(n: int, rng: np.random.Generator, hour_of_enemy: float = 1.0) -> Photographs:
    """All enemies at one hour, all own tanks at the other."""
    side = np.where(np.arange(n) % 2, 1.0, -1.0)
    return photograph(side, hour_of_enemy * side, rng)


def balanced(n: int, rng: np.random.Generator) -> Photographs:
    """Every combination of side and hour equally often."""
    k = np.arange(n)
    return photograph(np.where(k % 2, 1.0, -1.0), np.where(k // 2 % 2, 1.0, -1.0), rng)


def pixels(X: Array) -> Array:
    """The picture as it is."""
    return X


def brightness(X: Array) -> Array:
    """The mean grey value alone."""
    return X.mean(axis=1, keepdims=True)


def without_light(X: Array) -> Array:
    """What the best plane of light leaves of each picture, at unit variance: brightness and direction are gone."""
    rest = X - X @ np.linalg.pinv(PLANE).T @ PLANE.T
    return rest / rest.std(axis=1, keepdims=True)


def recogniser(train: Photographs, see: Callable[[Array], Array], tests: dict[str, Photographs]) -> Recogniser:
    """A machine trained on what it may see of the pictures, scored on all of ``tests``."""
    machine = SVC(kernel="linear", C=1.0).fit(see(train.X), train.side)
    accuracy = {kind: float(machine.score(see(test.X), test.side)) for kind, test in tests.items()}
    return Recogniser(machine.coef_[0], see, accuracy, machine)


def by_group(found: Recogniser, test: Photographs) -> dict[str, float]:
    """Accuracy for each combination of side and hour: the table that gives the shortcut away."""
    right, shares = found.machine.predict(found.see(test.X)) == test.side, {}
    for side, owner in ((1, "enemy"), (-1, "own")):
        for hour, time in ((1, "morning"), (-1, "dusk")):
            shares[f"{owner}, {time}"] = float(right[(test.side == side) & (test.hour == hour)].mean())
    return shares


def draw_photographs(axes: Any, pictures: Any) -> None:
    """One picture for each combination of side and hour."""
    kinds = {"enemy, morning": (1, 1), "own, dusk": (-1, -1), "enemy, dusk": (1, -1), "own, morning": (-1, 1)}
    for ax, (name, (side, hour)) in zip(axes, kinds.items(), strict=True):
        k = np.flatnonzero((pictures.side == side) & (pictures.hour == hour))[0]
        ax.imshow(pictures.X[k].reshape(SIDE, SIDE), cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(name + ("\n(in training)" if side == hour else ""), fontsize=10)


def draw_weight_images(axes: Any, found: dict[str, Any]) -> None:
    """What the machines look at."""
    for ax, name in zip(axes, ("all pixels", "balanced training", "light taken out"), strict=True):
        w = found[name].weights.reshape(SIDE, SIDE)
        ax.imshow(w, cmap="RdBu_r", vmin=-np.abs(w).max(), vmax=np.abs(w).max())
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"weights: {name}", fontsize=10)


def draw_bars_of_accuracy(axes: Any, found: dict[str, Any]) -> None:
    """Accuracy of each machine on each kind of pictures."""
    for k, (name, recogniser) in enumerate(found.items()):
        axes.bar(np.arange(3) + 0.2 * k - 0.3, recogniser.accuracy.values(), 0.2, color=PALETTE[k], label=name)
    axes.axhline(0.5, color=INK, lw=0.8, ls="--")
    axes.set(xticks=range(3), ylim=(0, 1.35), yticks=[0, 0.5, 1], ylabel="accuracy")
    axes.set_xticklabels(found["all pixels"].accuracy)
    axes.legend(fontsize=9, loc="upper center", ncols=4)
