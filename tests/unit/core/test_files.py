"""Files that are whole or not there."""

import pytest

from maxmargin.core.files import whole_file


def write_half(path):
    with whole_file(path) as unfinished:
        unfinished.write_text("half of the sec", encoding="utf-8")
        raise OSError("full")


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "folder" / "text.md"
    with whole_file(path) as unfinished:
        unfinished.write_text("first", encoding="utf-8")
        assert not path.exists()
    with pytest.raises(OSError, match="full"):
        write_half(path)
    assert path.read_text(encoding="utf-8") == "first"
    assert list(path.parent.iterdir()) == [path]


def test_two_that_write_the_same_file_do_not_meet(tmp_path):
    path = tmp_path / "text.md"
    with whole_file(path) as first:
        with whole_file(path) as second:
            first.write_text("first", encoding="utf-8")
            second.write_text("second", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "second"
    assert path.read_text(encoding="utf-8") == "first"
    assert list(tmp_path.iterdir()) == [path]
