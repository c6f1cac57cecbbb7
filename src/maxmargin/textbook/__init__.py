"""The algorithms of five lecture notes, line for line: what students read and what the tests trust.

One file per algorithm, NumPy only, in the symbols and conventions of its own note (the numbers in comments are the line
numbers of the note's pseudo-code). Nothing here imports the rest of the library. Every algorithm returns its answer and
a history: a list of dicts, one per iteration.

X is n x p, y has n labels -1 or +1 (of many classes: 0 to K-1), and K is the n x n kernel matrix, but in dual_ascent a
function, as in algorithm 23.1. The weight of the slack is C, in soft_margin c, the note's letter. Lists do as well.

The folders group the files by theme; every file is reached from here, as ``textbook.smo``.

descent
    gradient_descent      000  algorithms 1 and 2: descent with a halving line search; corrected subgradient descent
    hinge_regularized_gd  001  algorithm 24
    sgd                   002  stochastic gradient descent in seasons, hinge and logistic loss
    newton                002  Newton's method on the squared hinge and the logistic loss
programs
    interior_point        004  a quadratic program from a start that violates its constraints
    hard_margin           003  the quadratic program in primal and dual
    soft_margin           003  the same with slack to the power 1 or 2; the KKT conditions
multipliers
    dual_ascent           004  algorithm 23.1: dual stochastic gradient ascent
    smo                   004  two multipliers at a time (Platt)
    decomposition         004  q multipliers at a time (Joachims)
classes
    multiclass            000, 004  both joint losses, L_i_vectorized, descent on both objectives
    reductions            002  one versus one, one versus all, one machine per bit
    naive_bayes           003  estimates by counting, the posterior as a softmax
geometry
    margins               001  the margin by algebra; slack is hinge loss; distances (002, 003)
    perceptron            004  a boundary that is not large-margin
    kernels               004  linear, polynomial, Gaussian, tanh; explicit maps; angles and distances in feature space
inputs                         what all of them check first
"""

from maxmargin.textbook import inputs
from maxmargin.textbook.classes import multiclass, naive_bayes, reductions
from maxmargin.textbook.descent import gradient_descent, hinge_regularized_gd, newton, sgd
from maxmargin.textbook.geometry import kernels, margins, perceptron
from maxmargin.textbook.multipliers import decomposition, dual_ascent, smo
from maxmargin.textbook.programs import hard_margin, interior_point, soft_margin

__all__ = [
    "decomposition",
    "dual_ascent",
    "gradient_descent",
    "hard_margin",
    "hinge_regularized_gd",
    "inputs",
    "interior_point",
    "kernels",
    "margins",
    "multiclass",
    "naive_bayes",
    "newton",
    "perceptron",
    "reductions",
    "sgd",
    "smo",
    "soft_margin",
]
