"""Stochastic steps: compiled and plain Python do the same."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.losses import Hinge
from maxmargin.solvers.linear import sgd
from tests.linear_helpers import data


def both(kernel):
    return kernel, getattr(kernel, "py_func", kernel)


def stored(kind, X):
    return rows_of(sparse.csr_array(X) if kind == "sparse" else X, np.float64)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_stochastic_steps(kind):
    X, y = data(Hinge(), n=40, d=3)
    descent, found = sgd.Descent(stored(kind, X), y, np.ones(40), Hinge(), 0.1), []
    for run in both(sgd._steps):
        u, m, numbers = np.zeros(3), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        run(descent, np.arange(40), sgd.Schedule(0.5, 0.75, 3, 1.0, 18), u, m, numbers)
        found.append(np.concatenate([u, m, numbers]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("batch", [1, 3, 50])
def test_slopes_that_are_handed_over_make_the_same_steps(kind, batch):
    class Own:
        value, slope = Hinge().value, Hinge().slope

    X, y = data(Hinge(), n=40, d=3)
    factors, order, found = np.linspace(0.5, 1.5, 40), np.random.default_rng(0).integers(40, size=90), []
    for loss in (Hinge(), Own()):
        descent, iterates = sgd.Descent(stored(kind, X), y, factors, loss, 0.1), sgd.Iterates(3)
        descent.run(order, iterates, 0.5, True, batch)
        found.append(np.concatenate(iterates.parts))
        assert descent.first_length(np.random.default_rng(0), batch) > 0.0
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
