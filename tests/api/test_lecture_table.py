"""The table that says where everything of the lecture notes is."""

import importlib
import os
import pathlib
import re

import pytest

from maxmargin.lectures import demonstrations

TABLE = pathlib.Path(__file__).parents[2] / "docs" / "lectures" / "table.md"
NOTES = os.environ.get("MAXMARGIN_NOTES")
MARKS = {
    "formula": re.compile(r"^\$\$"),
    "algorithm": re.compile(r"\bAlgorithm \d|^def |^SVM-DUAL"),
    "example": re.compile(r"\bExample|\bexample:|^Some practical examples|examples$|^E\.g\."),
    "table": re.compile(r"\bTable \d"),
    "figure": re.compile(r"\bFig(ure|\.) \d"),
    "question": re.compile(r"\?|^Q\d?:"),
}


def rows():
    """Note, line, kind, where in the code, and page with anchor, of every row."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| \n").split("|")]
        if line.startswith("|") and re.fullmatch(r"00\d", cells[0]):
            found.append(cells)
    return found


def marked(text):
    """(line, kind) of everything in a note that needs a row. A formula is known by the line where its block opens."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        for kind, mark in MARKS.items():
            if mark.search(line) and not (kind == "formula" and inside):
                yield number, kind
        if line.count("$$") % 2:
            inside = not inside


def test_rows_are_complete_and_unique():
    keys = [(note, line, kind) for note, line, kind, *_ in rows()]
    assert len(keys) > 200
    assert len(set(keys)) == len(keys)
    assert all(len(row) == 6 for row in rows())


def test_rows_lead_somewhere():
    known = {(shown.page, shown.name.replace("_", "-")) for shown in demonstrations().values()}
    for note, line, kind, _, code, page in rows():
        where = f"{note}:{line}"
        assert kind in MARKS, where
        for name in re.findall(r"`([^`]+)`", code):
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(f"maxmargin.{module}"), attribute), (where, name)
        anchors = re.findall(r"\((\w+)\.md#([\w-]+)\)", page)
        assert anchors, where
        assert set(anchors) <= known, where


@pytest.mark.skipif(NOTES is None, reason="MAXMARGIN_NOTES names no folder of notes")
@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_nothing_of_the_notes_is_missing(note):
    (path,) = pathlib.Path(str(NOTES)).glob(f"{note}*.txt")
    needed = {(str(line), kind) for line, kind in marked(path.read_text(encoding="utf-8"))}
    listed = {(line, kind) for name, line, kind, *_ in rows() if name == note}
    assert needed - listed == set()
    assert listed - needed == set(), "rows of lines that have no such thing"
