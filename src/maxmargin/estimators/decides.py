"""What every machine can be asked for, whatever it is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from maxmargin.core.rows import Array
from maxmargin.estimators.crossfit import FoldMachines


class Decides(ABC):
    """Decision values of new points, by machines with kernels and without."""

    n_features_in_: int

    @abstractmethod
    def _decisions(self, X: Any) -> Array:
        """Of all machines, (points, machines)."""

    def _is_joint(self) -> bool:
        """Whether the fit made one joint machine of several classes, and none has two sides."""
        return False


class DecidesByFold(Decides):
    """And by what it learnt without some rows."""

    @abstractmethod
    def _fold_decisions(self, X: Any, folds: FoldMachines) -> Array:
        """Of the machines without each fold, (folds, points, machines)."""
