"""Plans of linear machines carried out without any estimator."""

import numpy as np
import pytest

from maxmargin import machines
from maxmargin.losses import SquaredHinge
from maxmargin.machines import Effort, Job, LinearPlan
from maxmargin.models import Bias
from maxmargin.problems.linear import LinearProblem
from maxmargin.solvers import Options
from tests import helpers

X, Y = helpers.overlapping(200)
SIGNS = helpers.signs(Y)


@pytest.mark.parametrize(("bias", "scale"), [(Bias.FREE, 1.0), (Bias.REGULARIZED, 3.0), (Bias.NONE, 0.0)])
def test_linear_machines_and_their_points(bias, scale):
    job = Job(None, (200,), lambda design: LinearProblem(design, SIGNS, np.ones(200), SquaredHinge(), bias))
    fitted = machines.solve(LinearPlan(X, [job], scale, Effort(Options(1e-6)), np.ones(200), keep=True))
    (machine,), (solution,) = fitted.machines, fitted.solutions
    f = X @ machine.weights[0] + machine.biases[0]
    appended = (machine.biases[0] / scale) ** 2 if bias is Bias.REGULARIZED else 0.0
    primal = 0.5 * (machine.weights[0] @ machine.weights[0] + appended) + (np.maximum(0.0, 1 - SIGNS * f) ** 2).sum()
    assert primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert fitted.kept is not None
    assert fitted.kept.points[0] is solution.point


def test_observers_see_machines_of_several_jobs_by_their_number():
    heard = set()

    class Numbers(machines.Observer):
        def step(self, job, seen, machine):
            heard.add((job, machine().weights.shape))
            return False

    signs = [SIGNS, -SIGNS]
    jobs = [
        Job(None, (200,), lambda design, y=y: LinearProblem(design, y, np.ones(200), SquaredHinge(), Bias.FREE))
        for y in signs
    ]
    machines.solve(LinearPlan(X, jobs, 1.0, Effort(Options(1e-6), n_jobs=2), np.ones(200)), [Numbers()])
    assert heard == {(0, (1, 6)), (1, (1, 6))}
