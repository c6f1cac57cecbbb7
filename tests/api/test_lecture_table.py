"""The table that says where everything of the lecture notes is."""

import ast
import os
import pathlib
import pkgutil
import re

import pytest

import maxmargin.lectures
import maxmargin.textbook
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
            pkgutil.resolve_name(f"maxmargin.{name}")  # raises an error where there is no such thing
        anchors = re.findall(r"\((\w+)\.md#([\w-]+)\)", page)
        assert anchors, where
        assert set(anchors) <= known, where


def test_demonstrations_use_the_functions_of_their_rows():
    links, unused = references(), []
    for note, line, _, _, code, page in rows():
        shown = [demonstrations()[anchor.replace("-", "_")].run for anchor in re.findall(r"\.md#([\w-]+)\)", page)]
        used = set().union(*(reached(f"{run.__module__}.{run.__name__}", links) for run in shown))
        unused += [
            f"{note}:{line} {name}" for name in re.findall(r"`([^`]+)`", code) if f"maxmargin.{name}" not in used
        ]
    assert unused == []


def reached(name, links):
    """The names in the code of a function, in that of the functions among them, and so on."""
    seen, ahead = set(), {name}
    while ahead:
        seen |= ahead
        ahead = set().union(*(links.get(one, ()) for one in ahead)) - seen
    return seen


def references():
    """What is defined in lectures and textbook, with all that its code names; both by their public names."""
    packages = (maxmargin.lectures, maxmargin.textbook)
    found = {}
    for package in packages:
        folder = pathlib.Path(package.__path__[0])
        for path in folder.rglob("*.py"):
            below = path.relative_to(folder).with_suffix("").parts
            found |= definitions(path, public(".".join((package.__name__, *below))))
    return found


def public(name):
    """``textbook.smo`` for ``textbook.multipliers.smo``: the textbook's files are named without their folders."""
    rooms = "|".join(path.parent.name for path in pathlib.Path(maxmargin.textbook.__path__[0]).glob("*/__init__.py"))
    return re.sub(rf"^maxmargin\.textbook\.(?:{rooms})\.", "maxmargin.textbook.", name)


def definitions(path, module):
    """The module's functions, classes and constants, each with the names of its code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    known = {
        alias.asname or alias.name: public(f"{node.module}.{alias.name}") for node in imports for alias in node.names
    }
    defined = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign):
            defined |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    known |= {name: f"{module}.{name}" for name in defined}
    for name, node in defined.items():
        yield f"{module}.{name}", set(named(node, known))


def named(node, known):
    """The known names in a piece of code, also as module.name."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in known:
            yield known[one.id]
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id in known:
            yield f"{known[one.value.id]}.{one.attr}"


@pytest.mark.skipif(NOTES is None, reason="MAXMARGIN_NOTES names no folder of notes")
@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_nothing_of_the_notes_is_missing(note):
    (path,) = pathlib.Path(str(NOTES)).glob(f"{note}*.txt")
    needed = {(str(line), kind) for line, kind in marked(path.read_text(encoding="utf-8"))}
    listed = {(line, kind) for name, line, kind, *_ in rows() if name == note}
    assert needed - listed == set()
    assert listed - needed == set(), "rows of lines that have no such thing"
