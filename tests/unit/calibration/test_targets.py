"""What probabilities are fitted to."""

import numpy as np

from maxmargin.calibration.targets import regularised_targets


def test_targets_are_means_of_a_uniform_prior_by_weight():
    positive, weights = np.array([True, True, False]), np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(regularised_targets(positive, weights), [4 / 5, 4 / 5, 1 / 6])
    np.testing.assert_allclose(regularised_targets(np.array([True]), np.ones(1)), [2 / 3])
