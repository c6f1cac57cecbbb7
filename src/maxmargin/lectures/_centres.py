"""Radial basis function networks whose centres are support vectors, random examples or means (note 004:421)."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from maxmargin.core.rows import Array


def unit(z: Array, centre: Array, sigma: float) -> float:
    """The output of one hidden unit, exp(-||z - c||^2 / (2 sigma^2))."""
    return float(np.exp(-np.sum((z - centre) ** 2) / (2 * sigma**2)))


def network(Z: Array, centres: Array, weights: Array, b: float, sigma: float) -> Array:
    """f(z) = sum_i alpha_i y_i exp(-||z - x_i||^2 / (2 sigma^2)) + b, unit by unit."""
    return np.array(
        [sum(weight * unit(z, c, sigma) for weight, c in zip(weights, centres, strict=True)) + b for z in Z]
    )


def hidden(X: Array, centres: Array, sigma: float) -> Array:
    """The hidden layer's outputs, all at once."""
    return np.exp(-((X[:, None, :] - centres) ** 2).sum(axis=2) / (2 * sigma**2))


def accuracy(centres: Array, sigma: float, train: tuple[Array, Array], test: tuple[Array, Array]) -> float:
    """Of the network with these centres and a logistic output layer."""
    output = LogisticRegression(max_iter=5000).fit(hidden(train[0], centres, sigma), train[1])
    return float(output.score(hidden(test[0], centres, sigma), test[1]))


def random_centres(X: Array, k: int, seed: int) -> Array:
    """Some k of the examples."""
    return X[np.random.default_rng(seed).choice(len(X), k, replace=False)]


def mean_centres(X: Array, k: int) -> Array:
    """The means of k clusters."""
    return KMeans(k, random_state=0).fit(X).cluster_centers_
