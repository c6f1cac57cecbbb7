"""What makes it fast must not show: sharing, merging, float32 tiles, kept rows, prepared machines."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from maxmargin import SVC
from maxmargin.problems.solution import Status
from tests import helpers


def many_classes(n, k, d=6, seed=0, apart=2.0):
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(k, d))
    y = rng.integers(0, k, size=n)
    return (centres[y] + rng.normal(size=(n, d))).astype(np.float32), y


def test_pairs_of_classes_share_kernel_values():
    X, y = many_classes(3000, 8, apart=0.7)
    machine = SVC(C=10, gamma=0.1).fit(X, y)
    assert machine.kernel_values_ <= 1.5 * len(y) * len(machine.support_)
    assert machine.kernel_values_ >= len(y) ** 2 / 4  # between the classes nothing can be shared


def test_a_warm_start_uses_the_rows_of_the_last_fit():
    X, y = helpers.overlapping(8000, 10)
    warm = SVC(C=1.0, gamma=0.1, warm_start=True).fit(X, y)
    first = warm.kernel_values_
    warm.set_params(C=1.3).fit(X, y)
    assert warm.kernel_values_ < first / 3
    cold = SVC(C=1.3, gamma=0.1).fit(X, y)
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)
    assert not hasattr(pickle.loads(pickle.dumps(warm)), "_kept")
    warm.set_params(gamma=0.2).fit(X, y)  # other values: computed afresh
    again = SVC(C=1.3, gamma=0.2).fit(X, y)
    assert warm.certificate_.dual == pytest.approx(again.certificate_.dual, rel=1e-4)
    warm.set_params(warm_start=False).fit(X, y)
    assert not hasattr(warm, "_kept")


def test_a_warm_start_of_several_classes():
    X, y = many_classes(2500, 4)
    warm = SVC(C=1.0, gamma=0.1, warm_start=True).fit(X, y).set_params(C=2.0).fit(X, y)
    cold = SVC(C=2.0, gamma=0.1).fit(X, y)
    assert warm.kernel_values_ < cold.kernel_values_
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_repeated_rows_equal_weights_in_large_data(storage):
    X, y = helpers.overlapping(1500, 5)
    often = np.random.default_rng(0).integers(1, 4, size=1500)
    repeated = SVC(gamma=0.2).fit(storage(np.repeat(X, often, axis=0)), np.repeat(y, often))
    weighted = SVC(gamma=0.2).fit(storage(X), y, sample_weight=often)
    assert repeated.certificate_.dual == pytest.approx(weighted.certificate_.dual, rel=1e-6)
    np.testing.assert_allclose(repeated.decision_function(X[:200]), weighted.decision_function(X[:200]), atol=5e-3)


def test_predictions_in_float32_are_those_of_float64():
    X, y = many_classes(2500, 3)
    machine = SVC(C=10, gamma=0.1, decision_function_shape="ovo").fit(X, y)
    fast = machine.decision_function(X)
    K = machine.kernel_(X.astype(np.float64), machine.support_vectors_.astype(np.float64))
    edges = np.cumsum([0, *machine.n_support_])
    for pair, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        of_a, of_b = slice(edges[a], edges[a + 1]), slice(edges[b], edges[b + 1])
        exact = K[:, of_a] @ machine.dual_coef_[b - 1, of_a] + K[:, of_b] @ machine.dual_coef_[a, of_b]
        np.testing.assert_allclose(fast[:, pair], exact + machine.intercept_[pair], atol=1e-4)
    np.testing.assert_allclose(machine.decision_function(X[:1]), fast[:1], atol=1e-5)


def test_points_far_from_all_training_rows_are_scored_in_float64():
    X, y = helpers.overlapping(1500, 4)
    machine = SVC(gamma=0.2).fit(X, y)
    far = np.vstack([X[:3], 1e6 + X[:2]])
    K = np.exp(-0.2 * ((far[:, None] - machine.support_vectors_[None]) ** 2).sum(axis=2))
    exact = K @ machine.dual_coef_[0] + machine.intercept_[0]
    np.testing.assert_allclose(machine.decision_function(far), exact, atol=1e-4)


def test_changed_coefficients_are_noticed():
    X, y = helpers.overlapping(300)
    machine = SVC().fit(X, y)
    before = machine.decision_function(X[:5]) - machine.intercept_[0]
    machine.dual_coef_ = 2.0 * machine.dual_coef_
    np.testing.assert_allclose(machine.decision_function(X[:5]) - machine.intercept_[0], 2.0 * before)


def test_large_costs_are_solved_in_float64():
    X, y = helpers.overlapping(1400, 4)
    assert SVC(C=5000, gamma=0.05).fit(X, y).certificate_.violation <= 1.1e-3


def test_what_float32_cannot_solve_goes_on_in_float64(monkeypatch):
    X, y = helpers.overlapping(1100, 4)
    monkeypatch.setattr("maxmargin.machines.matrices.STEP_ROUNDING", 0.0)
    machine = SVC(C=10_000, gamma=0.05).fit(X, y)
    assert machine.status_ is Status.CONVERGED
    assert machine.certificate_.violation <= 1.1e-3


def test_an_array_changed_in_place_is_not_taken_for_the_old_one():
    X, y = helpers.overlapping(1500, 4)
    X = X.astype(np.float32)
    machine = SVC(gamma=0.2, warm_start=True).fit(X, y)
    X *= 1.5
    machine.fit(X, y)
    fresh = SVC(gamma=0.2).fit(X, y)
    assert machine.certificate_.dual == pytest.approx(fresh.certificate_.dual, rel=1e-4)


def test_chunks_of_a_small_problem_end_precisely():
    X, y = helpers.overlapping(900, 4)
    small, large = (SVC(gamma=0.2, cache_size=size).fit(X, y) for size in (2, 200))
    assert small.status_ is Status.CONVERGED
    assert small.certificate_.dual == pytest.approx(large.certificate_.dual, rel=1e-9)


def test_coefficients_changed_in_place_are_noticed():
    X, y = helpers.overlapping(1500, 4)
    machine = SVC().fit(X, y)
    before = machine.decision_function(X[:5]) - machine.intercept_[0]
    machine.dual_coef_ *= 2.0
    np.testing.assert_allclose(machine.decision_function(X[:5]) - machine.intercept_[0], 2.0 * before, rtol=1e-3)
