"""The kernel problem of curved conjugates: its domain, its models, and what it refuses."""

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Precomputed
from maxmargin.losses import Hinge, Logistic, PowerHinge
from maxmargin.models import Bias, soft_margin
from maxmargin.problems.box import BoxQP
from maxmargin.problems.kernel import KernelProblem
from maxmargin.problems.solution import Point

X = np.random.default_rng(0).normal(size=(6, 2))
Y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
COSTS = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0])


def test_the_domain_is_that_of_the_conjugates():
    gram = Gram(RBF(1.0), X)
    power, logistic = (KernelProblem(gram, Y, COSTS, loss, Bias.FREE) for loss in (PowerHinge(1.5), Logistic()))
    np.testing.assert_array_equal(power.constraints.upper, [np.inf, 0.0, 0.0, 0.0, np.inf, 0.0])
    np.testing.assert_array_equal(power.constraints.lower, [0.0, -np.inf, 0.0, -np.inf, 0.0, -np.inf])
    np.testing.assert_array_equal(logistic.constraints.upper, [1.0, 0.0, 0.0, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(logistic.paid, [0, 1, 3, 4, 5])
    np.testing.assert_array_equal(logistic.terms.c, [1.0, 2.0, 1.0, 0.5, 1.0])
    start = logistic.start(Point(beta=5.0 * Y)).beta
    assert abs(start.sum()) < 1e-12
    assert np.all((start >= logistic.constraints.lower) & (start <= logistic.constraints.upper))
    assert not logistic.start().beta.any()
    np.testing.assert_array_equal(logistic.point_of(np.ones(6)).beta[[0, 1]], [1.0, -1.0])


@pytest.mark.parametrize("bias", list(Bias))
def test_models_keep_the_constraint_of_the_bias(bias):
    problem = KernelProblem(Gram(RBF(1.0), X), Y, COSTS, Logistic(), bias)
    model = problem.model(Y, np.full(6, -1.0), np.ones(6), np.ones(6))
    assert model.n_groups == problem.constraints.n_groups == (bias is Bias.FREE)
    assert model.appended == (bias is Bias.REGULARIZED)
    point = Point(beta=COSTS, biases=np.array([0.7]))
    assert problem.bias_of(point) == {Bias.FREE: 0.7, Bias.NONE: 0.0, Bias.REGULARIZED: COSTS.sum()}[bias]


def test_a_soft_margin_is_stated_as_the_problem_of_its_loss():
    gram = Gram(RBF(1.0), X)
    for loss, kind in (
        (Hinge(), BoxQP),
        (PowerHinge(1), BoxQP),
        (PowerHinge(2.0), BoxQP),
        (PowerHinge(1.5), KernelProblem),
    ):
        assert isinstance(soft_margin(gram, Y, 1.0, loss), kind)
    hard = soft_margin(gram, Y, np.inf, PowerHinge(1.5))  # no slack has no power
    assert isinstance(hard, BoxQP)
    assert hard.hard
    with pytest.raises(ValueError, match="has no hard margin"):
        soft_margin(gram, Y, np.inf, Logistic())


def test_what_is_refused():
    gram = Gram(RBF(1.0), X)
    with pytest.raises(ValueError, match="needs 6 targets and costs"):
        KernelProblem(gram, Y[:5], COSTS, Logistic(), Bias.FREE)
    with pytest.raises(ValueError, match="finite costs"):
        KernelProblem(gram, Y, np.full(6, np.inf), PowerHinge(1.5), Bias.FREE)
    with pytest.raises(ValueError, match="no conjugate with two derivatives"):
        KernelProblem(gram, Y, COSTS, PowerHinge(0.5), Bias.FREE)
    swap = Gram(Precomputed(), np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(ValueError, match="positive semidefinite kernel"):
        soft_margin(swap, np.array([1.0, -1.0]), 1.0, Logistic())
