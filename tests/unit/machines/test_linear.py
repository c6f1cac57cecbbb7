"""Plans of linear machines carried out without any estimator."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVC, machines
from maxmargin.losses import SquaredHinge
from maxmargin.machines import Effort, Job, LinearPlan
from maxmargin.machines.linear import merged
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


@pytest.mark.filterwarnings("ignore:overflow encountered")  # hashes wrap around, in plain Python too
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_many_rows_are_merged_where_many_are_equal(store):
    rng = np.random.default_rng(0)
    few, targets = rng.integers(0, 3, size=(1500, 3)).astype(np.float64), rng.integers(0, 2, 1500)
    weights = rng.random(1500)
    rows, kept, sums = merged(store(few), targets, weights)
    wanted = {}
    for row, target, weight in zip(few, targets, weights, strict=True):
        wanted[target, *row] = wanted.get((target, *row), 0.0) + weight
    dense = rows.toarray() if sparse.issparse(rows) else rows
    found = {(t, *row): w for row, t, w in zip(dense, kept, sums, strict=True)}
    assert len(found) == rows.shape[0]
    assert found == pytest.approx(wanted)
    if sparse.issparse(rows):
        assert (np.diff(np.diff(rows.indptr)) >= 0).all()


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_rows_that_differ_stay_where_they_are():
    X, targets, weights = np.random.default_rng(0).normal(size=(1500, 2)), np.zeros(1500, int), np.ones(1500)
    rows, kept, sums = merged(X, targets, weights)
    assert rows is X
    assert kept is targets
    assert sums is weights


@pytest.mark.large
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_merged_rows_have_the_objective_of_all(loss, C):
    """Weights of the merged machine, judged on all rows: the certified gap holds there too."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(6000, 3)).astype(np.float64)
    y = np.where(X.sum(axis=1) + 2.0 * rng.normal(size=6000) > 4.5, 1, -1)
    model = LinearSVC(loss=loss, C=C, tol=1e-6).fit(X, y)
    slack = np.maximum(0.0, 1.0 - y * model.decision_function(X))
    primal = 0.5 * float((model.coef_**2).sum()) + C * float((slack if loss == "hinge" else slack**2).sum())
    assert primal == pytest.approx(model.certificate_.primal, rel=1e-10)
    assert model.certificate_.relative_gap <= 1e-6
    once = LinearSVC(loss=loss, C=C, tol=1e-6).fit(X + 1e-9 * rng.normal(size=X.shape), y)  # no two rows are equal
    assert once.certificate_.primal == pytest.approx(primal, rel=3e-6)
