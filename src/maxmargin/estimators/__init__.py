"""Level 4: the scikit-learn contract. Parameters in, problem out, solution stored."""

from maxmargin.estimators.svc import SVC

__all__ = ["SVC"]
