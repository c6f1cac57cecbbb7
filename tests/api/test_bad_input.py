"""Every mistake gets a message that says what was wrong and where."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from maxmargin import SVC
from maxmargin.kernels import RBF

X, Y = load_iris(return_X_y=True)
X, Y = X[:100], Y[:100]
ONES = np.ones(100)


def changed(array, value, at=(3,)):
    array = array.astype(type(value) if isinstance(value, complex) else float).copy()
    array[at] = value
    return array


BAD = {
    "NaN in X": (lambda: SVC().fit(changed(X, np.nan, (3, 1)), Y), "Input X contains NaN"),
    "inf in X": (lambda: SVC().fit(changed(X, np.inf, (3, 1)), Y), "Input X contains infinity"),
    "NaN in y": (lambda: SVC().fit(X, changed(Y, np.nan)), "Input y contains NaN"),
    "inf in y": (lambda: SVC().fit(X, changed(Y, np.inf)), "Input y contains infinity"),
    "NaN weight": (lambda: SVC().fit(X, Y, changed(ONES, np.nan)), "Input sample_weight contains NaN"),
    "inf weight": (lambda: SVC().fit(X, Y, changed(ONES, np.inf)), "Input sample_weight contains infinity"),
    "negative weight": (lambda: SVC().fit(X, Y, changed(ONES, -1.0)), r"-1.0 at row 3; weights must be >= 0"),
    "zero weights": (lambda: SVC().fit(X, Y, 0 * ONES), "All values in sample_weight are zero"),
    "weights of another length": (lambda: SVC().fit(X, Y, ONES[:50]), "one weight per row"),
    "one class": (lambda: SVC().fit(X, 0 * Y), "at least 2 classes; y holds only class"),
    "one class with weight": (lambda: SVC().fit(X, Y, (Y == 0) * 1.0), "rows with sample_weight 0 do not count"),
    "continuous y": (lambda: SVC().fit(X, Y + 0.5 * X[:, 0]), "Unknown label type: continuous"),
    "no y": (lambda: SVC().fit(X, None), "requires y to be passed"),
    "other features": (lambda: SVC().fit(X, Y).predict(X[:, :2]), "X has 2 features, but SVC is expecting 4"),
    "C zero": (lambda: SVC(C=0.0).fit(X, Y), r"C must be a number > 0, or infinity.*got 0.0"),
    "C negative": (lambda: SVC(C=-1).fit(X, Y), "C must be a number > 0"),
    "C NaN": (lambda: SVC(C=float("nan")).fit(X, Y), "C must be a number > 0"),
    "unknown kernel": (lambda: SVC(kernel="gauss").fit(X, Y), "kernel must be one of 'linear', 'poly', 'rbf'"),
    "gamma": (lambda: SVC(gamma="wide").fit(X, Y), "gamma must be 'scale', 'auto' or a number >= 0; got 'wide'"),
    "loss": (lambda: SVC(loss="log").fit(X, Y), "loss must be one of 'hinge', 'squared_hinge'"),
    "fit_intercept": (lambda: SVC(fit_intercept="no").fit(X, Y), "fit_intercept must be True, False or 'regularized'"),
    "tol": (lambda: SVC(tol=0).fit(X, Y), "tol must be a number > 0"),
    "max_iter": (lambda: SVC(max_iter=2.5).fit(X, Y), "max_iter must be"),
    "time_limit": (lambda: SVC(time_limit=-1).fit(X, Y), "time_limit must be"),
    "n_jobs": (lambda: SVC(n_jobs=0).fit(X, Y), "n_jobs == 0"),
    "interrupt": (lambda: SVC(interrupt="maybe").fit(X, Y), "interrupt must be one of 'raise', 'keep'"),
    "rectangular Gram matrix": (lambda: SVC(kernel="precomputed").fit(X, Y), r"square matrix.*got shape \(100, 4\)"),
    "text": (lambda: SVC().fit([["a", "b"], ["c", "d"]], [0, 1]), "X contains text .'a'."),
    "text in a table": (
        lambda: SVC().fit(pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]}), [0, 1]),
        "X contains text in column 'colour' .'red'.",
    ),
    "text in objects": (
        lambda: SVC().fit(np.array([[1, "red"], [2, "blue"]], object), [0, 1]),
        "X contains text .'red'.",
    ),
    "a class as kernel": (lambda: SVC(kernel=RBF).fit(X, Y), "kernel must be one of"),
    "empty X": (lambda: SVC().fit(np.empty((0, 4)), []), r"0 sample\(s\)"),
    "complex": (lambda: SVC().fit(changed(X, 1j, (0, 0)), Y), "Complex data not supported"),
    "NaN from a kernel function": (
        lambda: SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, Y),
        "kernel function returned nan at position",
    ),
    "wrong shape from a kernel function": (
        lambda: SVC(kernel=lambda A, B: np.zeros(3)).fit(X, Y),
        "fits neither convention",
    ),
    "class weights": (lambda: SVC(class_weight="heavy").fit(X, Y), "class_weight"),
    "negative class weight": (lambda: SVC(class_weight={0: -1, 1: 1}).fit(X, Y), "finite weight >= 0 to every class"),
    "degree": (lambda: SVC(kernel="poly", degree=2.5).fit(X, Y), "degree must be an integer >= 0; got 2.5"),
    "a matrix as kernel": (lambda: SVC(kernel=np.eye(4)).fit(X, Y), "kernel must be one of"),
    "cache_size": (lambda: SVC(cache_size=float("inf")).fit(X, Y), "cache_size must be"),
    "verbose": (lambda: SVC(verbose="loud").fit(X, Y), "verbose must be"),
    "overflow": (lambda: SVC().fit(X * 1e200, Y), "squared length overflows"),
    "hard margin, indefinite kernel": (
        lambda: SVC(kernel="sigmoid", C=float("inf"), coef0=-1.0).fit(X, Y),
        "needs a positive semidefinite kernel",
    ),
    "hard margin, equal rows of two classes": (
        lambda: SVC(C=float("inf")).fit(np.vstack([X, X[:1]]), np.append(Y, 1)),
        "no hyperplane separates class .*0.* from .*1",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_message(case):
    act, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        act()


def test_prediction_before_fit():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        SVC().predict(X)


def test_a_kernel_function_that_fails_later_is_named():
    calls = []

    def sometimes(A, B):
        calls.append(1)
        return A @ B.T if len(calls) < 3 else np.full((len(A), len(B)), np.inf)

    with pytest.raises(ValueError, match="kernel function returned inf"):
        SVC(kernel=sometimes).fit(X, Y)
