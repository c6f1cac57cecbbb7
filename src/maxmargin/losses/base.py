"""What a loss is, and loops over all rows that work for every loss.

A machine minimises Omega(w) + sum_i c_i l(y_i, z_i) over z = Xw + b. Everything a solver needs of a loss l is a
function of numbers:

    value       l(y, z)
    slope       dl/dz; 0 at a kink that is the minimum, the side of smaller slope at others
    curvature   d2l/dz2, and 0 where it does not exist
    conjugate   c l*(y, -beta / c), with l*(y, s) = max_z s z - l(y, z); infinite outside its domain
    dual_step   argmin_beta conjugate(beta) + z (beta - old) + (beta - old)^2 / (2 sigma)
    step_slope  -d dual_step / dz, between 0 and sigma

beta_i = -c_i l'(z_i) is the signed multiplier of row i: w = sum_i beta_i x_i at the optimum. ``dual_step`` with
sigma = 1 / ||x_i||^2 is the exact step of coordinate descent in the dual; with one sigma for all rows it is the
multiplier update of the augmented Lagrangian z = prox(...): one formula serves both solvers.

A built-in loss is a NamedTuple of its parameters and six registered functions, compiled into the loops below. A user's
loss is any object with the methods of ``CustomLoss``, on arrays: its value and its slope, and what else it has.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np

from maxmargin.core.jit import generic_of_numbers, jit, larger
from maxmargin.core.rows import Array


@runtime_checkable
class CustomLoss(Protocol):
    """A loss that is not built in, as functions of arrays; two are needed, two more are asked for where they exist.

    ``curvature(y, z)`` is d2l/dz2: with it linear machines are solved by Newton's method, without it (a loss with
    kinks) by descent. ``conjugate(y, s)`` is l*(y, s) = max_z s z - l(y, z), infinite where there is no maximum: with
    it a certificate has a dual value, without it strong convexity bounds the gap (``certificates.linear``).
    """

    def value(self, y: Array, z: Array) -> Array:
        """l(y, z), convex in z."""
        ...

    def slope(self, y: Array, z: Array) -> Array:
        """dl/dz, a subgradient at kinks."""
        ...


def sound(loss: Any) -> bool:
    """Whether the parameters of a built-in loss are finite numbers >= 0, or within what the loss declares instead."""
    least, most = getattr(loss, "within", (0.0, math.inf))
    return all(isinstance(size, Real) and math.isfinite(size) and least <= float(size) <= most for size in loss)


@generic_of_numbers
def value(loss, y, z):
    """l(y, z)."""


@generic_of_numbers
def slope(loss, y, z):
    """dl/dz."""


@generic_of_numbers
def curvature(loss, y, z):
    """d2l/dz2."""


@generic_of_numbers
def conjugate(loss, y, c, beta):
    """c l*(y, -beta / c)."""


@generic_of_numbers
def dual_step(loss, y, c, z, old, sigma):
    """argmin_beta conjugate(beta) + z (beta - old) + (beta - old)^2 / (2 sigma)."""


@generic_of_numbers
def step_slope(loss, y, c, z, old, sigma):
    """-d dual_step / dz."""


def compiled(loss: Any) -> bool:
    """Whether the loss is built in."""
    return value.knows(type(loss))


def has_curvature(loss: Any) -> bool:
    """Whether Newton's method applies: a second derivative that is not zero everywhere."""
    return loss.smooth if compiled(loss) else hasattr(loss, "curvature")


NEAR = 1e-6  # a row this near to where its loss becomes flat is not taken to be beyond it


def is_flat(loss: Any, y: Array, z: Array) -> Array:
    """Whether the loss of each row, with labels y, has no slope at its score z or a little before."""
    before = z - NEAR * y
    if compiled(loss):
        slopes, unused = np.empty(len(z)), np.empty(len(z))
        multipliers_of(loss, y, np.ones(len(z)), before, slopes, unused)
        return slopes == 0.0
    return np.asarray(loss.slope(y, before)) == 0.0


def has_conjugate(loss: Any) -> bool:
    """Whether there is a dual problem to compare with."""
    return compiled(loss) or hasattr(loss, "conjugate")


def total(loss: Any, y: Array, c: Array, z: Array) -> float:
    """sum_i c_i l(y_i, z_i)."""
    if compiled(loss):
        return _total(loss, y, c, z)
    return float(c @ loss.value(y, z))


def multipliers(loss: Any, y: Array, c: Array, z: Array, beta: Array, kappa: Array) -> None:
    """beta = -c l'(z) and kappa = c l''(z). Writes: beta, kappa."""
    if compiled(loss):
        multipliers_of(loss, y, c, z, beta, kappa)
        return
    np.multiply(-c, loss.slope(y, z), out=beta)
    if hasattr(loss, "curvature"):
        np.multiply(c, loss.curvature(y, z), out=kappa)
    else:
        kappa[:] = 0.0


def fenchel_young(loss: Any, y: Array, c: Array, z: Array, beta: Array) -> tuple[float, float, float, float]:
    """sum c l(z), sum conjugate(beta), the sum of c l(z) + conjugate(beta) + beta z >= 0, and its largest term / c.

    A term is zero exactly where beta_i is a multiplier of z_i: these are the rows' shares of the duality gap.
    """
    if compiled(loss):
        return fenchel_young_of(loss, y, c, z, beta)
    losses, conjugates = c * loss.value(y, z), c * loss.conjugate(y, -beta / c)
    terms = np.maximum(losses + conjugates + beta * z, 0.0)
    return float(losses.sum()), float(conjugates.sum()), float(terms.sum()), float((terms / c).max(initial=0.0))


def largest_terms(loss: Any, y: Array, c: Array, z: Array, beta: Array, error: Array) -> float:
    """The largest that the sum of the terms of ``fenchel_young`` can be with z_i off by error_i.

    A term is convex in z, so over an interval it is largest at an end.
    """
    if compiled(loss):
        return _largest_terms(loss, y, c, z, beta, error)
    conjugates = c * loss.conjugate(y, -beta / c)
    ends = [c * loss.value(y, end) + conjugates + beta * end for end in (z - error, z + error)]
    return float(np.maximum(np.maximum(*ends), 0.0).sum())


@jit()
def _total(loss, y, c, z):
    total = 0.0
    for i in range(len(z)):
        total += c[i] * value(loss, y[i], z[i])
    return total


@jit()
def multipliers_of(loss, y, c, z, beta, kappa):
    """``multipliers`` of a built-in loss. Writes: beta, kappa."""
    for i in range(len(z)):
        beta[i] = -c[i] * slope(loss, y[i], z[i])
        kappa[i] = c[i] * curvature(loss, y[i], z[i])


@jit()
def smoothed_multipliers(loss, y, c, z, h, beta):
    """-c times the mean slope between z - h and z + h: multipliers that change gradually at kinks. Writes: beta."""
    for i in range(len(z)):
        beta[i] = c[i] * (value(loss, y[i], z[i] - h) - value(loss, y[i], z[i] + h)) / (2.0 * h)


@jit()
def dual_steps(loss, y, c, z, old, sigma, beta, kappa):
    """The multiplier update of the augmented Lagrangian with penalties sigma c_i, and its slope. Writes: beta, kappa.

    In proportion to its cost: a row of cost 2 then takes the steps of two rows.
    """
    for i in range(len(z)):
        beta[i] = dual_step(loss, y[i], c[i], z[i], old[i], sigma * c[i])
        kappa[i] = step_slope(loss, y[i], c[i], z[i], old[i], sigma * c[i])


@jit()
def fenchel_young_of(loss, y, c, z, beta):
    """``fenchel_young`` of a built-in loss."""
    losses, conjugates, terms, worst = 0.0, 0.0, 0.0, 0.0
    for i in range(len(z)):
        here, dual = c[i] * value(loss, y[i], z[i]), conjugate(loss, y[i], c[i], beta[i])
        term = larger(here + dual + beta[i] * z[i], 0.0)
        losses += here
        conjugates += dual
        terms += term
        worst = larger(worst, term / c[i])
    return losses, conjugates, terms, worst


@jit()
def _largest_terms(loss, y, c, z, beta, error):
    total = 0.0
    for i in range(len(z)):
        dual, low, high = conjugate(loss, y[i], c[i], beta[i]), z[i] - error[i], z[i] + error[i]
        below = c[i] * value(loss, y[i], low) + dual + beta[i] * low
        above = c[i] * value(loss, y[i], high) + dual + beta[i] * high
        total += max(below, above, 0.0)
    return total


def on_arrays(cls: type) -> type:
    """Give a built-in loss the methods of ``CustomLoss``, so that all losses can be used in the same way."""

    def method(function: Any) -> Any:
        def apply(self: Any, y: Any, *rest: Any) -> Any:
            scalars = np.vectorize(lambda *numbers: function(self, *numbers), otypes=[np.float64])
            return scalars(y, *rest)

        apply.__doc__ = function.__doc__
        return apply

    made: Any = cls
    made.value, made.slope, made.curvature = method(value), method(slope), method(curvature)
    made.conjugate = lambda self, y, s: method(conjugate)(self, y, 1.0, -np.asarray(s, np.float64))
    made.conjugate.__doc__ = "l*(y, s) = max_z s z - l(y, z), infinite where there is no maximum."
    return cls


INFINITE = math.inf
