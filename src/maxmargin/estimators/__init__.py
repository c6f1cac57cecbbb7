"""Level 5: the scikit-learn contract. Parameters in, a plan of problems out, solutions stored as attributes."""

from maxmargin.estimators.linear_svc import LinearSVC
from maxmargin.estimators.linear_svr import LinearSVR
from maxmargin.estimators.sgd_svc import SGDSVC
from maxmargin.estimators.sgd_svr import SGDSVR
from maxmargin.estimators.svc import SVC

__all__ = ["SGDSVC", "SGDSVR", "SVC", "LinearSVC", "LinearSVR"]
