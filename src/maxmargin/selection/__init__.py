"""Level 6: paths over the parameters of machines."""

from maxmargin.selection.path import Path, regularization_path

__all__ = ["Path", "regularization_path"]
