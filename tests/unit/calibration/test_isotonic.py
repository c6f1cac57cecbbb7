"""Isotonic calibration, against scikit-learn's regression."""

import numpy as np
from sklearn.isotonic import IsotonicRegression

from maxmargin.calibration import fit_isotonic
from maxmargin.calibration.targets import regularised_targets

RNG = np.random.default_rng(0)
F = np.round(RNG.normal(size=300), 1)  # with equal scores
POSITIVE = RNG.random(300) < 1.0 / (1.0 + np.exp(-3.0 * F))
WEIGHTS = RNG.uniform(0.5, 2.0, 300)


def test_it_is_the_isotonic_regression_of_the_targets():
    found = fit_isotonic(F, POSITIVE, WEIGHTS)
    other = IsotonicRegression(out_of_bounds="clip")
    other.fit(F, regularised_targets(POSITIVE, WEIGHTS), sample_weight=WEIGHTS)
    grid = np.linspace(-5, 5, 400)
    np.testing.assert_allclose(found(grid), other.predict(grid), atol=1e-9)
    assert np.all(np.diff(found.probabilities) >= 0)


def test_it_is_never_certain_and_few_numbers_say_all():
    separated = np.concatenate([np.linspace(-2, -1, 50), np.linspace(1, 2, 50)])
    found = fit_isotonic(separated, separated > 0, np.ones(100))
    np.testing.assert_allclose(found(np.array([-9.0, 9.0])), [1 / 52, 51 / 52])
    assert len(found.scores) == 4


def test_one_score():
    assert fit_isotonic(np.zeros(3), np.array([True, True, False]), np.ones(3))(np.zeros(1))[0] > 0.5
