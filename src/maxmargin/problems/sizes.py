"""From which sizes on things are done differently, with the measurements behind it: one place for all of them."""

from __future__ import annotations

# Up to here a problem is solved to the end, whatever tol says: kernel values are float64, equal rows are merged, and a
# solver goes on until rounding is all that moves. So a weight of 2 equals two rows to the digits that are compared.
SMALL_ROWS = 1000
