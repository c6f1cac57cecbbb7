"""Level 7: the lecture notes' demonstrations, computed, drawn and checked here, shown by documents and command line.

page         what a demonstration returns, the list of all of them, pages as Markdown
drawing      points, lines and regions, drawn the same everywhere
data         what the demonstrations compute with
note_000 ... note_004, convergence, errata
             a page each: a title, a text, and DEMONSTRATIONS in the order of the page. A folder has one file per theme;
             every function there that returns ``Shown`` is a demonstration
"""

from maxmargin.lectures.page import Demonstration as Demonstration
from maxmargin.lectures.page import Shown as Shown
from maxmargin.lectures.page import Table as Table
from maxmargin.lectures.page import demonstrations as demonstrations
from maxmargin.lectures.page import pages as pages

__all__ = ["Demonstration", "Shown", "Table", "demonstrations", "pages"]
