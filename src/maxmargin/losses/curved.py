"""Conjugates that are no quadratics: what a kernel machine needs of a loss without a box.

Two more functions of numbers, the derivatives of ``conjugate``:

    dual_slope      d conjugate / d beta, minus the score that has the multiplier beta; infinite beyond the domain
    dual_curvature  d2 conjugate / d beta2 within the domain

and a method ``bound(c)`` of the loss, the largest |beta|. A kernel machine puts in place of each conjugate a quadratic
with the same slope, which has a box, and solves a sequence of such problems (``solvers.box.sequential``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.jit import generic_of_numbers, jit
from maxmargin.core.rows import Array
from maxmargin.losses.base import dual_step, slope, sound
from maxmargin.losses.box import has_box

# Of the largest multiplier: what multipliers are known to where slopes are infinite at the ends of the domain. Less
# changes no score beyond rounding, but a row may ask for less: one with a logistic loss of 40 has 1 - alpha / c equal
# to 4e-18, which no number alpha has.
KNOWN = 2e-13
STIFF = 1e30  # the largest curvature of a model: float32 takes it, and its row does not move
NEAR = 1e-3  # of a multiplier: a step below that is well described by the curvature where it begins


@generic_of_numbers
def dual_slope(loss, y, c, beta):
    """The derivative of the conjugate."""


@generic_of_numbers
def dual_curvature(loss, y, c, beta):
    """Its second derivative."""


def is_curved(loss: Any, of_labels: bool) -> bool:
    """Whether a kernel machine solves ``loss`` by a sequence of quadratic models."""
    return dual_slope.knows(type(loss)) and loss.one_sided is of_labels and sound(loss)


def is_loss_of_kernels(loss: Any, of_labels: bool) -> bool:
    """Whether a kernel machine takes ``loss``: piecewise quadratic, or with a curved conjugate."""
    return has_box(loss, of_labels) or is_curved(loss, of_labels)


def usual_multiplier(loss: Any, c: Array) -> Array:
    """|beta| of rows whose score is zero."""
    return abs(slope(loss, 1.0, 0.0)) * c


class Terms(NamedTuple):
    """Of each row its target, its cost, which is not zero, and K_ii."""

    y: Array
    c: Array
    diagonal: Array


def dual_slopes(loss: Any, terms: Terms, f: Array, bias: float, beta: Array) -> Array:
    """The slope -conjugate'(beta_i) - f_i of the dual objective in each multiplier.

    Where slopes are infinite at the ends of the domain, beta_i counts as known to within rounding, and so its slope to
    within an interval: the point of that which is next to the bias, so that no row asks for a change that numbers do
    not have. At beta_i = 0 it is the slope inwards.
    """
    out = np.empty(len(f))
    _dual_slopes(loss, terms, f, bias, beta, 0.0 if loss.bounded_rows else KNOWN, out)
    return out


@jit()
def _dual_slopes(loss, terms, f, bias, beta, known, out):
    """Writes: out."""
    largest = 0.0
    for i in range(len(f)):
        largest = max(largest, abs(beta[i]))
    room = known * largest
    for i in range(len(f)):
        y, c, here = terms.y[i], terms.c[i], beta[i]
        low, high = -dual_slope(loss, y, c, here + room) - f[i], -dual_slope(loss, y, c, here - room) - f[i]
        out[i] = min(max(bias, low), high)
        if here == 0.0 and (high == np.inf or low == -np.inf):
            out[i] = low if high == np.inf else high


@jit()
def quadratics(loss, terms, z, beta, ridge, reach):
    """A curvature for the conjugate of each row, and how far its multiplier may go. Writes: ridge, reach.

    A row's own best step ends at ``aim``. The secant from beta_i to there says more of the way than the curvature at
    its beginning, which may be next to nothing (far from a wall) or huge (close to zero, for the logistic loss). A row
    that rests takes the secant to the usual multiplier. ``reach`` gets the aims.
    """
    for i in range(len(z)):
        y, c, here = terms.y[i], terms.c[i], beta[i]
        aim = dual_step(loss, y, c, z[i], here, 1.0 / max(terms.diagonal[i], 1e-300))
        reach[i] = aim
        usual = -c * slope(loss, y, 0.0)
        aim = usual if aim == 0.0 and here == 0.0 else aim
        change, way = dual_slope(loss, y, c, aim) - dual_slope(loss, y, c, here), aim - here
        near = abs(way) <= NEAR * abs(here) or change == 0.0
        ridge[i] = min(dual_curvature(loss, y, c, here) if near else change / way, STIFF)


@jit()
def slope_along(loss, terms, beta, direction, length):
    """sum_i direction_i conjugate'(beta_i + length direction_i)."""
    total = 0.0
    for i in range(len(beta)):
        if direction[i] != 0.0:
            here = dual_slope(loss, terms.y[i], terms.c[i], beta[i] + length * direction[i])
            total += direction[i] * here
    return total
