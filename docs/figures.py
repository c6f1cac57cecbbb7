"""Draws the figures of the documents: ``python docs/figures.py``."""

import pathlib

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVC, regularization_path
from maxmargin.report.plots import draw_path, pyplot

IMAGES = pathlib.Path(__file__).parent / "images"


def sparse_weights() -> None:
    """Breast cancer data: the l1 path, and accuracy against features for l1 and for recursive elimination."""
    plt = pyplot()
    data = load_breast_cancer()
    X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.4, random_state=0)
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    Cs = np.logspace(-3.2, 0.5, 60)
    path = regularization_path(X_train, y_train, Cs, penalty="l1")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    draw_path(path, left, names=data.feature_names)
    left.set_title("l1 path, squared hinge")
    scores = ((X_test @ path.coef[:, 0].T + path.intercept[:, 0] > 0) == y_test[:, None]).mean(axis=0)
    right.plot(path.n_nonzero, scores, "o-", ms=4, color="#2b6cb0", label="penalty='l1'")
    counts = [1, 2, 3, 5, 8, 12, 16, 20, 25, 30]
    kept = [RFE(LinearSVC(loss="hinge", C=0.1), n_features_to_select=k).fit(X_train, y_train) for k in counts]
    right.plot(counts, [k.score(X_test, y_test) for k in kept], "s--", ms=4, color="#c05621", label="RFE, hinge")
    right.set_xlabel("features in use")
    right.set_ylabel("accuracy on held-out rows")
    right.set_title("few features are enough")
    right.legend()
    figure.tight_layout()
    figure.savefig(IMAGES / "l1_path.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    sparse_weights()
