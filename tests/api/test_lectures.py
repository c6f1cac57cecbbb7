"""The demonstrations of the lecture notes: every claim holds, pages and the command line show them."""

import pathlib
import re

import matplotlib as mpl
import pytest

from maxmargin.cli.main import main
from maxmargin.lectures import Demonstration, Shown, Table, demonstrations, page, pages
from maxmargin.report.plots import pyplot

mpl.use("agg")
DEMONSTRATIONS = demonstrations()


@pytest.mark.parametrize("name", list(DEMONSTRATIONS))
def test_claims_hold(name):
    shown = DEMONSTRATIONS[name].run()
    assert shown.claims
    assert [sentence for sentence, holds in shown.claims if not holds] == []
    assert all(len(row) == len(table.header) for table in shown.tables for row in table.rows)
    if shown.figure is not None:
        pyplot().close(shown.figure)


def test_every_demonstration_is_told():
    assert sum(len(one.demonstrations) for one in pages()) == len(DEMONSTRATIONS)  # no name twice
    for shown in DEMONSTRATIONS.values():
        assert len(shown.title) > 3, shown.name
        assert shown.text or shown.page == "errata", shown.name


def test_a_claim_that_fails_stops_the_page(tmp_path):
    wrong = Demonstration("wrong", "000", "Wrong", "", lambda: Shown(claims=(("two and two are five", False),)))
    with pytest.raises(AssertionError, match="two and two are five"):
        page.write_page(page.Page("000", "Title", "", [wrong]), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_page_as_markdown(tmp_path):
    def run():
        figure, _ = pyplot().subplots()
        return Shown(figure, (Table(("||w||", "n"), [(0.123456, 3)]),), (("it holds", True),))

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
