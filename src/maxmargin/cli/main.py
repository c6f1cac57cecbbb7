"""The command ``maxmargin``."""

from __future__ import annotations

import argparse
import pathlib
import time
from collections.abc import Sequence

import maxmargin


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="maxmargin", description="Support vector machines, proven optimal.")
    parser.add_argument("--version", action="version", version=f"maxmargin {maxmargin.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train on bundled data, show the proof, draw a picture")
    demo.add_argument("--picture", type=pathlib.Path, default=pathlib.Path("demo/machines.png"), help="where to draw")
    options = parser.parse_args(arguments)
    run_demo(options.picture)
    return 0


def run_demo(picture: pathlib.Path) -> None:
    """Breast cancer data: accuracy on held-out rows and the certificate; then two machines drawn in the plane."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from maxmargin.estimators import SVC
    from maxmargin.report.plots import pyplot

    pyplot()  # better to miss it now than after the training
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    machine = SVC(C=10, gamma=0.01)
    begun = time.perf_counter()
    model = make_pipeline(StandardScaler(), machine).fit(X_train, y_train)
    seconds = time.perf_counter() - begun
    print(f"Breast cancer: {len(y_train)} rows to learn from, {len(y_test)} held out, {X.shape[1]} features")
    print(f"SVC(C=10, gamma=0.01) fitted in {seconds:.3f} s: {machine.status_}")
    print(f"Accuracy on held-out rows: {model.score(X_test, y_test):.4f}")
    bound = len(machine.support_) / len(y_train)
    print(f"Support vectors: {len(machine.support_)}; at most {bound:.1%} leave-one-out error")
    print(f"Margin 1/||w||: {machine.margin_:.4f}\n\n{machine.certificate_!r}\n")
    draw_demo(picture)
    print(f"Picture: {picture.resolve()}")


def draw_demo(path: pathlib.Path) -> None:
    """The hard margin of the lecture notes' example 23.3, and a Gaussian kernel on two moons."""
    import numpy as np
    from sklearn.datasets import make_moons

    from maxmargin.estimators import SVC
    from maxmargin.report.plots import draw_machine, pyplot

    points = [(3.5, 4.25), (4, 3), (4, 4), (4.5, 1.75), (4.9, 4.5), (5, 4), (5.5, 2.5), (5.5, 3.5)]
    points += [(0.5, 1.5), (1, 2.5), (1.25, 0.5), (1.5, 1.5), (2, 2), (2.5, 0.75)]
    notes, labels = np.array(points), np.array([1] * 8 + [-1] * 6)
    hard = SVC(kernel="linear", C=float("inf")).fit(notes, labels)
    moons, sides = make_moons(200, noise=0.2, random_state=0)
    soft = SVC(C=10, gamma=1.0).fit(moons, sides)
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    draw_machine(hard, notes, labels, left, f"hard margin, width 2/||w|| = {2 * hard.margin_:.3f}")
    gap = soft.certificate_.relative_gap
    draw_machine(soft, moons, sides, right, f"Gaussian kernel, C = 10, relative gap {gap:.1g}")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    figure.savefig(unfinished, dpi=120, format=path.suffix.lstrip(".") or "png")
    unfinished.replace(path)
