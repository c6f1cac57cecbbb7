"""Data of the lectures: bundled with scikit-learn, printed in the notes, or drawn from a seed."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_moons

from maxmargin.core.rows import Array
from maxmargin.preprocessing import Whitener

# Table 23.1 of note 004; the first eight are positive.
TABLE_23_1 = np.array(
    [
        *[(3.5, 4.25), (4, 3), (4, 4), (4.5, 1.75), (4.9, 4.5), (5, 4), (5.5, 2.5), (5.5, 3.5)],
        *[(0.5, 1.5), (1, 2.5), (1.25, 0.5), (1.5, 1.5), (2, 2), (2.5, 0.75)],
    ]
)
SIGNS_23_1 = np.array([1.0] * 8 + [-1.0] * 6)
# The multipliers that example 23.3 prints (004:362-367): of x1, x2, x4, x13 and x14, the others are 0.
ALPHA_23_1 = np.array([0.0437, 0.2162, 0, 0.1427, 0, 0, 0, 0, 0, 0, 0, 0, 0.3589, 0.0437])
# Scores of the classes cat, car and frog, one row for each image (004:452-454 has them in columns).
SLIDE_SCORES = np.array([[3.2, 5.1, -1.7], [1.3, 4.9, 2.0], [2.2, 2.5, -3.1]])
XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
XOR_SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


Part = tuple[Array, Array]  # rows and their labels


@cache
def cancer() -> Part:
    """Breast cancer: 569 rows, 30 features of mean 0 and variance 1, labels -1 (malignant) and +1.

    For demonstrations that train on all rows; those that keep rows aside take ``cancer_parts``.
    """
    X, y = _cancer_measured()
    return Whitener().fit_transform(X), y


def _cancer_measured() -> Part:
    X, y = (np.asarray(part) for part in load_breast_cancer(return_X_y=True))
    return X, 2.0 * y - 1


def cancer_parts(n: int = 400) -> tuple[Part, Part]:
    """The breast cancer data as measured, shuffled: n rows to train on, and the others kept aside."""
    X, y = _cancer_measured()
    order = np.random.default_rng(0).permutation(len(y))
    return (X[order[:n]], y[order[:n]]), (X[order[n:]], y[order[n:]])


def scaled_by_first(train: Part, *others: Part) -> list[Part]:
    """All parts with means and variances of the first one, which alone may be known, taken out."""
    whitener = Whitener().fit(train[0])
    return [(whitener.transform(X), y) for X, y in (train, *others)]


@cache
def digits() -> tuple[Array, Array]:
    """1797 handwritten digits, shuffled: the ink of 8 times 8 squares between 0 and 1, labels 0 to 9."""
    X, y = (np.asarray(part) for part in load_digits(return_X_y=True))
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] / 16, y[order]


def two_clouds(n: int = 60, apart: float = 2.0, seed: int = 0) -> tuple[Array, Array]:
    """Two round Gaussian clouds in the plane, n points each, their means ``apart`` standard deviations from each
    other.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], n)
    return rng.normal(size=(2 * n, 2)) + 0.5 * apart * y[:, None] * np.array([0.8, 0.6]), y


def fish(n: int, seed: int) -> tuple[Array, Array]:
    """Length (cm) and weight (hg) of n fish of two kinds; within a kind, long fish are heavy fish."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, -1.0, 1.0)
    noise = rng.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]], size=n)
    standard = noise + 0.5 * y[:, None] * np.array([1.6, 0.5])
    return standard * np.array([4.0, 2.0]) + np.array([40.0, 9.0]), y


def with_copies(X: Array, copies: int) -> Array:
    """The last feature ``copies`` times over."""
    return np.column_stack([X[:, :-1], *[X[:, -1]] * copies])


def three_clouds(n: int = 50, seed: int = 1) -> tuple[Array, Array]:
    """Three round clouds in the plane that touch, classes 0, 1, 2."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n)
    corners = 2.2 * np.array([[0.0, 1.0], [-0.87, -0.5], [0.87, -0.5]])
    return corners[y] + rng.normal(size=(3 * n, 2)), y


CAPS, GILLS = ("brown", "white", "red"), ("free", "attached", "notched")


def mushrooms() -> tuple[Array, Array]:
    """Nine mushrooms counted by hand: cap and gills; class 0 is edible, 1 is poisonous."""
    rows = [(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (2, 1), (1, 1), (2, 2)]
    return np.array(rows), np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])


def separable_clouds(seed: int = 10) -> tuple[Array, Array]:
    """Two clouds that a line separates."""
    X, y = two_clouds(n=15, apart=4.5, seed=seed)
    return X, y


def outlier_clouds(seed: int = 0) -> tuple[Array, Array]:
    """Two clouds and, far on the positive side, twelve more positive points."""
    X, y = two_clouds(n=40, apart=3.5, seed=seed)
    rng = np.random.default_rng(seed)
    far = np.array([16.0, 0.0]) + rng.normal(size=(12, 2))
    return np.vstack([X, far]), np.append(y, np.ones(12))


def moons(n: int, noise: float, seed: int) -> tuple[Array, Array]:
    """Two interlocked half circles in the plane, n points in all."""
    X, y = (np.asarray(part) for part in make_moons(n, noise=noise, random_state=seed))
    return X, 2.0 * y - 1
