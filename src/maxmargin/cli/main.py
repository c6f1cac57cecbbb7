"""The command ``maxmargin``."""

from __future__ import annotations

import argparse
import difflib
import os
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

import maxmargin

CLOSED_PIPE = 141  # what shells report of a program that nobody listens to any more


class RefusedError(Exception):
    """What was asked for cannot be done; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 1 if a claim does not hold, 2 if the request cannot be met."""
    try:
        try:
            return _run(_options(arguments))
        finally:
            sys.stdout.flush()  # here, and not at the very end, where a closed pipe could not be met
    except RefusedError as refused:
        print(refused, file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be written at the end
        return CLOSED_PIPE


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="maxmargin", description="Support vector machines, proven optimal.")
    parser.add_argument("--version", action="version", version=f"maxmargin {maxmargin.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="train on bundled data and show the proof, or run a demonstration of the lecture notes",
        description="Without NAME: train on bundled data, show the proof, draw a picture. With NAME: a demonstration "
        "of the lecture notes; its numbers are computed, its claims checked and its picture drawn.",
    )
    demo.add_argument("name", nargs="?", metavar="NAME", help="a demonstration, see --list")
    demo.add_argument("--list", action="store_true", help="the names of all demonstrations")
    demo.add_argument(
        "--picture", type=pathlib.Path, help="where to draw; demo/machines.png or demo/NAME.png if omitted"
    )
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    if options.list:
        list_demonstrations()
    elif options.name is None:
        run_demo(options.picture or pathlib.Path("demo/machines.png"))
    else:
        return run_demonstration(options.name, options.picture)
    return 0


def list_demonstrations() -> None:
    """One line per demonstration, page by page."""
    from maxmargin.lectures import pages

    for page in pages():
        print(f"\n{page.title}")
        for shown in page.demonstrations:
            print(f"  {shown.name:<24} {shown.title}")


def run_demonstration(name: str, picture: pathlib.Path | None) -> int:
    """Compute, print and draw one demonstration; returns 1 if a claim does not hold."""
    from maxmargin.lectures import demonstrations
    from maxmargin.lectures.page import in_words

    known = demonstrations()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise RefusedError(f"There is no demonstration called {name!r}.{hint} All names: maxmargin demo --list")
    _check_drawing(picture)
    shown = known[name].run()
    print(in_words(known[name], shown))
    if shown.figure is not None:
        _save(shown.figure, picture or pathlib.Path("demo") / f"{name}.png")
    elif picture is not None:
        print(f"This demonstration has no picture: {picture} is not written.")
    return 0 if all(holds for _, holds in shown.claims) else 1


def _check_drawing(picture: pathlib.Path | None) -> None:
    """Better to miss matplotlib or a folder now than after the computations. None is a place yet to be chosen."""
    from maxmargin.report.plots import check_picture, pyplot

    try:
        if picture is None:
            pyplot()
        else:
            check_picture(picture)
    except (ImportError, OSError, ValueError) as wrong:
        raise RefusedError(str(wrong)) from wrong


def _save(figure: Any, path: pathlib.Path) -> None:
    from maxmargin.report.plots import save_figure

    try:
        save_figure(figure, path)
    except (OSError, ValueError) as wrong:
        raise RefusedError(f"Cannot draw {path}: {wrong}") from wrong
    print(f"Picture: {path.resolve()}")


def run_demo(picture: pathlib.Path) -> None:
    """Breast cancer data: accuracy on held-out rows and the certificate; then two machines drawn in the plane."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from maxmargin.estimators import SVC

    _check_drawing(picture)
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


def draw_demo(path: pathlib.Path) -> None:
    """The hard margin of the lecture notes' example 23.3, and a Gaussian kernel on two moons."""
    from sklearn.datasets import make_moons

    from maxmargin.estimators import SVC
    from maxmargin.lectures.data import SIGNS_23_1, TABLE_23_1
    from maxmargin.report.plots import draw_machine, pyplot

    notes, labels = TABLE_23_1, SIGNS_23_1
    hard = SVC(kernel="linear", C=float("inf")).fit(notes, labels)
    moons, sides = make_moons(200, noise=0.2, random_state=0)
    soft = SVC(C=10, gamma=1.0).fit(moons, sides)
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    draw_machine(hard, notes, labels, left, f"hard margin, width 2/||w|| = {2 * hard.margin_:.3f}")
    gap = soft.certificate_.relative_gap
    draw_machine(soft, moons, sides, right, f"Gaussian kernel, C = 10, relative gap {gap:.1g}")
    _save(figure, path)
