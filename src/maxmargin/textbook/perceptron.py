"""The perceptron (note 004): a boundary between the classes, if there is one; not the one with the large margin."""

import numpy as np


def perceptron(X, y, max_epochs=1000, rng=None):
    """Add each misclassified example to w, its label to b, until an epoch makes no mistake.

    A generator visits the examples in random orders; the boundary that comes out depends on them. Novikoff (1962): at
    most (R ||(w, b)||)^2 mistakes, R the largest norm of (x, 1), for any w and b with y (w'x + b) >= 1 on all examples.
    """
    w, b, history = np.zeros(X.shape[1]), 0.0, []
    for epoch in range(1, max_epochs + 1):
        mistakes = 0
        for i in np.arange(len(y)) if rng is None else rng.permutation(len(y)):
            if y[i] * (w @ X[i] + b) <= 0:
                w, b, mistakes = w + y[i] * X[i], b + y[i], mistakes + 1
        history.append({"iteration": epoch, "mistakes": mistakes})
        if mistakes == 0:
            break
    return (w, b), history
