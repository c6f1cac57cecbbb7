"""The demonstrations of the lecture notes: every claim holds, pages and the command line show them."""

import importlib
import inspect
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

import maxmargin.lectures
from maxmargin.cli.main import main
from maxmargin.lectures import Demonstration, Shown, Table, data, demonstrations, page, pages
from maxmargin.report.plots import pyplot

mpl.use("agg")
DEMONSTRATIONS = demonstrations()


@pytest.mark.parametrize("name", list(DEMONSTRATIONS))
def test_claims_hold(name, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "matplotlib.pyplot", None)  # what is computed needs no picture
        shown = DEMONSTRATIONS[name].run()
    assert DEMONSTRATIONS[name].draws == (shown.draw is not None)
    assert shown.claims
    assert [sentence for sentence, holds in shown.claims if not holds] == []
    assert all(len(row) == len(table.header) for table in shown.tables for row in table.rows)
    if shown.draw is not None:
        figure = shown.draw()
        assert figure.axes
        pyplot().close(figure)


def test_every_demonstration_is_told():
    assert sum(len(one.demonstrations) for one in pages()) == len(DEMONSTRATIONS)  # no name twice
    for shown in DEMONSTRATIONS.values():
        assert len(shown.title) > 3, shown.name
        assert shown.text or shown.page == "errata", shown.name


def test_pages_list_all_that_their_folders_hold():
    """A demonstration is a public function without parameters that returns ``Shown``."""
    names = [found.name for found in pkgutil.walk_packages(maxmargin.lectures.__path__, "maxmargin.lectures.")]
    defined = {
        f"{module}.{name}"
        for module in names
        for name, f in inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        if f.__module__ == module and not name.startswith("_")
        if inspect.signature(f).return_annotation == "Shown" and not inspect.signature(f).parameters
    }
    listed = [f"{shown.run.__module__}.{shown.run.__name__}" for one in pages() for shown in one.demonstrations]
    assert sorted(listed) == sorted(defined)


def test_rows_kept_aside_have_no_say_in_the_scaling():
    train, aside = data.cancer_parts()
    (rows, labels), (others, _) = data.scaled_by_first(train, aside)
    np.testing.assert_allclose([rows.mean(axis=0), rows.var(axis=0) - 1], 0, atol=1e-9)
    np.testing.assert_array_equal(labels, train[1])
    (same, _), (far, _) = data.scaled_by_first(train, (aside[0] + 1e6, aside[1]))
    np.testing.assert_array_equal(same, rows)
    assert np.all(far > others)
    assert aside[0].mean() > 10  # as measured: nobody has scaled them before


def test_a_claim_that_fails_stops_the_page(tmp_path):
    wrong = Demonstration("wrong", "000", "Wrong", "", lambda: Shown(claims=(("two and two are five", False),)))
    with pytest.raises(AssertionError, match="two and two are five"):
        page.write_page(page.Page("000", "Title", "", [wrong]), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_page_as_markdown(tmp_path):
    def run():
        return Shown(lambda: pyplot().subplots()[0], (Table(("||w||", "n"), [(0.123456, 3)]),), (("it holds", True),))

    shown = Demonstration("a_name", "000", "A title", "Text with $x$.", run)
    page.write_page(page.Page("000", "Title", "Intro", [shown]), tmp_path)
    text = (tmp_path / "000.md").read_text(encoding="utf-8")
    assert "(a-name)=\n\n## A title" in text
    assert "| \\|\\|w\\|\\| | n |" in text
    assert "| 0.1235 | 3 |" in text
    assert "- it holds" in text
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["000.md", "a_name.png"]


def test_command_line(tmp_path, capsys):
    assert main(["demo", "exponential_family"]) == 0
    printed = capsys.readouterr().out
    assert "[holds]" in printed
    assert not re.search(r"[$\\]", printed)
    picture = tmp_path / "folder" / "picture.png"
    assert main(["demo", "kkt_table", "--picture", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    assert "largest violation" in capsys.readouterr().out
    assert main(["demo", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in DEMONSTRATIONS)
    assert main(["demo", "fishes"]) == 2
    assert "Did you mean fish?" in capsys.readouterr().err


def test_command_line_tells_of_a_claim_that_fails(capsys, monkeypatch):
    wrong = Demonstration("wrong", "000", "Wrong", "", lambda: Shown(claims=(("two and two are five", False),)))
    monkeypatch.setattr("maxmargin.lectures.demonstrations", lambda: {"wrong": wrong})
    assert main(["demo", "wrong"]) == 1
    assert "[FAILS] two and two are five" in capsys.readouterr().out


def never():
    raise AssertionError("the computation was begun")


@pytest.fixture
def unrun(monkeypatch):
    """A demonstration that must not be begun."""
    monkeypatch.setattr("maxmargin.lectures.demonstrations", lambda: {"one": Demonstration("one", "0", "1", "", never)})
    monkeypatch.setattr("sklearn.datasets.load_breast_cancer", lambda **_: never())


@pytest.mark.parametrize("name", [[], ["one"]], ids=["machines", "demonstration"])
def test_pictures_that_cannot_be_are_refused_before_computing(name, unrun, tmp_path, capsys):
    (tmp_path / "file").touch()
    (tmp_path / "folder.png").mkdir()
    for picture, words in {
        "file/below/picture.png": f"{tmp_path / 'file'} is no folder",
        "picture.xyz": "no picture ends in .xyz, but in ",
        "folder.png": "it is a folder; name a file in it",
        "x" * 300 + ".png": "File name too long",
        "x" * 300 + "/picture.png": "File name too long",
    }.items():
        assert main(["demo", *name, "--picture", str(tmp_path / picture)]) == 2
        said = capsys.readouterr()
        assert said.err.startswith(f"Cannot draw {tmp_path / picture}: ")
        assert words in said.err
        assert said.err.count("\n") == 1
        assert said.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.png"]


@pytest.mark.parametrize("name", [[], ["one"]], ids=["machines", "demonstration"])
def test_without_matplotlib_nothing_is_begun(name, unrun, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert main(["demo", *name]) == 2
    said = capsys.readouterr().err
    assert said == 'Pictures need matplotlib: pip install matplotlib, or pip install "maxmargin[plots]".\n'


def test_words_need_neither_matplotlib_nor_a_place(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").touch()  # where the folder would be
    assert main(["demo", "exponential_family"]) == 0
    assert "[holds]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["counting"], "[holds]"),
        (["kkt_table", "--no-picture"], "[holds]"),
        (["--no-picture"], "Accuracy on held-out rows"),
    ],
    ids=["text", "no picture", "machines"],
)
def test_an_installation_without_matplotlib_is_enough_for_words(arguments, words, tmp_path):
    code = "import sys; sys.modules['matplotlib'] = None; from maxmargin.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "demo", *arguments]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert words in told.stdout
    assert "Picture" not in told.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [[], ["one"]], ids=["machines", "demonstration"])
def test_the_usual_place_is_tried_before_computing(name, unrun, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)

    def forbidden(**where):
        raise PermissionError(13, "Permission denied", str(where["dir"]))

    with monkeypatch.context() as patched:
        patched.setattr("tempfile.TemporaryDirectory", forbidden)
        assert main(["demo", *name]) == 2
    picture = f"demo/{(*name, 'machines')[0]}.png"
    assert capsys.readouterr().err == f"Cannot draw {picture}: Permission denied.\n"
    (tmp_path / "demo").touch()
    assert main(["demo", *name]) == 2
    assert capsys.readouterr().err == f"Cannot draw {picture}: {tmp_path / 'demo'} is no folder.\n"


def test_a_picture_that_fails_late_is_one_line(monkeypatch, tmp_path, capsys):
    drawn = Demonstration("drawn", "000", "Drawn", "", lambda: Shown(pyplot().figure))
    monkeypatch.setattr("maxmargin.lectures.demonstrations", lambda: {"drawn": drawn})

    def full(*_):
        raise OSError(28, "No space left on device", ".drawn.png.part")

    monkeypatch.setattr("maxmargin.report.plots.save_figure", full)
    picture = tmp_path / "drawn.png"
    assert main(["demo", "drawn", "--picture", str(picture)]) == 2
    said = capsys.readouterr()
    assert "Drawn (note 000)" in said.out
    assert said.err == f"Cannot draw {picture}: No space left on device.\n"
    pyplot().close("all")


def test_a_demonstration_without_picture_says_so(monkeypatch, tmp_path, capsys):
    bare = Demonstration("bare", "errata", "Bare", "", Shown)
    monkeypatch.setattr("maxmargin.lectures.demonstrations", lambda: {"bare": bare})
    assert main(["demo", "bare", "--picture", str(tmp_path / "picture.png")]) == 0
    said = capsys.readouterr().out
    assert "Bare (errata)" in said
    assert "This demonstration has no picture" in said
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_that_is_closed_ends_the_list_quietly(monkeypatch, capfd):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["demo", "--list"]) == 141
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"\theta_{ljk} = \ln\eta_{ljk}", "theta_ljk = ln eta_ljk"),
        (r"\min\frac12\|w\|^2 + C\sum_i\xi_i", "min 1/2 ||w||^2 + C sum_i xi_i"),
        (
            r"1 - s(\mathbf a^T\mathbf x)\,y \quad\text{where}\quad s\gamma y \ne 1",
            "1 - s(a^T x) y where s gamma y != 1",
        ),
        (r"\hat\pi_l = \frac{\sum_i y_{il}}{n}", "hat pi_l = (sum_i y_il)/n"),
        (r"\frac\lambda2, \frac1{2c}, \frac{1}{\|w\|}", "lambda/2, 1/(2c), 1/||w||"),
        (r"w_{y_i}^Tx_i > \max_{j\ne y_i} w_j^Tx_i", "w_(y_i)^T x_i > max_(j != y_i) w_j^T x_i"),
        (r"\max\left\{0, 1 - \alpha_iy_i\right\} \ge 0", "max{0, 1 - alpha_i y_i} >= 0"),
        (r"\sqrt2x_1x_2 \le \sqrt{k + 1}", "sqrt(2) x_1 x_2 <= sqrt(k + 1)"),
        ("\\Sigma =\n\\mathrm{diag}(\\sigma_1^2,\\dots,\\sigma_p^2)", "Sigma =\ndiag(sigma_1^2,...,sigma_p^2)"),
        (r"10^{-7} e^{-\gamma y} \binom{d+p}{p} (\cdot)_+", "10^-7 e^(-gamma y) binom(d+p, p) (.)_+"),
    ],
)
def test_formulas_in_words(tex, words):
    assert page.formula_in_words(tex) == words


@pytest.mark.parametrize("one", pages(), ids=lambda one: one.name)
def test_nothing_of_tex_is_left_in_words(one):
    for shown in one.demonstrations:
        words = page.in_words(shown, Shown(claims=(("$\\alpha$ of `x_i`", True),)))
        assert not re.search(r"[$\\`\0\1\2]|[a-z](frac|quad|text|math)|[_^]{|\*\w", words), shown.name
        assert "[holds] alpha of x_i" in words
        assert words.splitlines()[0].endswith(f"(note {one.name})" if one.name.isdigit() else f"({one.name})")


TABLE = Table(
    ("line", "printed", "|gap|"),
    [("004:54", "a long cell, *with emphasis*, that has to be broken " * 3, 0.25), ("-", "a*b*c `x*y*z` $w^*$", 12)],
)


@pytest.mark.parametrize("width", [60, 80])
def test_words_fit_the_terminal(width):
    text = "Prose " * 40 + "\n\n$$a =\nb$$\n\nIt says:\n- " + "item " * 40 + "\n- *$L = 0$, so*"
    shown = Demonstration("one", "004", "Title", text, Shown)
    words = page.in_words(shown, Shown(None, (TABLE,), (("claim " * 40, True),)), width)
    lines = words.splitlines()
    assert width - 10 < max(map(len, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)
    assert words.startswith("Title (note 004)\n\nProse Prose")
    assert "\n\na =\nb\n\nIt says:\n- item" in words
    assert "\n  item" in words
    assert "\n- L = 0, so\n\nline " in words
    assert "\n        claim" in words
    assert words.endswith("\n\n(004:54 means line 54 of note 004; titles of the notes:" + (
        "\n" if width < 77 else " ") + "docs/conventions.md)")  # fmt: skip


def test_tables_in_words():
    lines = page.in_words(DEMONSTRATIONS["fish"], Shown(None, (TABLE,)), 60).splitlines()
    table = lines[next(k for k, line in enumerate(lines) if line.startswith("line ")) :]
    assert [len(line) for line in (table[0], table[1], table[2])] == [60, 60, 60]
    assert table[0].endswith("|gap|")
    assert set(table[1]) == {"-", " "}
    assert table[2].endswith(" 0.25")
    assert table[3].startswith("        ")
    assert "with emphasis, that" in " ".join(table)
    assert f"{'-       a*b*c x*y*z w^*':<58}12" in table


def test_pictures_that_no_page_shows_are_removed(tmp_path):
    (tmp_path / "images").mkdir()
    for name in ("old.png", "new.png"):
        (tmp_path / "images" / name).touch()
    (tmp_path / "000.md").write_text("![New](images/new.png)", encoding="utf-8")
    assert page.remove_unused_pictures(tmp_path) == ["old.png"]
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["new.png"]


def test_pages_named_in_the_index_exist():
    index = (pathlib.Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(f"lectures/{one.name}" in index for one in pages())


@pytest.mark.parametrize("one", pages(), ids=lambda one: one.name)
def test_formulas_are_closed(one):
    """A display formula stands alone: Markdown would take one within a paragraph for two inline ones."""
    for text in (one.text, *(shown.text for shown in one.demonstrations)):
        outside = re.sub(r"(?:\A|\n\n)\$\$[^$]+\$\$(?=\n\n|\Z)", "", text)
        outside = re.sub(r"`[^`]*`", "", outside)
        assert "$$" not in outside
        assert outside.count("$") % 2 == 0
