"""Pictures of tanks for the cautionary example of note 004: whose tank it is, and at what hour it was photographed.

A picture is terrain plus a vehicle under light. Enemy tanks (+1) have the turret at the back and a long gun, own ones
(-1) the turret in the middle and a short gun. In the morning the light is strong and comes from the left, at dusk it is
weak and comes from the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC

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
