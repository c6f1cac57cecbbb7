"""Radial basis function networks whose centres are support vectors, random examples or means (note 004:421)."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from maxmargin.core.rows import Array
from maxmargin.textbook import kernels


def network(Z: Array, centres: Array, weights: Array, b: float, sigma: float) -> Array:
    """The hidden layer's outputs exp(-||z - c_j||^2 / (2 sigma^2)), and a linear output of them."""
    return kernels.gaussian(sigma)(Z, centres) @ weights + b


def accuracy(centres: Array, sigma: float, train: tuple[Array, Array], test: tuple[Array, Array]) -> float:
    """Of the network with these centres and a logistic output layer."""
    hidden = kernels.gaussian(sigma)
    output = LogisticRegression(max_iter=5000).fit(hidden(train[0], centres), train[1])
    return float(output.score(hidden(test[0], centres), test[1]))


def random_centres(X: Array, k: int, seed: int) -> Array:
    """Some k of the examples."""
    return X[np.random.default_rng(seed).choice(len(X), k, replace=False)]


def mean_centres(X: Array, k: int) -> Array:
    """The means of k clusters."""
    return KMeans(k, random_state=0).fit(X).cluster_centers_
