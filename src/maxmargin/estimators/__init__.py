"""Level 5: the scikit-learn contract. Parameters in, a plan of problems out, solutions stored as attributes."""

from maxmargin.estimators.kernel.svc import SVC
from maxmargin.estimators.linear.linear_svc import LinearSVC
from maxmargin.estimators.linear.linear_svr import LinearSVR
from maxmargin.estimators.linear.sgd_svc import SGDSVC
from maxmargin.estimators.linear.sgd_svr import SGDSVR

__all__ = ["SGDSVC", "SGDSVR", "SVC", "LinearSVC", "LinearSVR"]
