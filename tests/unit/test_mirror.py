"""The unit tests lie as the sources do: folders are rooms, and a file is named after the one that it tests."""

from pathlib import Path

UNIT = Path(__file__).parent
SOURCE = UNIT.parents[1] / "src" / "maxmargin"
OF_ALL_ROOMS = {"test_house.py", "test_mirror.py"}
TESTED_WHOLE = {  # rooms whose files do nothing by themselves, and where they are tested
    "models": "contract/test_models.py",
    "estimators": "api/test_sklearn.py",
    "selection": "api/test_linear.py",
    "report": "api/test_documents.py",
    "onnx": "api/test_onnx.py",
    "lectures": "api/test_lectures.py",
    "cli": "api/test_cli.py",
    "textbook": "oracle/test_textbook.py",
}


def test_every_room_is_tested():
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {room for room in rooms if not list((UNIT / room).rglob("test_*.py"))} == set(TESTED_WHOLE)
    assert all((UNIT.parent / place).is_file() for place in TESTED_WHOLE.values())


def test_every_folder_is_a_room():
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("*.py")}
    assert {str(folder) for folder in folders if not (SOURCE / folder).is_dir()} == set()


def test_every_file_is_named_after_the_one_that_it_tests():
    files = [path.relative_to(UNIT) for path in UNIT.rglob("test_*.py") if path.name not in OF_ALL_ROOMS]
    assert len(files) > 50
    lost = [str(file) for file in files if not (SOURCE / file.parent / file.name.removeprefix("test_")).is_file()]
    assert lost == []
