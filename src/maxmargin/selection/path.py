"""The machines of a sequence of C, each started from the one before and each with its certificate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.core.rows import Array
from maxmargin.estimators.linear.linear_svc import LinearSVC
from maxmargin.problems.solution import Certificate, Status


class Path(NamedTuple):
    """One entry per C, in the order in which the Cs were given.

    ``coef`` has the shape (n_Cs, n_machines, n_features), ``intercept`` (n_Cs, n_machines).
    """

    Cs: Array
    coef: Array
    intercept: Array
    certificates: list[Certificate]
    statuses: list[Status]
    solvers: list[str]

    @property
    def n_nonzero(self) -> Array:
        """Number of features with a weight in any machine, for every C."""
        return np.count_nonzero(np.any(self.coef != 0, axis=1), axis=1)

    @property
    def relative_gaps(self) -> Array:
        """The certified gap at every C."""
        return np.array([proof.relative_gap for proof in self.certificates])


def regularization_path(
    X: Any, y: Any, Cs: Any, *, estimator: Any = None, sample_weight: Any = None, **parameters: Any
) -> Path:
    """Fit a linear machine at every C, from the smallest to the largest, each from the solution before.

    Parameters
    ----------
    X, y
        Training data, as in ``LinearSVC.fit``.
    Cs : array-like of numbers > 0
        The costs.
    estimator : LinearSVC or LinearSVR, default=None
        The machine; None is ``LinearSVC(**parameters)``. It is cloned, not changed.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    **parameters
        Parameters of the machine, such as ``loss``, ``penalty`` or ``tol``.

    Returns
    -------
    Path
        Weights, biases, certificates, statuses and solvers, in the order of ``Cs``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from maxmargin import regularization_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = regularization_path(X / X.std(axis=0), y, np.logspace(-3, 1, 5), penalty="l1")
    >>> bool((path.relative_gaps <= 1e-4).all())
    True
    """
    Cs = np.atleast_1d(np.asarray(Cs, np.float64))
    if Cs.ndim != 1 or not len(Cs) or not np.all((Cs > 0) & np.isfinite(Cs)):
        raise ValueError("Cs must be a list of finite numbers > 0.")
    machine: Any = clone(estimator if estimator is not None else LinearSVC())
    machine.set_params(**parameters)
    if machine.lam is not None:
        raise ValueError("regularization_path goes through values of C: leave lam at None.")
    machine.set_params(warm_start=True)
    found: list[Any] = [None] * len(Cs)
    for at in np.argsort(Cs, kind="stable"):
        machine.set_params(C=float(Cs[at])).fit(X, y, sample_weight=sample_weight)
        found[at] = (
            np.atleast_2d(machine.coef_).copy(),
            machine.intercept_.copy(),
            machine.certificate_,
            machine.status_,
            machine.solver_,
        )
    coef, intercept, certificates, statuses, solvers = zip(*found, strict=True)
    return Path(Cs, np.stack(coef), np.stack(intercept), list(certificates), list(statuses), list(solvers))
