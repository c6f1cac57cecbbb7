"""What a probability is fitted to: not 0 and 1 but a little less certain (Platt 2000)."""

from __future__ import annotations

import numpy as np

from maxmargin.core.rows import Array


def regularised_targets(positive: Array, weights: Array) -> Array:
    """(N+ + 1) / (N+ + 2) for positive rows and 1 / (N- + 2) for the others: N+ and N- count the rows by their weights.

    These are the means of a uniform prior after what was seen, so no probability is fitted to exactly 0 or 1.
    """
    above = float(weights[positive].sum())
    below = float(weights.sum()) - above
    return np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
