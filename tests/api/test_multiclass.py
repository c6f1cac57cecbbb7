"""``multi_class`` on both classifiers: the contract, labels of all kinds, limits, warm starts, and clear errors."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from maxmargin import SVC, LinearSVC, Status
from maxmargin.losses import Hinge, SquaredHinge
from tests.clocks import every_look_takes_time
from tests.estimator_checks import assert_passes_all_checks
from tests.joint_helpers import blobs

WAYS = ["ovo", "ovr", "crammer_singer", "weston_watkins", "codes"]
JOINT = ["crammer_singer", "weston_watkins"]
MACHINES = [SVC, LinearSVC]
IRIS = load_iris(return_X_y=True)


CHECKED = [  # every way with the machine's own loss, a joint machine also with the other one
    *[kind(multi_class=way) for kind in MACHINES for way in WAYS],
    SVC(multi_class=JOINT[0], loss="squared_hinge"),
    LinearSVC(multi_class=JOINT[1], loss=SquaredHinge()),
    SVC(multi_class="codes", code="random"),
]


@pytest.mark.parametrize("estimator", CHECKED, ids=str)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of many kinds on purpose
def test_check_estimator(estimator):
    assert_passes_all_checks(estimator)


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_labels_of_any_kind(kind, multi_class):
    X, y = IRIS
    names = np.array(["lily", "iris", "oak"])[y]  # in another order than the numbers
    numbers = kind(multi_class=multi_class).fit(X, y)
    words = kind(multi_class=multi_class).fit(X, names)
    assert list(words.classes_) == ["iris", "lily", "oak"]
    assert (words.predict(X) == np.array(["lily", "iris", "oak"])[numbers.predict(X)]).mean() > 0.98
    assert words.decision_function(X).shape == (150, 3)
    assert numbers.score(X, y) > 0.6


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_two_classes(kind, multi_class):
    X, y = IRIS
    X, y = X[y > 0], y[y > 0]
    machine = kind(multi_class=multi_class).fit(X, y)
    decisions = machine.decision_function(X)
    assert decisions.shape == (100,)
    assert machine.intercept_.shape == (1,)
    np.testing.assert_array_equal(machine.predict(X), np.where(decisions >= 0, 2, 1))
    assert machine.score(X, y) > 0.9


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_two_hundred_classes(kind, multi_class):
    rng = np.random.default_rng(0)
    # Linear pairs are fits of their own, 19,900 of them; joint machines with a kernel take seconds.
    k = 25 if (kind, multi_class) == (LinearSVC, "ovo") else 100 if kind is SVC and multi_class in JOINT else 200
    y = np.repeat(np.arange(k), 6)
    # Codes learn any split of the classes: it must be a linear one, and so they get a direction for every class.
    centres = 3.0 * np.eye(k) if multi_class == "codes" else rng.normal(size=(k, 12))
    X = centres[y] + 0.05 * rng.normal(size=(6 * k, centres.shape[1]))
    machine = kind(multi_class=multi_class, C=10.0, tol=1e-2).fit(X, y)
    assert len(machine.classes_) == k
    assert (machine.predict(centres) == np.arange(k)).mean() > 0.95
    assert machine.score(X, y) > 0.95
    assert machine.status_ is Status.CONVERGED


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_a_class_may_be_missing_from_a_fold(kind, multi_class):
    X, y = blobs(n=45, k=4, seed=1)
    y[y == 3] = 0
    y[0] = 3  # one row of a class: it is in one fold only
    with np.errstate(all="raise"):
        assert np.isfinite(
            cross_val_score(kind(multi_class=multi_class), X, y, cv=[(np.arange(20, 45), np.arange(20))])
        )
    machine = kind(multi_class=multi_class).fit(X[1:], y[1:])
    assert list(machine.classes_) == [0, 1, 2]


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_weights_are_repetitions(kind, multi_class):
    X, y = blobs(n=40, seed=3)
    weights = np.random.default_rng(0).integers(0, 3, 40)
    weights[:4] = 1
    weighted = kind(multi_class=multi_class, gamma=0.5) if kind is SVC else kind(multi_class=multi_class)
    repeated = clone(weighted).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("multi_class", JOINT)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_joint_machines_do_not_depend_on_order_names_or_storage(multi_class, seed):
    rng = np.random.default_rng(seed)
    X, y = blobs(n=40, seed=seed % 100)
    order, names = rng.permutation(40), rng.permutation(4)
    for machine in (LinearSVC(multi_class=multi_class, loss="hinge"), SVC(multi_class=multi_class, gamma=0.5)):
        plain = clone(machine).fit(X, y)
        optimum = plain.certificate_.primal
        for other, labels in ((X[order], y[order]), (X, names[y]), (sparse.csr_array(X), y)):
            fitted = clone(machine).fit(other, labels)
            assert fitted.certificate_.primal == pytest.approx(optimum, rel=1e-7)
        named = clone(machine).fit(X, names[y]).decision_function(X)
        np.testing.assert_allclose(named[:, names], plain.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("multi_class", WAYS)
def test_results_do_not_depend_on_n_jobs(multi_class):
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype(np.float32)
    for machine in (SVC(multi_class=multi_class, gamma=0.05), LinearSVC(multi_class=multi_class, random_state=0)):
        one, two = (clone(machine).set_params(n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("multi_class", [*JOINT, "ovr", "codes"])
def test_small_memory_budgets_give_the_same_machine(multi_class):
    X, y = blobs(n=2500, d=4, k=4, seed=0)
    X = X.astype(np.float32)
    whole = SVC(multi_class=multi_class, gamma=0.3).fit(X, y)
    for megabytes in (8, 1):  # some rows are kept; none
        small = SVC(multi_class=multi_class, gamma=0.3, cache_size=megabytes).fit(X, y)
        assert small.status_ is Status.CONVERGED
        assert small.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=5e-3)
        assert small.certificate_.violation <= 1.01e-3
        assert (small.predict(X) == whole.predict(X)).mean() > 0.99


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_warm_starts_end_at_the_same_optimum(kind, multi_class):
    X, y = blobs(n=300, seed=2)
    settings_ = {"multi_class": multi_class, "loss": "hinge", "warm_start": True}
    warm = kind(gamma=0.3, **settings_) if kind is SVC else kind(random_state=0, **settings_)
    warm.fit(X, y)
    first = np.sum(warm.n_iter_)
    again = np.sum(warm.fit(X, y).n_iter_)
    assert again <= first
    cold = clone(warm).set_params(C=2.0, warm_start=False).fit(X, y)
    warm.set_params(C=2.0).fit(X, y)
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("kind", MACHINES)
def test_warm_starts_from_another_kind_of_machine_start_afresh(kind):
    X, y = blobs(n=90, k=3, seed=2)
    machine = kind(loss="hinge", warm_start=True, multi_class="crammer_singer").fit(X, y)
    for multi_class in ("ovo", "ovr", "codes", "weston_watkins", "crammer_singer"):
        machine.set_params(multi_class=multi_class)
        with pytest.warns(UserWarning, match="starts afresh"):
            machine.fit(X, y)
        cold = clone(machine).set_params(warm_start=False).fit(X, y)
        assert machine.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-6)
    for multi_class in WAYS:  # other classes on the same rows, and other labels
        machine.set_params(multi_class=multi_class, warm_start=False).fit(X, y)
        machine.set_params(warm_start=True).fit(X, y)
        with pytest.warns(UserWarning, match="starts afresh"):
            machine.fit(X, np.arange(90) % 6)
        machine.set_params(warm_start=False).fit(X, y)
    if kind is LinearSVC:
        machine.set_params(multi_class="ovo", warm_start=True).fit(X, y)
        moved = np.where(np.arange(90) < 10, 0, y)
        with pytest.warns(UserWarning, match="starts afresh"):
            machine.fit(X, moved)


@pytest.mark.parametrize("multi_class", ["ovr", *JOINT])
def test_ctrl_c_in_a_kernel_function_keeps_a_model(multi_class):
    X, y = blobs(n=60)
    calls = []

    def slow(a, b):
        calls.append(1)
        if len(calls) == 500:
            raise KeyboardInterrupt
        return float(a @ b)

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = SVC(kernel=slow, multi_class=multi_class, interrupt="keep").fit(X, y)
    assert machine.status_ is Status.INTERRUPTED
    assert machine.predict(X).shape == (60,)
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        SVC(kernel=slow, multi_class=multi_class).fit(X, y)


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_limits_keep_a_model_and_say_so(kind, multi_class, monkeypatch):
    X, y = (part[::3] for part in load_digits(return_X_y=True))
    best = kind(multi_class=multi_class, loss="hinge").fit(X, y).certificate_
    every_look_takes_time(monkeypatch)
    for limit in ({"max_iter": 1}, {"time_limit": 1e-3}):
        machine = kind(multi_class=multi_class, loss="hinge", tol=1e-7, **limit)
        with pytest.warns(ConvergenceWarning, match="The model is kept"):
            machine.fit(X, y)
        assert machine.status_ in (Status.ITERATION_LIMIT, Status.TIME_LIMIT)
        assert machine.predict(X).shape == y.shape
        proof = machine.certificate_
        assert proof.dual <= best.primal * (1.0 + 1e-9)  # the optimum lies between all of them
        assert proof.primal >= best.dual * (1.0 - 1e-9)
        assert proof.primal - best.primal <= proof.gap * (1.0 + 1e-9)


@pytest.mark.parametrize("multi_class", JOINT)
@pytest.mark.parametrize("kind", MACHINES)
def test_callbacks_see_and_stop_joint_machines(kind, multi_class):
    X, y = load_digits(return_X_y=True)
    seen = []
    machine = kind(multi_class=multi_class, loss="hinge", tol=1e-6, callback=lambda p: seen.append(p) or len(seen) == 2)
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        machine.fit(X, y)
    assert len(seen) == 2
    assert machine.status_ is Status.STOPPED
    assert machine.trace_.column("iteration") == [p.iteration for p in seen]


def test_verbose_names_the_machine(capsys):
    X, y = blobs(n=60)
    LinearSVC(multi_class="codes", code="bits", verbose=1).fit(X, y)
    assert "bit 1/2" in capsys.readouterr().out
    SVC(multi_class="ovr", verbose=1).fit(X, y)
    assert "class 4/4" in capsys.readouterr().out
    LinearSVC(multi_class="crammer_singer", loss="hinge", verbose=1).fit(X, y)
    assert "[maxmargin]" in capsys.readouterr().out


@pytest.mark.parametrize("multi_class", WAYS)
@pytest.mark.parametrize("kind", MACHINES)
def test_pickles_and_searches(kind, multi_class):
    X, y = IRIS
    machine = kind(multi_class=multi_class).fit(X, y)
    copy = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(copy.decision_function(X), machine.decision_function(X))
    search = GridSearchCV(kind(multi_class=multi_class), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6


@pytest.mark.parametrize("kind", MACHINES)
def test_codes(kind):
    X, y = blobs(n=80, k=4, seed=0)
    bits = kind(multi_class="codes", code="bits").fit(X, y)
    np.testing.assert_array_equal(bits.reduction_.book, [[-1, -1], [-1, 1], [1, -1], [1, 1]])
    assert bits.intercept_.shape == (2,)
    assert kind(multi_class="codes").fit(X, y).intercept_.shape == (7,)  # all splits of four classes
    own = kind(multi_class="codes", code=[[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]]).fit(X, y)
    assert own.intercept_.shape == (3,)
    with pytest.raises(ValueError, match="one row for each of the 4 classes"):
        kind(multi_class="codes", code=[[1], [-1]]).fit(X, y)
    with pytest.raises(ValueError, match="code must be one of 'auto'"):
        kind(code="morse").fit(X, y)


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (SVC(multi_class="all"), "multi_class must be one of 'ovo', 'ovr'"),
        (LinearSVC(multi_class="multinomial"), "multi_class must be one of 'ovo', 'ovr'"),
        (SVC(multi_class="crammer_singer", C=math.inf), "needs a finite C"),
        (SVC(multi_class="ovr", decision_function_shape="ovo"), "has no pairs of classes"),
        (SVC(multi_class="crammer_singer", class_weight={0: 0.0}), "needs class weights > 0"),
        (LinearSVC(multi_class="crammer_singer", class_weight={0: 0.0}), "needs class weights > 0"),
        (SVC(multi_class="weston_watkins", kernel=lambda A, B: -(A @ B.T)), "positive semidefinite kernel"),
        (LinearSVC(multi_class="crammer_singer", loss="logistic"), "takes loss 'hinge' or 'squared_hinge'"),
        (LinearSVC(multi_class="crammer_singer", penalty="l1"), "takes penalty='l2'"),
        (LinearSVC(multi_class="weston_watkins", solver="newton"), "is solved by 'auto' or 'dual_cd'"),
    ],
)
def test_what_a_machine_does_not_take(machine, words):
    X, y = IRIS
    with pytest.raises(ValueError, match=words):
        machine.fit(X, y)


def test_hard_margins_name_the_sides():
    X, y = blobs(n=40, k=3, spread=2.0)
    with pytest.raises(ValueError, match="separates class 0 from the rest"):
        SVC(multi_class="ovr", kernel="linear", C=math.inf).fit(X, y)
    with pytest.raises(ValueError, match="in column 0 of the code"):
        SVC(multi_class="codes", code="bits", kernel="linear", C=math.inf).fit(X, y)
    separable = np.eye(3)[np.arange(9) % 3] + 0.01 * np.arange(9)[:, None]
    machine = SVC(multi_class="ovr", kernel="linear", C=math.inf).fit(separable, np.arange(9) % 3)
    assert machine.score(separable, np.arange(9) % 3) == 1.0


def test_distances():
    X, y = IRIS
    assert SVC(multi_class="ovr").fit(X, y).distance(X).shape == (150, 3)
    with pytest.raises(ValueError, match="no hyperplane per class"):
        SVC(multi_class="crammer_singer").fit(X, y).distance(X)
    for fit_intercept in (True, False):
        two = SVC(multi_class="crammer_singer", kernel="linear", fit_intercept=fit_intercept).fit(X[:100], y[:100])
        expected = np.abs(two.decision_function(X)) / np.linalg.norm(two.coef_)
        np.testing.assert_allclose(two.distance(X), expected, rtol=1e-6)


@pytest.mark.parametrize("multi_class", JOINT)
def test_the_constant_feature_of_joint_machines_has_a_scale(multi_class):
    X, y = IRIS
    one, ten = (LinearSVC(multi_class=multi_class, intercept_scaling=s).fit(X, y).certificate_.primal for s in (1, 10))
    assert ten < one  # a larger constant makes the bias cheaper
    named = LinearSVC(multi_class=multi_class, intercept_scaling=10, fit_intercept="regularized").fit(X, y)
    assert named.certificate_.primal == pytest.approx(ten, rel=1e-9)


def test_probabilities_belong_to_one_versus_the_rest():
    X, y = IRIS
    assert LinearSVC(loss="logistic").fit(X, y).predict_proba(X).shape == (150, 3)
    assert not hasattr(LinearSVC(loss="logistic", multi_class="ovo"), "predict_proba")


@pytest.mark.parametrize("multi_class", JOINT)
def test_precomputed_kernels_and_functions(multi_class):
    X, y = blobs(n=50, seed=1)
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    settings_ = {"multi_class": multi_class, "C": 2.0}
    plain = SVC(gamma=0.5, **settings_).fit(X, y)
    given_matrix = SVC(kernel="precomputed", **settings_).fit(K, y)
    function = SVC(kernel=lambda A, B: np.exp(-0.5 * np.square(A[:, None] - B).sum(axis=2)), **settings_).fit(X, y)
    np.testing.assert_allclose(given_matrix.decision_function(K), plain.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(function.decision_function(X), plain.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", MACHINES)
def test_rows_of_zeros_without_a_bias(kind):
    X, y = blobs(n=30)
    X[5] = X[6] = 0.0
    kernel = {"kernel": "linear"} if kind is SVC else {}
    for loss in (Hinge(), SquaredHinge()):
        for multi_class in JOINT:
            machine = kind(multi_class=multi_class, loss=loss, fit_intercept=False, **kernel).fit(X, y)
            assert machine.status_ is Status.CONVERGED
            assert machine.certificate_.relative_gap < 1e-6
