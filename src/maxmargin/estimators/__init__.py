"""Level 5: the scikit-learn contract. Parameters in, a plan of problems out, solutions stored as attributes."""

from maxmargin.estimators.kernel.nu_svc import NuSVC
from maxmargin.estimators.kernel.nu_svr import NuSVR
from maxmargin.estimators.kernel.one_class_svm import OneClassSVM
from maxmargin.estimators.kernel.svc import SVC
from maxmargin.estimators.kernel.svdd import SVDD
from maxmargin.estimators.kernel.svr import SVR
from maxmargin.estimators.linear.linear_svc import LinearSVC
from maxmargin.estimators.linear.linear_svr import LinearSVR
from maxmargin.estimators.linear.sgd_svc import SGDSVC
from maxmargin.estimators.linear.sgd_svr import SGDSVR

__all__ = ["SGDSVC", "SGDSVR", "SVC", "SVDD", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]
