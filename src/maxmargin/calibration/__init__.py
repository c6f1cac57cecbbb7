"""Level 3: what scores are worth: probabilities of classes, and sets and intervals with a promised coverage.

Functions of scores that machines gave to rows which they were not trained on; nothing here knows the machines.
"""

from maxmargin.calibration.conformal import interval_bounds, set_members
from maxmargin.calibration.coupling import coupled
from maxmargin.calibration.isotonic import Isotonic, fit_isotonic
from maxmargin.calibration.sigmoid import Sigmoid, fit_sigmoid

__all__ = [
    "Isotonic",
    "Sigmoid",
    "coupled",
    "fit_isotonic",
    "fit_sigmoid",
    "interval_bounds",
    "set_members",
]
