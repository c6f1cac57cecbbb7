"""Machine code that linear fits of more than a thousand rows need, loaded with this package (see ``kernel.ahead``).

Rows are float32 or float64, dense or CSR, as they are given; losses are the hinge and its square.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.blas import find_libraries
from maxmargin.core.equal_rows import hash_rows, number_groups
from maxmargin.core.jit import load_ahead
from maxmargin.core.rows import CsrRows, DenseRows, Rows, read_only, row_squares
from maxmargin.core.vectors import nonzeros
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.losses import base as losses
from maxmargin.problems import passes
from maxmargin.solvers.linear import coordinate

x, places = np.ones(1), np.zeros(1, np.int64)


def load_loops() -> None:
    """Load them, each for arguments like those that fits call it with."""
    find_libraries()
    load_ahead(nonzeros, x)
    columns, hashes = places.astype(np.int32), places.astype(np.uint64)
    for dtype in (np.float32, np.float64):
        some = np.ones(1, dtype)
        for rows in (DenseRows(np.ones((1, 1), dtype)), CsrRows(some, columns, columns, 1)):
            _load_passes(read_only(rows))
        bits = some.view(f"u{some.itemsize}")
        for rows in (DenseRows(bits[None]), CsrRows(bits, columns, columns, 1)):
            load_ahead(hash_rows, read_only(rows), hashes, hashes)
            load_ahead(number_groups, read_only(rows), hashes, places, columns, places, places)
    _load_loss(Hinge())
    _load_loss(SquaredHinge())
    load_ahead(losses.dual_steps, Hinge(), x, x, x, x, 1.0, x, x)
    load_ahead(losses.smoothed_multipliers, Hinge(), x, x, x, 1.0, x)


def _load_passes(rows: Rows) -> None:
    load_ahead(passes.scores, rows, 0, 1, x, 1.0, x)
    load_ahead(passes.scores_and_sizes, rows, 0, 1, x, 1.0, x, x)
    load_ahead(passes.combine, rows, 0, 1, x, x)
    load_ahead(row_squares, rows, x)
    load_ahead(passes.column_squares, rows, places, x, x)
    gram = passes.outer_gram if isinstance(rows, CsrRows) else passes.scaled_rows
    load_ahead(gram, rows, places, x, 1.0, np.ones((1, 1)))
    for loss in (Hinge(), SquaredHinge()) if isinstance(rows, CsrRows) else (Hinge(),):
        room, terms = coordinate.Room(1.0, 1.0, 1.0, 1.0), coordinate.Terms(rows, x, x, x, loss)
        load_ahead(coordinate._visit, terms, places, 1, room, 1.0, x, x, np.ones(1, np.uint64))


def _load_loss(loss: Any) -> None:
    load_ahead(losses.multipliers_of, loss, x, x, x, x, x)
    load_ahead(losses._total, loss, x, x, x)
    load_ahead(losses.fenchel_young_of, loss, x, x, x, x)
    load_ahead(losses._largest_terms, loss, x, x, x, x, x)
