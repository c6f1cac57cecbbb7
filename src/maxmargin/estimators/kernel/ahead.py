"""Machine code that fits of more than a thousand rows need, loaded with this package.

A library that is compiled ahead of time is loaded when it is imported, and so is what an earlier process has left on
disk of ours: 1.2 ms a loop, which a first fit would otherwise take longer by. What is not on disk is compiled when it
is needed. The types are those of float32 kernel values, which nearly all fits of that size have.
"""

from __future__ import annotations

import numpy as np

from maxmargin.certificates.box import unsettled, values_of
from maxmargin.certificates.kkt import extremes, gradient
from maxmargin.core.blas import find_libraries
from maxmargin.core.equal_rows import hash_rows, number_groups
from maxmargin.core.jit import load_ahead
from maxmargin.core.rows import CsrRows, DenseRows, read_only, row_squares
from maxmargin.core.sparsity import add_entries, count_others, store_others, turn_and_add
from maxmargin.gram.tiles import add_rows, gather, place_both, scatter
from maxmargin.kernels.vectors import gaussian32
from maxmargin.losses.box import Box
from maxmargin.problems.feasible import clipped
from maxmargin.solvers.box.steps import WHOLE, Block, Groups, pair_steps
from maxmargin.solvers.small.box import Goal
from maxmargin.solvers.small.pairs import Classes, Sides
from maxmargin.solvers.small.rough import Rough, doubtful, judge, solve_all, solve_pair


def load_loops() -> None:
    """Load them, each for arguments like those that fits call it with."""
    find_libraries()
    K, some, x, places = np.ones((1, 1), np.float32), np.ones(1, np.float32), np.ones(1), np.zeros(1, np.int64)
    box, columns = Box(x, x, x, x, x), places.astype(np.int32)
    block = Block(K, x, x, x, x, x, WHOLE)
    sparse = read_only(CsrRows(some, columns, columns, 1))
    bits, hashes = read_only(DenseRows(K.view(np.uint32))), places.astype(np.uint64)
    # What is read first.
    load_ahead(hash_rows, bits, hashes, hashes)
    load_ahead(number_groups, bits, hashes, places, columns, places, places)
    load_ahead(count_others, K, places, some, places)
    load_ahead(store_others, K, places, some, places, columns, some)
    load_ahead(row_squares, read_only(DenseRows(K)), x)
    # Kernel values.
    load_ahead(turn_and_add, sparse, sparse, K, K)
    load_ahead(gaussian32, K, some, some, np.float32(1.0))
    load_ahead(place_both, K, K, 0, 0)
    load_ahead(gather, K, places, places, K, 0, 0)
    load_ahead(scatter, K, K, places, 0)
    load_ahead(add_rows, K, places, x, x, 0, 0)
    # All rows at once, pairs of classes, and working sets.
    load_ahead(solve_all, K, x, box, x, 1.0)
    load_ahead(solve_pair, (K, K), K, some, (0, 1), Classes(places, x, Sides(box, box), places, places), 1.0)
    load_ahead(doubtful, box, x, x, x)
    load_ahead(judge, Rough(box, x, x, x, 1, 1.0, 1.0), x, 1.0, 1.0, Goal(1.0, 1.0, 1.0, 1.0))
    load_ahead(pair_steps, block, Groups(places, np.zeros(1, bool)), some, x, 1.0, 1)
    # Proofs, and predictions.
    load_ahead(gradient, box, x, x)
    load_ahead(extremes, x, x, box)
    load_ahead(clipped, x, x, x)
    load_ahead(unsettled, x, x, x, box)
    load_ahead(values_of, box, x, x, x, x)
    load_ahead(add_entries, sparse, K, K)
