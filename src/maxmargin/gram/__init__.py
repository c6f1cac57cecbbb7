"""Level 2: kernel matrices within a memory budget."""

from maxmargin.gram.matrix import Gram

__all__ = ["Gram"]
