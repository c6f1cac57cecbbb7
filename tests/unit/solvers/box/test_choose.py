"""Which solvers run one after the other: pairs, and interior points where those crawl."""

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, Sigmoid
from maxmargin.models import soft_margin
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box import choose
from tests import helpers


def noise(n, d=2):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def unscaled(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) * 10.0 ** np.arange(-2, 4)
    return X, np.where(X @ 10.0 ** -np.arange(-2.0, 4.0) + rng.normal(size=n) > 0, 1.0, -1.0)


CRAWLING = {
    "random labels, C 1e6": (RBF(0.5), *noise(400), 1e6, 1e-4),
    "unscaled features, C 1": (Linear(), *unscaled(400), 1.0, 1e-4),
    "raw features, C 1000": (Linear(), *helpers.cancer_as_it_is(), 1e3, 1e-3),
}


@pytest.mark.large
@pytest.mark.parametrize("case", CRAWLING)
def test_interior_points_take_over_where_pairs_crawl(case):
    kernel, X, y, C, tol = CRAWLING[case]
    found = solve(soft_margin(Gram(kernel, X), y, C), Options(tol=1e-3))
    assert (found.status, found.solver) == (Status.CONVERGED, "interior_point")
    assert found.reason == "took over: smo made too little progress"
    assert found.certificate.violation < tol
    assert found.iterations < 2 * choose.HURRY
    assert np.all(np.diff(found.trace.column("iteration")) >= 0)


@pytest.mark.large
def test_beyond_small_problems_too_where_few_columns_are_enough():
    X, y = helpers.overlapping(1500, 4)
    found = solve(soft_margin(Gram(Linear(), X), y, 1e4), Options(tol=1e-3))
    assert (found.status, found.solver) == (Status.CONVERGED, "interior_point")


@pytest.mark.large
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
@pytest.mark.parametrize("kernel", [RBF(0.2), Linear()], ids=str)
def test_ordinary_problems_stay_with_pairs(kernel, C):
    for X, y in (helpers.moons(), helpers.separable()):
        problem = soft_margin(Gram(kernel, X), y, C)
        found, alone = (solve(problem, Options(tol=1e-3), solver) for solver in ("auto", "smo"))
        assert (found.solver, found.iterations) == ("smo", alone.iterations)
        np.testing.assert_array_equal(found.beta, alone.beta)


def test_matrices_that_interior_points_refuse_are_left_to_pairs_with_all_their_patience():
    X, y = helpers.moons(60)
    (alone,) = choose.stages(soft_margin(Gram(Sigmoid(2.0, -3.0), X), y, 1.0))
    assert alone.settings == {}
    assert [stage.solver.name for stage in choose.stages(soft_margin(Gram(RBF(1.0), X), y, 1.0))] == [
        "smo",
        "interior_point",
        "smo",
    ]


@pytest.mark.large
def test_large_problems_end_with_pairs_of_all_patience(monkeypatch):
    """Interior points may refuse when it is their turn."""
    monkeypatch.setattr(choose, "SMALL_ROWS", 100)
    monkeypatch.setattr(choose, "WHOLE_ROWS", 100)
    monkeypatch.setattr(choose, "HURRY", 10)
    monkeypatch.setattr(choose, "ROW_HURRY", 0)
    X, y = noise(200)
    problem = soft_margin(Gram(RBF(2.0), X), y, 1e4)
    found = solve(problem, Options(tol=1e-3))
    assert (found.status, found.solver, found.reason) == (Status.CONVERGED, "smo", "took over: the last digits")
