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
