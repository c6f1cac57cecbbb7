"""The hyperplanes of a classifier: margins, distances, slacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin import checks
from maxmargin.certificates import distances
from maxmargin.core.rows import Array
from maxmargin.estimators.decides import Decides
from maxmargin.estimators.plans.reductions import JOINT
from maxmargin.multiclass import Reduction


class Hyperplanes(Decides):
    """What a classifier with ``margin_``, 1 / ||w|| of every machine, knows of its hyperplanes f(x) = w'phi(x) + b."""

    classes_: Array
    reduction_: Reduction
    margin_: float | Array
    _fitted_as: str = ""  # the multi_class of the last fit

    def _is_joint(self) -> bool:
        return self._fitted_as in JOINT and len(self.classes_) > 2

    def distance(self, X: Any) -> Array:
        """Distance of points to the hyperplane, |w'phi(x) + b| / ||w||; a column per machine."""
        decisions = self._decisions(X)
        if self._is_joint():
            raise ValueError(
                f"{type(self).__name__}: a joint machine has no hyperplane per class, only boundaries between two; use "
                "decision_function."
            )
        return distances(decisions.ravel() if len(self.classes_) == 2 else decisions, 1.0 / np.asarray(self.margin_))

    def slacks(self, X: Any, y: Any) -> Array:
        """By how much rows miss the margin of their side, xi = max(0, 1 - y f(x)).

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels, all of them among ``classes_``.

        Returns
        -------
        ndarray
            Of shape (n_samples,) for two classes; else a column for each machine, NaN for rows of a class that it was
            not trained on. Of a joint machine of several classes a column for each class m, what its score lacks to be
            1 below that of the row's own, max(0, 1 + s_m - s_y); its loss is their maximum or their sum.
        """
        decisions = self._decisions(X)
        labels = checks.known_labels(y, self.classes_, len(decisions))
        if self._is_joint():
            return _behind(decisions, labels)
        columns = np.full(decisions.shape, np.nan)
        for k, task in enumerate(self.reduction_.tasks(labels)):
            rows = slice(None) if task.rows is None else task.rows
            columns[rows, k] = np.maximum(0.0, 1.0 - task.signs * decisions[rows, k])
        return columns[:, 0] if len(self.classes_) == 2 else columns


def margins_of(weights: Array, joint: bool) -> float | Array:
    """1 / ||w|| of each row of weights, of a joint machine of several classes of all together; infinite where w = 0."""
    norms = np.linalg.norm(weights, axis=1)
    if joint and len(norms) > 1:
        norms = np.array([np.linalg.norm(norms)])
    margins = np.divide(1.0, norms, out=np.full(len(norms), np.inf), where=norms > 0)
    return float(margins[0]) if len(margins) == 1 else margins


def _behind(scores: Array, labels: Array) -> Array:
    """max(0, 1 + s_m - s_y) for every class m, and 0 for the row's own."""
    rows = np.arange(len(labels))
    lacking = np.maximum(0.0, 1.0 + scores - scores[rows, labels][:, None])
    lacking[rows, labels] = 0.0
    return lacking
