"""Starts from a sample: fewer steps to the same optimum, in every row order, and when they are not taken."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Status
from maxmargin.solvers import Options, sample, solve
from maxmargin.solvers.linear import alm, coordinate, newton
from maxmargin.solvers.sample import CLOSE, LEAST_ROWS, SPREAD, large_enough, solved_sample
from tests.linear_helpers import BIASES, data, name_of, problem

pytestmark = pytest.mark.large  # some 17,000 rows each
ROWS = SPREAD * LEAST_ROWS
LOSSES = [SquaredHinge(), Logistic(), Hinge(), EpsilonInsensitive(0.5)]


def solved(machine, monkeypatch, sampled=True):
    for module in (alm, newton):
        monkeypatch.setattr(module, "large_enough", large_enough if sampled else lambda *told: False)
    return solve(machine, Options(tol=1e-6), "newton" if machine.loss.smooth else "alm")


@pytest.mark.parametrize("bias", BIASES, ids=name_of)
@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_fewer_steps_lead_to_the_same_optimum(loss, bias, monkeypatch):
    X, y = data(loss, n=ROWS)
    with_sample = solved(problem(X, y, loss, bias), monkeypatch)
    without = solved(problem(X, y, loss, bias), monkeypatch, sampled=False)
    assert with_sample.certificate.relative_gap <= 1e-6
    assert with_sample.certificate.primal == pytest.approx(without.certificate.primal, rel=2e-6)
    assert with_sample.iterations < without.iterations


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_a_sample_that_misleads_does_no_harm(loss, monkeypatch):
    """Every row that is in the sample has the wrong target."""
    X, y = data(loss, n=ROWS)
    y[SPREAD // 2 :: SPREAD] *= -1.0
    found = solved(problem(X, y, loss), monkeypatch)
    expected = solved(problem(X, y, loss), monkeypatch, sampled=False)
    assert found.certificate.relative_gap <= 1e-6
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic(), Hinge()], ids=name_of)
@pytest.mark.parametrize("others", [2, SPREAD], ids=["many others", "few others"])
def test_a_sample_of_one_class_does_no_harm(loss, others, monkeypatch):
    """The logistic loss of one class has no best bias: such a sample is not solved, and not used."""
    X, y = data(loss, n=ROWS)
    y[:] = 1.0
    y[::others] = -1.0
    y[SPREAD // 2 :: SPREAD] = 1.0
    found = solved(problem(X, y, loss), monkeypatch)
    expected = solved(problem(X, y, loss), monkeypatch, sampled=False)
    assert found.status is Status.CONVERGED
    assert found.certificate.relative_gap <= 1e-6
    assert found.iterations <= expected.iterations + 3


def test_classes_that_alternate_are_both_in_the_sample():
    rows = np.arange(SPREAD // 2, ROWS, SPREAD)
    for classes in range(2, SPREAD):
        assert len(np.unique(rows % classes)) == classes


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=name_of)
def test_samples_of_samples(loss, monkeypatch):
    X, y = data(loss, n=ROWS)
    monkeypatch.setattr(sample, "LEAST_ROWS", 50)
    machine, seen = problem(X, y, loss), []
    whole = sample.solved_sample

    def watched(*told):
        seen.append(told[1].n)
        return whole(*told)

    for module in (alm, newton):
        monkeypatch.setattr(module, "solved_sample", watched)
        monkeypatch.setattr(module, "ROWS_A_WEIGHT", 1.0)
    found = solve(machine, Options(tol=1e-6), "newton" if loss.smooth else "alm")
    assert found.certificate.relative_gap <= 1e-6
    assert seen == [ROWS, LEAST_ROWS]


def test_few_steps_are_steps_over_all_rows():
    X, y = data(SquaredHinge(), n=ROWS)
    found = solve(problem(X, y, SquaredHinge()), Options(tol=1e-6, max_iter=0), "newton")
    assert not found.point.v.any()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_sample_has_the_objective_of_all_rows(convert):
    X, y = data(SquaredHinge(), n=ROWS)
    machine = problem(convert(X), y, SquaredHinge(), Bias.REGULARIZED, C=0.5)
    found = solved_sample(newton.Newton, machine, Options())
    assert found.problem.n == LEAST_ROWS
    assert found.problem.costs.sum() == pytest.approx(machine.costs.sum())
    assert found.optimality_error <= CLOSE
    assert 0.0 < machine.passes == found.problem.passes / SPREAD


def test_a_given_start_is_taken():
    X, y = data(SquaredHinge(), n=ROWS)
    machine = problem(X, y, SquaredHinge())
    best = solve(machine, Options(tol=1e-6), "newton")
    assert solve(machine, Options(tol=1e-6, start=best.point), "newton").iterations == 0


def test_few_rows_are_no_sample():
    X, y = data(SquaredHinge(), n=ROWS, d=20)
    machine = problem(X, y, SquaredHinge(), Bias.NONE)
    assert large_enough(machine, 0.0)
    assert large_enough(machine, LEAST_ROWS / 20)
    assert not large_enough(machine, LEAST_ROWS / 20 + 1)
    assert not large_enough(problem(X[:-1], y[:-1], SquaredHinge(), Bias.NONE), 0.0)


def test_small_costs_make_up_for_few_rows():
    X, y = data(SquaredHinge(), n=ROWS, d=100)
    easy, hard = (problem(X, y, SquaredHinge(), C=C) for C in (1e-3, 1.0))
    assert newton.Newton(easy, easy.start(), Options()).point.v.any()
    assert not newton.Newton(hard, hard.start(), Options()).point.v.any()


@pytest.mark.parametrize("C", [1e-3, 0.1])
def test_coordinate_descent_solves_easy_samples_of_sparse_rows(C, monkeypatch):
    X, y = data(SquaredHinge(), n=ROWS, d=5)
    machine, seen = problem(sparse.csr_array(X), y, SquaredHinge(), Bias.REGULARIZED, C=C), []
    monkeypatch.setattr(newton, "solved_sample", lambda *told: seen.append(told[0]) or solved_sample(*told))
    found = solve(machine, Options(tol=1e-6), "newton")
    easy = machine.hardness <= newton.VERY_EASY
    assert seen[0] is (coordinate.DualCD if easy else newton.Newton)
    assert easy is (C == 1e-3)
    assert found.certificate.relative_gap <= 1e-6
