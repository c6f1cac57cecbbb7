"""Every kernel of vectors beside its formula for one pair of points, and small data to try them on."""

import math

import numpy as np

from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid

# One line per kernel: the oracle.
FORMULAS = {
    "linear": (Linear(), lambda x, z: x @ z),
    "polynomial": (Polynomial(3, 0.5, 1.0), lambda x, z: (0.5 * x @ z + 1.0) ** 3),
    "quadratic": (Polynomial(2, 1.0, 1.0), lambda x, z: (x @ z + 1.0) ** 2),
    "degree 5": (Polynomial(5, 0.1, 0.5), lambda x, z: (0.1 * x @ z + 0.5) ** 5),
    "rbf": (RBF(0.3), lambda x, z: math.exp(-0.3 * np.sum((x - z) ** 2))),
    "rbf by sigma": (RBF(sigma=1.5), lambda x, z: math.exp(-np.sum((x - z) ** 2) / (2 * 1.5**2))),
    "laplacian": (Laplacian(0.2), lambda x, z: math.exp(-0.2 * np.sum(np.abs(x - z)))),
    "sigmoid": (Sigmoid(0.1, -0.4), lambda x, z: math.tanh(0.1 * x @ z - 0.4)),
}
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6), RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)


def by_formula(formula, A, B):
    return np.array([[formula(a, b) for b in B] for a in A])
