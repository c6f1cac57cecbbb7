"""The command ``maxmargin``."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import pathlib
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import maxmargin

LEAST_WIDTH, USUAL_WIDTH = 60, 100  # of a terminal, in characters; the usual one where there is no terminal
CLOSED_PIPE = 141  # what shells report of a program whose output nobody reads any more


class RefusedError(Exception):
    """What was asked for cannot be done; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 1 if a claim does not hold, 2 if the request cannot be met."""
    try:
        try:
            return _run(_options(sys.argv[1:] if arguments is None else arguments))
        finally:
            sys.stdout.flush()  # here, and not at the very end, where a closed pipe could not be met
    except RefusedError as refused:
        print(refused, file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be written at the end
        return CLOSED_PIPE


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="maxmargin", description="Support vector machines, proven optimal.")
    parser.add_argument("--version", action="version", version=f"maxmargin {maxmargin.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="train on bundled data and show the proof, or run a demonstration of the lecture notes",
        description="Without NAME: train on bundled data, show the proof, draw a picture. With NAME: a demonstration "
        "of the lecture notes; its numbers are computed, its claims checked and its picture, if it has one, drawn.",
    )
    demo.add_argument("name", nargs="?", metavar="NAME", help="a demonstration, see --list")
    demo.add_argument(
        "--list", action="store_true", help="the names of all demonstrations, or of those with NAME in it"
    )
    pictures = demo.add_mutually_exclusive_group()
    pictures.add_argument("--picture", type=_file, help="where to draw; demo/machines.png or demo/NAME.png if omitted")
    pictures.add_argument("--no-picture", action="store_true", help="words and numbers only; needs no matplotlib")
    commands.add_parser(
        "warmup",
        help="compile ahead of time what first fits would compile",
        description="Compile what first fits and predictions of every kind of machine need, for this processor, so "
        "that no later one waits. Set NUMBA_CACHE_DIR to choose the folder that keeps it, as in a container image.",
    )
    _check_command(arguments, commands.choices)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        commands.choices[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def _file(text: str) -> pathlib.Path:
    if not text:
        raise argparse.ArgumentTypeError("name a file, such as picture.png")
    return pathlib.Path(text)


def _check_command(arguments: Sequence[str], commands: Iterable[str]) -> None:
    """An unknown command is refused, with a hint where it looks like the name of a demonstration."""
    if arguments and not arguments[0].startswith("-") and arguments[0] not in commands:
        near = _near(arguments[0])
        hint = f"Did you mean: maxmargin demo {near[0]}?" if near else f"There are: {', '.join(commands)}"
        raise RefusedError(f"There is no command called {arguments[0]!r}. {hint}")


def _near(name: str) -> list[str]:
    """Names of demonstrations that look like this one, in capitals or not."""
    from maxmargin.lectures import demonstrations

    return difflib.get_close_matches(name.lower(), demonstrations(), n=3)


def _run(options: argparse.Namespace) -> int:
    if options.command == "warmup":
        from maxmargin.cli.warmup import warm_up

        print(warm_up())
    elif options.list:
        list_demonstrations(options.name or "")
    elif options.name is None:
        run_demo(None if options.no_picture else options.picture or pathlib.Path("demo/machines.png"))
    else:
        return run_demonstration(options.name, options.picture, draws=not options.no_picture)
    return 0


def list_demonstrations(part: str = "") -> None:
    """One line per demonstration whose name has that part, page by page."""
    from maxmargin.lectures import pages

    listed = {page.title: [shown for shown in page.demonstrations if part.lower() in shown.name] for page in pages()}
    lists = [
        "\n".join([title, *(f"  {shown.name:<24} {shown.title}" for shown in found)])
        for title, found in listed.items()
        if found
    ]
    if not lists:
        raise RefusedError(f"No demonstration has {part!r} in its name. All names: maxmargin demo --list")
    print("\n\n".join(lists))


def run_demonstration(name: str, picture: pathlib.Path | None, draws: bool = True) -> int:
    """Compute, print and, unless ``draws`` is false, draw one demonstration; returns 1 if a claim does not hold."""
    from maxmargin.lectures import demonstrations
    from maxmargin.lectures.page import in_words

    known = demonstrations()
    if name not in known:
        near = _near(name)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise RefusedError(f"There is no demonstration called {name!r}.{hint} All names: maxmargin demo --list")
    path = picture or pathlib.Path("demo") / f"{name}.png"
    draws = draws and known[name].draws
    if draws:
        _check_drawing(path)
    shown = known[name].run()
    print(in_words(known[name], shown, max(LEAST_WIDTH, shutil.get_terminal_size((USUAL_WIDTH, 24)).columns)))
    if draws and shown.draw is not None:
        _save(shown.draw(), path)
    elif picture is not None:
        print(f"\nThis demonstration has no picture: {picture} is not written.")
    return 0 if all(holds for _, holds in shown.claims) else 1


@contextlib.contextmanager
def _refusals(path: pathlib.Path) -> Iterator[None]:
    """What keeps the picture from being drawn, in one line."""
    try:
        yield
    except ImportError as missing:
        raise RefusedError(str(missing)) from missing
    except (OSError, ValueError) as wrong:
        raise RefusedError(f"Cannot draw {path}: {getattr(wrong, 'strerror', None) or wrong}.") from wrong


def _check_drawing(path: pathlib.Path) -> None:
    """A missing matplotlib or folder is refused now, not after the computations."""
    from maxmargin.report.plots import check_picture

    with _refusals(path):
        check_picture(path)


def _save(figure: Any, path: pathlib.Path) -> None:
    from maxmargin.report.plots import save_figure

    with _refusals(path):
        save_figure(figure, path)
    print(f"\nPicture: {path.resolve()}")


def run_demo(picture: pathlib.Path | None) -> None:
    """Breast cancer data: accuracy on held-out rows and the certificate; then two machines drawn in the plane.

    Without a place for the picture nothing is drawn.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from maxmargin.estimators import SVC

    if picture is not None:
        _check_drawing(picture)
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    machine = SVC(C=10, gamma=0.01)
    model = make_pipeline(StandardScaler(), machine)
    first, seconds = (_seconds(lambda: model.fit(X_train, y_train)) for _ in range(2))
    print(f"Breast cancer: {len(y_train)} rows to learn from, {len(y_test)} held out, {X.shape[1]} features")
    print(f"SVC(C=10, gamma=0.01) fitted in {seconds:.3f} s: {machine.status_}")
    print(f"(The first fit took {first:.1f} s: compiling, or loading what an earlier run compiled.)")
    print(f"Accuracy on held-out rows: {model.score(X_test, y_test):.4f}")
    bound = len(machine.support_) / len(y_train)
    print(f"Support vectors: {len(machine.support_)}; at most {bound:.1%} leave-one-out error")
    print(f"Margin 1/||w||: {machine.margin_:.4f}\n\n{machine.certificate_!r}")
    if picture is not None:
        draw_demo(picture)


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


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
