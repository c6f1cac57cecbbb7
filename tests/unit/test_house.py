"""The house: sizes of files, rooms and loops, one place for each thing, and a map that agrees with the folders."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "maxmargin"
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES, MOST_FILES, MOST_ARGUMENTS, MOST_LOOP_LINES = 400, 12, 8, 40


def name(path):
    return path.relative_to(SOURCE).as_posix()


def functions(path):
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def found(pattern):
    """Places in the sources where ``pattern`` matches a line of code."""
    lines = ((path, number, line) for path in FILES for number, line in enumerate(path.read_text().splitlines(), 1))
    return [f"{name(path)}:{number}" for path, number, line in lines if re.search(pattern, line)]


def test_no_file_is_too_long():
    long = {name(path): len(path.read_text().splitlines()) for path in FILES}
    assert {path: lines for path, lines in long.items() if lines > MOST_LINES} == {}


def test_no_room_is_too_full():
    rooms = {name(room): len([f for f in room.glob("*.py") if f.name != "__init__.py"]) for room in SOURCE.rglob("*/")}
    assert {room: files for room, files in rooms.items() if files > MOST_FILES} == {}


@pytest.mark.parametrize("path", FILES, ids=name)
def test_compiled_loops_are_short_and_take_few_arguments(path):
    for function in functions(path):
        if not any("jit" in ast.unparse(decorator) for decorator in function.decorator_list):
            continue
        body = function.body[1:] if isinstance(function.body[0], ast.Expr) else function.body
        lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
        assert len(function.args.args) <= MOST_ARGUMENTS, function.name
        assert lines <= MOST_LOOP_LINES, function.name


def test_there_is_one_loop_one_options_one_solution_and_one_place_that_sets_attributes():
    assert len(found(r"\bsolver\.step\(")) == 1
    assert len(found(r"^class \w*Options\b")) == 1
    assert len(found(r"^class \w*Solution\b")) == 1
    assert len(found(r"def watcher\(")) == len(found(r"\bdef watch\(")) == 1
    assert found(r"setattr\((self|estimator)|self\.[a-z]\w*_ [-+*]?= ") == []
    assert [place.split(":")[0] for place in found(r"\.__dict__ = ")] == ["checks/transaction.py"]


def test_no_decision_hangs_on_the_name_of_a_solver():
    """("auto" is no solver.)"""
    names = {"smo", "sqp", "newton", "alm", "dual_cd", "gd", "sgd", "blocks", "interior", "none"}
    names |= {"interior_point", "clarabel", "osqp"}
    for path in (path for path in FILES if name(path).split("/")[0] not in ("lectures", "textbook")):
        compared = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Compare)]
        words = {part.value for node in compared for part in ast.walk(node) if isinstance(part, ast.Constant)}
        assert not words & names, name(path)
        attributes = {part.attr for node in compared for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        assert "solver" not in attributes or not name(path).startswith("estimators/"), name(path)


MAP = (ROOT / "ARCHITECTURE.md").read_text()


def rooms_on_the_map():
    """The text of each room in the map: its own line and those below it that are indented further."""
    tree = MAP.split("src/maxmargin/\n")[1].split("docs/  ")[0]
    texts, inside, outer = {}, [], ""
    for line in tree.splitlines():
        found = re.match(r"(  |    )((?:\w+/ ?)+)", line)
        if found:
            names, top = found.group(2).split(), found.group(1) == "  "
            outer = names[0] if top else outer
            inside = names if top else [f"{outer}{part}" for part in names]
        for room in inside:
            texts[room] = texts.get(room, "") + line + "\n"
    return texts


def test_the_map_shows_every_room_and_every_file():
    shown = rooms_on_the_map()
    rooms = {f"{name(path.parent)}/" for path in FILES if path.parent != SOURCE}
    described = {room for room in rooms if not room.startswith(("lectures/n", "lectures/e", "textbook/"))}
    assert {room for room in shown if "/" in room} >= described
    assert set(shown) <= rooms | {"textbook/"}
    for room in described:
        files = {path.stem for path in FILES if f"{name(path.parent)}/" == room and path.stem != "__init__"}
        assert files <= set(re.findall(r"\w+", shown[room])), room


def test_files_that_the_architecture_names_exist():
    for path in set(re.findall(r"`((?:\w+/)*\w+\.py)`", MAP)):
        places = [SOURCE / path, ROOT / path, *SOURCE.glob(f"*/{path}")]
        assert any(place.exists() for place in places), path
