"""Normal distributions: estimates by hand, densities, log-odds, digits."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax

from maxmargin import GaussianNB
from maxmargin.bayes.gaussian import _squared_distances
from maxmargin.core.rows import rows_of
from tests.unit.bayes.models import IRIS_X, IRIS_Y, some_rows


def test_means_and_variances_by_hand():
    X, y = np.array([[1.0, 0.0], [3.0, 4.0], [5.0, 1.0], [5.0, 3.0]]), [0, 0, 1, 1]
    own = GaussianNB(var_smoothing=0.0, priors=[0.25, 0.75])
    with pytest.raises(ValueError, match=r"variance of feature 0 within class 1 is 0\.0: give var_smoothing"):
        own.fit(X, y)
    X[2:, 0] = [4.0, 6.0]
    own.fit(X, y)
    np.testing.assert_array_equal(own.theta_, [[2, 2], [5, 2]])
    np.testing.assert_array_equal(own.var_, [[1, 4], [1, 1]])
    np.testing.assert_array_equal(own.class_prior_, [0.25, 0.75])
    shared = GaussianNB(covariance="shared", var_smoothing=0.0).fit(X, y)
    np.testing.assert_array_equal(shared.var_, [1, 2.5])
    everything = GaussianNB(covariance="shared", var_smoothing=0.5).fit(X, y)
    np.testing.assert_allclose(everything.epsilon_, 0.5 * 3.25)  # the larger of the variances of all rows, 3.25 and 2.5
    np.testing.assert_allclose(everything.var_, [1 + 1.625, 2.5 + 1.625])


def test_one_covariance_against_densities():
    model = GaussianNB(covariance="shared").fit(IRIS_X, IRIS_Y)
    rows = IRIS_X.reshape(3, 50, 4)  # sorted by class
    means, variance = rows.mean(axis=1), rows.var(axis=1).mean(axis=0) + 1e-9 * IRIS_X.var(axis=0).max()
    logs = [np.log(1 / 3) + stats.norm.logpdf(IRIS_X, mean, np.sqrt(variance)).sum(axis=1) for mean in means]
    np.testing.assert_allclose(model.predict_joint_log_proba(IRIS_X), np.transpose(logs), rtol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(IRIS_X), log_softmax(np.transpose(logs), axis=1), atol=1e-10)


def test_decisions_are_log_odds():
    two = IRIS_Y < 2
    for covariance in ("shared", "per_class"):
        model = GaussianNB(covariance=covariance).fit(IRIS_X[two], IRIS_Y[two])
        logs = model.predict_log_proba(IRIS_X)
        np.testing.assert_allclose(model.decision_function(IRIS_X), logs[:, 1] - logs[:, 0], rtol=1e-9)
        scores = model.fit(IRIS_X, IRIS_Y).decision_function(IRIS_X)
        np.testing.assert_allclose(log_softmax(scores, axis=1), model.predict_log_proba(IRIS_X))


def test_features_far_from_zero_keep_their_digits():
    for covariance in ("shared", "per_class"):
        near = GaussianNB(covariance=covariance, var_smoothing=0.0).fit(IRIS_X, IRIS_Y)
        far = GaussianNB(covariance=covariance, var_smoothing=0.0).fit(IRIS_X + 1e8, IRIS_Y)
        np.testing.assert_allclose(far.var_, near.var_, rtol=1e-6)
        np.testing.assert_allclose(far.predict_proba(IRIS_X + 1e8), near.predict_proba(IRIS_X), atol=1e-4)


def test_a_feature_repeated_999_times_counts_999_times():
    """How naive Bayes can fail: the weight of the fish, repeated, drowns its length."""
    rng = np.random.default_rng(0)
    fish = rng.normal(size=(20, 2)) + np.repeat([[0.0, 0.0], [1.0, 0.5]], 10, axis=0)
    kinds = np.repeat([0, 1], 10)
    length, weight = (
        GaussianNB(var_smoothing=0.0).fit(fish[:, [k]], kinds).decision_function(fish[:, [k]]) for k in range(2)
    )
    repeated = np.column_stack([fish[:, 0], *[fish[:, 1]] * 999])
    decisions = GaussianNB(var_smoothing=0.0).fit(repeated, kinds).decision_function(repeated)
    np.testing.assert_allclose(decisions, length + 999 * weight, rtol=1e-9)


def test_features_that_never_vary_tell_nothing():
    for covariance in ("shared", "per_class"):
        model = GaussianNB(covariance=covariance).fit(np.ones((3, 2)), [0, 0, 1])
        np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[2 / 3, 1 / 3]])
        with pytest.raises(ValueError, match="too large; scale them"):
            GaussianNB(covariance=covariance).fit([[1e200], [-1e200], [2e200]], [0, 0, 1])


def test_the_loop_of_distances_and_its_python_text():
    X, _, rng = some_rows(5)
    means, precisions = rng.normal(size=(3, 3)), rng.random((3, 3))
    expected = (precisions * (X[:, None, :] - means) ** 2).sum(axis=2)
    for loop in (_squared_distances, getattr(_squared_distances, "py_func", _squared_distances)):
        out = np.zeros((len(X), 3))
        loop(rows_of(X, np.float64), means, precisions, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12)
