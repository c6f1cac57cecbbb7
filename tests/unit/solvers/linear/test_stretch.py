"""The best length of weights: against a fine grid, and its gap against the certificate."""

import numpy as np
import pytest

from maxmargin.certificates import prove
from maxmargin.losses import EpsilonInsensitive, Hinge
from maxmargin.losses.base import total
from maxmargin.problems.box import Bias
from maxmargin.problems.solution import Point
from maxmargin.solvers.linear.stretch import LEAST, MOST, stretched
from tests.linear_helpers import data, problem


def a_point(loss, bias, scale):
    """A problem, some multipliers in their boxes, and the weights that belong to them."""
    X, y = data(loss)
    machine = problem(X, y, loss, bias)
    rng = np.random.default_rng(1)
    beta = scale * rng.uniform(0.0, 1.0, len(y)) * np.sign(y)
    return machine, Point(machine.design.combine(beta), beta)


@pytest.mark.parametrize("bias", [Bias.NONE, Bias.REGULARIZED])
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)])
@pytest.mark.parametrize("scale", [0.02, 0.2, 1.0])
def test_no_length_is_better(loss, bias, scale):
    machine, point = a_point(loss, bias, scale)
    z = machine.design.scores(point.v)

    def primal(t):
        return 0.5 * t * t * float(point.v @ point.v) + total(loss, machine.y, machine.costs, t * z)

    t, gap = stretched(machine, point)
    assert primal(t) <= min(primal(s) for s in np.linspace(LEAST, MOST, 301)) * (1.0 + 1e-6)
    proved = prove(machine, Point(t * point.v, point.beta)).certificate
    assert gap == pytest.approx(proved.gap, rel=1e-9)


def test_the_best_length_may_lie_beyond():
    machine, point = a_point(Hinge(), Bias.NONE, 1e-4)
    assert stretched(machine, point)[0] == MOST
    machine, point = a_point(Hinge(), Bias.NONE, 1.0)
    assert stretched(machine, Point(1e4 * point.v, point.beta))[0] == LEAST
