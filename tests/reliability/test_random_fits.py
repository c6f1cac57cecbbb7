"""The first of the random fits, and that the checks which they pass can fail."""

import numpy as np
import pytest

from maxmargin import SVC, LinearSVC, Status
from tests.reliability import random_fits

BATCH = 20


@pytest.mark.parametrize("first", range(0, 140, BATCH))
def test_random_fits_are_what_they_say(first):
    outcomes = [random_fits.run(random_fits.draw(number)) for number in range(first, first + BATCH)]
    assert [f"{outcome.trial}: {outcome.defects}" for outcome in outcomes if outcome.defects] == []


def fitted(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    return random_fits.Trial(0, estimator.fit(X, y), "C", X, X, y, None)


@pytest.mark.parametrize(
    "estimator",
    [SVC(multi_class=name) for name in random_fits.REDUCTIONS]
    + [LinearSVC(multi_class=name) for name in random_fits.REDUCTIONS]
    + [SVC(kernel="linear"), SVC(loss="squared_hinge", fit_intercept="regularized")],
    ids=str,
)
def test_a_model_that_was_changed_is_found_out(estimator):
    trial = fitted(estimator)
    assert random_fits.false_proofs(trial) == []
    name = "dual_coef_" if isinstance(estimator, SVC) else "coef_"
    setattr(estimator, name, 0.1 + getattr(estimator, name))
    assert random_fits.false_proofs(trial) != []


def test_a_status_without_proof_is_found_out():
    trial = fitted(SVC(kernel="linear"))
    proof = trial.estimator.certificate_
    worse = [part._replace(violation=1.0) for part in proof.parts]
    trial.estimator.certificate_ = proof._replace(parts=tuple(worse))
    assert random_fits.disagreements(trial, Status.CONVERGED, False) != []
    assert random_fits.disagreements(trial, Status.STALLED, False) != []
    assert random_fits.disagreements(trial, Status.STALLED, True) == []


def test_values_that_are_not_finite_are_found_out():
    trial = fitted(LinearSVC())
    trial.estimator.coef_[0, 0] = np.inf
    assert random_fits.not_finite(trial) != []
