"""From rows to components: the coordinates of phi(x) - mean along the eigenvectors in feature space."""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.decomposition.spectrum import Eigenpairs
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.kernels.vectors import FLOAT32_UNIT
from maxmargin.machines.scoring import Expansion, Scorer, linear_decisions, scorer_of

# Float32 kernel values serve where their relative error stays below a tenth of this, and where rounding moves the
# coordinate along every component by less than that share of it.
ACCURACY = 1e-3

_READY: WeakKeyDictionary[Any, Scorer] = WeakKeyDictionary()  # by estimator, from one call to the next


class Projection(NamedTuple):
    """y_c = sum_i coef_ci k(x_i, x) + constant_c, or w_c'x + constant_c where there are ``weights``."""

    kernel: Kernel
    vectors: Any  # the training rows, or their positions where X holds kernel values
    coef: Array
    weights: Array | None
    constants: Array
    centred: bool
    float32: bool

    def of(self, X: Any, owner: Any, n_jobs: int) -> Array:
        """Components of rows; what is prepared for them is kept for ``owner``."""
        if self.weights is not None:
            return linear_decisions(X, self.weights, self.constants)
        machine, known = (
            Expansion(self.kernel, self.vectors, None, self.coef, ACCURACY, self.float32),
            _READY.get(owner),
        )
        if known is None or not known.serves(machine):
            _READY[owner] = known = scorer_of(machine)
        return known.decisions(X, self.constants, n_jobs)


def projection(kernel: Kernel, X: Any, pairs: Eigenpairs, center: bool) -> Projection:
    """Component c is v = sum_i coef_i phi(x_i) with coef = u / sqrt(lambda), zero where lambda is.

    u has mean zero, so of k(x, .) about the means of its rows and columns only the constant -coef'(row means) is left.
    """
    n, values, U = X.shape[0], pairs.values, pairs.vectors
    scale = np.sqrt(np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0))
    coef = np.ascontiguousarray(((U - U.mean(axis=0) if center else U) * scale).T)
    weights, means = None, pairs.row_means
    if isinstance(kernel, Linear):
        weights = np.asarray(X.T @ coef.T, np.float64).T
        means = np.asarray(X.mean(axis=0), np.float64).ravel()
    elif isinstance(kernel, Precomputed):
        weights = coef
    constants = -(coef if weights is None else weights) @ means if center else np.zeros(len(values))
    # Rounding by u of n kernel values moves a coordinate by about u sqrt(n) / lambda of it.
    least = FLOAT32_UNIT * math.sqrt(n) * pairs.size / (0.1 * ACCURACY)
    float32 = pairs.float32 and bool(values[values > 0].min(initial=math.inf) >= least)
    return Projection(kernel, np.arange(n) if kernel.of_positions else X, coef, weights, constants, center, float32)
