"""Packages that users have beside us work with our estimators as with those of scikit-learn (where installed)."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from maxmargin import SVC, SVR, LinearSVC

pytestmark = pytest.mark.filterwarnings("ignore")  # of those packages
X, Y = load_iris(return_X_y=True)
CANCER = scale(load_breast_cancer().data), load_breast_cancer().target


def test_shap_explains_a_machine():
    shap = pytest.importorskip("shap")
    machine = SVC(probability=True).fit(X, Y)
    explainer = shap.KernelExplainer(machine.predict_proba, X[::15])
    values = np.asarray(explainer.shap_values(X[:3], nsamples=50, silent=True))
    assert values.shape == (3, 4, 3)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, machine.predict_proba(X[:3]), atol=1e-6)


def test_imbalanced_learn_resamples_before_a_machine():
    pytest.importorskip("imblearn")
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline

    rows, labels = CANCER
    few = np.concatenate([np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)[:40]])
    scores = cross_val_score(
        make_pipeline(SMOTE(random_state=0), SVC()), rows[few], labels[few], scoring="balanced_accuracy", cv=3
    )
    assert scores.mean() > 0.9


def test_mlxtend_draws_regions_and_stacks():
    pytest.importorskip("mlxtend")
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot
    from mlxtend.classifier import EnsembleVoteClassifier
    from mlxtend.plotting import plot_decision_regions

    machine = SVC().fit(X[:, :2], Y)
    assert plot_decision_regions(X[:, :2], Y, clf=machine) is not None
    pyplot.close("all")
    vote = EnsembleVoteClassifier([SVC(), LinearSVC()], voting="hard").fit(X, Y)
    assert np.mean(vote.predict(X) == Y) > 0.9


def test_optuna_searches_parameters():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows, labels = CANCER

    def objective(trial):
        C, gamma = trial.suggest_float("C", 1e-2, 1e2, log=True), trial.suggest_float("gamma", 1e-3, 1.0, log=True)
        return cross_val_score(SVC(C=C, gamma=gamma), rows, labels, cv=3).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=8)
    assert study.best_value > 0.95


def test_dask_ml_predicts_in_parallel():
    pytest.importorskip("dask_ml")
    import dask.array as da
    from dask_ml.wrappers import ParallelPostFit

    machine = ParallelPostFit(SVR()).fit(X, X[:, 0])
    rows = da.from_array(X, chunks=(50, 4))
    np.testing.assert_allclose(machine.predict(rows).compute(), machine.estimator.predict(X))
