"""Draws the figures of the documents: ``python docs/figures.py``."""

import pathlib

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, LinearSVC, regularization_path
from maxmargin.report.plots import draw_path, draw_regions, pyplot

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


def many_classes() -> None:
    """The three sets of docs/multiclass.md: where one versus the rest, votes of pairs, and bit codes fail."""
    rng = np.random.default_rng(0)
    rows = [_in_a_row(5, rng), _pinwheel(rng), _in_a_row(4, rng)]
    machines = [
        tuple(LinearSVC(multi_class=way, loss="hinge", C=100) for way in ("ovr", "crammer_singer")),
        (SVC(kernel="linear"), SVC(kernel="linear", multi_class="crammer_singer")),
        (LinearSVC(multi_class="codes", code="bits", loss="hinge"), LinearSVC(multi_class="ovo", loss="hinge")),
    ]
    names = [
        ("one versus the rest", "Crammer and Singer"),
        ("one versus one, votes", "Crammer and Singer"),
        ("bit codes", "one versus one"),
    ]
    figure, axes = pyplot().subplots(2, 3, figsize=(12, 6.6))
    for column, ((X, y, X_test, y_test), pair, titles) in enumerate(zip(rows, machines, names, strict=True)):
        for row, (machine, title) in enumerate(zip(pair, titles, strict=True)):
            machine.fit(X, y)
            draw_regions(machine, X, y, axes[row, column])
            where = "" if X_test is X else " in the middle"
            axes[row, column].set_title(f"{title}: {machine.score(X_test, y_test):.0%}{where}", fontsize=10)
            if X_test is not X:
                axes[row, column].scatter(*X_test.T, s=10, marker="x", color="#2d3748", lw=0.7)
    figure.tight_layout()
    figure.savefig(IMAGES / "multiclass.png", dpi=110)


def _in_a_row(k: int, rng):
    y = np.repeat(np.arange(k), 60)
    X = np.column_stack([4.0 * y, np.zeros(len(y))]) + rng.normal(size=(len(y), 2))
    return X, y, X, y


def _pinwheel(rng):
    def blobs(radius: float, angle: float, spread: float):
        turns = 2 * np.pi * np.repeat([0, 1, 2], 40) / 3 + angle
        return radius * np.column_stack([np.cos(turns), np.sin(turns)]) + spread * rng.normal(size=(120, 2))

    y = np.repeat([0, 1, 2], 40)
    near, far = blobs(3, 0.0, 0.25), blobs(6, 1.3, 0.25)
    return np.vstack([near, far]), np.concatenate([y, y]), blobs(1, 1.0, 0.15), y


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    sparse_weights()
    many_classes()
