"""Level 5: the scikit-learn contract. Parameters in, a plan of problems out, solutions stored as attributes.

Names load when first used: kernel machines and linear ones load machine code of their own (``ahead``).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.estimators.kernel.nu_svc import NuSVC as NuSVC
    from maxmargin.estimators.kernel.nu_svr import NuSVR as NuSVR
    from maxmargin.estimators.kernel.one_class_svm import OneClassSVM as OneClassSVM
    from maxmargin.estimators.kernel.svc import SVC as SVC
    from maxmargin.estimators.kernel.svdd import SVDD as SVDD
    from maxmargin.estimators.kernel.svr import SVR as SVR
    from maxmargin.estimators.linear.linear_svc import LinearSVC as LinearSVC
    from maxmargin.estimators.linear.linear_svr import LinearSVR as LinearSVR
    from maxmargin.estimators.linear.sgd_svc import SGDSVC as SGDSVC
    from maxmargin.estimators.linear.sgd_svr import SGDSVR as SGDSVR

_HOMES = {
    "NuSVC": "kernel.nu_svc",
    "NuSVR": "kernel.nu_svr",
    "OneClassSVM": "kernel.one_class_svm",
    "SVC": "kernel.svc",
    "SVDD": "kernel.svdd",
    "SVR": "kernel.svr",
    "LinearSVC": "linear.linear_svc",
    "LinearSVR": "linear.linear_svr",
    "SGDSVC": "linear.sgd_svc",
    "SGDSVR": "linear.sgd_svr",
}
__all__ = ["SGDSVC", "SGDSVR", "SVC", "SVDD", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'maxmargin.estimators' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"maxmargin.estimators.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
