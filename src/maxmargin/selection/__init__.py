"""Level 5: paths and searches over the parameters of machines."""

from maxmargin.selection.path import Path, regularization_path

__all__ = ["Path", "regularization_path"]
