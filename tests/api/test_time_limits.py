"""``time_limit`` covers the whole fit, on a clock that the tests advance: what is expensive says what it costs."""

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, LinearSVC
from maxmargin.core import equal_rows, limits
from maxmargin.machines.linear import few_merged
from maxmargin.problems import design, passes
from maxmargin.problems.solution import Status
from tests import helpers

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CALL = 0.2  # seconds of a call of the user's function
LATE = 2 * CALL  # it cannot be interrupted: one call may be under way at the limit, another one at the proof's end


class Clock:
    """Stands still unless told."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(limits, "now", clock)
    return clock


def slow_matrices(clock, value_seconds=0.0, call_seconds=CALL):
    def kernel(A, B):
        clock.time += call_seconds + value_seconds * len(A) * len(B)
        return np.exp(-0.5 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    return kernel


def slow_pairs(clock):
    def kernel(a, b):
        clock.time += CALL
        return float(np.exp(-0.5 * ((a - b) ** 2).sum()))

    return kernel


def three_classes(n):
    X, _ = helpers.overlapping(n, 3)
    return X, np.arange(n) % 3


@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "crammer_singer"])
@pytest.mark.parametrize("n", [300, 2400])
@pytest.mark.parametrize("seconds", [0.1, 1.0, 3.0])
def test_a_slow_function_of_collections(multi_class, n, seconds, clock):
    X, y = three_classes(n)
    machine = SVC(kernel=slow_matrices(clock), multi_class=multi_class, time_limit=seconds).fit(X, y)
    assert clock.time <= seconds + LATE
    if machine.status_ is not Status.CONVERGED:
        assert machine.status_ is Status.TIME_LIMIT
    assert machine.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr", "crammer_singer"])
def test_a_slow_function_of_two_objects(multi_class, clock):
    X, y = three_classes(90)
    machine = SVC(kernel=slow_pairs(clock), multi_class=multi_class, time_limit=5.0).fit(X, y)
    assert clock.time <= 5.0 + LATE
    assert machine.status_ is Status.TIME_LIMIT
    assert math.isnan(machine.certificate_.gap)
    assert machine.certificate_.violation == math.inf
    assert "stopped before the problem was set up" in machine.certificate_.reason
    assert len(machine.support_) == 0


def test_few_objects_are_asked_for_once(clock):
    X, y = helpers.overlapping(300, 3)
    machine = SVC(kernel=slow_matrices(clock)).fit(X, y)
    assert clock.time == pytest.approx(3 * CALL)  # two trials, and all values
    same = SVC(kernel="rbf", gamma=0.5).fit(X, y)
    assert machine.certificate_.dual == pytest.approx(same.certificate_.dual, rel=1e-9)


@pytest.mark.parametrize("seconds", [2.0, 5.0, 10.0])
def test_rows_that_are_computed_again_for_the_proof(seconds, clock):
    X, y = helpers.overlapping(2100, 3)
    kernel = slow_matrices(clock, value_seconds=1e-6, call_seconds=0.0)
    machine = SVC(kernel=kernel, time_limit=seconds, cache_size=0.2, C=100.0).fit(X, y)
    assert clock.time <= 1.5 * seconds + 2.2  # a call for 1,024 rows takes 2.15 s
    assert machine.status_ is Status.TIME_LIMIT
    proof = machine.certificate_
    assert proof.gap >= 0 or (math.isnan(proof.gap) and proof.reason)


def test_a_proof_that_the_limit_leaves_no_time_for(clock, monkeypatch):
    X, y = helpers.overlapping(400, 3)

    def never(*_, **__):
        clock.time += 100.0
        limits.checkpoint()

    monkeypatch.setattr("maxmargin.solvers.drive.prove", never)
    machine = SVC(time_limit=1.0).fit(X, y)
    proof = machine.certificate_
    assert machine.status_ is Status.TIME_LIMIT
    assert proof.reason == "time_limit left no time for the proof"
    assert math.isnan(proof.gap)
    assert math.isnan(machine.margin_)
    monkeypatch.undo()
    proved = SVC().fit(X, y)  # the model is the one that was found, with its bias
    np.testing.assert_allclose(machine.decision_function(X), proved.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("seconds", [0.5, 1.0, 10.0])
def test_passes_over_wide_rows(seconds, clock, monkeypatch):
    monkeypatch.setattr(design, "ONE_CHUNK", 0)
    chunk = 0.1  # seconds of one of the five chunks of a pass
    for name in ("scores", "scores_and_sizes", "combine", "combine_and_sizes", "weighted_product", "column_squares"):
        monkeypatch.setattr(passes, name, slow(getattr(passes, name), clock, chunk))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4000)), np.arange(300) % 2
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        machine = LinearSVC(loss="hinge", C=100.0, time_limit=seconds, n_jobs=1).fit(X, y)
    assert clock.time <= 1.5 * seconds + chunk + 1e-9  # of chunks that were added up
    proof = machine.certificate_
    assert proof.gap >= 0 or (math.isnan(proof.gap) and proof.reason == "time_limit left no time for the proof")
    assert math.isnan(proof.gap) == (seconds < 1.5)  # a proof reads the rows twice


def slow(loop, clock, seconds):
    def costly(*given):
        clock.time += seconds
        return loop(*given)

    return costly


def test_wide_rows_are_neither_copied_nor_sorted():
    X, y = np.random.default_rng(0).normal(size=(50, equal_rows.WIDE + 1)), np.arange(50) % 2
    assert few_merged(X, y, np.ones(50))[0] is X
    twice = np.vstack([X, X[:10]])
    merged, targets, weights = few_merged(twice, np.concatenate([y, y[:10]]), np.ones(60))
    np.testing.assert_array_equal(merged, X)
    np.testing.assert_array_equal(targets, y)
    assert weights.sum() == 60


def test_groups_of_wide_rows_come_in_an_order_of_their_content():
    X, labels = np.random.default_rng(0).normal(size=(30, equal_rows.WIDE + 1)), np.arange(30) % 2
    X[20:] = X[:10]
    X[3, :5], X[23, :5] = 0.0, -0.0
    order = np.random.default_rng(1).permutation(30)
    one, other = (equal_rows.find_equal(X[rows], labels[rows], np.ones(30)) for rows in (np.arange(30), order))
    assert len(one.first) == 20
    np.testing.assert_array_equal(X[one.first] + 0.0, X[order][other.first] + 0.0)
