"""Level 2: kernel matrices within a memory budget."""

from maxmargin.gram.matrix import Gram
from maxmargin.gram.outline import Outline
from maxmargin.gram.view import View

__all__ = ["Gram", "Outline", "View"]
