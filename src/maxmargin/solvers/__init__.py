"""Level 2: solvers know problems, never estimators. ``solve`` is the one loop that drives them."""

from maxmargin.solvers.drive import solve
from maxmargin.solvers.dual.smo import SMO

__all__ = ["SMO", "solve"]
