"""Level 1: similarities. One class per kernel; they add, multiply, scale and normalise."""

import importlib
from typing import Any

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.functions import GramFunction, PairFunction, Precomputed
from maxmargin.kernels.mercer import MercerReport, TanhRegion, mercer, tanh_region
from maxmargin.kernels.vectors import RBF, Laplacian, Linear, Polynomial, Sigmoid

__all__ = [
    "RBF",
    "GramFunction",
    "Kernel",
    "Laplacian",
    "Linear",
    "MercerReport",
    "PairFunction",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "TanhRegion",
    "mercer",
    "tanh_region",
]


def __getattr__(name: str) -> Any:
    """README imports ``Gram`` from here, and it lives a level higher: it is looked up when asked for."""
    if name == "Gram":
        return importlib.import_module("maxmargin.gram").Gram
    raise AttributeError(f"module 'maxmargin.kernels' has no attribute {name!r}")
