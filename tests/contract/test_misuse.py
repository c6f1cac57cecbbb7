"""Costs, losses and functions of users that models and the loop must not take for something else."""

import numpy as np
import pytest

from maxmargin import SVC, LinearSVC, Status, margins
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Linear, PairFunction
from maxmargin.losses import EpsilonInsensitive, Hinge, HuberHinge
from maxmargin.models import ball, nu_classifier, nu_regression, one_class, regression, soft_margin, svdd
from maxmargin.solvers import Options, solve
from maxmargin.solvers.box.groups import take_steps
from maxmargin.solvers.box.steps import Block

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.where(X[:, 0] > 0, 1.0, -1.0)
GRAM = Gram(RBF(0.5), X)


def test_infinite_costs_are_for_the_hard_margin_of_classes_alone():
    for stated in (
        lambda: regression(GRAM, X[:, 0], np.inf),
        lambda: one_class(GRAM, 0.5, np.inf),
        lambda: nu_classifier(GRAM, Y, 0.2, np.inf),
        lambda: nu_regression(GRAM, X[:, 0], 0.5, np.inf),
    ):
        with pytest.raises(ValueError, match="only a classifier has a hard margin"):
            stated()
    with pytest.raises(ValueError, match="not with finite ones"):
        soft_margin(GRAM, Y, np.where(np.arange(40) < 5, np.inf, 1.0))
    with pytest.raises(ValueError, match="All weights are zero"):
        nu_classifier(GRAM, Y, 0.2, 0.0)


def test_a_ball_that_leaves_nothing_out():
    found = solve(svdd(GRAM, np.inf), Options(tol=1e-6))
    assert found.status is Status.CONVERGED
    assert 0 <= found.certificate.gap < 1e-8
    assert found.certificate.primal >= found.certificate.dual
    sphere, K = ball(found), RBF(0.5)(X)
    distances = np.diag(K) - 2.0 * K @ sphere.coef + sphere.coef @ K @ sphere.coef
    assert distances.max() == pytest.approx(sphere.squared_radius, abs=1e-8)


def test_rows_without_cost_do_not_bind_a_hard_margin():
    """Their side is wrong on purpose: with a cost nothing would separate."""
    x = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    costs = np.array([np.inf, np.inf, np.inf, np.inf, 0.0])
    found = solve(soft_margin(Gram(Linear(), x), y, costs), Options(tol=1e-6))
    assert found.status is Status.CONVERGED
    assert found.certificate.primal == pytest.approx(0.5)
    assert found.certificate.gap < 1e-8


def test_slacks_of_rows_without_cost():
    problem = soft_margin(GRAM, Y, np.where(np.arange(40) % 4 == 0, 0.0, 1.0))
    seen = margins(problem, Y * solve(problem, Options(tol=1e-6)).beta)
    np.testing.assert_allclose(seen.slacks, np.maximum(0.0, 1.0 - Y * seen.decision))


def test_losses_for_the_other_kind_of_targets_are_refused():
    with pytest.raises(ValueError, match="on labels needs a piecewise quadratic loss"):
        soft_margin(GRAM, Y, 1.0, EpsilonInsensitive(0.1))
    with pytest.raises(ValueError, match="on numbers needs a piecewise quadratic loss"):
        regression(GRAM, X[:, 0], 1.0, Hinge())
    for parameter in (-0.5, np.inf, "a", None):
        with pytest.raises(ValueError, match="loss must be one of"):
            SVC(loss=HuberHinge(parameter)).fit(X, Y)


def test_groups_end_where_float32_rounds_the_violation_down_to_tol():
    v, beta, nothing = np.array([1.0, -5e-8, 0.0, 0.0], np.float32), np.zeros(4), np.zeros(4)
    block = Block(np.eye(4, dtype=np.float32), np.ones(4), nothing, -np.ones(4), np.ones(4), nothing)
    done, violation, _ = take_steps(block, np.array([0, 0, 1, 1]), 2, v, beta, 1.0, 1000)
    assert done == 0
    assert violation == pytest.approx(1.0)


@pytest.mark.parametrize("model", [SVC(), LinearSVC()])
def test_errors_of_callbacks_are_not_taken_for_overflow(model):
    def fails(_):
        raise FloatingPointError("of my own")

    with pytest.raises(FloatingPointError, match="of my own"):
        model.set_params(callback=fails).fit(X, Y)


def test_errors_of_kernel_functions_are_not_taken_for_overflow():
    def fails(a, b):
        raise FloatingPointError("of my own")

    with pytest.raises(FloatingPointError, match="of my own"):
        solve(soft_margin(Gram(PairFunction(fails), X, budget=1 << 12), Y, 1.0))


def test_a_hard_margin_counts_its_iterations_on():
    trace = SVC(C=np.inf, kernel="linear").fit(X + 3.0 * Y[:, None], Y).trace_
    assert np.all(np.diff(trace.column("iteration")) >= 0)
    assert np.all(np.diff(trace.column("seconds")) >= 0)


def test_joint_machines_take_loss_objects():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    named = SVC(multi_class="crammer_singer", loss="hinge").fit(X, labels)
    given = SVC(multi_class="crammer_singer", loss=Hinge()).fit(X, labels)
    np.testing.assert_array_equal(named.dual_coef_, given.dual_coef_)
