"""Models in ONNX give the predictions, scores and probabilities of the models themselves."""

import builtins

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SGDSVC, SGDSVR, SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, onnx
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial

skl2onnx = pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")

X, Y = load_iris(return_X_y=True)
X = X.astype(np.float32)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
GRID = np.random.default_rng(0).uniform(X.min(0) - 1, X.max(0) + 1, (500, 4)).astype(np.float32)
NUMBERS = load_diabetes().data.astype(np.float32), load_diabetes().target


def run(model, rows, **options):
    onnx.register()
    given = {id(model): options} if options else None
    graph = skl2onnx.to_onnx(model, rows[:1], options=given)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: rows})


CLASSIFIERS = [
    *[SVC(kernel=kernel) for kernel in ("rbf", "linear", "poly", "sigmoid", "laplacian")],
    SVC(kernel=RBF(0.2) * Polynomial(2, gamma=0.1, coef0=1.0) + 0.5 * Linear() + 1.0), SVC(break_ties=True),
    SVC(kernel=Polynomial(2, gamma=1.0, coef0=1.0).normalized()),
    SVC(multi_class="ovr"), SVC(multi_class="codes"), SVC(multi_class="crammer_singer"), NuSVC(nu=0.3),
    LinearSVC(), LinearSVC(multi_class="ovo"), LinearSVC(loss="logistic"), LinearSVC(fit_intercept=False),
    SGDSVC(random_state=0), SGDSVC(loss="logistic", random_state=0),
    SVC(probability=True), SVC(probability="isotonic"), SVC(probability=True, multi_class="ovr"),
    SVC(probability=True, multi_class="codes"), SVC(probability=True, multi_class="weston_watkins"),
    NuSVC(nu=0.3, probability=True), LinearSVC(probability=True), LinearSVC(probability="isotonic", multi_class="ovo"),
]  # fmt: skip


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers(model, classes):
    rows = Y > 0 if classes == 2 else Y >= 0
    labels = NAMES if classes == 3 else Y  # text and integers
    model = model.fit(X[rows], labels[rows])
    found, shares = run(model, GRID, zipmap=False)
    np.testing.assert_array_equal(found, model.predict(GRID))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(shares, model.predict_proba(GRID), atol=1e-6)
    else:
        scores = model.decision_function(GRID)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        np.testing.assert_allclose(shares, scores, rtol=1e-5, atol=1e-5)


REGRESSORS = [
    SVR(C=10.0), SVR(kernel="linear"), SVR(kernel=Laplacian(0.5)), NuSVR(C=10.0), LinearSVR(), SGDSVR(random_state=0)
]  # fmt: skip


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_regressors(model):
    rows, y = NUMBERS
    model = model.fit(rows, y)
    (found,) = run(model, rows)
    np.testing.assert_allclose(found.ravel(), model.predict(rows), rtol=1e-5, atol=1e-4)


def test_novelty_and_doubles():
    model = OneClassSVM(nu=0.1).fit(X)
    label, score = run(model, GRID)
    np.testing.assert_array_equal(label.ravel(), model.predict(GRID))
    np.testing.assert_allclose(score.ravel(), model.decision_function(GRID), rtol=1e-5, atol=1e-5)
    _, exact = run(model, GRID.astype(np.float64))
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact.ravel(), model.decision_function(GRID.astype(np.float64)), atol=1e-10)


def test_pipelines_and_dictionaries_of_probabilities():
    model = make_pipeline(StandardScaler(), SVC(probability=True)).fit(X, NAMES)
    label, shares = run(model, X)
    np.testing.assert_array_equal(label, model.predict(X))
    assert list(shares[0]) == sorted(set(NAMES))
    expected = model.predict_proba(X)
    np.testing.assert_allclose([row["virginica"] for row in shares], expected[:, 2], atol=1e-5)


def test_what_has_no_form_in_onnx():
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(ValueError, match="has no form in ONNX"):
        run(model, X)
    with pytest.raises(ValueError, match="labels that are integers or text"):
        run(SVC().fit(X, Y + 0.0), X)


def test_the_missing_package_is_named(monkeypatch):
    plain = builtins.__import__

    def refusing(name, *rest, **more):
        if name == "skl2onnx":
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[onnx\]'"):
        onnx.register()
