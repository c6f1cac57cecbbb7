"""Loops of the linear solvers: compiled and plain Python do the same; orders are random and reproducible."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.rows import rows_of
from maxmargin.losses import EpsilonInsensitive, Hinge, SquaredHinge
from maxmargin.losses import base as losses
from maxmargin.problems import design
from maxmargin.solvers.linear import coordinate, l1, sgd
from tests.linear_helpers import LOSSES, data, name_of


def both(kernel):
    return kernel, getattr(kernel, "py_func", kernel)


def stored(kind, X):
    return rows_of(sparse.csr_array(X) if kind == "sparse" else X, np.float64)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)], ids=name_of)
def test_visits(kind, loss):
    X, y = data(loss, n=30, d=3)
    X[4] = 0.0
    terms = coordinate.Terms(stored(kind, X), y, np.ones(30), (X**2).sum(axis=1), loss)
    found = []
    for run in both(coordinate._visit):
        v, beta, random = np.zeros(3), np.zeros(30), np.array([12345], np.uint64)
        room = coordinate.Room(0.0, 0.0, np.inf, np.inf)
        for _ in range(3):
            kept, _ = run(terms, np.arange(30), 8, room, 0.0, v, beta, random)
        found.append((len(kept), v.copy(), beta.copy()))
        np.testing.assert_allclose(v, X.T @ beta, atol=1e-12)
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)
    np.testing.assert_allclose(found[0][2], found[1][2], atol=1e-12)


def test_shuffles_are_permutations():
    items = np.arange(100)
    coordinate.shuffle(items, 10, 90, np.array([99], np.uint64))
    assert sorted(items) == list(range(100))
    np.testing.assert_array_equal(items[:10], np.arange(10))
    np.testing.assert_array_equal(items[90:], np.arange(90, 100))
    assert not np.array_equal(items, np.arange(100))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_stochastic_steps(kind):
    X, y = data(Hinge(), n=40, d=3)
    descent, found = sgd.Descent(stored(kind, X), y, np.ones(40), Hinge(), 0.1), []
    for run in both(sgd._steps):
        u, m, numbers = np.zeros(3), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        run(descent, np.arange(40), sgd.Schedule(0.5, 0.75, 3, 1.0), u, m, numbers)
        found.append(np.concatenate([u, m, numbers]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def test_models_of_the_l1_penalty_are_minimised():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 5))
    H, g, penalty = A.T @ A, rng.normal(size=5) * 5, np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    for run in both(l1._minimise_model):
        u = np.zeros(5)
        run(H, g, penalty, u, 1e-12, 10_000)
        slope = g + H @ u
        assert abs(slope[4]) < 1e-9
        for j in range(4):
            assert abs(slope[j]) <= 1.0 + 1e-9
            if u[j]:
                assert slope[j] == pytest.approx(-np.sign(u[j]))


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_sums_over_rows(loss):
    X, y = data(loss, n=25)
    c, z, old = np.linspace(0.1, 2.0, 25), X @ np.ones(X.shape[1]), np.zeros(25)
    found = []
    loops = (losses._total, losses._multipliers, losses.dual_steps, losses._fenchel_young)
    for total, fill, step, gaps in zip(*map(both, loops), strict=True):
        beta, kappa, moved, slopes = (np.empty(25) for _ in range(4))
        fill(loss, y, c, z, beta, kappa)
        step(loss, y, c, z, old, 0.7, moved, slopes)
        found.append(np.concatenate([[total(loss, y, c, z)], beta, kappa, moved, slopes, gaps(loss, y, c, z, moved)]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_passes(kind):
    X, _ = data(Hinge(), n=20, d=4)
    rows, index, kappa, w = stored(kind, X), np.arange(0, 20, 3), np.linspace(0.1, 1, 20), np.arange(4.0)
    found = []
    loops = (design._scores, design._combine, design._weighted_product, design._column_squares)
    for names in zip(*map(both, loops), strict=True):
        z, sums, products, squares = np.zeros(20), np.zeros(4), np.zeros(4), np.zeros(4)
        names[0](rows, 0, 20, w, 0.5, z)
        names[1](rows, 0, 20, kappa, sums)
        names[2](rows, index, kappa, w, 0.5, products)
        names[3](rows, index, kappa, squares)
        found.append(np.concatenate([z, sums, products, squares]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    blocks = []
    for write in both(design._scaled_rows):
        out = np.empty((len(index), 5))
        write(rows, index, kappa, 2.0, out)
        blocks.append(out)
    np.testing.assert_allclose(blocks[0], blocks[1], atol=1e-12)
    wanted = np.hstack([X[index], np.full((len(index), 1), 2.0)]) * np.sqrt(kappa[index])[:, None]
    np.testing.assert_allclose(blocks[0], wanted, atol=1e-12)
