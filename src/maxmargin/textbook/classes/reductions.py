"""Many classes by binary machines (note 002). ``train(X, signs)`` returns a function that scores rows."""

from itertools import combinations

import numpy as np


def one_vs_one(X, y, train):
    """A machine per pair of classes; the class with the most votes."""
    classes = np.unique(y)
    machines = {(p, q): train(X[near], np.where(y[near] == p, 1.0, -1.0))
                for p, q in combinations(classes, 2) for near in [(y == p) | (y == q)]}  # fmt: skip

    def predict(Z):
        votes = {c: np.zeros(len(Z)) for c in classes}
        for (p, q), score in machines.items():
            wins = score(Z) >= 0
            votes[p] += wins
            votes[q] += ~wins
        return classes[np.argmax([votes[c] for c in classes], axis=0)]

    return predict


def one_vs_all(X, y, train):
    """A machine per class against all others; the class with the highest score."""
    classes = np.unique(y)
    machines = [train(X, np.where(y == c, 1.0, -1.0)) for c in classes]
    return lambda Z: classes[np.argmax([score(Z) for score in machines], axis=0)]


def bits(X, y, train):
    """The "bad option": labels as binary numbers, a machine per bit; one wrong bit is a wrong class.

    Labels are integers; bit patterns that are no class at all are answered with -1.
    """
    classes, index = np.unique(y, return_inverse=True)
    width = max(1, int(np.ceil(np.log2(len(classes)))))
    machines = [train(X, np.where(index >> bit & 1, 1.0, -1.0)) for bit in range(width)]

    def predict(Z):
        code = sum((score(Z) >= 0).astype(int) << bit for bit, score in enumerate(machines))
        return np.append(classes, np.full(2**width - len(classes), -1, classes.dtype))[code]

    return predict
