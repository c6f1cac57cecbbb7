"""Probabilities and sets of classes, intervals of numbers: what they promise, and where they come from."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, train_test_split
from sklearn.preprocessing import scale
from sklearn.svm import SVC as PeerSVC

from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from maxmargin.kernels import RBF
from maxmargin.problems.solution import Status
from tests import helpers

IRIS = load_iris(return_X_y=True)
WINE = (scale(load_wine().data), load_wine().target)
CANCER = (scale(load_breast_cancer().data), load_breast_cancer().target)
DIGITS = (load_digits().data / 16.0, load_digits().target)
DIABETES = load_diabetes(return_X_y=True)

CLASSIFIERS = [
    SVC(probability=True), SVC(probability="isotonic"), SVC(probability=True, multi_class="ovr"),
    SVC(probability=True, multi_class="codes"), SVC(probability=True, multi_class="crammer_singer"),
    SVC(probability=True, kernel="linear"), SVC(probability=True, loss="squared_hinge"),
    SVC(probability=True, fit_intercept="regularized"), NuSVC(nu=0.6, probability=True),
    LinearSVC(probability=True, loss="hinge"), LinearSVC(probability="isotonic", multi_class="ovo"),
    LinearSVC(probability=True, multi_class="weston_watkins"), LinearSVC(loss="logistic"), SVC(loss="logistic"),
    SVC(loss="logistic", multi_class="ovr"),
]  # fmt: skip


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_are_the_most_probable_classes(model, classes):
    X, y = IRIS[0][:, :2], IRIS[1]  # classes 1 and 2 overlap in these features
    rows = y > 0 if classes == 2 else y >= 0
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    machine = clone(model).fit(X[rows], names[rows])
    grid = np.random.default_rng(0).uniform(X.min(0) - 1, X.max(0) + 1, (4000, 2))
    P = machine.predict_proba(grid)
    assert P.shape == (4000, classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert P.min() >= 0.0
    np.testing.assert_array_equal(machine.predict(grid), machine.classes_[np.argmax(P, axis=1)])
    np.testing.assert_allclose(np.exp(machine.predict_log_proba(grid)), P)
    assert machine.score(X[rows], names[rows]) > 0.6


@pytest.mark.parametrize("f", [np.array([[0.0]]), np.array([[40.0, 50.0, 1.0]]), np.array([[-800.0, -900.0, -850.0]])])
def test_the_logistic_loss_wins_ties_that_rounding_makes(f):
    """Beyond f = 37 all probabilities are 1; below -745 all are 0."""
    machine = LinearSVC(loss="logistic").fit(*((IRIS[0][:100], IRIS[1][:100]) if f.size == 1 else IRIS))
    machine.coef_, machine.intercept_ = np.zeros((f.size, 4)), f[0]
    assert machine.predict(IRIS[0][:1])[0] == np.argmax(machine.predict_proba(IRIS[0][:1]))
    assert machine.predict(IRIS[0][:1])[0] == (1 if f.size == 1 else np.argmax(f))


@pytest.mark.parametrize("data", [IRIS, WINE, CANCER, DIGITS], ids=["iris", "wine", "breast cancer", "digits"])
def test_log_loss_is_no_worse_than_that_of_calibrated_classifier_cv(data):
    """On the same folds; two classes have the same sigmoid of nearly the same scores, more are coupled."""
    X, X_test, y, y_test = train_test_split(*data, test_size=0.4, random_state=0, stratify=data[1])
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    ours = SVC(probability=True, cv=folds).fit(X, y)
    theirs = CalibratedClassifierCV(PeerSVC(), cv=folds, ensemble=False).fit(X, y)
    mine, other = (log_loss(y_test, machine.predict_proba(X_test)) for machine in (ours, theirs))
    print(f"log-loss {mine:.4f}, CalibratedClassifierCV {other:.4f}")
    assert mine <= 1.05 * other + 0.005


def test_folds_of_the_user_give_the_scores_of_fits_without_them():
    X, y = CANCER
    folds = list(StratifiedKFold(4).split(X, y))
    machine = SVC(probability=True, cv=folds, gamma=0.03).fit(X, y)
    scores = np.empty(len(y))
    for train, test in folds:
        scores[test] = SVC(gamma=0.03).fit(X[train], y[train]).decision_function(X[test])
    from maxmargin.calibration import fit_sigmoid

    expected = fit_sigmoid(scores, y == 1, np.ones(len(y)))
    np.testing.assert_allclose(machine.calibration_[0], expected, rtol=1e-5)
    assert len(machine.cross_fit_.misfits) == 4
    assert all(proof.relative_gap < 1e-6 for fold in machine.cross_fit_.certificates for proof in fold)


@pytest.mark.parametrize("model", [SVC(probability=True), NuSVC(nu=0.6, probability=True), LinearSVC(probability=True)])
def test_equal_rows_stay_in_one_fold_so_weights_are_repetitions(model):
    X, y = helpers.overlapping(80)
    often = np.random.default_rng(0).integers(1, 4, 80)
    weighted = clone(model).fit(X, y, sample_weight=often)
    repeated = clone(model).fit(np.repeat(X, often, axis=0), np.repeat(y, often))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(weighted.predict_set(X, 0.8), repeated.predict_set(X, 0.8))
    order = np.random.default_rng(1).permutation(80)
    permuted = clone(model).fit(X[order], y[order], sample_weight=often[order])
    np.testing.assert_allclose(permuted.predict_proba(X), weighted.predict_proba(X), atol=1e-6)


def test_probabilities_of_precomputed_function_and_sparse_kernels_agree():
    X, y = IRIS
    plain = SVC(gamma=0.3, probability=True).fit(X, y)
    wanted, sets = plain.predict_proba(X), plain.predict_set(X)
    K = RBF(0.3)(X)
    for machine, rows in (
        (SVC(kernel=RBF(0.3), probability=True), sparse.csr_matrix(X)),
        (SVC(kernel=RBF(0.3), probability=True, n_jobs=1), X),
    ):
        same = machine.fit(rows, y)
        np.testing.assert_allclose(same.predict_proba(rows), wanted, atol=1e-6)
        np.testing.assert_array_equal(same.predict_set(rows), sets)
    # Rows of values and objects are not merged, so one equal pair of rows may change its fold.
    given = SVC(kernel="precomputed", probability=True).fit(K, y)
    np.testing.assert_allclose(given.predict_proba(K), wanted, atol=0.15)
    called = SVC(kernel=lambda A, B: RBF(0.3)(A, B), probability=True).fit(X, y)
    np.testing.assert_allclose(called.predict_proba(X), given.predict_proba(K), atol=1e-6)
    np.testing.assert_array_equal(called.predict_set(X), given.predict_set(K))


def test_sigmoids_have_the_names_and_signs_of_libsvm():
    X, y = IRIS[0][50:], IRIS[1][50:]
    machine = SVC(probability=True).fit(X, y)
    f = machine.decision_function(X)
    first = 1.0 / (1.0 + np.exp(machine.probA_[0] * -f + machine.probB_[0]))  # of classes_[0], whose decision is -f
    np.testing.assert_allclose(machine.predict_proba(X)[:, 0], first)
    with pytest.raises(AttributeError, match="sigmoid"):
        _ = SVC(probability="isotonic").fit(X, y).probA_


def test_pickles_and_wrong_values():
    machine = SVC(probability=True).fit(*IRIS)
    copy = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(copy.predict_proba(IRIS[0]), machine.predict_proba(IRIS[0]))
    np.testing.assert_array_equal(copy.predict_set(IRIS[0]), machine.predict_set(IRIS[0]))
    for coverage in (0.0, 1.0, "much", np.nan):
        with pytest.raises(ValueError, match="coverage must be a number above 0 and below 1"):
            machine.predict_set(IRIS[0], coverage)
    with pytest.raises(ValueError, match="cv must be an integer >= 2"):
        SVC(probability=True, cv=1).fit(*IRIS)
    with pytest.raises(ValueError, match="more than one split"):
        SVC(probability=True, cv=[(np.arange(50, 150), np.arange(50)), (np.arange(20, 150), np.arange(20))]).fit(*IRIS)
    with pytest.raises(AttributeError, match=r"fit SVR\(intervals=True\)"):
        SVR().fit(*DIABETES).predict_interval(DIABETES[0])


def test_a_fit_that_is_stopped_still_has_probabilities():
    X, y = helpers.overlapping(1500)
    with pytest.warns(Warning, match="stopped by the callback"):
        machine = SVC(probability=True, gamma=0.5, callback=lambda seen: seen.iteration > 0).fit(X, y)
    assert machine.status_ is Status.STOPPED
    np.testing.assert_allclose(machine.predict_proba(X).sum(axis=1), 1.0)


# --- coverage --------------------------------------------------------------------------------------------------------


def band(coverage, n):
    """Four standard deviations of a share of n draws (and as much again of what the training rows vary it)."""
    return 4.0 * np.sqrt(coverage * (1.0 - coverage) / n)


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("data", [IRIS, CANCER, DIGITS], ids=["iris", "breast cancer", "digits"])
def test_sets_contain_the_true_class_as_often_as_they_promise(data, coverage):
    """Over several divisions of the data into rows to learn from and rows to test."""
    hits, sizes = [], []
    for seed in range(3 if len(data[1]) > 200 else 8):
        X, X_test, y, y_test = train_test_split(*data, test_size=0.5, random_state=seed, stratify=data[1])
        machine = SVC(probability=True).fit(X, y)
        members = machine.predict_set(X_test, coverage)
        hits.extend(members[np.arange(len(y_test)), np.searchsorted(machine.classes_, y_test)])
        sizes.append(members.sum(axis=1).mean())
    assert np.mean(hits) > coverage - band(coverage, len(hits) / 3)
    assert np.mean(hits) < coverage + band(coverage, len(hits) / 3)
    assert np.mean(sizes) < 1.5


REGRESSORS = [SVR(C=100.0, intervals=True), NuSVR(C=100.0, intervals=True), LinearSVR(C=10.0, intervals=True)]


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_intervals_contain_the_target_as_often_as_they_promise(model):
    X, y = DIABETES
    hits = {0.8: [], 0.95: []}
    for seed in range(4):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed)
        machine = clone(model).fit(X_train, y_train)
        for coverage, seen in hits.items():
            lower, upper = machine.predict_interval(X_test, coverage).T
            seen.extend((lower <= y_test) & (y_test <= upper))
            assert np.all(lower < machine.predict(X_test) + 1e-9)
            assert np.all(machine.predict(X_test) < upper + 1e-9)
    for coverage, seen in hits.items():
        assert abs(np.mean(seen) - coverage) < band(coverage, len(seen) / 2)


def test_intervals_by_the_folds_of_the_user():
    X, y = DIABETES
    machine = SVR(C=100.0, intervals=True, cv=KFold(4), gamma=5.0).fit(X, y)
    residuals, f = np.empty(len(y)), []
    for train, test in KFold(4).split(X):
        fold = SVR(C=100.0, gamma=5.0).fit(X[train], y[train])
        residuals[test] = np.abs(y[test] - fold.predict(X[test]))
        f.append(fold.predict(X[:9]))
    folds = np.empty(len(y), int)
    for k, (_, test) in enumerate(KFold(4).split(X)):
        folds[test] = k
    rank = int(np.ceil(0.9 * (len(y) + 1)))
    upper = np.sort(np.array(f)[folds] + residuals[:, None], axis=0)[rank - 1]
    np.testing.assert_allclose(machine.predict_interval(X[:9], 0.9)[:, 1], upper, rtol=1e-6)


def test_kernel_logistic_regression_has_the_probabilities_of_its_loss():
    X, y = CANCER
    machine = SVC(loss="logistic", gamma=0.01).fit(X, y)
    np.testing.assert_allclose(machine.predict_proba(X)[:, 1], 1 / (1 + np.exp(-machine.decision_function(X))))
    with pytest.raises(AttributeError, match=r"fit SVC\(probability=True\)"):
        machine.predict_set(X)


@pytest.mark.parametrize("model", [SVC(gamma=0.5, probability=True), LinearSVC(probability=True)], ids=str)
def test_weights_of_classes_count_like_weights_of_rows(model):
    """Predictions go by the probabilities, so they must hear of them."""
    X, y = IRIS[0][:, :2], IRIS[1]
    by_class = clone(model).set_params(class_weight={0: 1, 1: 20, 2: 1}).fit(X, y)
    by_row = clone(model).fit(X, y, np.where(y == 1, 20.0, 1.0))
    np.testing.assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), atol=1e-6)
    assert np.sum(by_class.predict(X) == 1) > np.sum(clone(model).fit(X, y).predict(X) == 1)


@pytest.mark.parametrize("how", ["sigmoid", "isotonic"])
def test_classes_of_weight_zero_have_no_say(how):
    machine = SVC(probability=how, class_weight={0: 0}).fit(*IRIS)
    assert not np.any(machine.predict(IRIS[0]) == 0)
    SVC(probability=how, class_weight={0: 0, 1: 0}).fit(*IRIS)


def test_splits_that_do_not_train_on_all_other_rows_are_refused():
    with pytest.raises(ValueError, match=r"cv leaves \d+ rows out of training that split 1 does not test"):
        SVR(intervals=True, cv=TimeSeriesSplit(5)).fit(*DIABETES)


def test_weights_that_add_up_to_next_to_nothing_warn():
    X, y = DIABETES
    with pytest.warns(UserWarning, match="Weights count as repetitions, and these add up to 1 of 442 rows"):
        machine = SVR(intervals=True).fit(X, y, np.full(442, 1 / 442))
    assert np.isinf(machine.predict_interval(X[:5])).all()


def test_folds_that_were_not_solved_are_told():
    X, y = helpers.overlapping(1500)
    with pytest.warns(ConvergenceWarning, match=r"fits without a fold were not solved to tol"):
        SVC(C=1e3, gamma=0.5, probability=True, max_iter=2000).fit(X, y)
