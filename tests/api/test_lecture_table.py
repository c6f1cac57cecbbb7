"""The table that says where everything of the lecture notes is."""

import importlib
import inspect
import os
import pathlib
import re

import pytest

import maxmargin.lectures
import maxmargin.textbook
from maxmargin.lectures import demonstrations, pages

TABLE = pathlib.Path(__file__).parents[2] / "docs" / "lectures" / "table.md"
LECTURES = pathlib.Path(maxmargin.lectures.__path__[0])
NOTES = os.environ.get("MAXMARGIN_NOTES")
TEXTBOOK = {
    function.__name__: set(re.findall(r"\w+", inspect.getsource(function)))
    for path in pathlib.Path(maxmargin.textbook.__path__[0]).glob("[a-z]*.py")
    for function in vars(importlib.import_module(f"maxmargin.textbook.{path.stem}")).values()
    if inspect.isfunction(function)
}
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
    inside, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if "\t" in line and "\t" not in before:  # columns begin
            yield number, "table"
        before = line
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


def test_pages_use_the_functions_of_their_rows():
    sources = {one.name: source_of(one.name) for one in pages()}
    unused = [
        f"{note}:{line} {name}"
        for note, line, _, _, code, page in rows()
        for name in re.findall(r"`(?:\w+\.)+(\w+)`", code)
        if not any(name in used_in(sources[shown]) for shown in re.findall(r"\((\w+)\.md#", page))
    ]
    assert unused == []


def used_in(source):
    """All names in a page's code, and those in the textbook functions that are among them."""
    names, found = set(), set(re.findall(r"\w+", source))
    while found - names:
        names |= found
        found = {name for function in names & TEXTBOOK.keys() for name in TEXTBOOK[function]}
    return names


def source_of(page):
    """The code of a page, without the texts, and of the modules that it keeps to itself."""
    name = f"note_{page}" if page.isdigit() else page
    texts = [(LECTURES / f"{name}.py").read_text(encoding="utf-8")]
    helpers = {"errata": ["slips"]}.get(page, re.findall(r"\b_[a-z]\w*\b", texts[0]))
    texts += [path.read_text(encoding="utf-8") for path in LECTURES.glob("*.py") if path.stem in helpers]
    return re.sub(r'"""(?:.|\n)*?"""', "", "\n".join(texts))


@pytest.mark.skipif(NOTES is None, reason="MAXMARGIN_NOTES names no folder of notes")
@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_nothing_of_the_notes_is_missing(note):
    (path,) = pathlib.Path(str(NOTES)).glob(f"{note}*.txt")
    needed = {(str(line), kind) for line, kind in marked(path.read_text(encoding="utf-8"))}
    listed = {(line, kind) for name, line, kind, *_ in rows() if name == note}
    assert needed - listed == set()
    assert listed - needed == set(), "rows of lines that have no such thing"
