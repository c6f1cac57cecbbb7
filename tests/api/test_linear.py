"""The scikit-learn contract and the behaviour of the linear machines."""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVC, LinearSVR, Status, l1_min_c, regularization_path
from maxmargin.losses import Huber, HuberHinge, PowerHinge, SquaredHinge
from tests import helpers
from tests.clocks import every_look_takes_time
from tests.estimator_checks import assert_passes_all_checks

IRIS = load_iris(return_X_y=True)
CLASS_LOSSES = ["hinge", "squared_hinge", "logistic", "huber_hinge"]
NUMBER_LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive", "huber"]
BIASES = [True, False, "regularized"]
CHECKED = [  # every loss, and every bias of one loss: a bias is the same for all
    *[LinearSVC(loss=loss) for loss in (*CLASS_LOSSES, PowerHinge(1.2))],
    *[LinearSVC(fit_intercept=bias) for bias in BIASES[1:]],
    *[LinearSVC(loss=loss, penalty="l1") for loss in ("squared_hinge", "logistic")],
    *[LinearSVR(loss=loss) for loss in NUMBER_LOSSES],
    LinearSVR(fit_intercept=False),
]


@pytest.mark.parametrize("estimator", CHECKED, ids=str)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(estimator):
    assert_passes_all_checks(estimator)


class Pinball:
    """A loss of one's own with kinks: the quantile loss."""

    def value(self, y, z):
        return np.maximum(0.3 * (y - z), 0.7 * (z - y))

    def slope(self, y, z):
        return np.where(y > z, -0.3, np.where(y < z, 0.7, 0.0))

    def conjugate(self, y, s):
        return np.where((s >= -0.3 - 1e-12) & (s <= 0.7 + 1e-12), s * y, np.inf)


class LeastSquares:
    """A loss of one's own with a second derivative: ridge regression, or the least squares machine."""

    def value(self, y, z):
        return 0.5 * (y - z) ** 2

    def slope(self, y, z):
        return z - y

    def curvature(self, y, z):
        return np.ones_like(z)

    def conjugate(self, y, s):
        return s * y + 0.5 * s**2


def test_the_ends_of_the_powers_are_the_hinge_and_its_square():
    X, y = helpers.overlapping(120)
    for p, loss in ((1, "hinge"), (1.0, "hinge"), (2, "squared_hinge")):
        power, named = LinearSVC(loss=PowerHinge(p), C=0.5).fit(X, y), LinearSVC(loss=loss, C=0.5).fit(X, y)
        np.testing.assert_array_equal(power.coef_, named.coef_)
        assert power.solver_ == named.solver_
    for wrong in (PowerHinge(0.9), PowerHinge(2.1), PowerHinge(np.nan), Huber()):
        with pytest.raises(ValueError, match="loss must be one of"):
            LinearSVC(loss=wrong).fit(X, y)
    for wrong in (Huber(0.0), Huber(-1.0), Huber(1.0, -0.1), PowerHinge(1.5)):
        with pytest.raises(ValueError, match="loss must be one of"):
            LinearSVR(loss=wrong).fit(X, y)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("case", [lambda: helpers.unbalanced(200), lambda: helpers.overlapping(200), lambda: IRIS])
def test_the_least_cost_of_a_weight_is_that_of_scikit_learn(loss, case):
    X, y = case()
    theirs = sklearn.svm.l1_min_c(X, y, loss=loss if loss == "squared_hinge" else "log", intercept_scaling=3.0)
    assert l1_min_c(X, y, loss=loss, fit_intercept="regularized", intercept_scaling=3.0) == pytest.approx(theirs)
    without = sklearn.svm.l1_min_c(X, y, loss=loss if loss == "squared_hinge" else "log", fit_intercept=False)
    assert l1_min_c(sparse.csr_array(X), y, loss=loss, fit_intercept=False) == pytest.approx(without)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("bias", BIASES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_weights_begin_at_the_least_cost(loss, bias, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) + rng.normal(size=4)
    y = np.where(X[:, 0] + rng.normal(size=60) > rng.normal(), 1, -1)
    y[:2] = [1, -1]
    least = l1_min_c(X, y, loss=loss, fit_intercept=bias)
    machine = LinearSVC(loss=loss, penalty="l1", fit_intercept=bias)
    below, above = (clone(machine).set_params(C=factor * least).fit(X, y) for factor in (0.999, 1.001))
    assert not below.coef_.any()
    assert above.coef_.any() or (bias == "regularized" and above.intercept_.any())


def test_the_least_cost_says_what_is_wrong():
    X, y = helpers.overlapping(50)
    assert l1_min_c(X, y, loss=SquaredHinge()) == l1_min_c(X, y)
    for parameters, words in (({"loss": "hinge"}, "loss must be one of"), ({"fit_intercept": 3}, "fit_intercept must")):
        with pytest.raises(ValueError, match=words):
            l1_min_c(X, y, **parameters)
    with pytest.raises(ValueError, match="no feature lowers the loss"):
        l1_min_c(np.ones((50, 2)), y)
    with pytest.raises(ValueError, match="l1_min_c"):
        l1_min_c(X, np.ones(50))


def test_a_loss_of_ones_own():
    X, y = load_diabetes(return_X_y=True)
    machine = LinearSVR(loss=LeastSquares(), C=10.0, tol=1e-10).fit(X, y)
    centred = X - X.mean(axis=0)
    ridge = np.linalg.solve(centred.T @ centred + 0.1 * np.eye(10), centred.T @ (y - y.mean()))
    np.testing.assert_allclose(machine.coef_, ridge, rtol=1e-6)
    assert machine.solver_.startswith("newton")
    X, y = helpers.cancer()
    classifier = LinearSVC(loss=LeastSquares(), C=0.1).fit(X, y)
    assert classifier.certificate_.relative_gap <= 1e-4
    assert classifier.score(X, y) > 0.95
    with pytest.raises(ValueError, match="needs a built-in loss"):
        LinearSVC(loss=LeastSquares(), solver="dual_cd").fit(X, y)


class Exponential:
    """A loss of one's own that has no conjugate (that anyone wrote down)."""

    def value(self, y, z):
        return np.exp(-y * z)

    def slope(self, y, z):
        return -y * np.exp(-y * z)

    def curvature(self, y, z):
        return np.exp(-y * z)


@pytest.mark.parametrize("bias", BIASES)
def test_a_loss_without_a_conjugate_is_solved_and_bounded(bias):
    X, y = helpers.overlapping(300)
    machine = LinearSVC(loss=Exponential(), C=0.1, fit_intercept=bias, tol=1e-8).fit(X, y)
    assert machine.solver_.startswith("newton")
    assert machine.status_ is Status.CONVERGED
    proof = machine.certificate_
    assert np.isnan(proof.dual)
    assert "no conjugate" in proof.reason
    assert "dual  " not in repr(proof)
    assert proof.relative_gap <= 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for solver, steps in (("gd", 30), ("newton", 2)):
            early = LinearSVC(
                loss=Exponential(), C=0.1, fit_intercept=bias, solver=solver, max_iter=steps, random_state=0
            )
            early.fit(X, y)
            assert early.certificate_.gap >= early.certificate_.primal - proof.primal - 1e-9
            paid = early.intercept_[0] ** 2 if bias == "regularized" else 0.0
            value = 0.5 * (np.sum(early.coef_**2) + paid) + 0.1 * np.exp(-y * early.decision_function(X)).sum()
            assert early.certificate_.primal == pytest.approx(value, rel=1e-9)
    with pytest.raises(ValueError, match="overflow float64: scale"):
        LinearSVC(loss=Exponential(), C=0.1, fit_intercept=bias, solver="sgd").fit(100.0 * X, y)
    several = LinearSVC(loss=Exponential(), C=0.01).fit(*IRIS)
    assert several.certificate_.relative_gap <= 1e-4
    assert len(several.certificate_.parts) == 3


def test_a_loss_without_a_conjugate_or_a_curvature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=400)

    class Slopes:
        value, slope = Pinball.value, Pinball.slope

    with pytest.warns(ConvergenceWarning, match="relative gap"):
        machine = LinearSVR(loss=Slopes(), C=1.0, max_iter=300).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        proved = LinearSVR(loss=Pinball(), C=1.0, max_iter=300).fit(X, y)
    assert machine.solver_.startswith("gd")
    assert np.isnan(machine.certificate_.dual)
    assert 0.0 < machine.certificate_.gap < np.inf
    assert machine.certificate_.primal - machine.certificate_.gap <= proved.certificate_.primal
    assert machine.certificate_.primal <= proved.certificate_.primal * (1 + 1e-9)  # its bias is the best one
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        drawn = LinearSVR(loss=Slopes(), C=1.0, max_iter=10, solver="sgd", random_state=0).fit(X, y)
    assert drawn.certificate_.gap >= drawn.certificate_.primal - machine.certificate_.primal
    with pytest.raises(ValueError, match="penalty='l1' takes loss"):
        LinearSVC(loss=Exponential(), penalty="l1").fit(*IRIS)


def test_a_loss_of_ones_own_with_kinks_goes_by_descent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=400)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        machine = LinearSVR(loss=Pinball(), C=1.0, max_iter=300).fit(X, y)
    assert machine.solver_.startswith("gd")
    assert np.mean(y < machine.predict(X)) == pytest.approx(0.3, abs=0.06)
    proof, missed = machine.certificate_, y - machine.predict(X)
    primal = 0.5 * np.sum(machine.coef_**2) + np.where(missed > 0, 0.3 * missed, -0.7 * missed).sum()
    assert proof.primal == pytest.approx(primal, rel=1e-9)
    truth = 0.5 * 5.0 + np.where(y > X @ [1.0, 2.0], 0.3, 0.7) @ np.abs(y - X @ [1.0, 2.0])
    assert proof.dual <= min(primal, truth)  # the weights that made the data are no better than the bound
    with pytest.raises(ValueError, match="no second derivative"):
        LinearSVR(loss=Pinball(), solver="newton").fit(X, y)


@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_pickle_joblib_clone_and_names(loss, tmp_path):
    X, y = IRIS
    machine = LinearSVC(loss=loss, warm_start=True).fit(X, y)
    joblib.dump(machine, tmp_path / "machine.joblib")
    for copy in (pickle.loads(pickle.dumps(machine)), joblib.load(tmp_path / "machine.joblib")):
        np.testing.assert_array_equal(copy.decision_function(X), machine.decision_function(X))
        assert copy.status_ is Status.CONVERGED
        assert not hasattr(copy, "_kept")
    assert not hasattr(clone(machine), "coef_")
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame(dict(zip("abcd", X.T, strict=True)))
        named = LinearSVC(loss=loss).fit(table, y)
        assert list(named.feature_names_in_) == list("abcd")
        with pytest.raises(ValueError, match="feature names"):
            named.predict(frame(dict(zip("abce", X.T, strict=True))))


def test_pipelines_searches_routing_and_feature_elimination():
    X, y = IRIS
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.1, 1.0]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        weights = np.where(y == 0, 0.0, 1.0)
        scores = cross_validate(weighted, X, y, params={"sample_weight": weights}, cv=3, return_estimator=True)
    assert all(set(fitted.predict(X)) == {1, 2} for fitted in scores["estimator"])
    X, y = helpers.cancer()
    kept = RFE(LinearSVC(loss="hinge", C=0.1), n_features_to_select=5).fit(X, y)
    assert kept.support_.sum() == 5
    assert kept.score(X, y) > 0.95


def test_callbacks_of_scikit_learn_and_of_ours():
    X, y = helpers.overlapping(1500)
    monitor = ScoringMonitor(scoring="accuracy")
    LinearSVC(loss="hinge", C=10).set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs().data_as_pandas) > 3
    LinearSVR(C=10).set_callbacks(ScoringMonitor(scoring="r2")).fit(X, X[:, 0])
    LinearSVC().set_callbacks(ScoringMonitor(scoring="accuracy")).fit(*IRIS)
    seen = []
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        LinearSVC(loss="hinge", C=10, callback=lambda p: seen.append(p) or len(seen) == 3).fit(X, y)
    assert len(seen) == 3
    assert all(step.violation > 0 for step in seen)


def test_probabilities():
    X, y = IRIS
    machine = LinearSVC(loss="logistic", C=10.0).fit(X, y)
    shares = machine.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    each = 1.0 / (1.0 + np.exp(-(X @ machine.coef_.T + machine.intercept_)))
    np.testing.assert_allclose(shares, each / each.sum(axis=1, keepdims=True), rtol=1e-12)
    assert (machine.classes_[shares.argmax(axis=1)] == y).mean() > 0.9
    np.testing.assert_allclose(np.exp(machine.predict_log_proba(X)), shares)
    assert not hasattr(LinearSVC(loss="hinge"), "predict_proba")


def test_lambda_in_both_forms():
    X, y = helpers.overlapping(300)
    by_C = LinearSVC(loss="hinge", C=0.5).fit(X, y).coef_
    np.testing.assert_allclose(LinearSVC(loss="hinge", lam=2.0, lam_form="sum").fit(X, y).coef_, by_C, atol=1e-8)
    np.testing.assert_allclose(LinearSVC(loss="hinge", lam=1 / 150, C=77.0).fit(X, y).coef_, by_C, atol=1e-8)
    twice = LinearSVC(loss="hinge", lam=1 / 150).fit(X, y, sample_weight=np.full(300, 2.0))
    np.testing.assert_allclose(twice.coef_, by_C, atol=1e-8)  # the mean does not see a common factor


@pytest.mark.parametrize("loss", CLASS_LOSSES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=6, deadline=None)
def test_weights_equal_repetition_and_order_does_not_matter(loss, seed):
    rng = np.random.default_rng(seed)
    X, y = helpers.overlapping(60)
    weights = rng.integers(0, 4, 60)
    weights[:4] = 1
    reference = LinearSVC(loss=loss).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).decision_function(X)
    weighted = LinearSVC(loss=loss).fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_allclose(weighted, reference, atol=2e-6)
    order = rng.permutation(60)
    shuffled = LinearSVC(loss=loss).fit(X[order], y[order], sample_weight=weights[order]).decision_function(X)
    np.testing.assert_allclose(shuffled, reference, atol=2e-6)
    names = np.where(y > 0, "b", "a")
    renamed = LinearSVC(loss=loss).fit(X, names, sample_weight=weights)
    np.testing.assert_allclose(renamed.decision_function(X), reference, atol=2e-6)
    stored = LinearSVC(loss=loss).fit(sparse.csr_array(X), y, sample_weight=weights)
    np.testing.assert_allclose(stored.decision_function(X), reference, atol=2e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", BIASES)
def test_a_rotation_rotates_the_weights(loss, fit_intercept):
    X, y = helpers.overlapping(200)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    turned = LinearSVC(loss=loss, fit_intercept=fit_intercept).fit(X @ Q, y)
    straight = LinearSVC(loss=loss, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(turned.coef_ @ Q.T, straight.coef_, atol=1e-6)
    if fit_intercept is True:
        moved = LinearSVC(loss=loss).fit(X + 5.0, y)
        np.testing.assert_allclose(moved.coef_, straight.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "classes"])
def test_the_number_of_threads_does_not_matter(loss, kind):
    X, y = helpers.overlapping(3000)
    if kind == "classes":
        y = y + (X[:, 0] > 0.5)
    X = sparse.csr_array(X) if kind == "sparse" else X
    one, two = (LinearSVC(loss=loss, n_jobs=jobs, random_state=0).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_storage_kinds_and_inputs_that_may_not_be_written(tmp_path):
    X, y = helpers.overlapping(1200)
    reference = LinearSVC(loss="hinge", tol=1e-8).fit(X, y).coef_
    fixed = X.copy()
    fixed.flags.writeable = False
    mapped = np.memmap(tmp_path / "rows", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    messy = sparse.csr_array((wide.data, wide.indices, wide.indptr), shape=X.shape)
    messy.indices = messy.indices.reshape(len(y), -1)[:, ::-1].ravel().copy()
    messy.data = messy.data.reshape(len(y), -1)[:, ::-1].ravel().copy()
    messy.has_sorted_indices = messy.has_canonical_format = False
    for stored in (fixed, mapped, np.asfortranarray(X), wide, messy):
        np.testing.assert_allclose(LinearSVC(loss="hinge", tol=1e-8).fit(stored, y).coef_, reference, atol=1e-3)
    single = LinearSVC(loss="hinge", tol=1e-8).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, reference, atol=1e-3)
    assert single.certificate_.relative_gap <= 1e-8


def test_warm_start_and_path():
    X, y = helpers.overlapping(2500)
    cold = LinearSVC(loss="hinge", C=2.0).fit(X, y)
    warm = LinearSVC(loss="hinge", C=1.0, warm_start=True).fit(X, y).set_params(C=2.0).fit(X, y)
    assert warm.n_iter_ <= cold.n_iter_
    assert warm.certificate_.relative_gap <= 1e-4
    with pytest.warns(UserWarning, match="starts afresh"):
        warm.fit(X[:100], y[:100])
    Cs = [1.0, 0.01, 0.1]
    for penalty in ("l2", "l1"):
        path = regularization_path(X, y, Cs, penalty=penalty, tol=1e-6)
        assert np.all(path.relative_gaps <= 1e-6)
        assert path.coef.shape == (3, 1, 6)
        assert path.statuses == [Status.CONVERGED] * 3
        for k, C in enumerate(Cs):
            alone = LinearSVC(penalty=penalty, C=C, tol=1e-6).fit(X, y)
            np.testing.assert_allclose(path.coef[k], alone.coef_, atol=2e-2 * np.abs(alone.coef_).max())
            assert path.certificates[k].primal == pytest.approx(alone.certificate_.primal, rel=2e-6)
    assert np.all(path.n_nonzero[np.argsort(Cs)][:-1] <= path.n_nonzero[np.argsort(Cs)][1:])
    assert regularization_path(X, X[:, 0], [1.0], estimator=LinearSVR(epsilon=0.1)).coef.shape == (1, 1, 6)
    with pytest.raises(ValueError, match="finite numbers > 0"):
        regularization_path(X, y, [0.0])
    with pytest.raises(ValueError, match="leave lam"):
        regularization_path(X, y, [1.0], lam=1.0)


def test_unfinished_fits_warn_with_their_gap(monkeypatch):
    X, y = helpers.overlapping(3000, 20)
    for limited in (
        LinearSVC(loss="hinge", C=100.0, max_iter=2),
        LinearSVC(loss="hinge", C=100.0, solver="sgd", max_iter=1),
    ):
        with pytest.warns(ConvergenceWarning, match=r"relative gap is \d"):
            limited.fit(X, y)
        assert limited.certificate_.relative_gap > 1e-4
        assert limited.score(X, y) > 0.5
    with monkeypatch.context() as patch:
        every_look_takes_time(patch)
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            LinearSVC(loss="hinge", C=1e4, solver="dual_cd", tol=1e-9, time_limit=1e-3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVC(loss="hinge", C=100.0).fit(X, y)


def test_unscaled_features_converge_all_the_same():
    X, y = load_breast_cancer(return_X_y=True)
    X = X * np.logspace(-3, 3, X.shape[1])
    for loss in CLASS_LOSSES:
        for C in (1e-3, 1e3):
            assert LinearSVC(loss=loss, C=C).fit(X, y).certificate_.relative_gap <= 1e-4


def test_class_weights_and_huber_width():
    X, y = helpers.overlapping(500)
    heavy = LinearSVC(class_weight={-1: 1.0, 1: 50.0}).fit(X, y)
    assert np.mean(heavy.predict(X) == 1) > 0.8
    one_sided = LinearSVC(class_weight={-1: 0.0, 1: 1.0}).fit(X, y)
    assert np.all(one_sided.predict(X) == 1)
    hinge = LinearSVC(loss="hinge").fit(X, y)
    narrow = LinearSVC(loss=HuberHinge(1e-4)).fit(X, y)
    np.testing.assert_allclose(narrow.coef_, hinge.coef_, atol=1e-2)


BAD = {
    "C": (lambda: LinearSVC(C=-1.0).fit(*IRIS), "C must be a number > 0, or infinity for the hard margin; got -1.0"),
    "C infinite": (lambda: LinearSVC(C=np.inf).fit(*IRIS), r"The hard margin \(C = infinity\) has no solution"),
    "C infinite and logistic": (
        lambda: LinearSVC(C=np.inf, loss="logistic").fit(*IRIS),
        "C=infinity is the hard margin, of loss 'hinge'",
    ),
    "C infinite, probability": (
        lambda: LinearSVC(C=np.inf, probability=True).fit(*IRIS),
        "C=infinity has no probabilities",
    ),
    "loss": (lambda: LinearSVC(loss="hings").fit(*IRIS), "loss must be one of 'hinge'"),
    "loss object": (lambda: LinearSVC(loss=3).fit(*IRIS), "CustomLoss"),
    "penalty": (lambda: LinearSVC(penalty="l1", loss="hinge").fit(*IRIS), "takes loss 'squared_hinge' or 'logistic'"),
    "solver": (lambda: LinearSVC(solver="sag").fit(*IRIS), "solver must be one of 'auto'"),
    "wrong solver": (lambda: LinearSVC(loss="hinge", solver="newton").fit(*IRIS), "no second derivative"),
    "lam": (lambda: LinearSVC(lam=0).fit(*IRIS), "lam must be a number > 0, or None"),
    "form": (lambda: LinearSVC(lam_form="average").fit(*IRIS), "lam_form must be one of 'mean', 'sum'"),
    "epsilon": (lambda: LinearSVR(epsilon=-0.1).fit(*IRIS), "epsilon must be a finite number >= 0"),
    "text": (lambda: LinearSVC().fit([["a"], ["b"]], [0, 1]), "X contains text"),
    "one class": (lambda: LinearSVC().fit(IRIS[0], np.zeros(150)), "at least 2 classes"),
    "weights": (lambda: LinearSVR().fit(*IRIS, sample_weight=-np.ones(150)), "Negative values in sample_weight"),
    "nan": (lambda: LinearSVC().fit([[np.nan], [1.0]], [0, 1]), "NaN"),
    "targets": (lambda: LinearSVR().fit([[0.0], [1.0]], [np.inf, 1.0]), "infinity"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_says_what_was_wrong(name):
    act, words = BAD[name]
    with pytest.raises(ValueError, match=words):
        act()


@pytest.mark.parametrize(("loss", "classes"), [("hinge", 2), ("squared_hinge", 3)])
def test_rows_beyond_the_margin_cannot_be_missed_when_left_out(loss, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    machine = LinearSVC(loss=loss, C=0.1, tol=1e-8).fit(X, y)
    decisions = machine.decision_function(X).reshape(len(y), -1)
    signs = np.where(y[:, None] == np.arange(classes)[-decisions.shape[1] :], 1.0, -1.0)
    inside = (signs * decisions <= 1.0 + 1e-6).any(axis=1)
    assert machine.leave_one_out_bound_ == pytest.approx(inside.mean(), abs=1e-12)
