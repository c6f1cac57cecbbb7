"""The table that compares every name of ours with scikit-learn's is what the libraries are."""

import importlib.util
import pathlib

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_sklearn_table", DOCS / "make_sklearn_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_the_libraries_are(maker):
    """If this fails after a change: ``python docs/make_sklearn_table.py``, and read what it says."""
    assert maker.FILE.read_text(encoding="utf-8") == maker.table()


def test_what_differs_needs_a_reason_and_a_reason_something_that_differs(maker, monkeypatch):
    for change in ({("SVC", "C"): "no"}, None):
        reasons = {**maker.REASONS, **change} if change else {}
        monkeypatch.setattr(maker, "REASONS", reasons)
        monkeypatch.setattr(maker, "NAMES", ("SVC",))
        with pytest.raises(KeyError, match="explains what does not differ" if change else "without a reason"):
            maker.table()
