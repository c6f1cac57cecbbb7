"""Sizes that several rooms go by; those of one room stand beside its loops, with the measurement that chose them."""

from __future__ import annotations

# Up to here a problem is solved to the end, whatever tol says: kernel values are float64, equal rows are merged, and a
# solver goes on until rounding is all that moves. So a weight of 2 equals two rows to the digits that are compared.
SMALL_ROWS = 1000
