"""Level 1: similarities. One class per kernel; they add, multiply, scale and normalise."""

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
