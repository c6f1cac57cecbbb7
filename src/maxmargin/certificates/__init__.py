"""Level 1: proofs of optimality and what can be read off a solution, as functions of problem and point alone."""

from maxmargin.certificates import joint as joint  # importing a family registers its proofs
from maxmargin.certificates import linear as linear
from maxmargin.certificates.box import feasible_point
from maxmargin.certificates.kkt import bias_and_violation
from maxmargin.certificates.margins import Margins, distances, margins
from maxmargin.certificates.proof import certify, prove
from maxmargin.certificates.separation import hull_distance, separates

__all__ = [
    "Margins",
    "bias_and_violation",
    "certify",
    "distances",
    "feasible_point",
    "hull_distance",
    "margins",
    "prove",
    "separates",
]
