"""Level 2: proofs of optimality and what can be read off a solution, as functions of problem and point alone."""

from maxmargin.certificates import box as box  # importing a family registers its proofs
from maxmargin.certificates import joint as joint
from maxmargin.certificates import kernel as kernel
from maxmargin.certificates import linear as linear
from maxmargin.certificates.kkt import standing
from maxmargin.certificates.margins import Margins, distances, margins
from maxmargin.certificates.proof import certify, prove
from maxmargin.certificates.separation import hull_distance, separates
from maxmargin.problems.feasible import feasible_point

__all__ = [
    "Margins",
    "certify",
    "distances",
    "feasible_point",
    "hull_distance",
    "margins",
    "prove",
    "separates",
    "standing",
]
