"""Models and small rows that the tests of naive Bayes share."""

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from maxmargin import CategoricalNB, GaussianNB, MultinomialNB

IRIS_X, IRIS_Y = load_iris(return_X_y=True)

SEEDS = st.integers(0, 2**32 - 1)

MODELS = [
    GaussianNB(),
    GaussianNB(covariance="shared"),
    MultinomialNB(alpha=0.5),
    MultinomialNB(alpha=0.0),
    CategoricalNB(alpha=0.5),
    CategoricalNB(alpha=0.0, fit_prior=False),
]


def some_rows(seed, n=40, features=3):
    """Small whole numbers: they serve as numbers, counts and categories alike."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.integers(0, 4, size=(n, features)) + (rng.random((n, features)) < 0.2 * y[:, None]), y, rng


def same_model(one, other, X, **tolerance):
    np.testing.assert_allclose(one.class_count_, other.class_count_, rtol=1e-12)
    np.testing.assert_allclose(
        one.predict_joint_log_proba(X), other.predict_joint_log_proba(X), **({"rtol": 1e-9, "atol": 1e-9} | tolerance)
    )


# Class a is rows 0-2, class b the rest. Counted by hand:
#   feature 0:  a has 0, 0, 1 and b has 1, 0, 1;   feature 1:  a has 0, 1, 1 and b has 2, 2, 2
TABLE = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [0, 2], [1, 2]])


TABLE_Y = np.array(list("aaabbb"))
