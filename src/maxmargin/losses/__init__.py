"""Level 1: losses. One function of a label and a score each, with its slope, curvature, conjugate and dual step."""

from maxmargin.losses.base import CustomLoss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
from maxmargin.losses.hinge import Hinge
from maxmargin.losses.huber import Huber
from maxmargin.losses.huber_hinge import HuberHinge
from maxmargin.losses.logistic import Logistic
from maxmargin.losses.power_hinge import PowerHinge
from maxmargin.losses.squared_hinge import SquaredHinge

__all__ = [
    "CustomLoss",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "HuberHinge",
    "Logistic",
    "PowerHinge",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
]
