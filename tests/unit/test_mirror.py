"""The unit tests lie as the sources do: a folder for every room, a file for every file."""

from pathlib import Path

UNIT = Path(__file__).parent
SOURCE = UNIT.parents[1] / "src" / "maxmargin"
OF_ALL_ROOMS = {"test_house.py", "test_mirror.py"}


def test_every_folder_is_a_room():
    folders = {path.parent.relative_to(UNIT) for path in UNIT.rglob("*.py")}
    assert {str(folder) for folder in folders if not (SOURCE / folder).is_dir()} == set()


def test_every_file_is_named_after_the_one_that_it_tests():
    files = [path.relative_to(UNIT) for path in UNIT.rglob("test_*.py") if path.name not in OF_ALL_ROOMS]
    assert len(files) > 50
    lost = [str(file) for file in files if not (SOURCE / file.parent / file.name.removeprefix("test_")).is_file()]
    assert lost == []
