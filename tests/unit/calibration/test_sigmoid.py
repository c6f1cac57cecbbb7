"""Platt's sigmoid, against another optimiser and scikit-learn's."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

from maxmargin.calibration import Sigmoid, fit_sigmoid
from maxmargin.calibration.targets import regularised_targets

RNG = np.random.default_rng(0)


def sample(n=400, scale=1.0):
    f = RNG.normal(size=n)
    return scale * f, RNG.random(n) < 1.0 / (1.0 + np.exp(-(2.0 * f - 0.5)))


def cost(parameters, f, t, w):
    z = parameters[0] * f + parameters[1]
    return float(w @ (np.logaddexp(0.0, z) - (1.0 - t) * z))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_it_is_the_maximum_of_the_likelihood_at_any_scale(scale):
    f, positive = sample(scale=scale)
    weights = RNG.uniform(0.1, 3.0, len(f))
    found = fit_sigmoid(f, positive, weights)
    t = regularised_targets(positive, weights)
    best = minimize(cost, [0.0, 0.0], (f / scale, t, weights), method="BFGS", options={"gtol": 1e-10})
    assert cost([found.A, found.B], f, t, weights) <= best.fun + 1e-8
    np.testing.assert_allclose([found.A * scale, found.B], best.x, atol=1e-4)


def test_it_agrees_with_scikit_learn():
    X, y = make_classification(500, random_state=0)
    machine = LinearSVC().fit(X, y)
    other = CalibratedClassifierCV(machine, cv=[(np.arange(500), np.arange(500))], method="sigmoid").fit(X, y)
    rule = other.calibrated_classifiers_[0].calibrators[0]
    f = LinearSVC().fit(X, y).decision_function(X)
    found = fit_sigmoid(f, y == 1, np.ones(500))
    np.testing.assert_allclose([found.A, found.B], [rule.a_, rule.b_], rtol=1e-3)


def test_weights_are_repetitions():
    f, positive = sample()
    often = RNG.integers(1, 4, len(f))
    weighted = fit_sigmoid(f, positive, often.astype(float))
    repeated = fit_sigmoid(np.repeat(f, often), np.repeat(positive, often), np.ones(often.sum()))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7)


def test_it_never_falls_with_the_score():
    """Scores that are wrong more often than right, as of a machine that learned nothing: the share of the class."""
    f, positive = sample()
    found = fit_sigmoid(-f, positive, np.ones(len(f)))
    assert found.A == 0.0
    assert found(np.zeros(1))[0] == pytest.approx(positive.mean(), abs=0.01)


@pytest.mark.parametrize("f", [np.zeros(10), np.repeat([-1.0, 1.0], 5), np.array([1e-300] * 9 + [1.0])])
def test_degenerate_scores_give_finite_probabilities(f):
    """Equal scores, and classes that scores tell apart completely."""
    found = fit_sigmoid(f, f > f.min(), np.ones(10))
    assert np.isfinite(found).all()
    assert np.all((found(f) > 0) & (found(f) < 1))


def test_large_scores_do_not_overflow():
    rule = Sigmoid(-1.0, 0.0)
    np.testing.assert_array_equal(rule(np.array([-1e4, 1e4])), [0.0, 1.0])
