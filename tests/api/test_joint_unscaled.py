"""Joint machines on data as they come: offsets, features of many sizes, large C. They end, and what they say holds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from maxmargin import SVC, LinearSVC, Status
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.losses.multiclass import JointLoss
from tests.joint_helpers import joint_optimum_by_clarabel

JOINT = [(m, loss) for m in ("crammer_singer", "weston_watkins") for loss in (Hinge(), SquaredHinge())]
LONG = 20.0  # seconds after which a fit is given up here; all of them take a fraction of one


def joint_loss(multi_class, loss):
    return JointLoss(multi_class == "crammer_singer", isinstance(loss, SquaredHinge))


def optimum(X, labels, C, multi_class, loss):
    """Of a conic solver, on the rows with their appended 1 in the coordinates of a singular value decomposition."""
    left, sizes, _ = np.linalg.svd(np.column_stack([X, np.ones(len(X))]), full_matrices=False)
    return joint_optimum_by_clarabel(left * sizes, labels, np.full(len(labels), C), joint_loss(multi_class, loss))


def drawn(seed, n=80):
    """Classes that overlap or not, with features and offsets of many sizes, and a C."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 12)), int(rng.integers(2, 6))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 2.0]) * rng.normal(size=(k, d))[labels]
    return X * 10.0 ** rng.uniform(-3, 4, d) + rng.choice([0.0, 100.0, 1e4]), labels, 10.0 ** rng.uniform(-2, 6.5)


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
def test_raw_breast_cancer(multi_class, loss):
    X, y = load_breast_cancer(return_X_y=True)
    machine = LinearSVC(multi_class=multi_class, loss=loss, time_limit=LONG).fit(X, y)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.relative_gap <= 1e-9
    assert machine.certificate_.primal == pytest.approx(optimum(X, y, 1.0, multi_class, loss), rel=1e-5)
    norm = 0.25 * (np.sum(machine.coef_**2) + np.sum(machine.intercept_**2))  # of two classes w_1 = -w_0 = w / 2
    scores = np.column_stack([-machine.decision_function(X), machine.decision_function(X)]) / 2.0
    value = norm + joint_loss(multi_class, loss).value(scores, y).sum()
    assert value == pytest.approx(machine.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
def test_many_rows_of_raw_data(multi_class, loss):
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(y), 3000)
    X = X[rows] * (1.0 + 0.01 * rng.normal(size=(3000, 30)))
    machine = LinearSVC(multi_class=multi_class, loss=loss, time_limit=LONG).fit(X, y[rows])
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.relative_gap <= machine.tol


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
@pytest.mark.parametrize("offset", [1e3, 1e4])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_an_offset(multi_class, loss, offset, storage):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3
    machine = LinearSVC(multi_class=multi_class, loss=loss, time_limit=LONG).fit(storage(X + offset), y)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.relative_gap <= 1e-9
    assert machine.certificate_.primal == pytest.approx(optimum(X + offset, y, 1.0, multi_class, loss), rel=1e-5)


@pytest.mark.parametrize("seed", range(24))
def test_linear_machines_of_all_sizes_end(seed):
    X, labels, C = drawn(seed)
    multi_class, loss = JOINT[seed % 4]
    machine = LinearSVC(multi_class=multi_class, loss=loss, C=C, time_limit=LONG).fit(X, labels)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.relative_gap <= machine.tol


@pytest.mark.parametrize("seed", range(12))
def test_kernel_machines_of_all_sizes_end(seed):
    X, labels, C = drawn(seed)
    multi_class, loss = JOINT[seed % 4]
    machine = SVC(multi_class=multi_class, loss=loss, C=C, time_limit=LONG).fit(X, labels)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.violation <= machine.tol


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
@pytest.mark.parametrize("kind", [LinearSVC, SVC])
def test_random_labels(kind, multi_class, loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, 200)
    machine = kind(multi_class=multi_class, loss=loss, time_limit=LONG).fit(X, y)
    assert machine.status_ is Status.CONVERGED
    if kind is LinearSVC:
        assert machine.certificate_.relative_gap <= 1e-9
        assert machine.certificate_.primal == pytest.approx(optimum(X, y, 1.0, multi_class, loss), rel=1e-6)
    else:
        assert machine.certificate_.violation <= machine.tol


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
def test_weights_of_all_sizes(multi_class, loss):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(40, 3)), np.arange(40) % 3, 10.0 ** rng.uniform(-8, 8, 40)
    machine = LinearSVC(multi_class=multi_class, loss=loss, time_limit=LONG).fit(X, y, sample_weight=weights)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.relative_gap <= machine.tol


@pytest.mark.parametrize(("multi_class", "loss"), JOINT)
@pytest.mark.parametrize("size", [1e100, 1e200])
def test_what_cannot_be_worked_out_is_said(multi_class, loss, size):
    rng = np.random.default_rng(0)
    machine = LinearSVC(multi_class=multi_class, loss=loss, time_limit=LONG)
    with pytest.warns(match="scale the features"):
        machine.fit(size * rng.normal(size=(40, 3)), np.arange(40) % 3)
    assert machine.status_ is Status.STALLED
    assert machine.certificate_.relative_gap > machine.tol
    assert machine.certificate_.primal >= machine.certificate_.dual
