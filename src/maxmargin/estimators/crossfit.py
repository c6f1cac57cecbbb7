"""Machines that were trained without a fold, kept with a model to say how sure its predictions are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.calibration.conformal import Ranked, ranked
from maxmargin.core.rows import Array
from maxmargin.estimators.plans.folds import Folds
from maxmargin.estimators.plans.kernel import Rows, support_of
from maxmargin.machines import Fitted, Machine
from maxmargin.machines.scoring import linear_decisions
from maxmargin.problems.solution import Certificate


class FoldMachines(NamedTuple):
    """Decision functions of all folds: the expansion of each, or its weights where there is no kernel or a linear one.

    ``coef`` has the coefficients of one fold below those of another, all over the same ``vectors`` (``support`` among
    the training rows; ``counts`` of each class where pairs of classes share them). ``biases`` is (folds, machines),
    ``weights`` (folds, machines, features) or None.
    """

    biases: Array
    weights: Array | None
    support: Any = None
    vectors: Any = None
    counts: Any = None
    coef: Any = None


class CrossFit(NamedTuple):
    """Of every fold its machines, their certificates, and how badly they fit the rows of the fold, in order."""

    machines: FoldMachines
    certificates: list[list[Certificate]]
    misfits: list[Ranked]


def cross_fit(fitted: Fitted, machines: FoldMachines, folds: Folds, misfits: Array, weights: Array) -> CrossFit:
    """``misfits`` and ``weights`` are those of all rows; rows without a misfit (NaN) were left out by no machine."""
    known = ~np.isnan(misfits)
    chosen = [np.flatnonzero(known & (folds.of_rows == k)) for k in range(folds.number)]
    return CrossFit(
        machines,
        [[crossed[k].solution.certificate for crossed in fitted.crossed if crossed] for k in range(folds.number)],
        [ranked(misfits[rows], weights[rows]) for rows in chosen],
    )


def machines_of(fitted: Fitted, k: int) -> list[Machine]:
    """The machines without fold k, of all jobs; those of jobs that were never begun are the same for all folds."""
    jobs = zip(fitted.machines, fitted.crossed, strict=True)
    return [of_job[k].machine if of_job else whole for whole, of_job in jobs]


def fold_decisions(X: Any, folds: FoldMachines) -> Array:
    """w'x + b of the machines without each fold, (folds, points, machines)."""
    assert folds.weights is not None
    each = zip(folds.weights, folds.biases, strict=True)
    return np.stack([linear_decisions(X, weights, biases) for weights, biases in each])


def linear_folds(fitted: Fitted, count: int) -> FoldMachines:
    """Weights and biases of all folds."""
    each = [machines_of(fitted, k) for k in range(count)]
    return FoldMachines(
        biases=np.stack([np.concatenate([machine.biases for machine in some]) for some in each]),
        weights=np.stack([np.vstack([machine.weights for machine in some]) for some in each]),
    )


def kernel_folds(
    fitted: Fitted, count: int, rows: Rows, coefficients: Callable[[list[Machine]], Array], classes: int = 0
) -> FoldMachines:
    """Expansions of all folds over the union of their support vectors.

    ``coefficients`` lays those of several machines out over the rows; with ``classes`` vectors are sorted by class.
    """
    if fitted.machines[0].weights is not None:
        return linear_folds(fitted, count)
    each = [machines_of(fitted, k) for k in range(count)]
    found = support_of(rows, np.vstack([coefficients(some) for some in each]), classes)
    return FoldMachines(
        biases=np.stack([np.concatenate([machine.biases for machine in some]) for some in each]),
        weights=None,
        support=found.support,
        vectors=found.vectors,
        counts=found.counts if classes else None,
        coef=found.coef,
    )
