"""Programs written for scikit-learn's seven classes run with another import line: one test for each thing found."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.svm as peers
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils._param_validation import InvalidParameterError

import maxmargin
from maxmargin import SGDSVC, SVC, SVDD, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, Status
from maxmargin.kernels import Linear
from maxmargin.losses import SquaredHinge

X, Y = load_iris(return_X_y=True)
TWO = Y < 2
SEVEN = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"]
WORDS = ["spam spam", "buy spam", "spam now", "hello friend", "dear friend", "hello you"]
MARKS = [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("name", SEVEN)
def test_parameters_of_scikit_learn_are_taken(name):
    given = getattr(peers, name)().get_params()
    machine = getattr(maxmargin, name)(**given)
    assert {key: value for key, value in machine.get_params().items() if key in given} == given
    nu = {"nu": 0.3} if "nu" in given else {}
    assert machine.set_params(**nu).fit(X, Y) is machine
    assert clone(machine).get_params() == machine.get_params()


def test_positional_parameters_of_linear_svc():
    assert LinearSVC("l1", "squared_hinge").penalty == "l1"


@pytest.mark.parametrize("probability", ["deprecated", False])
def test_no_probabilities_unless_asked_for(probability):
    machine = SVC(probability=probability).fit(X, Y)
    assert not hasattr(machine, "predict_proba")
    with pytest.raises(AttributeError, match=r"fit SVC\(probability=True\)"):
        machine.predict_proba(X)
    with pytest.raises(AttributeError, match="fitted without probabilities"):
        machine.set_params(probability=True).predict_proba(X)


def test_crammer_singer_is_that_of_liblinear():
    """scikit-learn ignores its default loss there; our square is an object."""
    ours = LinearSVC(multi_class="crammer_singer", tol=1e-10).fit(X, Y)
    theirs = peers.LinearSVC(multi_class="crammer_singer", tol=1e-8, max_iter=200_000).fit(X, Y)
    np.testing.assert_allclose(ours.coef_ - ours.coef_.mean(0), theirs.coef_ - theirs.coef_.mean(0), atol=1e-3)
    square = LinearSVC(multi_class="crammer_singer", loss=SquaredHinge()).fit(X, Y)
    assert np.abs(square.coef_ - ours.coef_).max() > 0.01


@pytest.mark.parametrize("estimator", [LinearSVC, LinearSVR])
def test_scaling_of_a_free_bias_warns(estimator):
    with pytest.warns(UserWarning, match="intercept_scaling=10 has no effect on a free bias"):
        estimator(intercept_scaling=10).fit(X[TWO], Y[TWO])
    estimator(intercept_scaling=10, fit_intercept="regularized").fit(X[TWO], Y[TWO])


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_sparse_rows_have_sparse_attributes(name):
    rows = sparse.csr_matrix(np.where(X > 2, X, 0.0))
    nu = {} if name in ("SVC", "SVR") else {"nu": 0.3}
    pairs = [getattr(module, name)(kernel="linear", **nu).fit(rows, Y) for module in (maxmargin, peers)]
    for what in ("support_vectors_", "dual_coef_", "coef_"):
        ours, theirs = (getattr(machine, what) for machine in pairs)
        assert sparse.issparse(ours) == sparse.issparse(theirs)
        assert ours.shape[0] == theirs.shape[0] or what == "support_vectors_"
    dense = getattr(maxmargin, name)(kernel="linear", **nu).fit(rows.toarray(), Y)
    np.testing.assert_allclose(pairs[0].predict(rows), dense.predict(rows.toarray()), atol=1e-9)
    np.testing.assert_allclose(pairs[0].coef_.toarray(), dense.coef_, atol=1e-9)


@pytest.mark.parametrize("machine", [LinearSVC(), LinearSVC(penalty="l1"), SGDSVC(random_state=0)], ids=str)
@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X)], ids=["dense", "CSR"])
def test_sparsify_and_densify(machine, rows):
    machine = clone(machine).fit(X, Y)
    before = machine.predict(rows)
    assert machine.sparsify() is machine
    assert sparse.issparse(machine.coef_)
    np.testing.assert_allclose(machine.predict(rows), before)
    np.testing.assert_allclose(machine.densify().predict(rows), before)


@pytest.mark.filterwarnings("ignore:Liblinear failed")
def test_no_bias_is_the_number_zero():
    for estimator in (LinearSVC, LinearSVR):
        ours = estimator(fit_intercept=False).fit(X, Y).intercept_
        theirs = getattr(peers, estimator.__name__)(fit_intercept=False).fit(X, Y).intercept_
        assert ours == theirs == 0.0
        assert np.ndim(ours) == np.ndim(theirs) == 0


def test_weights_of_a_kernel_machine_cannot_be_written():
    machine = SVC(kernel="linear").fit(X[TWO], Y[TWO])
    with pytest.raises(AttributeError):
        machine.coef_ = np.zeros((1, 4))
    with pytest.raises(ValueError, match="read-only"):
        machine.coef_[0, 0] = 1.0


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
def test_decisions_follow_coefficients_that_are_changed_in_place(kernel, classes, form):
    rows = form(X[classes > Y])
    machine = SVC(kernel=kernel, decision_function_shape="ovo").fit(rows, Y[classes > Y])
    before = machine.decision_function(rows)
    machine.intercept_[0] += 1.0
    moved = machine.decision_function(rows)
    np.testing.assert_allclose((moved - before).reshape(len(before), -1)[:, 0], 1.0)
    machine.intercept_[:] = 0.0
    plain = machine.decision_function(rows)
    machine.dual_coef_ *= 2.0
    np.testing.assert_allclose(machine.decision_function(rows), 2.0 * plain)
    if kernel == "linear" and classes == 2:
        other = peers.SVC(kernel="linear").fit(X[TWO], Y[TWO])
        wide = machine.coef_.toarray() if sparse.issparse(machine.coef_) else machine.coef_
        np.testing.assert_allclose(wide, 2.0 * other.coef_, rtol=1e-2)


LIMITED = [
    *[SVC(kernel=kernel, max_iter=1) for kernel in ("linear", "rbf", "poly", "sigmoid")],
    SVC(max_iter=1, loss="squared_hinge"), SVC(max_iter=1, multi_class="ovr"), NuSVC(nu=0.3, max_iter=1),
    SVR(max_iter=1), NuSVR(max_iter=1), OneClassSVM(max_iter=1, nu=0.3),
    *[LinearSVC(loss=loss, max_iter=1) for loss in ("hinge", "squared_hinge", "logistic")],
    LinearSVC(multi_class="crammer_singer", max_iter=1), LinearSVR(max_iter=1),
]  # fmt: skip


@pytest.mark.parametrize("machine", LIMITED, ids=str)
def test_few_steps_warn_where_tol_is_not_met(machine):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        machine = clone(machine).fit(X, Y)
    assert machine.status_ is Status.ITERATION_LIMIT


def test_votes_and_scores_of_decisions_that_are_zero():
    """A vote of zero is for the second class in predict, as in LIBSVM, and for the first in "ovr" scores."""
    decided = []
    for module in (maxmargin, peers):
        machine = module.SVC(kernel="linear", break_ties=False).fit(X, Y)
        for coef in ("dual_coef_", "_dual_coef_"):
            if hasattr(machine, coef):
                setattr(machine, coef, np.zeros_like(getattr(machine, coef)))
        for bias in ("intercept_", "_intercept_"):
            if hasattr(machine, bias):
                setattr(machine, bias, np.zeros(3))
        scores = machine.decision_function(X[:1])
        decided.append((scores, machine.predict(X[:1]), machine.set_params(break_ties=True).predict(X[:1])))
    ours, theirs = decided
    np.testing.assert_allclose(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1:], theirs[1:])


def of_words(A, B):
    return np.array([[len(set(a.split()) & set(b.split())) for b in B] for a in A])


def linear(A, B):
    return A @ B.T


TFIDF = TfidfVectorizer().fit_transform(WORDS)
GIVEN = {
    "list of strings": (of_words, WORDS),
    "series": (of_words, pd.Series(WORDS)),
    "list of integers": (np.minimum.outer, [1, 2, 3, 7, 8, 9]),
    "array of integers": (np.minimum.outer, np.array([1, 2, 3, 7, 8, 9])),
    "sparse answer": (linear, TFIDF),
    "lil": (linear, TFIDF.tolil()),
    "coo": (linear, TFIDF.tocoo()),
    "csc": (linear, TFIDF.tocsc()),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
def test_kernel_functions_of_whatever_scikit_learn_gives_them(name, given):
    kernel, rows = GIVEN[given]
    ours, theirs = (getattr(module, name)(kernel=kernel).fit(rows, MARKS) for module in (maxmargin, peers))
    decide = "predict" if name == "SVR" else "decision_function"
    np.testing.assert_allclose(getattr(ours, decide)(rows), getattr(theirs, decide)(rows), atol=2e-3)


SILENT = [
    SVC(), SVC(multi_class="ovr"), SVC(multi_class="codes"), SVC(probability=True), NuSVC(nu=0.2), LinearSVC(),
    LinearSVC(multi_class="ovo"), LinearSVC(loss="logistic"), LinearSVC(probability=True),
]  # fmt: skip


@pytest.mark.parametrize("machine", SILENT, ids=str)
def test_a_class_without_weight_stays_a_class(machine):
    weights = (Y != 2).astype(float)
    machine = clone(machine).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(machine.classes_, [0, 1, 2])
    assert set(machine.predict(X)) == {0, 1}
    np.testing.assert_array_equal(machine.predict(X)[TWO], Y[TWO])
    assert machine.decision_function(X).shape == (150, 3)


def test_errors_of_parameters_are_those_of_scikit_learn():
    for wrong in ({"C": -1.0}, {"kernel": "rfb"}, {"gamma": "scal"}, {"tol": 0.0}, {"class_weight": "balance"}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            SVC(**wrong).fit(X, Y)
        with pytest.raises(InvalidParameterError):
            peers.SVC(**wrong).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="Did you mean 'rbf'"):
        SVC(kernel="rfb").fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"SVC: class_weight must be .* Did you mean 'balanced'"):
        SVC(class_weight="balance").fit(X, Y)
    with pytest.raises(InvalidParameterError, match="Did you mean 'squared_hinge'"):
        SVC(loss="squared_hing").fit(X, Y)


@pytest.mark.parametrize("machine", [SVC(), SVC(kernel="linear"), LinearSVC(), SVR(), NuSVC(nu=0.3)], ids=str)
def test_equal_fits_have_equal_hashes(machine):
    first, second = (joblib.hash(clone(machine).fit(X, Y)) for _ in range(2))
    assert first == second


def test_raw_rows_where_kernel_values_are_expected():
    K = X @ X.T
    machine = SVC(kernel="precomputed").fit(K, Y)
    with pytest.raises(ValueError, match="the kernel matrix between the new rows and the 150 training rows"):
        machine.predict(X)


def test_infeasible_nu_before_any_kernel_value():
    calls = []

    def counted(A, B):
        calls.append(len(A) * len(B))
        return A @ B.T

    labels = (np.arange(150) < 15).astype(int)
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu=0.5, .* at most 0\.2"):
        NuSVC(nu=0.5, kernel=counted).fit(X, labels)
    assert sum(calls) <= 4  # the trial that finds out what kind of function it is


def test_notebooks_link_to_our_documentation():
    assert "reference/maxmargin.html#nusvc" in NuSVC()._repr_html_()
    assert "scikit-learn.org/1" not in SVC()._repr_html_()


def test_weights_of_one_class_are_kept_by_nu_svc():
    """scikit-learn's NuSVC ignores class_weight."""
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = (rows - rows.mean(0)) / rows.std(0)
    plain = NuSVC(nu=0.2, gamma=0.03).fit(rows, labels)
    heavy = NuSVC(nu=0.2, gamma=0.03, class_weight={0: 1.0, 1: 3.0}).fit(rows, labels)
    weighted = NuSVC(nu=0.2, gamma=0.03).fit(rows, labels, sample_weight=np.where(labels == 1, 3.0, 1.0))
    np.testing.assert_allclose(heavy.decision_function(rows), weighted.decision_function(rows), atol=1e-6)
    assert np.abs(heavy.decision_function(rows) - plain.decision_function(rows)).max() > 0.01


def test_ball_of_kernel_values_needs_those_of_a_point_with_itself():
    rows, new = X[:100], X[100:]
    kernel = Linear()
    ball = SVDD(kernel="linear", nu=0.2).fit(rows)
    given = SVDD(kernel="precomputed", nu=0.2).fit(kernel(rows))
    np.testing.assert_allclose(given.decision_function(kernel(rows)), ball.decision_function(rows), atol=1e-7)
    K = np.column_stack([kernel(new, rows), np.sum(new**2, axis=1)])
    np.testing.assert_allclose(given.decision_function(K), ball.decision_function(new), atol=1e-7)
    with pytest.warns(UserWarning, match=r"Append it as column 100"):
        bounds = given.decision_function(K[:, :-1])
    assert np.all(bounds >= ball.decision_function(new) - 1e-9)  # no farther than they are
    K[3, -1] = np.nan
    with pytest.raises(ValueError, match=r"K\(x, x\), column 100, contains NaN"):
        given.decision_function(K)


def test_weights_of_classes_lower_a_nu_that_they_make_infeasible():
    with pytest.warns(UserWarning, match=r"class_weight makes nu=0.5 infeasible.*at most 0\.19"):
        NuSVC(nu=0.5, class_weight={0: 9.5, 1: 1.0}).fit(X[TWO], Y[TWO])
    rare = np.r_[0:50, 50:60]  # 10 of one class: nu = 0.5 is infeasible, unless both count the same
    with pytest.raises(ValueError, match=r"at most 0\.33"):
        NuSVC(nu=0.5).fit(X[rare], Y[rare])
    NuSVC(nu=0.5, class_weight="balanced").fit(X[rare], Y[rare])


def test_online_learners_know_their_hyperplanes():
    machine = SGDSVC(random_state=0).fit(X, Y)
    f = machine.decision_function(X)
    np.testing.assert_allclose(machine.margin_, 1 / np.linalg.norm(machine.coef_, axis=1))
    np.testing.assert_allclose(machine.distance(X), np.abs(f) * machine.margin_)
    signs = np.where(Y[:, None] == np.arange(3), 1.0, -1.0)
    np.testing.assert_allclose(machine.slacks(X, Y), np.maximum(0.0, 1.0 - signs * f))
    with pytest.raises(AttributeError, match=r"take SGDSVC\(loss='logistic'\)"):
        machine.predict_proba(X)


def test_nu_svc_learns_other_classes_and_classes_without_weight():
    machine = NuSVC(nu=0.1).fit(X, Y)
    assert machine.fit(X[TWO], Y[TWO]).rho_ > 0  # after a fit of three classes
    assert set(NuSVC(nu=0.1, class_weight={0: 0, 1: 0}).fit(X, Y).classes_) == {0, 1, 2}


def test_balls_of_sparse_rows_and_of_weighted_kernel_values():
    dense, csr = (SVDD(kernel="linear", nu=0.2).fit(rows) for rows in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(csr.center_, dense.center_, atol=1e-9)
    weights = np.ones(150)
    weights[[3, 70]] = 0
    K = Linear()(X)
    given = SVDD(kernel="precomputed", nu=0.2).fit(K, sample_weight=weights)
    plain = SVDD(kernel="linear", nu=0.2).fit(X, sample_weight=weights)
    rows = np.flatnonzero(weights)
    np.testing.assert_allclose(given.decision_function(K[rows]), plain.decision_function(X[rows]), atol=1e-7)


def test_online_learners_keep_classes_without_weight():
    assert list(SGDSVC(random_state=0).fit(X, Y, sample_weight=(Y != 2).astype(float)).classes_) == [0, 1, 2]


def test_what_a_hard_margin_without_kernel_does_not_take():
    for wrong in ({"solver": "newton"}, {"multi_class": "crammer_singer"}):
        with pytest.raises(ValueError, match=r"LinearSVC: C=infinity takes solver='auto'"):
            LinearSVC(C=np.inf, **wrong).fit(X, Y)
