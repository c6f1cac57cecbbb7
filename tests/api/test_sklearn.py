"""The scikit-learn contract."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, Status
from maxmargin.kernels import RBF, Linear
from maxmargin.losses import PowerHinge
from maxmargin.solvers import Clarabel
from tests import helpers
from tests.estimator_checks import assert_passes_all_checks

KERNELS = ["linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed"]
IRIS = load_iris(return_X_y=True)


OTHERS = [NuSVC, SVR, NuSVR, OneClassSVM, SVDD]
CHECKED = [  # every kernel, every machine, with and without vectors; every bias, on which tags depend; every loss
    *[SVC(kernel=kernel) for kernel in KERNELS],
    *[machine() for machine in OTHERS],
    *[machine(kernel="precomputed") for machine in OTHERS[1:]],
    # A check has classes of one and of five kernel values, for which nu = 0.5 is infeasible.
    NuSVC(kernel="precomputed", nu=0.05, break_ties=True),
    *[SVC(kernel=kernel, fit_intercept=False) for kernel in ("linear", "rbf", "precomputed")],
    *[machine(fit_intercept="regularized") for machine in (SVC, SVR)],
    *[SVC(loss=loss) for loss in ("squared_hinge", "huber_hinge", "logistic", PowerHinge(1.3))],
    *[SVR(loss=loss) for loss in ("squared_epsilon_insensitive", "huber")],
    NuSVR(intervals=True),
    SVC(solver=Clarabel),
]


@pytest.mark.parametrize("estimator", CHECKED, ids=str)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(estimator):
    assert_passes_all_checks(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf", RBF(0.5) + 2.0 * Linear()])
def test_pickle_joblib_and_clone(kernel, tmp_path):
    X, y = IRIS
    machine = SVC(kernel=kernel).fit(X, y)
    joblib.dump(machine, tmp_path / "machine.joblib")
    for copy in (pickle.loads(pickle.dumps(machine)), joblib.load(tmp_path / "machine.joblib")):
        np.testing.assert_array_equal(copy.decision_function(X), machine.decision_function(X))
        assert copy.certificate_.parts == machine.certificate_.parts
        assert copy.status_ is Status.CONVERGED
        assert copy.trace_[0].column("violation") == machine.trace_[0].column("violation")
    fresh = clone(machine)
    assert not hasattr(fresh, "dual_coef_")
    np.testing.assert_array_equal(fresh.fit(X, y).dual_coef_, machine.dual_coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_feature_names(frame):
    X, y = IRIS
    table = frame(dict(zip("abcd", X.T, strict=True)))
    machine = SVC().fit(table, y)
    assert list(machine.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(machine.predict(table), SVC().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(frame(dict(zip("abce", X.T, strict=True))))


def test_pipelines_searches_and_routing():
    X, y = IRIS
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0], "svc__kernel": ["rbf", RBF(0.1)]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.9
    assert cross_val_score(SVC(), X, y, cv=3, n_jobs=2).mean() > 0.9
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        weights = np.where(y == 0, 0.0, 1.0)
        scores = cross_validate(weighted, X, y, params={"sample_weight": weights}, cv=3, return_estimator=True)
    assert all(set(fitted.predict(X)) == {1, 2} for fitted in scores["estimator"])


def test_precomputed_and_callable_kernels_equal_the_named_one():
    X, y = IRIS
    reference = SVC(gamma=0.3).fit(X, y)
    wanted = reference.decision_function(X)
    K = RBF(0.3)(X)
    np.testing.assert_allclose(SVC(kernel="precomputed").fit(K, y).decision_function(K), wanted, atol=1e-7)
    asked = []

    def gram(A, B):
        asked.append(len(B))
        return RBF(0.3)(A, B)

    machine = SVC(kernel=gram).fit(X, y)
    asked.clear()
    np.testing.assert_allclose(machine.decision_function(X), wanted, atol=1e-7)
    assert max(asked) <= len(machine.support_)  # only support vectors are evaluated


def test_strings_through_a_function_of_two_objects():
    words = ["spam spam", "buy spam", "spam now", "hello friend", "dear friend", "hello you"]

    def shared_words(a, b):
        return float(len(set(a.split()) & set(b.split())))

    machine = SVC(kernel=shared_words, C=10).fit(words, ["bad"] * 3 + ["good"] * 3)
    for column in (pd.Series(words), pl.Series(words), np.array(words), tuple(words)):
        same = SVC(kernel=shared_words, C=10).fit(column, ["bad"] * 3 + ["good"] * 3)
        np.testing.assert_allclose(same.decision_function(column), machine.decision_function(words))
    assert list(machine.predict(["spam", "friend"])) == ["bad", "good"]
    assert machine.certificate_.relative_gap < 1e-6
    tokens = [word.split() for word in words]  # lists, all of length two
    listed = SVC(kernel=lambda a, b: float(len(set(a) & set(b))), C=10).fit(tokens, ["bad"] * 3 + ["good"] * 3)
    np.testing.assert_allclose(listed.decision_function(tokens), machine.decision_function(words))
    again = pickle.dumps(machine.support_vectors_)
    assert pickle.loads(again).shape == (len(machine.support_),)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callbacks_of_scikit_learn(capsys):
    X, y = helpers.overlapping(2500)
    seen = []

    class Recorder:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            if fitted_estimator is not None and context.parent is not None:
                seen.append(fitted_estimator.score(X, y))
            return len(seen) >= 3

    machine = SVC(gamma=0.5, C=1000).set_callbacks(Recorder()).fit(X, y)
    assert len(seen) == 3
    assert machine.status_ is Status.STOPPED
    monitor = ScoringMonitor(scoring="accuracy")
    SVC(gamma=0.5, C=1000).set_callbacks(monitor, ProgressBar()).fit(X, y)
    scores = monitor.get_logs().data_as_pandas
    assert len(scores) > 3
    SVC().set_callbacks(ProgressBar()).fit(*IRIS)
    assert "fit" in capsys.readouterr().out


def test_votes_ties_and_shapes():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    machine = SVC().fit(X, names)
    assert machine.decision_function(X).shape == (150, 3)
    assert SVC(decision_function_shape="ovo").fit(X, names).decision_function(X).shape == (150, 3)
    tied = SVC().fit(X, names)  # now made to decide by its biases: 0 beats 1, 2 beats 0, 1 beats 2
    tied.dual_coef_, tied.intercept_ = 0 * tied.dual_coef_, np.array([1.0, -2.0, 3.0])
    assert tied.predict(X[:1])[0] == "setosa"  # the first of the tied
    assert tied.set_params(break_ties=True).predict(X[:1])[0] == "versicolor"  # the largest sum: -1, 2, -1
    with pytest.raises(ValueError, match="break_ties must be False"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, names).predict(X)
    with pytest.raises(AttributeError, match="linear kernel only"):
        _ = machine.coef_
    assert SVC(kernel="linear").fit(X, names).coef_.shape == (3, 4)
    assert len(machine.certificate_.parts) == len(machine.trace_) == len(machine.margin_) == 3
