"""The perceptron (note 004): a boundary between the classes, if there is one; not the one with the large margin."""

import numpy as np

from maxmargin.textbook import inputs


def perceptron(X, y, max_epochs=1000, rng=None):
    """Add each misclassified example to w, its label to b, until an epoch makes no mistake: (w, b) and the history.

    X is n x p, y has the n labels -1 or +1; a row of history has the iteration (an epoch) and its mistakes. A generator
    or a seed visits the examples in random orders; the boundary that comes out depends on them. Novikoff (1962): at
    most (R ||(w, b)||)^2 mistakes, R the largest norm of (x, 1), for any w and b with y (w'x + b) >= 1 on all examples.
    """
    X, y = inputs.examples(X, y)
    rng = None if rng is None else np.random.default_rng(rng)
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
