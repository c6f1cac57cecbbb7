"""Loops of the linear solvers: compiled and plain Python do the same; orders are random and reproducible."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVC
from maxmargin.core.rows import rows_of
from maxmargin.losses import EpsilonInsensitive, Hinge, SquaredHinge
from maxmargin.solvers import Options, solve
from maxmargin.solvers.linear import coordinate
from maxmargin.solvers.linear.coordinate import DualCD
from tests.linear_helpers import data, name_of, problem


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
    coordinate.shuffle(items, np.array([99], np.uint64))
    assert sorted(items) == list(range(100))
    assert not np.array_equal(items, np.arange(100))


@pytest.mark.parametrize("run", [1, 4, 7, 200])
def test_neighbours_stay_together(run):
    order = np.arange(0, 300, 3)
    result = coordinate.shuffled(order, run, np.array([99], np.uint64))
    np.testing.assert_array_equal(np.sort(result), order)
    steps = np.diff(result)
    assert np.count_nonzero(steps != 3) <= (len(order) - 1) // run
    assert run > len(order) or np.any(steps != 3)


def test_the_best_bias_is_read_off_the_rows_once_for_each_iterate():
    X, y = np.random.default_rng(0).normal(size=(60, 5)), np.where(np.arange(60) % 2, 1.0, -1.0)
    solver = DualCD(problem(X, y, Hinge()), problem(X, y, Hinge()).start(), Options(tol=1e-6))
    design = solver.problem.design
    for _ in range(2):
        solver.step(1)
        v, before = solver.point.v, design.passes
        np.testing.assert_array_equal(solver.point.v, v)
        assert design.passes == before
    solver.refine(1e-9, solver.point)
    assert solver.point.v[-1] == pytest.approx(v[-1], abs=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_few_rows_of_many_features_take_few_passes(C):
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 5000), density=0.02, rng=rng, format="csr")
    y = np.where(X[:, :200].sum(axis=1) > np.median(X[:, :200].sum(axis=1)), 1.0, -1.0)
    found = solve(problem(X, y, Hinge(), C=C), Options(tol=1e-4))
    assert found.solver == DualCD.name
    assert found.certificate.relative_gap <= 1e-4
    assert found.passes < 400  # thousands by products with the Hessian


@pytest.mark.large  # in plain Python products of hashes would warn that they wrap around
def test_a_weight_of_two_is_the_row_twice_where_few_rows_have_many_features():
    rng = np.random.default_rng(1)
    X = sparse.random_array((120, 3000), density=0.02, rng=rng, format="csr")
    y, twice = np.arange(120) % 2, rng.permutation(120)[:40]
    weights = np.ones(120)
    weights[twice] = 2.0
    weighted = LinearSVC(loss="hinge", random_state=0).fit(X, y, weights)
    repeated = LinearSVC(loss="hinge", random_state=0).fit(
        sparse.vstack([X, X[twice]], format="csr"), np.concatenate([y, y[twice]])
    )
    assert weighted.solver_.startswith(DualCD.name)
    np.testing.assert_allclose(repeated.coef_, weighted.coef_, atol=1e-9)
    np.testing.assert_allclose(repeated.intercept_, weighted.intercept_, atol=1e-9)
