"""A fit is a transaction, of every estimator: it sets all attributes at the end and at once, or none.

One that fails or is interrupted leaves the model of the last one: every attribute, bit by bit.
"""

import itertools
import pickle
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import has_fit_parameter

import maxmargin
from maxmargin import SGDSVC, SGDSVR, SVC, SVR, KernelPCA, LinearSVC, LinearSVR, NuSVC, OneClassSVM
from maxmargin.bayes import CategoricalNB, GaussianNB, MultinomialNB
from maxmargin.checks import commit
from maxmargin.estimators.kernel.machine import KernelMachine
from maxmargin.preprocessing import Whitener
from tests.signals import handled

X, Y = load_iris(return_X_y=True)
X = np.round(X)  # categories, too
NAMED = pd.DataFrame(X, columns=["a", "b", "c", "d"])
OTHER = pd.DataFrame(X[:, :3] + 1, columns=["e", "f", "g"])

MODELS = [
    SVC(),
    SVC(warm_start=True),
    SVC(kernel="linear", multi_class="crammer_singer", loss="squared_hinge"),
    SVC(probability=True),
    NuSVC(nu=0.5, probability="isotonic", warm_start=True),
    SVR(intervals=True),
    OneClassSVM(nu=0.2, warm_start=True),
    LinearSVC(),
    LinearSVC(loss="hinge", warm_start=True),
    LinearSVC(multi_class="crammer_singer", warm_start=True),
    LinearSVC(penalty="l1", multi_class="ovo"),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", warm_start=True),
    SGDSVC(random_state=0),
    SGDSVC(random_state=0, warm_start=True, average=False),
    SGDSVC(random_state=0, early_stopping=True),
    SGDSVR(random_state=0),
    SGDSVR(random_state=0, warm_start=True),
    GaussianNB(),
    CategoricalNB(),
    MultinomialNB(),
    Whitener(),
    Whitener(decorrelate=True),
    KernelPCA(3, kernel="rbf"),
    KernelPCA(2, kernel="poly", eigen_solver="arpack", fit_inverse_transform=True),
]
STREAMS = [model for model in MODELS if hasattr(model, "partial_fit") and not getattr(model, "early_stopping", False)]
CALLS = [(model, "fit") for model in MODELS] + [(model, "partial_fit") for model in STREAMS]

# Set while scikit-learn makes its callbacks ready, which it does not clean up itself when that is interrupted.
OF_SCIKIT_LEARN = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
OVERFLOWING = [
    SGDSVC(loss="squared_hinge", random_state=0),
    SGDSVC(loss="logistic", random_state=0),
    SGDSVR(loss="squared_epsilon_insensitive", random_state=0),
]


SOURCE = Path(maxmargin.__file__).parent
STRIKES = 8  # moments of a fit at which it is struck


def name_of(value):
    return value if isinstance(value, str) else str(value)


def learnt(model):
    return {name: value for name, value in vars(model).items() if name not in model.get_params()}


def contents(model):
    """All that a model has learnt; kernel rows kept for the next fit do not travel with it."""
    values = learnt(model)
    if isinstance(model, KernelMachine):
        values.pop("_kept", None)
    return list(learnt(model)), pickle.dumps(values)


def state(model):
    """Which objects the attributes are, and what they hold."""
    return {name: id(value) for name, value in vars(model).items()}, contents(model)


def answers(model, rows=NAMED):
    return (model.transform if hasattr(model, "transform") else model.predict)(rows)


def first_call(model, method):
    """What the first call of a method needs besides rows and labels."""
    return {"classes": [0, 1, 2]} if method == "partial_fit" and is_classifier(model) else {}


def with_nan(rows):
    changed = rows.copy()
    changed.iloc[7, 2] = np.nan
    return changed


# Calls that fail: rows and keywords, for a model that was fitted on NAMED.
FAILURES = {
    "NaN": lambda method: (with_nan(NAMED), {}, "Input X contains NaN"),
    "NaN in rows of another width": lambda method: (with_nan(OTHER), {}, "NaN" if method == "fit" else "feature names"),
    "weights": lambda method: (
        OTHER if method == "fit" else NAMED,
        {"sample_weight": -np.ones(150)},
        "Negative values in sample_weight",
    ),
    "another width": lambda method: (
        (OTHER, {"sample_weight": np.ones(3)}, "one weight per row")
        if method == "fit"
        else (X[:, :3], {}, "X has 3 features, but .* is expecting 4")
    ),
}


def failing(*names):
    """Calls with failures that they can have: not every fit takes weights."""
    return [
        (model, method, failure)
        for model, method in CALLS
        for failure in names
        if has_fit_parameter(model, "sample_weight") or "sample_weight" not in FAILURES[failure](method)[1]
    ]


@pytest.mark.parametrize(("model", "method", "failure"), failing(*FAILURES), ids=name_of)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_after_an_error(model, method, failure):
    model = clone(model).fit(NAMED, Y)
    before, known = state(model), answers(model)
    rows, keywords, words = FAILURES[failure](method)
    with pytest.raises(ValueError, match=words):
        getattr(model, method)(rows, Y, **keywords)
    assert state(model) == before
    np.testing.assert_array_equal(answers(model), known)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_of_another_width_are_refused(model):
    model = clone(model).fit(NAMED, Y)
    before = state(model)
    with pytest.raises(ValueError, match="feature names"):
        answers(model, OTHER)
    assert state(model) == before


@pytest.mark.parametrize(("model", "method", "failure"), failing("NaN", "weights"), ids=name_of)
def test_a_first_call_with_bad_rows_leaves_nothing(model, method, failure):
    model = clone(model)
    rows, keywords, words = FAILURES[failure](method)
    with pytest.raises(ValueError, match=words):
        getattr(model, method)(rows, Y, **keywords, **first_call(model, method))
    assert learnt(model) == {}
    with pytest.raises(NotFittedError):
        answers(model)


class StruckError(Exception):
    """What happens in the middle of a fit."""


def strike(moment, error, call):
    """Raise ``error`` when the package calls its function of that number; whether it did, and how many it called.

    Calls count until the attributes are set. Functions of core, which clean up after everyone, are spared.
    """
    calls, committed, struck = 0, False, False

    def watch(frame, event, arg):
        nonlocal calls, committed, struck
        committed |= event == "return" and frame.f_code is commit.__code__
        path = frame.f_code.co_filename
        if committed or event != "call" or not path.startswith(f"{SOURCE}/") or path.startswith(f"{SOURCE}/core/"):
            return
        calls += 1
        if calls == moment:
            struck = True
            raise error

    sys.setprofile(watch)
    try:
        call()
    except error:
        assert struck
    finally:
        sys.setprofile(None)
    return struck, calls


@pytest.mark.parametrize("error", [StruckError, KeyboardInterrupt])
@pytest.mark.parametrize("fitted", [True, False], ids=["fitted", "new"])
@pytest.mark.parametrize(("model", "method"), CALLS, ids=name_of)
def test_struck_at_any_moment(model, method, fitted, error):
    """In checks, problems, kernels, losses, solvers and machines: whatever runs when it happens."""
    model = clone(model)
    if hasattr(model, "n_jobs"):
        model.set_params(n_jobs=1)  # all work in this thread, which is the one that is struck

    def ready():
        return clone(model).fit(NAMED, Y) if fitted else clone(model)

    def call(estimator):
        return lambda: getattr(estimator, method)(rows, Y, **({} if fitted else first_call(model, method)))

    rows = OTHER if method == "fit" and not getattr(model, "warm_start", False) else NAMED
    call(ready())()  # everything is compiled
    _, calls = strike(None, error, call(ready()))
    moments = np.unique(np.linspace(1, calls, STRIKES).astype(int))
    struck, estimator = 0, ready()
    before, known = state(estimator), answers(estimator) if fitted else None
    for moment in moments:
        happened, _ = strike(moment, error, call(estimator))
        if not happened:  # a fit that measures times need not call the same functions again
            estimator = ready()
            before = state(estimator)
            continue
        struck += 1
        assert state(estimator) == before
        if fitted:
            np.testing.assert_array_equal(answers(estimator), known)
        else:
            assert learnt(estimator) == {}
            with pytest.raises(NotFittedError):
                answers(estimator)
    assert struck > len(moments) / 2
    call(estimator)()
    np.testing.assert_array_equal(answers(estimator, rows), answers(call(ready())(), rows))


def interrupt_at_attribute(monkeypatch, kind, wanted):
    """Ctrl-C when an estimator of this kind gets its attribute of that number; returns its name, once it was met.

    It strikes when the attribute is set, but when all are set at once, just before.
    """
    met, count = [], itertools.count()

    def interrupted(estimator, name, value):
        strikes = name not in OF_SCIKIT_LEARN and next(count) == wanted
        if strikes:
            met.append(name)
        if strikes and name == "__dict__":
            signal.raise_signal(signal.SIGINT)
        object.__setattr__(estimator, name, value)
        if strikes:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(kind, "__setattr__", interrupted, raising=False)
    return met


@pytest.mark.parametrize(("model", "method"), CALLS, ids=name_of)
def test_after_ctrl_c_at_every_attribute(model, method, monkeypatch):
    """Whatever attribute is set next, Ctrl-C strikes: what validation notes down, all that is stored at the end."""
    model = clone(model).fit(NAMED, Y)
    before, known = state(model), answers(model)
    rows = OTHER if method == "fit" and not getattr(model, "warm_start", False) else NAMED
    names = []
    for moment in range(1000):
        with handled(), monkeypatch.context() as patch:
            met = interrupt_at_attribute(patch, type(model), moment)
            try:
                getattr(model, method)(rows, Y)
            except KeyboardInterrupt:
                assert met
        if not met:
            break
        names += met
        assert state(model) == before, met
        np.testing.assert_array_equal(answers(model), known)
    assert names.count("__dict__") == 1
    assert set(names) <= {"__dict__", "n_features_in_", "feature_names_in_"}
    assert answers(model, rows).shape[0] == 150


SECOND_FITS = {
    "warm_start": False,
    "penalty": "l2",
    "multi_class": "ovr",
    "early_stopping": False,
    "decorrelate": False,
    "covariance": "shared",
}


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_nothing_of_an_earlier_fit_remains(model):
    changes = {name: value for name, value in SECOND_FITS.items() if name in model.get_params()}
    second = clone(model).fit(NAMED, Y).set_params(**changes).fit(X[:, :3], Y)
    fresh = clone(second).fit(X[:, :3], Y)
    assert sorted(vars(second)) == sorted(vars(fresh))
    assert second.n_features_in_ == 3
    np.testing.assert_array_equal(answers(second, X[:, :3]), answers(fresh, X[:, :3]))


def test_objects_after_numbers_have_no_features():
    def common(a, b):
        return float(len(set(a) & set(b)))

    words, labels = ["ab", "abc", "xy", "xyz"], [0, 0, 1, 1]
    model = SVC(kernel=common).fit([[1.0, 2.0], [2.0, 1.0], [7.0, 8.0], [8.0, 9.0]], labels)
    assert model.n_features_in_ == 2
    model.fit(words, labels)
    assert sorted(vars(model)) == sorted(vars(SVC(kernel=common).fit(words, labels)))
    with pytest.raises(ValueError, match="X contains text"):
        model.set_params(kernel="rbf").fit(words, labels)
    np.testing.assert_array_equal(model.predict(words), labels)  # the old model answers as before


@pytest.mark.parametrize("model", OVERFLOWING, ids=str)
def test_after_weights_without_bound(model):
    through, untouched = (clone(model).fit(X, Y) for _ in range(2))
    before = state(through)
    with pytest.raises(ValueError, match="squared length overflows"):
        through.partial_fit(X * 1e200, Y)
    assert state(through) == before
    assert through.coef_.ndim == untouched.coef_.ndim
    for _ in range(3):
        through.partial_fit(X, Y)
        untouched.partial_fit(X, Y)
    assert contents(through) == contents(untouched)


@pytest.mark.parametrize("model", OVERFLOWING, ids=str)
def test_a_first_call_that_fails_leaves_nothing(model):
    model = clone(model).set_params(schedule=[(1, 1e300)])
    classes = {"classes": [0, 1, 2]} if isinstance(model, SGDSVC) else {}
    with pytest.raises(ValueError, match="grew without bound"):
        model.partial_fit(X * 1e10, Y, **classes)
    assert learnt(model) == {}
    model.set_params(schedule="auto").partial_fit(OTHER, Y, **classes)
    assert list(model.feature_names_in_) == ["e", "f", "g"]


def test_kernel_rows_of_a_warm_start_serve_after_a_failure():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1200, 4))
    labels = (rows[:, 0] + rng.normal(size=1200) > 0).astype(int)
    model = SVC(warm_start=True).fit(rows, labels)
    expected = clone(model).fit(rows, labels).set_params(C=2.0).fit(rows, labels).dual_coef_
    failing = [{"callback": lambda progress: 1 / 0}, {"callback": lambda progress: 1 / 0, "warm_start": False}]
    for parameters in failing:
        with pytest.raises(ZeroDivisionError):
            model.set_params(**parameters).fit(rows + 1, labels)
    model.set_params(callback=None, warm_start=True, C=2.0).fit(rows, labels)
    np.testing.assert_array_equal(model.dual_coef_, expected)


@pytest.mark.parametrize("kind", [SVC, LinearSVC, LinearSVR])
def test_callbacks_of_scikit_learn_are_torn_down_and_stay(kind):
    calls = []

    class Recorder:
        fails = True

        def setup(self, estimator, context):
            calls.append("setup")

        def teardown(self, estimator, context):
            calls.append("teardown")

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            if self.fails:
                raise ZeroDivisionError

    recorder = Recorder()
    model = kind().fit(X, Y).set_callbacks(recorder)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(ZeroDivisionError):
        model.fit(X[:, :2], Y)
    assert {name: id(value) for name, value in vars(model).items()} == before
    recorder.fails = False
    model.fit(X[:, :2], Y)
    assert model.n_features_in_ == 2
    assert calls == ["setup", "teardown"] * 2


@pytest.mark.parametrize("model", [SVC(max_iter=0), LinearSVC(max_iter=0), LinearSVR(max_iter=0)], ids=str)
def test_warnings_of_a_fit_point_at_the_users_line(model):
    with pytest.warns(ConvergenceWarning, match="The model is kept") as caught:
        model.set_params(warm_start=True).fit(X, Y)
    with pytest.warns(UserWarning, match=r"starts afresh|The model is kept") as again:
        model.fit(X[:90], Y[:90])
    assert {warning.filename for warning in [*caught, *again]} == {__file__}
