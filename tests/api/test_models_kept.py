"""A fit that fails or is interrupted leaves the model of the last one: every attribute, bit by bit."""

import itertools
import pickle
import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SGDSVC, SGDSVR, SVC, LinearSVC, LinearSVR
from maxmargin.bayes import CategoricalNB, GaussianNB, MultinomialNB
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


def name_of(value):
    return value if isinstance(value, str) else str(value)


def state(model):
    """All that a model has learnt; of kernel rows kept for the next fit only which they are."""
    learnt = {name: value for name, value in vars(model).items() if name not in model.get_params()}
    kept = learnt.pop("_kept", None) if isinstance(model, SVC) else None
    return list(learnt), pickle.dumps(learnt), id(kept)


def answers(model, rows=NAMED):
    return (model.transform if hasattr(model, "transform") else model.predict)(rows)


@pytest.mark.parametrize(("model", "method"), CALLS, ids=name_of)
def test_after_an_error(model, method):
    model = clone(model).fit(NAMED, Y)
    before, known = state(model), answers(model)
    with pytest.raises(ValueError, match="Negative values in sample_weight"):
        getattr(model, method)(OTHER if method == "fit" else NAMED, Y, sample_weight=-np.ones(150))
    assert state(model) == before
    np.testing.assert_array_equal(answers(model), known)


def interrupt_at_attribute(monkeypatch, kind, wanted):
    """Ctrl-C when an estimator of this kind gets its attribute of that number; returns its name, once it was met."""
    met, count = [], itertools.count()

    def interrupted(estimator, name, value):
        object.__setattr__(estimator, name, value)
        if name not in OF_SCIKIT_LEARN and next(count) == wanted:
            met.append(name)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(kind, "__setattr__", interrupted, raising=False)
    return met


@pytest.mark.parametrize(("model", "method"), CALLS, ids=name_of)
def test_after_ctrl_c_at_every_attribute(model, method, monkeypatch):
    """Whatever is set next, Ctrl-C strikes: what validation notes goes to a draft, the model comes in one step."""
    model = clone(model).fit(NAMED, Y)
    before, known = state(model), answers(model)
    rows = OTHER if method == "fit" and not getattr(model, "warm_start", False) else NAMED
    for moment in range(1000):
        with handled(), monkeypatch.context() as patch:
            met = interrupt_at_attribute(patch, type(model), moment)
            try:
                getattr(model, method)(rows, Y)
            except KeyboardInterrupt:
                assert met
        if not met or met == ["__dict__"]:  # the one step that makes it the new model
            break
        assert state(model) == before, met
        np.testing.assert_array_equal(answers(model), known)
    assert moment >= 2
    assert answers(model, rows).shape[0] == 150


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
    assert state(through) == state(untouched)


@pytest.mark.parametrize("model", OVERFLOWING, ids=str)
def test_a_first_call_that_fails_leaves_nothing(model):
    model = clone(model).set_params(schedule=[(1, 1e300)])
    classes = {"classes": [0, 1, 2]} if isinstance(model, SGDSVC) else {}
    with pytest.raises(ValueError, match="grew without bound"):
        model.partial_fit(X * 1e10, Y, **classes)
    assert state(model)[0] == []
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
