"""scikit-learn's checks of the estimator contract, all of them, with no failure expected."""

from functools import wraps
from unittest import mock

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks, get_tags

from maxmargin.kernels import RBF

# It concerns other array libraries and needs an environment variable of SciPy's.
NOT_RUN = {"check_array_api_input"}
OF_ROWS = ("check_outliers_fit_predict", "check_outliers_train")


def assert_passes_all_checks(estimator):
    """Every check of scikit-learn passes; none is expected to fail or skipped but for ``NOT_RUN``."""
    with mock.patch.multiple(estimator_checks, **{name: _with_matrices(name) for name in OF_ROWS}):
        results = estimator_checks.check_estimator(estimator, on_fail="raise")
    ended = {result["check_name"]: result["status"] for result in results}
    assert len(ended) > 30
    assert {name for name, status in ended.items() if status != "passed"} <= NOT_RUN


def _with_matrices(name):
    """The check of that name, which has rows even for detectors of outliers that take kernel values: these get some."""
    check = getattr(estimator_checks, name)

    @wraps(check)
    def checked(name, estimator, **how):
        if get_tags(estimator).input_tags.pairwise:
            _check_outliers_of_a_matrix(clone(estimator))
        else:
            check(name, estimator, **how)

    return checked


def _check_outliers_of_a_matrix(estimator):
    """What those checks ask for."""
    K = RBF(0.1)(make_blobs(n_samples=300, random_state=0)[0])
    found = estimator.fit_predict(K)
    assert found.shape == (300,)
    assert found.dtype.kind == "i"
    assert set(found) == {-1, 1}
    np.testing.assert_array_equal(estimator.fit(K.tolist()).predict(K), found)
    decision, scores = estimator.decision_function(K), estimator.score_samples(K)
    assert decision.shape == scores.shape == (300,)
    assert decision.dtype == scores.dtype == np.dtype("float")
    np.testing.assert_array_equal(np.where(decision >= 0, 1, -1), found)
    np.testing.assert_allclose(scores - estimator.offset_, decision)
    for method in (estimator.predict, estimator.decision_function, estimator.score_samples):
        with pytest.raises(ValueError, match=r"kernel matrix|kernel values|features"):
            method(K[:, :10])
