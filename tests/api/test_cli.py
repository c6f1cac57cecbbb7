"""The command line, the lazy names of the package, and pictures of machines."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import maxmargin
from maxmargin.cli import warmup
from maxmargin.cli.main import main
from maxmargin.core.jit import Compiled
from maxmargin.report.plots import draw_machine, pyplot


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "FISH"], "Did you mean fish?"),
        (["fish"], "Did you mean: maxmargin demo fish?"),
        (["zzz"], "There are: demo, warmup"),
        (["demo", "--list", "zzz"], "No demonstration has 'zzz' in its name."),
    ],
)
def test_wrong_names_are_met_with_the_right_ones(arguments, words, capsys):
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--wrong"], "unrecognized arguments: --wrong"),
        (["--picture", ""], "name a file"),
        (["--picture", "a.png", "--no-picture"], "--no-picture: not allowed with argument --picture"),
    ],
)
def test_wrong_options_are_told_with_the_usage_of_demo(option, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["demo", *option])
    said = capsys.readouterr().err
    assert said.startswith("usage: maxmargin demo ")
    assert words in said


def test_lists(capsys):
    main(["demo", "--list"])
    listed = capsys.readouterr().out
    assert listed.startswith("Note 000: ")
    assert "\n\nNote 001: " in listed
    main(["demo", "--list", "Fish"])
    assert re.fullmatch(r"Note 000: .*\n  fish .*\n", capsys.readouterr().out)


@pytest.mark.skipif(not pathlib.Path("/proc/self").exists(), reason="there is no /proc")
def test_a_folder_that_nobody_can_make_is_found_before_computing(monkeypatch, capsys):
    monkeypatch.setattr("sklearn.datasets.load_breast_cancer", None)
    assert main(["demo", "--picture", "/proc/none/a.png"]) == 2
    assert re.fullmatch(r"Cannot draw /proc/none/a\.png: [A-Z][a-z ]+\.\n", capsys.readouterr().err)


def test_the_terminal_tells_the_width_and_blank_lines_set_the_picture_apart(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("COLUMNS", "70")
    assert main(["demo", "slips_000"]) == 0
    assert 60 < max(map(len, capsys.readouterr().out.splitlines())) <= 70
    assert main(["demo", "losses", "--picture", str(tmp_path / "a.png")]) == 0
    assert re.search(r"\S\n\nPicture: ", capsys.readouterr().out)


def test_the_time_of_compiling_is_told_apart(monkeypatch, tmp_path, capsys):
    seconds = iter([3.0, 0.25])
    monkeypatch.setattr("maxmargin.cli.main._seconds", lambda work: (work(), next(seconds))[1])
    assert main(["demo", "--picture", str(tmp_path / "a.png")]) == 0
    said = capsys.readouterr().out
    assert "fitted in 0.250 s" in said
    assert "The first fit took 3.0 s: compiling" in said
    assert re.search(r"\S\n\nPicture: ", said)


def test_a_module_is_the_command():
    told = subprocess.run([sys.executable, "-m", "maxmargin", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"maxmargin {maxmargin.__version__}\n"


def test_folders_load_when_first_used():
    code = "import sys, maxmargin; assert 'numpy' not in sys.modules; print(maxmargin.textbook.smo.__name__)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "maxmargin.textbook.multipliers.smo\n"
    folders = {path.parent.name for path in pathlib.Path(maxmargin.__file__).parent.glob("*/__init__.py")} - {"cli"}
    assert folders <= set(dir(maxmargin))
    assert all(getattr(maxmargin, name).__name__ == f"maxmargin.{name}" for name in folders)
    assert not hasattr(maxmargin, "nothing")


def test_every_point_on_the_margin_is_circled():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0], [4.0, 1.0]])
    y = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    figure, axes = pyplot().subplots()
    draw_machine(maxmargin.SVC(kernel="linear", C=float("inf")).fit(X, y), X, y, axes, "")
    np.testing.assert_array_equal(np.sort(axes.collections[-1].get_offsets(), axis=0), np.sort(X[:6], axis=0))
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == ["class -1", "class 1"]
    figure.canvas.draw()
    assert axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0
    pyplot().close(figure)


def test_warmup_says_what_was_left_to_compile(capsys, monkeypatch):
    fitted = []

    class Machine:
        def fit(self, X, y):
            fitted.append(len(X))
            return self

        def predict(self, X):
            Compiled.made += fitted[-1]

    monkeypatch.setattr(Compiled, "made", 0)
    for rows, said in ((3, "Compiled 3 loops"), (0, "Nothing was left to compile")):
        monkeypatch.setattr(warmup, "_fits", lambda rows=rows: [(Machine(), [0] * rows, None)])
        assert main(["warmup"]) == 0
        assert said in capsys.readouterr().out


@pytest.mark.large
def test_warmup_fits_every_kind_of_machine():
    names = {type(machine).__name__ for machine, _, _ in warmup._fits()}
    assert names == {"SVC", "SVR", "NuSVC", "OneClassSVM", "LinearSVC", "LinearSVR"}
