"""Level 6: paths over the parameters of machines."""

from maxmargin.selection.least_cost import l1_min_c
from maxmargin.selection.path import Path, regularization_path

__all__ = ["Path", "l1_min_c", "regularization_path"]
